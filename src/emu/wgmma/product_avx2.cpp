// SPDX-License-Identifier: Apache-2.0
// product_avx2.cpp  The multiply with AVX2 and FMA: register tiles of 16 rows by 6 columns.
#include "emu/wgmma/product_isa.hpp"

#if !defined(__clang__)  // a false warning about immintrin.h, GCC bug 105593
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <immintrin.h>

#include "tilewright/base/convert.hpp"

namespace tw::emu {

namespace {

/// 8 elements of 16 bits as floats.
template <elem Type>
[[gnu::target("avx2,fma,f16c"), gnu::always_inline]] inline __m256 widen(__m128i x) {
  if constexpr (!is_upper_part(Type, elem::f32)) return _mm256_cvtph_ps(x);
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16));
}

/// 8 elements of 8 or 32 bits as floats. e4m3 has its exponent and mantissa where an f16 of 1/256
/// of the value has them.
template <elem Type>
[[gnu::target("avx2,fma,f16c"), gnu::always_inline]] inline __m256 widen_other(void const* in) {
  if constexpr (bits_below_mantissa(Type) > 0)
    return _mm256_and_ps(
        _mm256_loadu_ps(static_cast<float const*>(in)),
        _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(mantissa_and_above<Type>))));
  if constexpr (size_bits(Type) != 8) {
    float wide[8];  // types without a sequence of instructions here
    for (int i = 0; i < 8; ++i)
      wide[i] = to_float(storage_of<Type>{static_cast<std::uint8_t const*>(in)[i]});
    return _mm256_loadu_ps(wide);
  }
  __m128i const bytes = _mm_loadl_epi64(static_cast<__m128i const*>(in));
  if constexpr (is_integer(Type) && is_signed(Type))
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
  if constexpr (is_integer(Type)) return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
  __m128i const x = _mm_cvtepu8_epi16(bytes);
  if constexpr (is_upper_part(Type, elem::f16)) return _mm256_cvtph_ps(_mm_slli_epi16(x, 8));
  __m128i const magnitude = _mm_and_si128(x, _mm_set1_epi16(0x7F));
  __m128i const nan = _mm_cmpeq_epi16(magnitude, _mm_set1_epi16(0x7F));
  __m128i const sign = _mm_slli_epi16(_mm_and_si128(x, _mm_set1_epi16(0x80)), 8);
  __m128i const half = _mm_or_si128(_mm_or_si128(sign, _mm_slli_epi16(magnitude, 7)),
                                    _mm_and_si128(nan, _mm_set1_epi16(0x7FFF)));
  return _mm256_mul_ps(_mm256_cvtph_ps(half), _mm256_set1_ps(256));
}

/// The low and the high elements of 8 pairs as floats.
template <elem Type>
[[gnu::target("avx2,fma,f16c"), gnu::always_inline]] inline __m256 widen_low(__m256i pairs) {
  if constexpr (is_upper_part(Type, elem::f32))
    return _mm256_castsi256_ps(_mm256_slli_epi32(pairs, 16));
  __m256i const low = _mm256_and_si256(pairs, _mm256_set1_epi32(0xFFFF));
  __m256i const packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(low, low), 0b1000);
  return _mm256_cvtph_ps(_mm256_castsi256_si128(packed));
}
template <elem Type>
[[gnu::target("avx2,fma,f16c"), gnu::always_inline]] inline __m256 widen_high(__m256i pairs) {
  if constexpr (!is_upper_part(Type, elem::f32))
    return widen_low<Type>(_mm256_srli_epi32(pairs, 16));
  return _mm256_castsi256_ps(_mm256_andnot_si256(_mm256_set1_epi32(0xFFFF), pairs));
}

/// 16 bytes of each of two rows that are 4 rows apart (64 elements of 16 bits per row).
[[gnu::target("avx2,fma,f16c"), gnu::always_inline]] inline __m256i two_rows(
    std::uint16_t const* a) {
  return _mm256_loadu2_m128i(reinterpret_cast<__m128i const*>(a + 4 * 64),
                             reinterpret_cast<__m128i const*>(a));
}

