// SPDX-License-Identifier: Apache-2.0
// scaled_rungs.cpp  The experiment side/fp8_scales in the emulator, over operands with exact sums.
#include <array>
#include <random>
#include <span>
#include <vector>

#include "ladder/side/fp8_scales.hpp"
#include "tools/check/rungs/guarded_bytes.hpp"
#include "tools/check/rungs/run.hpp"

namespace ladder {

namespace {

/// An operand (rows, K) of e4m3, its scales (K / 128, rows), and the numbers that they stand for.
struct fp8_operand {
  std::vector<e4m3> elements;
  std::vector<float> scales;
  std::vector<double> numbers;

  fp8_operand(int rows, int k, std::mt19937_64& random) {
    scales.resize(static_cast<std::size_t>(rows) *
                  static_cast<std::size_t>(k / side_fp8_scales::bk));
    for (float& s : scales) s = static_cast<float>(1 + random() % 4) / 2;
    for (int r = 0; r < rows; ++r)
      for (int i = 0; i < k; ++i) {
        float const x = static_cast<float>(static_cast<int>(random() % 9) - 4) / 4;
        elements.push_back(to_e4m3(x, saturation::finite));
        numbers.push_back(
            static_cast<double>(x) *
            static_cast<double>(
                scales[static_cast<std::size_t>(i / side_fp8_scales::bk * rows + r)]));
      }
  }
};

template <class T>
std::vector<std::byte> bytes_of_vector(std::vector<T> const& v) {
  auto const bytes = std::as_bytes(std::span(v));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::array<int, 3> fp8_scales_tile() {
  return {side_fp8_scales::bm, side_fp8_scales::bn, side_fp8_scales::bk};
}

run_result run_fp8_scales(int m, int n, int k, emu::options o) {
  std::mt19937_64 random(1);
  fp8_operand const a(m, k, random), b(n, k, random);
  auto const count = static_cast<std::size_t>(m) * static_cast<std::size_t>(n);
  guarded_bytes const at_a(bytes_of_vector(a.elements), o), at_b(bytes_of_vector(b.elements), o),
      scale_a(bytes_of_vector(a.scales), o), scale_b(bytes_of_vector(b.scales), o),
      at_d(std::vector<std::byte>(count * sizeof(bf16), std::byte{0xFF}), o);
  auto* const d = reinterpret_cast<bf16*>(at_d.data());
  side_fp8_scales::problem const x{reinterpret_cast<e4m3*>(at_a.data()),
                                   reinterpret_cast<e4m3*>(at_b.data()),
                                   reinterpret_cast<float*>(scale_a.data()),
                                   reinterpret_cast<float*>(scale_b.data()),
                                   d,
                                   m,
                                   n,
                                   k,
                                   target::emu};
  run_result result;
  result.report =
      emu::run(side_fp8_scales{}, side_fp8_scales::ctas(x), side_fp8_scales::params_of(x), o);
  if (!result.report.clean()) return result;
  std::int64_t wrong = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double const *row = &a.numbers[static_cast<std::size_t>(i) * static_cast<std::size_t>(k)],
                   *column = &b.numbers[static_cast<std::size_t>(j) * static_cast<std::size_t>(k)];
      double sum = 0;  // exact in any order
      for (int e = 0; e < k; ++e) sum += row[e] * column[e];
      bf16 const got = d[static_cast<std::size_t>(i) * static_cast<std::size_t>(n) +
                         static_cast<std::size_t>(j)];
      wrong += got.bits != to_bf16(static_cast<float>(sum)).bits ? 1 : 0;
    }
  result.wrong = wrong;
  return result;
}

}  // namespace ladder
