// SPDX-License-Identifier: Apache-2.0
// product_portable.cpp  The product for any processor; the meaning that the other versions reproduce.
#include <cmath>

#include "emu/product_isa.hpp"
#include "tilewright/base/convert.hpp"

namespace tw::emu {

namespace {

float widen(elem type, std::uint16_t bits) {
  return type == elem::bf16 ? to_float(bf16{bits}) : to_float(f16{bits});
}

void widen_a(product_block& block, std::uint16_t const* a, bool k_major) {
  for (int k = 0; k < block.k; ++k)
    for (int row = 0; row < 64; ++row)
      block.a[k][row] = widen(block.type, k_major ? a[64 * row + k] : a[64 * k + row]);
}

void multiply(product_block const& block, float* d, int columns, std::uint16_t const* b,
              bool k_major) {
  for (int column = 0; column < columns; ++column, d += 64) {
    if (!block.accumulate)
      for (int row = 0; row < 64; ++row) d[row] = 0;
    for (int k = 0; k < block.k; ++k) {
      float const factor =
          widen(block.type, k_major ? b[64 * column + k] : b[panel_columns * k + column]);
      for (int row = 0; row < 64; ++row) d[row] = std::fma(block.a[k][row], factor, d[row]);
    }
    for (int row = 0; row < 64; ++row)
      if (std::isnan(d[row])) d[row] = __builtin_bit_cast(float, 0x7FFFFFFFU);
  }
}

}  // namespace

constinit product_version const product_portable{widen_a, multiply};

}  // namespace tw::emu