/// Transposes 8 rows x 8 of K as pairs of K, then parts the pairs.
template <elem Type>
[[gnu::target("avx2,fma,f16c")]] void transpose(float (*out)[64], std::uint16_t const* a) {
  __m256i const r0 = two_rows(a), r1 = two_rows(a + 64), r2 = two_rows(a + 128),
                r3 = two_rows(a + 192);
  __m256i const low01 = _mm256_unpacklo_epi32(r0, r1), low23 = _mm256_unpacklo_epi32(r2, r3),
                high01 = _mm256_unpackhi_epi32(r0, r1), high23 = _mm256_unpackhi_epi32(r2, r3);
  __m256i const pairs[4] = {
      _mm256_unpacklo_epi64(low01, low23), _mm256_unpackhi_epi64(low01, low23),
      _mm256_unpacklo_epi64(high01, high23), _mm256_unpackhi_epi64(high01, high23)};
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(out[2 * i], widen_low<Type>(pairs[i]));
    _mm256_storeu_ps(out[2 * i + 1], widen_high<Type>(pairs[i]));
  }
}

/// count, a multiple of 8, neighbouring elements.
template <elem Type>
[[gnu::target("avx2,fma,f16c")]] void widen_run(float* out, void const* in, int count) {
  auto const* const from = static_cast<std::byte const*>(in);
  for (int i = 0; i < count; i += 8) {
    std::byte const* const at = from + i * size_bytes(Type);
    if constexpr (size_bits(Type) == 16)
      _mm256_storeu_ps(out + i, widen<Type>(_mm_loadu_si128(reinterpret_cast<__m128i const*>(at))));
    else
      _mm256_storeu_ps(out + i, widen_other<Type>(at));
  }
}

template <elem Type>
[[gnu::target("avx2,fma,f16c")]] void widen_a_of(product_block& block, void const* linear,
                                                 bool k_major) {
  if (!k_major) return widen_run<Type>(block.a[0], linear, 64 * block.k);
  if constexpr (size_bits(Type) != 16) {
    alignas(64) float rows[64 * 64];
    for (int row = 0; row < 64; ++row)
      widen_run<Type>(rows + 64 * row, static_cast<std::byte const*>(linear) + 128 * row, block.k);
    return transpose_rows(block.a, rows, block.k);
  }
  auto const* const a = static_cast<std::uint16_t const*>(linear);
  for (int row = 0; row < 64; row += 8)
    for (int k = 0; k < block.k; k += 8)
      transpose<Type>(reinterpret_cast<float(*)[64]>(&block.a[k][row]), a + 64 * row + k);
}

/// D (16 x Columns, from d) += A (16 rows from `row`) * B, B's element (k, column) at
/// b[k * along_k + column * along_column].
template <int Columns>
[[gnu::target("avx2,fma,f16c")]] void multiply_tile(product_block const& block, int row, float* d,
                                                    float const* b, std::ptrdiff_t along_k,
                                                    std::ptrdiff_t along_column) {
  __m256 sum[Columns][2];
#pragma GCC unroll 6
  for (int j = 0; j < Columns; ++j)
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i)
      sum[j][i] = block.accumulate ? _mm256_loadu_ps(d + 64 * j + 8 * i) : _mm256_setzero_ps();
  for (int k = 0; k < block.k; ++k, b += along_k) {
    __m256 const a0 = _mm256_load_ps(block.a[k] + row), a1 = _mm256_load_ps(block.a[k] + row + 8);
#pragma GCC unroll 6
    for (int j = 0; j < Columns; ++j) {
      __m256 const factor = _mm256_broadcast_ss(b + j * along_column);
      sum[j][0] = _mm256_fmadd_ps(a0, factor, sum[j][0]);
      sum[j][1] = _mm256_fmadd_ps(a1, factor, sum[j][1]);
    }
  }
  __m256 nans = _mm256_setzero_ps();
