// SPDX-License-Identifier: Apache-2.0
// gemm_emu_test.cpp  Every kernel in the emulator against float64, over random shapes and seeds.
#include "tests/effort.hpp"
#include "tests/kernel/gemm_cases.hpp"

#include <algorithm>
#include <set>

#include "tests/kernel/built_kernels.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tilewright/kernel/sm90/fixup_size.hpp"

namespace tw::test {
namespace {

class GemmEmu : public testing::TestWithParam<async_policy> {};

/// Runs `p` with one of its plans, its tiles in any order.
void run_any_plan(product& p, int i, emu_options& o, std::mt19937_64& rng, emu_workspace& space) {
  o.seed = rng();
  o.random_warps = i % 2 != 0;
  o.sms = 2 + 2 * (i % 3);
  gemm_operands operands = p.operands();
  space.give(operands);
  std::vector<gemm_plan> plans =
      plan_candidates(p.problem, operands, with_sm_count(known_device("h200"), o.sms));
  gemm_plan& plan = plans[rng() % plans.size()];
  plan.schedule.raster = static_cast<order_kind>(rng() % 3);
  plan.schedule.band = 1 << rng() % 4;
  emulate(plan, operands, o);
  expect_right(p);
  if (testing::Test::HasFailure())
    ADD_FAILURE() << "case " << i << ", emulator seed " << o.seed << ", " << plan.kernel << ", "
                  << plan.why;
}

TEST_P(GemmEmu, RandomProblemsKeepTheBound) {
  std::mt19937_64 rng(20261120 + static_cast<int>(GetParam()));
  emu_workspace space;
  emu_options o;
  o.policy = GetParam();
  for (int i = 0; i < sample(80) && !HasFailure(); ++i) {
    product p = random_product(rng, i % 4 == 0 ? 700 : i % 4 == 1 ? 64 : 300);
    run_any_plan(p, i, o, rng, space);
  }
}

TEST_P(GemmEmu, RandomBatchesKeepTheBound) {
  std::mt19937_64 rng(20261121 + static_cast<int>(GetParam()));
  emu_workspace space;
  emu_options o;
  o.policy = GetParam();
  int by_pointers = 0;
  for (int i = 0; i < sample(60) && !HasFailure(); ++i) {
    product p = random_product(rng, i % 3 == 0 ? 300 : i % 3 == 1 ? 40 : 150, i % 4 == 0 ? 20 : 4);
    by_pointers += p.problem.a.has_pointers() + p.problem.d.has_pointers();
    run_any_plan(p, i, o, rng, space);
  }
  EXPECT_GE(by_pointers, sample(20));
}

INSTANTIATE_TEST_SUITE_P(Policies, GemmEmu,
                         testing::Values(async_policy::eager, async_policy::lazy,
                                         async_policy::random),
                         [](auto const& i) {
                           return i.param == async_policy::eager  ? "eager"
                                  : i.param == async_policy::lazy ? "lazy"
                                                                  : "random";
                         });

/// The plan's D is right, whatever order the emulator lets things happen in.
void run_at_random(gemm_plan const& plan, product& p, gemm_operands const& operands,
                   std::uint64_t seed, int sms = 0) {
  SCOPED_TRACE(plan.kernel + ", " + std::to_string(plan.schedule.clusters) +
               " clusters, emulator seed " + std::to_string(seed));
  std::fill(p.d.bytes.begin(), p.d.bytes.end(), std::byte{0xFF});
  emu_options o;
  o.policy = async_policy::random;
  o.seed = seed;
  o.random_warps = true;
  if (sms > 0) o.sms = sms;
  emulate(plan, operands, o);
  expect_right(p);
}

/// Every tile shape with each way of sharing tiles that its problem allows.
class EveryShape : public testing::TestWithParam<int> {
 protected:
  /// All plans of this shape for an (m, n, k) GEMM. The largest number of parts of a tile.
  int run(int m, int n, int k, elem d, std::set<std::string>& ways) {
    gemm_config const& t = tile_shape(GetParam());
    auto const fill = [&] { return normal_(rng_); };
    product p;
    p.a = make_matrix(elem::bf16, order::row_major, m, k, 0, fill);
    p.b = make_matrix(elem::bf16, order::col_major, k, n, 0, fill);
    p.d = make_matrix(d, t.d_m ? order::col_major : order::row_major, m, n, 8, nullptr);
    bool const with_c = rng_() % 2 == 0;  // else the common epilogue
    p.c = make_matrix(d == elem::f32 ? elem::bf16 : elem::f32,
                      t.d_m ? order::row_major : order::col_major, m, n, 1, fill);
    p.problem = {m, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F};
    if (with_c) p.problem.c = p.c.desc, p.problem.beta = -0.75F;
    gemm_operands operands = p.operands();
    space_.give(operands);
    int max_parts = 1;
    for (int const sms : {2, 8, 24})
      for (gemm_plan const& plan :
           plan_candidates(p.problem, operands, with_sm_count(known_device("h200"), sms))) {
        if (!is_sm90_gemm(plan) || plan.swapped) continue;
        gemm_config const& found = config_of(plan);
        if (found.a.multiplied != elem::bf16 || found != config_of(t, found.a, found.b, d))
          continue;
        std::string const way = plan.kernel + " k=" + std::to_string(k) + " " +
                                std::to_string(plan.schedule.split_k_tiles) + " tiles by " +
                                std::to_string(plan.schedule.split_k_clusters);
        if (!ways.insert(way).second) continue;
        max_parts =
            std::max(max_parts, plan.schedule.split_k_tiles == 0
                                    ? 1
                                    : plan.schedule.split_k_clusters / plan.schedule.split_k_tiles);
        run_at_random(plan, p, operands, rng_(), sms);
        if (HasFailure()) {
          ADD_FAILURE() << way;
          return max_parts;
        }
      }
    return max_parts;
  }

