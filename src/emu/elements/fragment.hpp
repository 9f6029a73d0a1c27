// SPDX-License-Identifier: Apache-2.0
// fragment.hpp  stmatrix and ldmatrix of a whole warp: 8x8 matrices of 16-bit elements between
//               registers and shared-memory rows of 16 bytes.
//
// Lane 8*i + r names row r of matrix i. Register i of lane l holds elements (l/4, 2*(l%4)) and
// (l/4, 2*(l%4) + 1) of matrix i; transposed, the elements with row and column exchanged
// (PTX ISA, "ldmatrix" and "stmatrix").
#pragma once

#include <cstddef>
#include <cstdint>

namespace tw::emu {

/// count: 1, 2 or 4 matrices; regs[lane][matrix]; rows of lanes 8*count and up are not looked at.
void stmatrix_warp(int count, bool transposed, std::byte* const* row_of_lane,
                   std::uint32_t const (*regs)[4]);
void ldmatrix_warp(int count, bool transposed, std::byte const* const* row_of_lane,
                   std::uint32_t (*regs)[4]);

}  // namespace tw::emu
