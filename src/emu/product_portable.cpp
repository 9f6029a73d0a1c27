// SPDX-License-Identifier: Apache-2.0
// product_portable.cpp  The matrix product for any processor; the other versions
// reproduce.
//
// Where no product of two elements can overflow or lose bits to underflow it is exact in fp32 (two
// significands of at most 11 bits), and one multiplication and one addition give the bits of a
// fused multiply-add, many times faster on a processor that has none.
#include <cmath>
#include <cstring>

#include "emu/product_isa.hpp"
#include "tilewright/base/convert.hpp"

namespace tw::emu {

namespace {

using float4 [[gnu::vector_size(16)]] = float;

template <elem Type>
float widen(std::uint16_t bits) {
  if constexpr (Type == elem::f16) return to_float(f16{bits});
  return to_float(bf16{bits});
}

/// True if x times any y of which this is true, too, is exact in fp32.
bool has_exact_products(float x) {
  float const magnitude = std::fabs(x);
  return magnitude == 0 || (magnitude >= 0x1p-60F && magnitude <= 0x1p60F);
}

template <elem Type>
void widen_a_of(product_block& block, std::uint16_t const* a, bool k_major) {
  bool exact = true;
  for (int k = 0; k < block.k; ++k)
    for (int row = 0; row < 64; ++row) {
      float const x = widen<Type>(k_major ? a[64 * row + k] : a[64 * k + row]);
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

/// The same for two columns, d and d + 64, b[k] and b[64 + k], of exact terms.
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

template <elem Type>
void multiply_of(product_block const& block, float* d, int columns, std::uint16_t const* b,
                 bool k_major) {
  for (int column = 0; column < columns; column += 2, d += 128) {
    float factors[2 * 64];
    bool exact = block.exact_products;
    for (int c = 0; c < 2; ++c)
      for (int k = 0; k < block.k; ++k) {
        float const x =
            widen<Type>(k_major ? b[64 * (column + c) + k] : b[panel_columns * k + column + c]);
        factors[64 * c + k] = x;
        exact = exact && has_exact_products(x);
      }
    if (exact) {
      multiply_then_add(block, d, factors);
    } else {
      fused(block, d, factors);
      fused(block, d + 64, factors + 64);
    }
    make_nans_canonical(d, 128);
  }
}

void widen_a(product_block& block, std::uint16_t const* a, bool k_major) {
  block.type == elem::bf16 ? widen_a_of<elem::bf16>(block, a, k_major)
                           : widen_a_of<elem::f16>(block, a, k_major);
}

void multiply(product_block const& block, float* d, int columns, std::uint16_t const* b,
              bool k_major) {
  block.type == elem::bf16 ? multiply_of<elem::bf16>(block, d, columns, b, k_major)
                           : multiply_of<elem::f16>(block, d, columns, b, k_major);
}

}  // namespace

void make_nans_canonical(float* d, int count) {
  for (int i = 0; i < count; ++i)
    if (std::isnan(d[i])) d[i] = __builtin_bit_cast(float, 0x7FFFFFFFU);
}

constinit product_version const product_portable{widen_a, multiply};

}  // namespace tw::emu
