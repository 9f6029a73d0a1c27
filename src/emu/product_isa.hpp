// SPDX-License-Identifier: Apache-2.0
// product_isa.hpp  The inner product of a wgmma group, one version per instruction set.
//
// A version takes 16-bit operands in linear order, widens them to fp32, and multiplies. A is
// widened once per block, B panel by panel, so both stay in the first-level cache.
#pragma once

#include <cstdint>

#include "emu/product.hpp"
#include "tilewright/base/elem.hpp"

namespace tw::emu {

/// Columns of D that one call of `multiply` handles at most; four register tiles of six.
inline constexpr int panel_columns = 24;

/// Up to four steps: D (64 x n) = (accumulate ? D : 0) + A (64 x k) * B (k x n).
struct product_block {
  elem type;  // bf16 or f16
  int k;      // 16, 32, 48 or 64
  bool accumulate;
  bool exact_products;          // for the portable version, written by its widen_a
  alignas(64) float a[64][64];  // [k][row], written by widen_a
};

struct product_version {
  /// a: [row 0..63][k], pitch 64 elements, if k_major; else [k][row], pitch 64.
  void (*widen_a)(product_block& block, std::uint16_t const* a, bool k_major);
  /// d: 64 x columns, column-major. b: [column][k], pitch 64 elements, if k_major; else
  /// [k][column], pitch panel_columns.
  void (*multiply)(product_block const& block, float* d, int columns, std::uint16_t const* b,
                   bool k_major);
};

/// Every NaN among count floats becomes 0x7FFFFFFF.
void make_nans_canonical(float* d, int count);

extern product_version const product_portable;
extern product_version const product_avx2, product_avx512;  // built for x86-64 alone
/// Null where this processor, or this build of the emulator, does not have it.
product_version const* vector_product(product_isa isa);

}  // namespace tw::emu
