// SPDX-License-Identifier: Apache-2.0
// call_shape.hpp  The arguments of a GEMM without addresses, as bytes that are compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tilewright.h"
#include "tilewright/dispatch/tensors.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw::capi {

/// Shapes, strides and types of the tensors, words, factors and flags. Calls with equal bytes have
/// the same problem, so that the tensors of the second one need not be read.
class call_shape {
 public:
  explicit call_shape(tw_gemm_args const& args);

  /// Calls with groups or prepared weights are never equal: numbers of groups and the header of
  /// weights are data, which the bytes do not have. Structs of another header are never equal.
  bool operator==(call_shape const& other) const;

  /// Host memory, or the CUDA device, of all tensors; nothing if they lie in several places.
  std::optional<tensor_place> place() const;

 private:
  void add(void const* from, std::size_t bytes);
  void add(DLTensor const& t);

  static constexpr std::size_t most = 1024;
  DLDevice place_{};
  bool first_ = true, one_place_ = true;
  std::uint32_t given_ = 0;  // a bit for each tensor and each word
  std::size_t size_ = 0;     // more than `most`: the bytes are incomplete
  char bytes_[most];
};

/// The addresses of the tensors of a call without groups.
gemm_operands addresses_of(tw_gemm_args const& args);

}  // namespace tw::capi
