// SPDX-License-Identifier: Apache-2.0
// slice.hpp  A part of a GEMM as a separate GEMM: some of its rows, columns, or K.
#pragma once

#include "tilewright/dist/shards.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw::dist {

enum class extent : std::uint8_t { m, n, k };

struct gemm_slice {
  gemm_problem problem;
  gemm_operands operands;
};

/// The problem with that part of an extent, and the operands at its first row, column or element
/// of K. Nothing is copied. Throws `rejected`: TW0904 if the part begins inside of a block of
/// elements that share a scale, or inside of a byte, or separates gates from ups.
gemm_slice slice_of(gemm_problem const& p, gemm_operands const& o, extent along, range part);

/// Element `index` of a tensor of a type, from an address; nullptr stays nullptr.
void const* element_at(void const* base, elem type, std::int64_t index);

}  // namespace tw::dist
