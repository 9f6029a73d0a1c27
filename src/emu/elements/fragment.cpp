// SPDX-License-Identifier: Apache-2.0
// fragment.cpp  stmatrix and ldmatrix, element by element.
#include "emu/elements/fragment.hpp"

#include <cstring>

namespace tw::emu {

namespace {

/// Where half h of register `matrix` of a lane lies in shared memory.
template <class Byte>
Byte* element(Byte* const* row_of_lane, bool transposed, int matrix, int lane, int h) {
  int const i = lane / 4, j = 2 * (lane % 4) + h;
  int const row = transposed ? j : i, column = transposed ? i : j;
  return row_of_lane[8 * matrix + row] + 2 * column;
}

}  // namespace

void stmatrix_warp(int count, bool transposed, std::byte* const* row_of_lane,
                   std::uint32_t const (*regs)[4]) {
  for (int matrix = 0; matrix < count; ++matrix)
    for (int lane = 0; lane < 32; ++lane)
      for (int h = 0; h < 2; ++h) {
        auto const value = static_cast<std::uint16_t>(regs[lane][matrix] >> (16 * h));
        std::memcpy(element(row_of_lane, transposed, matrix, lane, h), &value, 2);
      }
}

void ldmatrix_warp(int count, bool transposed, std::byte const* const* row_of_lane,
                   std::uint32_t (*regs)[4]) {
  for (int matrix = 0; matrix < count; ++matrix)
    for (int lane = 0; lane < 32; ++lane) {
      std::uint32_t word = 0;
      for (int h = 0; h < 2; ++h) {
        std::uint16_t value;
        std::memcpy(&value, element(row_of_lane, transposed, matrix, lane, h), 2);
        word |= static_cast<std::uint32_t>(value) << (16 * h);
      }
      regs[lane][matrix] = word;
    }
}

}  // namespace tw::emu
