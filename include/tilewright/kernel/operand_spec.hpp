// SPDX-License-Identifier: Apache-2.0
// operand_spec.hpp  A or B in the configuration of a GEMM kernel.
#pragma once

#include <cstdint>

#include "tilewright/arch/types.hpp"
#include "tilewright/base/elem.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/hd.hpp"
#include "tilewright/problem/weight_format.hpp"

namespace tw {

/// From where wgmma reads an operand. Consumers fill registers from shared memory: with elements as
/// they are there, or decoded from prepared weights of 4 bits (docs/weights4.md). int4 has a scale
/// for each 16, 32 or 64 elements of K in a block, and zero points that are integers (z), floats
/// (f) or 8 for all. mxfp4 is also multiplied as e4m3, int4_128 and int4_128z as e4m3 alone.
enum class operand_source : std::uint8_t {
  shared_memory,
  registers,
  mxfp4,
  nvfp4,
  int4_16,
  int4_16z,
  int4_16f,
  int4_32,
  int4_32z,
  int4_32f,
  int4_64,
  int4_64z,
  int4_64f,
  int4_128,
  int4_128z
};

/// An operand of a kernel.
struct operand_spec {
  elem stored = elem::bf16;                // type in global and in shared memory
  elem multiplied = stored;                // type that the tensor cores multiply
  operand_major major = operand_major::k;  // in memory
  operand_source from = operand_source::shared_memory;

  /// Are neighbours along M, or N, adjacent in memory?
  TW_HD constexpr bool is_mn_major() const { return major == operand_major::mn; }
  /// The format of prepared weights; of another operand none.
  TW_HD constexpr weight_format weights() const {
    bool const fp8 = size_bytes(multiplied) == 1;
    if (from == operand_source::mxfp4) return {weight_code::mxfp4, elem::ue8m0, {}, 32, fp8};
    if (from == operand_source::nvfp4) return {weight_code::nvfp4, elem::ue4m3, {}, 16};
    if (from < operand_source::int4_16) return {};
    int const i = static_cast<int>(from) - static_cast<int>(operand_source::int4_16);
    return {weight_code::int4, fp8 ? elem::f32 : multiplied, static_cast<weight_zeros>(i % 3),
            16 << i / 3, fp8};
  }
  bool operator==(operand_spec const&) const = default;
};

}  // namespace tw