 private:
  std::mt19937_64 rng_{static_cast<unsigned>(GetParam())};
  std::normal_distribution<float> normal_;
  emu_workspace space_;
};

/// Clusters that share K: on a wave of tiles as the planner has it, and on several tiles in turn.
class ClusterK : public testing::TestWithParam<int> {};

TEST_P(ClusterK, EachTileInEachWay) {
  gemm_config const& t = tile_shape(GetParam());
  std::mt19937_64 rng{static_cast<unsigned>(GetParam())};
  std::normal_distribution<float> normal;
  auto const fill = [&] { return normal(rng); };
  int const m = 2 * t.tile_m - 24, n = t.tile_n + 8;
  for (elem const d : {elem::bf16, elem::f32}) {
    int const k = 64 * (4 * t.cluster_k + (d == elem::bf16 ? 1 : 3)) - 8;  // 9 blocks of two, 11
    product p;
    p.a = make_matrix(elem::bf16, order::row_major, m, k, 0, fill);
    p.b = make_matrix(elem::bf16, order::col_major, k, n, 0, fill);
    p.d = make_matrix(d, t.d_m ? order::col_major : order::row_major, m, n, 8, nullptr);
    p.c = make_matrix(d == elem::f32 ? elem::bf16 : elem::f32,
                      t.d_m ? order::row_major : order::col_major, m, n, 1, fill);
    p.problem = {m, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F};
    if (rng() % 2 == 0) p.problem.c = p.c.desc, p.problem.beta = -0.75F;
    emu_workspace space;
    gemm_operands operands = p.operands();
    space.give(operands);
    auto const plans =
        plan_candidates(p.problem, operands, with_sm_count(known_device("h200"), 132));
    gemm_config const c = config_of(t, {}, {}, d);
    if (!is_built(c)) continue;
    auto const planned = std::find_if(plans.begin(), plans.end(), [&](gemm_plan const& x) {
      return sm90_config(x) == c && !x.swapped;
    });
    ASSERT_NE(planned, plans.end());
    EXPECT_EQ(planned->schedule.clusters, 4);
    for (int const clusters : {4, 3, 1}) {
      gemm_plan plan = *planned;
      plan.schedule.clusters = clusters;
      run_at_random(plan, p, operands, rng());
      ASSERT_FALSE(HasFailure());
    }
  }
}

std::string shape_name(testing::TestParamInfo<int> const& i) {
  gemm_config const& t = tile_shape(i.param);
  return "tile_" + std::to_string(t.tile_m) + "x" + std::to_string(t.tile_n) + "_" +
         std::to_string(t.cluster_m) + "x" + std::to_string(t.cluster_n) +
         (t.cluster_k > 1 ? "x" + std::to_string(t.cluster_k) : "") + "_s" +
         std::to_string(t.stages) + (t.pingpong ? "_pingpong" : "") + (t.d_m ? "_m_major" : "");
}

bool shares(int shape) { return tile_shape(shape).shares_tiles(); }

/// Kernels without a fused epilogue (fused_emu_test.cpp) and without groups (groups_emu_test.cpp).
std::vector<int> plain_shapes(bool in_k) {
  std::vector<int> all;
  for (int i = 0; i < static_cast<int>(tile_shapes().size()); ++i)
    if (!tile_shape(i).fused() && !tile_shape(i).grouped() && (tile_shape(i).cluster_k > 1) == in_k)
      all.push_back(i);
  return all;
}
std::vector<int> tall_shapes() {
  std::vector<int> tall = plain_shapes(false);
  std::erase_if(tall, [](int i) { return tile_shape(i).tile_m < 192; });
  return tall;
}

std::vector<int> sharing_shapes() {
  std::vector<int> all = plain_shapes(false);
  std::erase_if(all, [](int shape) { return !shares(shape); });
  return all;
}

INSTANTIATE_TEST_SUITE_P(Shapes, ClusterK, testing::ValuesIn(plain_shapes(true)), shape_name);

TEST_P(EveryShape, WholeAndSplitKTiles) {
  gemm_config const& t = tile_shape(GetParam());
  std::set<std::string> ways;
  for (elem const d : {elem::bf16, elem::f32})
    run(2 * t.tile_m * t.cluster_m + 24, t.tile_n * t.cluster_n + 40, 1000, d, ways);
  EXPECT_GE(ways.size(), shares(GetParam()) ? 2U : 1U);
}

/// The contiguous side of D ends inside of a 16-byte chunk, so that tiles that TMA stores as they
/// are and tiles with plain stores take turns in one CTA, in the same staging buffers.
TEST_P(EveryShape, TilesByTmaAndRaggedOnesTakeTurns) {
  gemm_config const& t = tile_shape(GetParam());
  int const m = 2 * t.tile_m * t.cluster_m + 25, n = 2 * t.tile_n * t.cluster_n + 43, k = 200;
  std::mt19937_64 rng{static_cast<unsigned>(GetParam())};
  std::normal_distribution<float> normal;
  auto const fill = [&] { return normal(rng); };
  product p;
  p.a = make_matrix(elem::bf16, order::row_major, m, k, 0, fill);
  p.b = make_matrix(elem::bf16, order::col_major, k, n, 0, fill);
  p.d = make_matrix(elem::bf16, t.d_m ? order::col_major : order::row_major, m, n,
                    8 - (t.d_m ? m : n) % 8, nullptr);
  p.problem = {m, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F};
  gemm_operands const operands = p.operands();
  auto const plans = plan_candidates(p.problem, operands, with_sm_count(known_device("h200"), 132));
  gemm_config const& c = t;
  auto const planned = std::find_if(plans.begin(), plans.end(), [&](gemm_plan const& x) {
    return sm90_config(x) == c && !x.swapped;
  });
  ASSERT_NE(planned, plans.end());
  ASSERT_FALSE(planned->direct_d);
  for (int const clusters : {1, 2}) {
    gemm_plan plan = *planned;
    plan.schedule.clusters = clusters;
    run_at_random(plan, p, operands, rng());
    ASSERT_FALSE(HasFailure());
  }
}

class TallShape : public EveryShape {};

/// In the last tiles one warpgroup has rows of D; the others free stages, tile after tile, and no
/// thread of theirs may miss a phase or run ahead.
TEST_P(TallShape, WarpgroupsBelowDKeepStep) {
  gemm_config const& t = tile_shape(GetParam());
  int const m = t.tile_m * t.cluster_m + 40, n = 3 * t.tile_n * t.cluster_n;
  int const k = 64 * (2 * t.stages + 1);
  std::mt19937_64 rng{static_cast<unsigned>(GetParam())};
  std::normal_distribution<float> normal;
  auto const fill = [&] { return normal(rng); };
  product p;
  p.a = make_matrix(elem::bf16, order::row_major, m, k, 0, fill);
  p.b = make_matrix(elem::bf16, order::col_major, k, n, 0, fill);
  p.d = make_matrix(elem::bf16, t.d_m ? order::col_major : order::row_major, m, n, 0, nullptr);
  p.problem = {m, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F};
  gemm_operands const operands = p.operands();
  auto const plans = plan_candidates(p.problem, operands, with_sm_count(known_device("h200"), 132));
  gemm_config const& c = t;
  auto const planned = std::find_if(plans.begin(), plans.end(), [&](gemm_plan const& x) {
    return sm90_config(x) == c && !x.swapped && x.schedule.split_k_tiles == 0;
  });
  ASSERT_NE(planned, plans.end());
  for (int i = 0; i < sample(12, 4); ++i) {
    gemm_plan plan = *planned;
    plan.schedule.clusters = 1 + i % 2;
    run_at_random(plan, p, operands, rng());
    ASSERT_FALSE(HasFailure());
  }
}

class SharingShape : public EveryShape {};

TEST_P(SharingShape, MorePartsThanOneGroupAddsInTwoSteps) {
  gemm_config const& t = tile_shape(GetParam());
  std::set<std::string> ways;
  EXPECT_GT(run(t.tile_m * t.cluster_m - 8, t.tile_n * t.cluster_n - 8, 4224, elem::bf16, ways),
            fixup_group(t.tile_n));
}

/// Two tiles in 20 parts each, and in 39 parts of which one is of both.
TEST_P(SharingShape, SoDoTwoTilesEvenlyCutAndNot) {
  gemm_config const& t = tile_shape(GetParam());
  std::mt19937_64 rng{static_cast<unsigned>(GetParam())};
  std::normal_distribution<float> normal;
  auto const fill = [&] { return normal(rng); };
  int const m = 2 * t.tile_m * t.cluster_m - 8, n = t.tile_n * t.cluster_n, k = 64 * 80;
  product p;
  p.a = make_matrix(elem::bf16, order::row_major, m, k, 0, fill);
  p.b = make_matrix(elem::bf16, order::col_major, k, n, 0, fill);
  p.d = make_matrix(elem::bf16, t.d_m ? order::col_major : order::row_major, m, n, 0, nullptr);
  p.problem = {m, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F};
  emu_workspace space;
  gemm_operands operands = p.operands();
  space.give(operands);
  gemm_config const& c = t;
  auto const plans =
      plan_candidates(p.problem, operands, with_sm_count(known_device("h200"), 40 * c.cluster()));
  auto const shared = std::find_if(plans.begin(), plans.end(), [&](gemm_plan const& x) {
    return sm90_config(x) == c && !x.swapped && x.schedule.split_k_tiles == 2 &&
           x.schedule.split_k_clusters == 40;
  });
  ASSERT_NE(shared, plans.end());
  for (int const split_k_clusters : {40, 39}) {
    gemm_plan plan = *shared;
    plan.schedule.clusters = plan.schedule.split_k_clusters = split_k_clusters;
    run_at_random(plan, p, operands, rng());
    ASSERT_FALSE(HasFailure());
  }
}

/// Up to 4 tiles in any number of parts: parts of other lengths, parts of one tile, of the end of a
/// tile and the beginning of the next one, and of all of a tile between two others.
TEST_P(SharingShape, AnyTilesInAnyNumberOfParts) {
  gemm_config const& t = tile_shape(GetParam());
  std::mt19937_64 rng{static_cast<unsigned>(GetParam()) + 100};
  std::normal_distribution<float> normal;
  auto const fill = [&] { return normal(rng); };
  int const m = 4 * t.tile_m * t.cluster_m - 8, n = t.tile_n * t.cluster_n, k_blocks = 7;
  int const k = 64 * k_blocks - 24;
  product p;
  p.a = make_matrix(elem::bf16, order::row_major, m, k, 0, fill);
  p.b = make_matrix(elem::bf16, order::col_major, k, n, 0, fill);
  p.d = make_matrix(elem::bf16, t.d_m ? order::col_major : order::row_major, m, n, 0, nullptr);
  p.problem = {m, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F};
  emu_workspace space;
  gemm_operands operands = p.operands();
  space.give(operands);
  gemm_config const& c = t;
  auto const plans =
      plan_candidates(p.problem, operands, with_sm_count(known_device("h200"), 6 * c.cluster()));
  auto const planned = std::find_if(plans.begin(), plans.end(), [&](gemm_plan const& x) {
    return sm90_config(x) == c && !x.swapped && x.schedule.split_k_tiles > 0;
  });
  ASSERT_NE(planned, plans.end());
  std::set<std::pair<int, int>> cuts;
  while (cuts.size() < 6) {
    int const tiles = 1 + static_cast<int>(rng() % 4);
    int const parts = 2 + static_cast<int>(rng() % static_cast<unsigned>(tiles * k_blocks - 1));
    if (!cuts.insert({tiles, parts}).second) continue;
    gemm_plan plan = *planned;
    plan.schedule.split_k_tiles = tiles;
    plan.schedule.clusters = plan.schedule.split_k_clusters = parts;
    SCOPED_TRACE(std::to_string(tiles) + " tiles in " + std::to_string(parts) + " parts");
    run_at_random(plan, p, operands, rng());
    space.expect_zero();
    ASSERT_FALSE(HasFailure());
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, EveryShape, testing::ValuesIn(plain_shapes(false)), shape_name);
INSTANTIATE_TEST_SUITE_P(Shapes, TallShape, testing::ValuesIn(tall_shapes()), shape_name);
INSTANTIATE_TEST_SUITE_P(Shapes, SharingShape, testing::ValuesIn(sharing_shapes()), shape_name);

product product_of_ones() {
  product p;
  p.a = make_matrix(elem::bf16, order::row_major, 128, 512, 0, [] { return 1.0F; });
  p.b = make_matrix(elem::bf16, order::col_major, 512, 192, 0, [] { return 1.0F; });
  p.d = make_matrix(elem::bf16, order::row_major, 128, 192, 0, nullptr);
  p.problem = {128, 192, 512, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F};
  return p;
}

TEST(Gemm, SplitKOfAKernelWithoutSplitKIsRefused) {
  product p = product_of_ones();
  emu_workspace space;
  gemm_operands operands = p.operands();
  space.give(operands);
  int refused = 0;
  for (gemm_plan plan :
       plan_candidates(p.problem, operands, with_sm_count(known_device("h200"), 8))) {
    if (!is_sm90_gemm(plan) || config_of(plan).shares_tiles()) continue;
    plan.schedule.split_k_tiles = 1, plan.schedule.split_k_clusters = 2;
    try {
      emulate(plan, operands);
      ADD_FAILURE() << plan.kernel;
    } catch (rejected const& r) {
      EXPECT_EQ(r.why().code, "TW0426") << plan.kernel;
      ++refused;
    }
  }
  EXPECT_GT(refused, 5);
}

/// A schedule may come from a text.
TEST(Gemm, ScheduleWithoutClustersOrPastTheTilesIsRefused) {
  product p = product_of_ones();
  emu_workspace space;
  gemm_operands operands = p.operands();
  space.give(operands);
  int checked = 0;
  for (gemm_plan const& plan :
       plan_candidates(p.problem, operands, with_sm_count(known_device("h200"), 8))) {
    if (!is_sm90_gemm(plan)) continue;
    gemm_plan none = plan, past = plan;
    none.schedule.clusters = 0;
    past.schedule.split_k_tiles = 1000, past.schedule.split_k_clusters = 2;
    for (gemm_plan const& wrong : {none, past}) {
      try {
        emulate(wrong, operands);
        ADD_FAILURE() << plan.kernel;
      } catch (rejected const& r) {
        EXPECT_EQ(r.why().code, "TW0427") << plan.kernel;
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 5);
}

}  // namespace
}  // namespace tw::test
