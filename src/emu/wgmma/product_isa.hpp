// SPDX-License-Identifier: Apache-2.0
// product_isa.hpp  The inner product of a wgmma group, one version per instruction set.
//
// A version takes operands in linear order, widens them to float32, and multiplies. A is widened
// once per block, B panel by panel, so both stay in the first-level cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "emu/wgmma/product.hpp"
#include "tilewright/base/elem.hpp"
#include "tilewright/base/elem_traits.hpp"

namespace tw::emu {

/// Columns of D that one call of `multiply` handles at most; four register tiles of six.
inline constexpr int panel_columns = 24;

/// Up to four steps: D (64 x n) = (accumulate ? D : 0) + A (64 x k) * B (k x n).
struct product_block {
  elem a_type, b_type;
  int k;  // a multiple of 8 up to 64; of 16 for elements of 16 bits, of 32 for elements of 8
  bool accumulate;
  bool exact_products;          // for the portable version, written by its widen_a
  alignas(64) float a[64][64];  // [k][row], written by widen_a
};

struct product_version {
  /// a: [row 0..63][k], pitch 128 bytes, if k_major; else [k][row], 16-bit elements, pitch 64.
  void (*widen_a)(product_block& block, void const* a, bool k_major);
  /// d: 64 x columns, column-major. b: [column][k], pitch 128 bytes, if k_major; else
  /// [k][column], 16-bit elements, pitch panel_columns.
  void (*multiply)(product_block const& block, float* d, int columns, void const* b, bool k_major);
  /// Sums in f16: words of two columns (low half first), 64 of each pair, from and to floats of 64
  /// x columns. Every NaN among the floats is 0x7FFFFFFF.
  void (*load_halves)(float* panel, std::uint32_t const* d, int columns);
  void (*store_halves)(std::uint32_t* d, float const* panel, int columns);
  /// Of block-scaled multiplies; x y of two elements is exact in float64.
  /// part[column][lane] = sum over k of a[k][lane] b[k][column], for columns_of_part columns and
  /// lanes_of_part lanes.
  void (*sum_products)(double* part, double const* a, std::ptrdiff_t a_pitch, double const* b,
                       std::ptrdiff_t b_pitch, int k);
};

inline constexpr int lanes_of_part = 32, columns_of_part = 4;

/// sum_products with vectors V, in register tiles of Vectors by Columns.
template <class V, int Vectors, int Columns>
[[gnu::always_inline]] inline void sum_products_by(double* part, double const* a,
                                                   std::ptrdiff_t a_pitch, double const* b,
                                                   std::ptrdiff_t b_pitch, int k) {
  constexpr int lanes = sizeof(V) / sizeof(double);
  for (int first = 0; first < lanes_of_part; first += Vectors * lanes)
    for (int column = 0; column < columns_of_part; column += Columns) {
      V sum[Columns][Vectors] = {};
      for (int i = 0; i < k; ++i) {
        V x[Vectors];
        __builtin_memcpy(x, a + i * a_pitch + first, sizeof x);
#pragma GCC unroll 4
        for (int j = 0; j < Columns; ++j)
#pragma GCC unroll 4
          for (int v = 0; v < Vectors; ++v) sum[j][v] += x[v] * b[i * b_pitch + column + j];
      }
#pragma GCC unroll 4
      for (int j = 0; j < Columns; ++j)
        __builtin_memcpy(part + (column + j) * lanes_of_part + first, sum[j], sizeof sum[j]);
    }
}

/// The version that is used.
product_version const& used_product();

/// Calls f with the type of an operand as a constant.
template <class F>
void with_operand_type(elem type, F const& f) {
  with_elem(type, [&](auto t) {
    constexpr elem of_wgmma = traits_of(t.value).mma_operand ? t.value : elem::bf16;
    f(std::integral_constant<elem, of_wgmma>{});
  });
}

/// The bits of an operand that the tensor core reads: the upper 19 of tf32, all of other types.
template <elem Type>
inline constexpr std::uint32_t mantissa_and_above = ~((1U << bits_below_mantissa(Type)) - 1);

/// out[k][row] = in[64 * row + k] for k < depth, a multiple of 4, and 64 rows.
void transpose_rows(float (*out)[64], float const* in, int depth);

/// Every NaN among count floats becomes 0x7FFFFFFF.
void make_nans_canonical(float* d, int count);

extern product_version const product_portable;
extern product_version const product_avx2, product_avx512;  // built for x86-64 alone
/// Null if this processor, or this build of the emulator, does not have it.
product_version const* vector_product(product_isa isa);

}  // namespace tw::emu
