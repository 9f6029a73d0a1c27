// SPDX-License-Identifier: Apache-2.0
// umma_scaled.cpp  Block-scaled multiplies, and copies from shared to tensor memory.
#include <cmath>
#include <cstring>

#include "emu/umma.hpp"
#include "emu/umma_element.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/base/elem_traits.hpp"

namespace tw::emu {

namespace {

double factor_of(elem type, std::uint32_t word, int i) {
  auto const bits = static_cast<std::uint8_t>(word >> 8 * i);
  constexpr std::uint8_t of_ue4m3 = 0x7F;  // e4m3 without the sign
  return static_cast<double>(is_exponent(type)
                                 ? to_float(ue8m0{bits})
                                 : to_float(ue4m3{static_cast<std::uint8_t>(bits & of_ue4m3)}));
}

/// Values of an operand of `rows` rows, [k][row].
void values_of(std::vector<double>& to, std::uint64_t descriptor, operand_major major, elem type,
               bool dense, bool negate, int first, int rows, int stride, int k,
               std::byte const* smem, std::uint32_t base) {
  for (int r = 0; r < rows; ++r)
    for (int i = 0; i < k; ++i) {
      auto const x = static_cast<double>(
          umma_value(type, umma_element(descriptor, major, type, dense, r, i, smem, base)));
      to[static_cast<std::size_t>(i * stride + first + r)] = negate ? -x : x;
    }
}

/// Values of A, [k][lane], from the 8 columns at `address`.
void values_in_tmem(std::vector<double>& to, tensor_memory& t, umma_shape const& s,
                    std::uint32_t address) {
  auto const column = static_cast<int>(address & 0xFFFF);
  for (int lane = 0; lane < tmem_lanes; ++lane)
    for (int k = 0; k < s.k; ++k) {
      auto const x =
          static_cast<double>(umma_value(s.a, element_in_tmem(t, s.a, s.dense, lane, column, k)));
      to[static_cast<std::size_t>(k * tmem_lanes + lane)] = s.negate_a ? -x : x;
    }
}

}  // namespace

void run_umma_scaled(tensor_memory& t, umma_shape const& s, umma_call const& call,
                     umma_memory const& smem) {
  int const rows = s.rows(), of_cta = s.columns_of_b(), factors = s.factors();
  int const column = static_cast<int>(call.d & 0xFFFF);
  // By lane: of a pair with M = 128 both halves of the lanes have the same rows.
  static thread_local std::vector<double> a, b, fa, sum, part;
  a.resize(static_cast<std::size_t>(s.k * tmem_lanes));
  b.resize(static_cast<std::size_t>(s.k * s.n));
  if (call.a_in_tmem)
    values_in_tmem(a, t, s, static_cast<std::uint32_t>(call.a));
  else
    for (int first = 0; first < tmem_lanes; first += rows)
      values_of(a, call.a, s.a_major, s.a, s.dense, s.negate_a, first, rows, tmem_lanes, s.k,
                smem.own, smem.base);
  for (int c = 0; c < s.ctas; ++c)
    values_of(b, call.b, s.b_major, s.b, s.dense, s.negate_b, c * of_cta, of_cta, s.n, s.k,
              smem.b[c], smem.base);
  fa.resize(static_cast<std::size_t>(factors * tmem_lanes));
  for (int f = 0; f < factors; ++f)
    for (int lane = 0; lane < tmem_lanes; ++lane)
      fa[static_cast<std::size_t>(f * tmem_lanes + lane)] = factor_of(
          s.scale, factors_at(t, call.sfa, lane % rows, lane / lanes_of_group), s.sfa_id + f);
  sum.resize(static_cast<std::size_t>(tmem_lanes));
  part.resize(static_cast<std::size_t>(tmem_lanes));
  for (int n = 0; n < s.n; ++n) {
    bool const upper = s.in_upper_lanes(n);
    int const begin = upper ? rows : 0, end = begin + rows;
    int const at = column + (upper ? n - s.n / 2 : n);
    for (int r = begin; r < end; ++r)
      sum[static_cast<std::size_t>(r)] =
          call.accumulate ? static_cast<double>(__builtin_bit_cast(float, t.at(r, at))) : 0.0;
    for (int f = 0; f < factors; ++f) {
      std::fill(part.begin(), part.end(), 0.0);
      for (int k = f * s.block; k < (f + 1) * s.block; ++k) {
        double const y = b[static_cast<std::size_t>(k * s.n + n)];
        double const* const x = &a[static_cast<std::size_t>(k * tmem_lanes)];
        for (int r = begin; r < end; ++r) part[static_cast<std::size_t>(r)] += x[r] * y;
      }
      for (int g = begin / lanes_of_group; g < end / lanes_of_group; ++g) {
        double const fb =
            factor_of(s.scale, factors_at(t, call.sfb, s.row_of_sfb(n), g), s.sfb_id + f);
        for (int r = g * lanes_of_group; r < (g + 1) * lanes_of_group; ++r) {
          auto const i = static_cast<std::size_t>(r);
          sum[i] += part[i] * (fa[static_cast<std::size_t>(f * tmem_lanes + r)] * fb);
        }
      }
    }
    for (int r = begin; r < end; ++r) {
      auto const x = static_cast<float>(sum[static_cast<std::size_t>(r)]);
      t.at(r, at) = std::isnan(x) ? 0x7FFFFFFFU : __builtin_bit_cast(std::uint32_t, x);
    }
  }
}

void run_copy(tensor_memory& t, tmem_copy_call const& call, std::byte const* smem,
              std::uint32_t base) {
  tmem_area const to = copied_areas(call).front();
  for (int r = 0; r < tmem_copy_rows(call.shape); ++r)
    for (int c = 0; c < tmem_copy_chunks(call.shape); ++c) {
      std::byte const* const from = smem + (copy_source(call, r, c) - base);
      std::byte bytes[16];
      std::memcpy(bytes, from, 16);
      int const narrow = call.unpack == tmem_unpack::b4 ? 4 : 6;
      if (call.unpack != tmem_unpack::none)
        for (int i = 0; i < 16; ++i)
          bytes[i] =
              static_cast<std::byte>(narrow_bits(from, i, narrow) << lowest_bit_in_tmem(narrow));
      for (int w = 0; w < 4; ++w)
        for (int i = 0; i < tmem_copy_repeats(call.shape); ++i)
          std::memcpy(&t.at(tmem_copy_lane(call.shape, r, i), to.column + 4 * c + w),
                      bytes + std::ptrdiff_t{4} * w, 4);
    }
}

}  // namespace tw::emu
