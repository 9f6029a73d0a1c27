// SPDX-License-Identifier: Apache-2.0
// tile_cols_emu_test.cpp  Kernels whose launches choose the columns of their tiles: each number of
//                         them in the emulator, and which ones the planner offers.
#include <algorithm>
#include <set>

#include "tests/kernel/built_kernels.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/gemm_cases.hpp"

namespace tw::test {
namespace {

std::vector<int> narrowing_shapes() {
  std::vector<int> all;
  for (int i = 0; i < static_cast<int>(tile_shapes().size()); ++i)
    if (tile_shape(i).varies_tile_n()) all.push_back(i);
  return all;
}

class TileCols : public testing::TestWithParam<int> {
 protected:
  /// A GEMM with K-major operands and column-major D, padded by `pad`; with C half of the times.
  product make(int m, int n, int k, int pad) {
    auto const fill = [&] { return normal_(rng_); };
    product p;
    p.a = make_matrix(elem::bf16, order::row_major, m, k, 0, fill);
    p.b = make_matrix(elem::bf16, order::col_major, k, n, 0, fill);
    p.d = make_matrix(elem::bf16, order::col_major, m, n, pad, nullptr);
    p.c = make_matrix(elem::f32, order::row_major, m, n, 1, fill);
    p.problem = {m, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F};
    if (rng_() % 2 == 0) p.problem.c = p.c.desc, p.problem.beta = -0.75F;
    return p;
  }

  gemm_config const& config() const { return tile_shape(GetParam()); }

  /// A plan of this kernel.
  gemm_plan plan_for(product& p) const {
    auto const plans =
        plan_candidates(p.problem, p.operands(), with_sm_count(known_device("h200"), 132));
    auto const found = std::find_if(plans.begin(), plans.end(), [&](gemm_plan const& x) {
      return sm90_config(x) == config() && !x.swapped;
    });
    if (found == plans.end()) throw std::logic_error("no plan of this kernel");
    return *found;
  }

  std::mt19937_64 rng_{static_cast<unsigned>(GetParam())};

 private:
  std::normal_distribution<float> normal_;
};

/// Three tiles on one CTA, whose staging buffers they use in turn, and on two. Lines of D are whole
/// 16-byte chunks; or end inside of one, with a last tile cut by 3; or no TMA addresses them, and
/// the last tile has 5 columns.
TEST_P(TileCols, EachNumberOfThem) {
  gemm_config const c = config();
  for (int cols = c.min_tile_n; cols <= c.tile_n; cols += 8)
    for (int const cut : {0, 3, cols - 5}) {
      int const m = c.tile_m + (cut == 0 ? 40 : 37), n = 3 * cols - cut;
      product p = make(m, n, 200, cut == 3 ? 3 : 0);
      gemm_plan plan = plan_for(p);
      plan.schedule.tile_cols = cols;
      for (int const clusters : {1, 2}) {
        plan.schedule.clusters = clusters;
        std::fill(p.d.bytes.begin(), p.d.bytes.end(), std::byte{0xFF});
        emu_options o;
        o.policy = async_policy::random;
        o.seed = rng_();
        o.random_warps = true;
        emulate(plan, p.operands(), o);
        expect_right(p);
        ASSERT_FALSE(HasFailure()) << cols << " columns, cut by " << cut << ", seed " << o.seed;
      }
    }
}

/// Of tiles with `cols` columns, side by side.
int clusters_of(gemm_config const& c, int n, int cols) {
  return (n + cols * c.cluster_n - 1) / (cols * c.cluster_n);
}

/// The planner offers the least columns, and each number with which 8 fewer would need more tiles.
TEST_P(TileCols, PlansHaveAsFewAsTheirTilesNeed) {
  gemm_config const c = config();
  for (int i = 0; i < 40; ++i) {
    int const n = 1 + static_cast<int>(rng_() % 2000);
    product p = make(8, n, 64, 0);
    std::set<int> offered, expected;
    for (gemm_plan const& x :
         plan_candidates(p.problem, p.operands(), with_sm_count(known_device("h200"), 132)))
      if (sm90_config(x) == c && !x.swapped) offered.insert(x.schedule.tile_cols);
    for (int cols = c.min_tile_n; cols <= c.tile_n; cols += 8)
      if (cols == c.min_tile_n || clusters_of(c, n, cols - 8) > clusters_of(c, n, cols))
        expected.insert(cols);
    EXPECT_EQ(offered, expected) << n;
  }
}

TEST_P(TileCols, OthersAreRefused) {
  gemm_config const c = config();
  product p = make(64, 100, 64, 0);
  gemm_plan plan = plan_for(p);
  for (int const cols : {0, c.min_tile_n - 8, c.min_tile_n + 4, c.tile_n + 8}) {
    plan.schedule.tile_cols = cols;
    try {
      emulate(plan, p.operands());
      ADD_FAILURE() << cols;
    } catch (rejected const& r) {
      EXPECT_EQ(r.why().code, "TW0427") << cols;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, TileCols, testing::ValuesIn(narrowing_shapes()),
                         [](testing::TestParamInfo<int> const& i) {
                           gemm_config const& t = tile_shape(i.param);
                           return "tile_" + std::to_string(t.tile_m) + "x" +
                                  std::to_string(t.tile_n) + "_" + std::to_string(t.cluster_m) +
                                  "x" + std::to_string(t.cluster_n);
                         });

}  // namespace
}  // namespace tw::test
