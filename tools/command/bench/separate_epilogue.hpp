// SPDX-License-Identifier: Apache-2.0
// separate_epilogue.hpp  Kernels after cuBLASLt for the parts of an epilogue that it lacks.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "tilewright/problem/gemm.hpp"
#include "tools/measure/gpu/buffer.hpp"

namespace tw::bench {

/// The part of `p` that cuBLASLt computes by itself: a bias of columns, relu or gelu (by tanh), and
/// C if no activation follows it. A gate, other activations and scales of D are removed; the
/// result is then dense and (m, n), and bf16 where D has 8 bits or fewer.
gemm_problem cublaslt_part(gemm_problem const& p);

/// The steps after cublaslt_part(), and the memory between them: an elementwise kernel for
/// activation, gate and C, which reads and writes 16 bytes at once; then for a D of 8 bits the
/// library's quantisation. D is dense and row-major.
class separate_epilogue {
 public:
  /// Throws `rejected` TW0712 where the steps do not compute the rest: columns that are no multiple
  /// of 8 before the elementwise kernel, a block-scaled D, a D of f32 with a gate.
  explicit separate_epilogue(gemm_problem const& p);

  /// Does something of the GEMM remain?
  bool any() const { return elementwise_ || quantised_; }
  /// The names of the steps, to append to a description: ", elementwise kernel, quantisation".
  std::string text() const;
  /// Where the result of cublaslt_part() is to lie, if any().
  void* x() const { return x_.data(); }
  /// From x() to o.d and o.scale_d.
  void enqueue(gemm_operands const& o, cudaStream_t stream) const;

 private:
  gemm_problem const p_;
  bool elementwise_ = false, quantised_ = false;
  device_buffer x_;          // cuBLASLt's result
  device_buffer wide_;       // of the elementwise kernel, if it is quantised
  device_buffer one_;        // the scale of a D without scales
  device_buffer workspace_;  // of the quantisation
};

}  // namespace tw::bench
