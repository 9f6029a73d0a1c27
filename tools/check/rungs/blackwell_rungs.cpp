// SPDX-License-Identifier: Apache-2.0
// blackwell_rungs.cpp  Rungs 13 to 15: tcgen05, pairs of CTAs, NVFP4. The emulator alone runs them.
#include <random>
#include <vector>

#include "ladder/blackwell/cta_pair.hpp"
#include "ladder/blackwell/nvfp4_gemm.hpp"
#include "ladder/blackwell/one_cta.hpp"
#include "tilewright/kernel/sm100/block_scaled_config.hpp"
#include "tools/check/rungs/guarded_bytes.hpp"
#include "tools/check/rungs/run.hpp"
#include "tools/check/rungs/rungs.hpp"

namespace ladder {

namespace {

constexpr block_scaled_config nvfp4_format{};
constexpr int factor_block = 16, factor_atom = 512;  // elements of K; bytes for 128 rows, 4 blocks

/// An operand (rows, K) of e2m1 with its scale factors, and the numbers that they stand for.
struct nvfp4_operand {
  int k, blocks;
  std::vector<std::byte> elements, factors;
  std::vector<double> numbers;

  nvfp4_operand(int rows, int of_k, std::mt19937_64& random)
      : k(of_k),
        blocks(of_k / factor_block) {
    int const atoms = (blocks + 3) / 4;
    elements.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(k / 2));
    factors.resize(static_cast<std::size_t>(rows / 128 * atoms * factor_atom));
    for (int r = 0; r < rows; ++r)
      for (int i = 0; i < k; ++i) {
        int const f = i / factor_block;
        // Where tcgen05 expects the factor: 32 rows, then 4 groups of rows, then 4 blocks.
        std::byte& factor = factors[static_cast<std::size_t>(
            (r / 128 * atoms + f / 4) * factor_atom + r % 32 * 16 + r % 128 / 32 * 4 + f % 4)];
        if (i % factor_block == 0)
          factor = static_cast<std::byte>(to_ue4m3(static_cast<float>(1 + random() % 3) / 2).bits);
        auto const code = static_cast<std::uint8_t>(random() % 16);  // 0 to 6 of either sign
        elements[(static_cast<std::size_t>(r) * static_cast<std::size_t>(k) +
                  static_cast<std::size_t>(i)) /
                 2] |= static_cast<std::byte>(code << i % 2 * 4);
        numbers.push_back(static_cast<double>(to_float(e2m1{code})) *
                          static_cast<double>(to_float(ue4m3{static_cast<std::uint8_t>(factor)})));
      }
  }
  tensor_map map(std::byte* at, int rows) const {
    tensor_map_desc d;
    d.base = at;
    d.type = elem::e2m1;
    d.dim[0] = k, d.dim[1] = rows;
    d.stride_bytes[0] = k / 2;
    d.box[0] = nvfp4_gemm::tile_k, d.box[1] = nvfp4_gemm::rows;
    d.swizzle = swizzle_mode::b128;
    return make_tensor_map(d, target::emu);
  }
  tensor_map factor_map_at(std::byte* at, int rows) const {
    return make_tensor_map(factor_map(at, elem::ue4m3, rows, k, nvfp4_format, 1), target::emu);
  }
};

}  // namespace

std::vector<rung> blackwell_rungs() {
  return {row<rung_13>(13, "13_tcgen05", "tcgen05, sums in tensor memory"),
          row<rung_14>(14, "14_cta_pair", "two CTAs multiply together")};
}

std::array<int, 3> nvfp4_tile() { return {nvfp4_gemm::rows, nvfp4_gemm::rows, 32}; }

run_result run_nvfp4(int m, int n, int k, emu::options o) {
  constexpr float scale = 0.25F;  // of both matrices
  std::mt19937_64 random(1);
  nvfp4_operand const a(m, k, random), b(n, k, random);
  auto const count = static_cast<std::size_t>(m) * static_cast<std::size_t>(n);
  guarded_bytes const at_a(a.elements, o), at_b(b.elements, o), sfa(a.factors, o),
      sfb(b.factors, o), at_d(std::vector<std::byte>(count * sizeof(float), std::byte{0xFF}), o);
  auto* const d = reinterpret_cast<float*>(at_d.data());
  nvfp4_gemm::params const p{a.map(at_a.data(), m),
                             b.map(at_b.data(), n),
                             a.factor_map_at(sfa.data(), m),
                             b.factor_map_at(sfb.data(), n),
                             scale,
                             d,
                             n,
                             (k + nvfp4_gemm::tile_k - 1) / nvfp4_gemm::tile_k};
  run_result result;
  result.report = emu::run(nvfp4_gemm{}, m / nvfp4_gemm::rows * (n / nvfp4_gemm::rows), p, o);
  if (!result.report.clean()) return result;
  std::int64_t wrong = 0;  // all sums are exact, in any order
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double const *x = &a.numbers[static_cast<std::size_t>(i) * static_cast<std::size_t>(k)],
                   *y = &b.numbers[static_cast<std::size_t>(j) * static_cast<std::size_t>(k)];
      double sum = 0;
      for (int e = 0; e < k; ++e) sum += x[e] * y[e];
      float const got = d[static_cast<std::size_t>(i) * static_cast<std::size_t>(n) +
                          static_cast<std::size_t>(j)];
      wrong += static_cast<double>(got) != static_cast<double>(scale) * sum ? 1 : 0;
    }
  result.wrong = wrong;
  return result;
}

}  // namespace ladder
