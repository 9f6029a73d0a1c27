// SPDX-License-Identifier: Apache-2.0
// matrix_checks.hpp  Fragments of 8x8 matrices, plain and transposed; packing bit for bit.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "tests/arch/kernels/machine.hpp"
#include "tests/arch/kernels/matrix.hpp"
#include "tilewright/base/convert.hpp"

namespace tw::test {

/// Calls f(lane, register, half, row of the 32, column) for each element of `Count` matrices.
template <int Count, bool Transposed, class F>
void for_each_fragment(matrix_params const& p, F&& f) {
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < Count; ++i)
      for (int half : {0, 1}) {
        int const major = lane / 4, minor = 2 * (lane % 4) + half;
        int const row = Transposed ? minor : major, column = Transposed ? major : minor;
        f(lane, i, half, p.row_of_lane[8 * i + row], column);
      }
}

/// Lanes give the addresses of the 32 rows in a random order.
inline matrix_params shuffled_rows() {
  matrix_params p{};
  std::iota(p.row_of_lane, p.row_of_lane + 32, 0);
  std::shuffle(p.row_of_lane, p.row_of_lane + 32, std::mt19937(5));
  return p;
}
inline std::vector<std::uint16_t> random_rows(unsigned seed) {
  std::vector<std::uint16_t> rows(32 * 8);
  std::mt19937 random(seed);
  for (std::uint16_t& r : rows) r = static_cast<std::uint16_t>(random());
  return rows;
}

template <int Count, bool Transposed, class M>
std::string check_ldmatrix(M& m) {
  matrix_params p = shuffled_rows();
  std::vector<std::uint16_t> const rows = random_rows(1);
  std::vector<std::uint32_t> want(32 * Count);
  p.smem = upload(m, rows);
  p.fragment = upload(m, want);
  run<ldmatrix_kernel<Count, Transposed>>(m, 1, p);
  for_each_fragment<Count, Transposed>(p, [&](int lane, int i, int half, int row, int column) {
    want[Count * lane + i] |= static_cast<std::uint32_t>(rows[8 * row + column]) << 16 * half;
  });
  return differences(download(m, p.fragment, want.size()), want, [](std::size_t i) {
    return text("lane ", i / Count, " register ", i % Count);
  });
}

template <int Count, bool Transposed, class M>
std::string check_stmatrix(M& m) {
  matrix_params p = shuffled_rows();
  std::vector<std::uint16_t> want = random_rows(1);
  std::vector<std::uint32_t> registers(32 * Count);
  std::mt19937 random(2);
  for (std::uint32_t& r : registers) r = static_cast<std::uint32_t>(random());
  p.smem = upload(m, want);
  p.fragment = upload(m, registers);
  run<stmatrix_kernel<Count, Transposed>>(m, 1, p);
  for_each_fragment<Count, Transposed>(p, [&](int lane, int i, int half, int row, int column) {
    want[8 * row + column] = static_cast<std::uint16_t>(registers[Count * lane + i] >> 16 * half);
  });
  return differences(download(m, p.smem, want.size()), want,
                     [](std::size_t i) { return text("row ", i / 8, " column ", i % 8); });
}

template <class M>
std::string check_matrices(M& m) {
  failures f;
  f.add("ldmatrix x1", check_ldmatrix<1, false>(m));
  f.add("ldmatrix x2", check_ldmatrix<2, false>(m));
  f.add("ldmatrix x4", check_ldmatrix<4, false>(m));
  f.add("ldmatrix x1 transposed", check_ldmatrix<1, true>(m));
  f.add("ldmatrix x2 transposed", check_ldmatrix<2, true>(m));
  f.add("ldmatrix x4 transposed", check_ldmatrix<4, true>(m));
  f.add("stmatrix x1", check_stmatrix<1, false>(m));
  f.add("stmatrix x2", check_stmatrix<2, false>(m));
  f.add("stmatrix x4", check_stmatrix<4, false>(m));
  f.add("stmatrix x1 transposed", check_stmatrix<1, true>(m));
  f.add("stmatrix x2 transposed", check_stmatrix<2, true>(m));
  f.add("stmatrix x4 transposed", check_stmatrix<4, true>(m));
  return f.result();
}

