// SPDX-License-Identifier: Apache-2.0
// product_portable.cpp  The matrix product for any processor; the other versions
// reproduce.
//
// If no product of two elements can overflow or lose bits to underflow it is exact in fp32 (two
// significands of at most 11 bits), and one multiplication and one addition give the bits of a
// fused multiply-add, many times faster on a processor that has none.
#include <cmath>
#include <cstring>

#include "emu/wgmma/product_isa.hpp"
#include "tilewright/base/convert.hpp"

namespace tw::emu {

namespace {

using float4 [[gnu::vector_size(16)]] = float;

/// Element i of a run.
template <elem Type>
float widen(void const* run, int i) {
  storage_of<Type> x;
  std::memcpy(&x, static_cast<std::byte const*>(run) + sizeof x * static_cast<std::size_t>(i),
              sizeof x);
  if constexpr (bits_below_mantissa(Type) > 0) x.bits &= mantissa_and_above<Type>;
  return to_float(x);
}

/// True if x times any y of which this is true, too, is exact in fp32.
bool has_exact_products(float x) {
  float const magnitude = std::fabs(x);
  return magnitude == 0 || (magnitude >= 0x1p-60F && magnitude <= 0x1p60F);
}

template <elem Type>
void widen_a_of(product_block& block, void const* a, bool k_major) {
  constexpr int pitch = 128 / size_bytes(Type);
  bool exact = true;
  for (int k = 0; k < block.k; ++k)
    for (int row = 0; row < 64; ++row) {
      float const x = widen<Type>(a, k_major ? pitch * row + k : 64 * k + row);
      block.a[k][row] = x;
      exact = exact && has_exact_products(x);
    }
  block.exact_products = exact;
}

/// One column of D, b[k] the factors.
void fused(product_block const& block, float* d, float const* b) {
  for (int row = 0; row < 64; ++row) {
    float sum = block.accumulate ? d[row] : 0;
    for (int k = 0; k < block.k; ++k) sum = std::fma(block.a[k][row], b[k], sum);
    d[row] = sum;
  }
}

/// Multiplies two columns, d and d + 64, b[k] and b[64 + k], of exact terms.
void multiply_then_add(product_block const& block, float* d, float const* b) {
  for (int row = 0; row < 64; row += 16, d += 16) {
    float4 sum[2][4] = {}, a[4];
    if (block.accumulate) {
      std::memcpy(sum[0], d, sizeof sum[0]);
      std::memcpy(sum[1], d + 64, sizeof sum[1]);
    }
    for (int k = 0; k < block.k; ++k) {
      std::memcpy(a, &block.a[k][row], sizeof a);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        sum[0][i] += a[i] * b[k];
        sum[1][i] += a[i] * b[64 + k];
      }
    }
    std::memcpy(d, sum[0], sizeof sum[0]);
    std::memcpy(d + 64, sum[1], sizeof sum[1]);
  }
}

/// Widens K elements of two columns; true if all products of integers are exact.
template <elem Type>
bool widen_columns(product_block const& block, float* factors, void const* b, int column,
                   bool k_major) {
  constexpr int pitch = 128 / size_bytes(Type);
  bool exact = true;
  for (int c = 0; c < 2; ++c)
    for (int k = 0; k < block.k; ++k) {
      int const at = k_major ? pitch * (column + c) + k : panel_columns * k + column + c;
      float const x = widen<Type>(b, at);
      factors[64 * c + k] = x;
      exact = exact && has_exact_products(x);
    }
  return exact;
}

void widen_a(product_block& block, void const* a, bool k_major) {
  with_operand_type(block.a_type,
                    [&](auto type) { widen_a_of<decltype(type)::value>(block, a, k_major); });
}

void multiply(product_block const& block, float* d, int columns, void const* b, bool k_major) {
  for (int column = 0; column < columns; column += 2, d += 128) {
    float factors[2 * 64];
    bool exact = block.exact_products;
    with_operand_type(block.b_type, [&](auto type) {
      if (!widen_columns<decltype(type)::value>(block, factors, b, column, k_major)) exact = false;
    });
    if (exact) {
      multiply_then_add(block, d, factors);
    } else {
      fused(block, d, factors);
      fused(block, d + 64, factors + 64);
    }
    make_nans_canonical(d, 128);
  }
}

void load_halves(float* panel, std::uint32_t const* d, int columns) {
  for (int c = 0; c < columns; ++c)
    for (int row = 0; row < 64; ++row) {
      std::uint32_t const word = d[row + 64 * (c / 2)];
      panel[row + 64 * c] =
          to_float(f16{static_cast<std::uint16_t>(c % 2 != 0 ? word >> 16 : word)});
    }
}
void store_halves(std::uint32_t* d, float const* panel, int columns) {
  for (int c = 0; c < columns; c += 2)
    for (int row = 0; row < 64; ++row)
      d[row + 64 * (c / 2)] = to_f16(panel[row + 64 * c]).bits |
                              static_cast<std::uint32_t>(to_f16(panel[row + 64 * c + 64]).bits)
                                  << 16;
}

using doubles [[gnu::vector_size(16)]] = double;

void sum_products(double* part, double const* a, std::ptrdiff_t a_pitch, double const* b,
                  std::ptrdiff_t b_pitch, int k) {
  sum_products_by<doubles, 4, 2>(part, a, a_pitch, b, b_pitch, k);
}

}  // namespace

void transpose_rows(float (*out)[64], float const* in, int depth) {
  for (int row = 0; row < 64; row += 4)
    for (int k = 0; k < depth; k += 4) {
      float4 r[4];
      for (int i = 0; i < 4; ++i) std::memcpy(&r[i], in + 64 * (row + i) + k, sizeof r[i]);
      float4 const low = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5),
                   high = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7),
                   low2 = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5),
                   high2 = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
      float4 const columns[4] = {__builtin_shufflevector(low, low2, 0, 1, 4, 5),
                                 __builtin_shufflevector(low, low2, 2, 3, 6, 7),
                                 __builtin_shufflevector(high, high2, 0, 1, 4, 5),
                                 __builtin_shufflevector(high, high2, 2, 3, 6, 7)};
      for (int i = 0; i < 4; ++i) std::memcpy(&out[k + i][row], &columns[i], sizeof columns[i]);
    }
}

void make_nans_canonical(float* d, int count) {
  for (int i = 0; i < count; ++i)
    if (std::isnan(d[i])) d[i] = __builtin_bit_cast(float, 0x7FFFFFFFU);
}

constinit product_version const product_portable{widen_a, multiply, load_halves, store_halves,
                                                 sum_products};

}  // namespace tw::emu