#pragma GCC unroll 6
  for (int j = 0; j < Columns; ++j) {
    nans = _mm256_or_ps(nans, _mm256_cmp_ps(sum[j][0], sum[j][1], _CMP_UNORD_Q));
    _mm256_storeu_ps(d + 64 * j, sum[j][0]);
    _mm256_storeu_ps(d + 64 * j + 8, sum[j][1]);
  }
  if (_mm256_movemask_ps(nans) != 0) [[unlikely]]
    for (int j = 0; j < Columns; ++j) make_nans_canonical(d + 64 * j, 16);
}

template <elem Type>
[[gnu::target("avx2,fma,f16c")]] void widen_b_of(product_block const& block, float* wide,
                                                 int columns, void const* b, bool k_major) {
  if (!k_major) return widen_run<Type>(wide, b, panel_columns * block.k);
  for (int j = 0; j < columns; ++j)
    widen_run<Type>(wide + 64 * j, static_cast<std::byte const*>(b) + 128 * j, block.k);
}

void widen_a(product_block& block, void const* a, bool k_major) {
  with_operand_type(block.a_type,
                    [&](auto type) { widen_a_of<decltype(type)::value>(block, a, k_major); });
}

[[gnu::target("avx2,fma,f16c")]] void multiply(product_block const& block, float* d, int columns,
                                               void const* b, bool k_major) {
  alignas(64) float wide[64 * panel_columns];
  std::ptrdiff_t const along_k = k_major ? 1 : panel_columns, along_column = k_major ? 64 : 1;
  with_operand_type(block.b_type, [&](auto type) {
    widen_b_of<decltype(type)::value>(block, wide, columns, b, k_major);
  });
  for (int row = 0; row < 64; row += 16) {
    int j = 0;
    for (; j + 6 <= columns; j += 6)
      multiply_tile<6>(block, row, d + 64 * j + row, wide + j * along_column, along_k,
                       along_column);
    for (; j < columns; j += 2)
      multiply_tile<2>(block, row, d + 64 * j + row, wide + j * along_column, along_k,
                       along_column);
  }
}

[[gnu::target("avx2,fma,f16c")]] void load_halves(float* panel, std::uint32_t const* d,
                                                  int columns) {
  for (int i = 0; i < 32 * columns; i += 8) {
    __m256i const pairs = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(d + i));
    float* const to = panel + i / 64 * 128 + i % 64;
    _mm256_storeu_ps(to, widen_low<elem::f16>(pairs));
    _mm256_storeu_ps(to + 64, widen_high<elem::f16>(pairs));
  }
}
[[gnu::target("avx2,fma,f16c")]] void store_halves(std::uint32_t* d, float const* panel,
                                                   int columns) {
  for (int i = 0; i < 32 * columns; i += 8) {
    float const* const from = panel + i / 64 * 128 + i % 64;
    __m128i const low = _mm256_cvtps_ph(_mm256_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT),
                  high = _mm256_cvtps_ph(_mm256_loadu_ps(from + 64), _MM_FROUND_TO_NEAREST_INT);
    __m256i const pairs = _mm256_or_si256(_mm256_cvtepu16_epi32(low),
                                          _mm256_slli_epi32(_mm256_cvtepu16_epi32(high), 16));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(d + i), pairs);
  }
}

using doubles [[gnu::vector_size(32)]] = double;

[[gnu::target("avx2,fma,f16c")]] void sum_products(double* part, double const* a,
                                                   std::ptrdiff_t a_pitch, double const* b,
                                                   std::ptrdiff_t b_pitch, int k) {
  sum_products_by<doubles, 2, 4>(part, a, a_pitch, b, b_pitch, k);
}

}  // namespace

constinit product_version const product_avx2{widen_a, multiply, load_halves, store_halves,
                                             sum_products};

}  // namespace tw::emu