/// Floats of all kinds: random bits, and the neighbourhood of every tie of a 16-bit type.
inline std::vector<std::uint32_t> interesting_singles(bool half) {
  std::vector<std::uint32_t> singles;
  for (std::uint32_t i = 0; i < 65536; ++i) {
    float const exact = half ? to_float(f16{static_cast<std::uint16_t>(i)})
                             : to_float(bf16{static_cast<std::uint16_t>(i)});
    std::uint32_t const tie = std::bit_cast<std::uint32_t>(exact) + (half ? 0x1000U : 0x8000U);
    for (std::uint32_t bits : {tie - 1, tie, tie + 1}) singles.push_back(bits);
  }
  std::mt19937 random(7);
  while (singles.size() < 300000) singles.push_back(static_cast<std::uint32_t>(random()));
  return singles;
}

template <elem E, class M>
std::string check_conversions(M& m) {
  constexpr bool half = E == elem::f16;
  auto narrow = [](std::uint32_t bits) {
    float const x = std::bit_cast<float>(bits);
    return static_cast<std::uint32_t>(half ? to_f16(x).bits : to_bf16(x).bits);
  };
  std::vector<std::uint32_t> const singles = interesting_singles(half);
  std::vector<std::uint32_t> widened(65536), packed(singles.size() / 2);
  auto* const out = upload(m, widened);
  auto* const pairs = upload(m, packed);
  run<convert_kernel<E>>(
      m, 8,
      {reinterpret_cast<float*>(out), upload(m, singles), pairs, static_cast<int>(packed.size())});
  for (std::uint32_t i = 0; i < 65536; ++i) {
    auto const bits = static_cast<std::uint16_t>(i);
    widened[i] = std::bit_cast<std::uint32_t>(half ? to_float(f16{bits}) : to_float(bf16{bits}));
  }
  for (std::size_t i = 0; i < packed.size(); ++i)
    packed[i] = narrow(singles[2 * i]) | narrow(singles[2 * i + 1]) << 16;
  failures f;
  f.add("to_float", differences(download(m, out, widened.size()), widened));
  f.add("pack2", differences(download(m, pairs, packed.size()), packed, [&](std::size_t i) {
          return text("pair ", i, " of float bits ", singles[2 * i], ", ", singles[2 * i + 1]);
        }));
  return f.result();
}

/// The f16 with the value of an 8-bit float of `exponents` exponent bits, bias 2^(exponents-1) - 1;
/// a NaN for all ones, an infinity where e5m2 has one.
template <elem E>
std::uint32_t half_of_fp8(std::uint32_t byte) {
  constexpr int exponents = E == elem::e4m3 ? 4 : 5, fraction_bits = 7 - exponents;
  constexpr int bias = (1 << (exponents - 1)) - 1;
  std::uint32_t const sign = (byte & 0x80) << 8;
  int const exponent = static_cast<int>(byte & 0x7F) >> fraction_bits;
  int const fraction = static_cast<int>(byte) & ((1 << fraction_bits) - 1);
  if (E == elem::e4m3 && (byte & 0x7F) == 0x7F) return 0x7FFF;
  if (E == elem::e5m2 && exponent == 31) return fraction == 0 ? sign | 0x7C00 : 0x7FFF;
  double const value = std::ldexp(exponent == 0 ? fraction : fraction + (1 << fraction_bits),
                                  std::max(exponent, 1) - bias - fraction_bits);
  return sign | to_f16(static_cast<float>(value)).bits;
}

template <elem E, class M>
std::string check_unpacked(M& m) {
  std::vector<std::uint32_t> both(65536), wanted(65536);
  auto* const out = upload(m, both);
  run<unpack_kernel<E>>(m, 8, {out});
  for (std::uint32_t i = 0; i < 65536; ++i)
    wanted[i] = half_of_fp8<E>(i & 0xFF) | half_of_fp8<E>(i >> 8) << 16;
  auto found = download(m, out, wanted.size());
  for (std::uint32_t& two : found)  // NaNs have no bits in common
    for (std::uint32_t const half : {0xFFFFU, 0xFFFF0000U})
      if ((two & half & 0x7C007C00U) == (half & 0x7C007C00U) && (two & half & 0x03FF03FFU) != 0)
        two = (two & ~half) | (half & 0x7FFF7FFFU);
  failures f;
  f.add("unpack_fp8", differences(found, wanted));
  return f.result();
}

template <class M>
std::vector<check<M>> matrix_checks() {
  return {{"ldmatrix and stmatrix", check_matrices<M>},
          {"conversions of bf16", check_conversions<elem::bf16, M>},
          {"conversions of f16", check_conversions<elem::f16, M>},
          {"pairs of e4m3 as f16", check_unpacked<elem::e4m3, M>},
          {"pairs of e5m2 as f16", check_unpacked<elem::e5m2, M>}};
}

}  // namespace tw::test
