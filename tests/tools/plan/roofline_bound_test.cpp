// SPDX-License-Identifier: Apache-2.0
// roofline_bound_test.cpp  The roofline is a bound: no plan of the library is predicted to be
//                          faster, with the usual tiles and with the plan's own.
#include <charconv>
#include <cmath>
#include <random>
#include <tuple>
#include <utility>

#include "tests/effort.hpp"
#include "tests/tools/support.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/family/family.hpp"
#include "tools/command/roofline/roofline.hpp"
#include "tools/request/problem_request.hpp"

namespace {

using namespace tw;

struct types {
  elem ab, d;
  std::optional<block_format> format{};
};

std::vector<types> const all_types = {{elem::bf16, elem::bf16},
                                      {elem::f16, elem::f32},
                                      {elem::tf32, elem::f32},
                                      {elem::e4m3, elem::bf16},
                                      {elem::s8, elem::s32},
                                      {elem::e4m3, elem::bf16, block_format::mxfp8},
                                      {elem::e2m1, elem::bf16, block_format::nvfp4}};

struct shape {
  std::int64_t m, n, k, batch;
};

/// All plans, of kernels that this build lacks too; none if no kernel computes the problem.
std::vector<gemm_plan> plans_of(shape const& s, types const& t, device const& dev) try {
  problem_request r;
  r.m = s.m, r.n = s.n, r.k = s.k, r.batch = s.batch;
  r.ab = t.ab, r.d = t.d, r.format = t.format;
  void* const aligned = reinterpret_cast<void*>(std::uintptr_t{0x100000});
  gemm_operands const o{aligned, aligned, nullptr, aligned, aligned, std::int64_t{1} << 40};
  return plan_candidates(problem_of(r), o, dev, kernel_set::all);
} catch (rejected const&) {
  return {};
}

/// The first two numbers of "128x256x64".
std::pair<std::int64_t, std::int64_t> numbers_in(std::string_view text) {
  std::int64_t first = 0, second = 0;
  char const* const end = text.data() + text.size();
  auto const [x, error] = std::from_chars(text.data(), end, first);
  std::from_chars(x + 1, end, second);
  EXPECT_GT(second, 0) << text;
  return {first, second};
}

/// The problem with the tile and the cluster of a kernel's name, sm90_..._128x256x64_2x1_s4; none
/// for kernels without tiles.
std::optional<roofline_problem> with_tiles_of(gemm_plan const& plan, roofline_problem p) {
  if (plan.family->id() == "gemv") return std::nullopt;
  std::vector<std::string> parts{""};
  for (char const c : plan.kernel) {
    if (c == '_')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  p.m = plan.normal.m, p.n = plan.normal.n;
  p.cluster_m = p.cluster_n = 1;
  bool tiles = false;
  for (std::string const& part : parts) {
    bool const numbers = !part.empty() && part[0] >= '0' && part[0] <= '9';
    if (!numbers || part.find('x') == std::string::npos) continue;
    if (std::exchange(tiles, true))
      std::tie(p.cluster_m, p.cluster_n) = numbers_in(part);
    else
      std::tie(p.tile_m, p.tile_n) = numbers_in(part);
  }
  EXPECT_TRUE(tiles) << plan.kernel;
  // A tile of 256 rows of a tcgen05 kernel is a pair's.
  if (plan.kernel.starts_with("sm100") && p.tile_m == 256) p.tile_m = 128, p.cluster_m = 2;
  return p;
}

std::vector<shape> shapes() {
  std::vector<shape> all = {{4096, 4096, 4096, 1}, {8192, 8192, 8192, 1}, {16, 4096, 4096, 1},
                            {1, 4096, 4096, 1},    {64, 64, 64, 10000},   {128, 28672, 4096, 1},
                            {96, 8192, 512, 1},    {300, 300, 128, 64},   {16384, 16, 4096, 1},
                            {512, 512, 64, 256},   {192, 192, 65536, 1},  {16384, 16384, 64, 1}};
  std::mt19937 random(20261128);
  for (int i = 0; i < test::sample(150); ++i) {
    auto const extent = [&] {
      double const power = std::uniform_real_distribution<>(3, 14)(random);
      return static_cast<std::int64_t>(std::exp2(power)) / 8 * 8;
    };
    all.push_back({extent(), extent(), extent(), i % 3 == 0 ? 1 + i : 1});
  }
  return all;
}

TEST(RooflineBound, NoPlanIsPredictedToBeFaster) {
  int compared = 0;
  for (device const& dev : known_devices())
    for (types const& t : all_types)
      for (shape const& s : shapes()) {
        roofline_problem const p{.m = s.m,
                                 .n = s.n,
                                 .k = s.k,
                                 .batch = s.batch,
                                 .ab = t.ab,
                                 .d = t.d,
                                 .format = t.format};
        double const least = roofline_of(p, dev).min_us();
        for (gemm_plan const& plan : plans_of(s, t, dev)) {
          ++compared;
          EXPECT_GE(plan.predicted_us, least)
              << dev.id << " " << name(t.ab) << " " << s.m << "x" << s.n << "x" << s.k << " times "
              << s.batch << ": " << plan.kernel;
          auto const own = with_tiles_of(plan, p);
          if (own) {
            EXPECT_GE(plan.predicted_us, roofline_of(*own, dev).min_us())
                << dev.id << " " << s.m << "x" << s.n << "x" << s.k << " times " << s.batch << ": "
                << plan.kernel << " with its tiles";
          }
        }
      }
  EXPECT_GT(compared, test::sample(10000));
}

}  // namespace
