// SPDX-License-Identifier: Apache-2.0
// l2_hints_test.cpp  The L2 cache hints of a launch for its operands and its result.
#include "family/sm90_gemm/l2_hints.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "family/sm90_gemm/params.hpp"
#include "problems.hpp"
#include "tilewright/arch/emu/tensor_map_emu.hpp"

namespace tw::test {
namespace {

constexpr int all = 132;  // SMs

l2_hints l2_hints_of(gemm_config const& c, int ctas, gemm_problem const& q) {
  return tw::l2_hints_of(c, ctas, q, h200());
}

constexpr gemm_config row_major(int m, int n) {
  gemm_config c;
  c.tile_m = m, c.tile_n = n, c.cluster_m = 1, c.cluster_n = 1;
  return c;
}
constexpr gemm_config m_major(int m, int n) {
  gemm_config c = row_major(m, n);
  c.d_m = true;
  return c;
}

TEST(L2Hints, WeightsOfSmallMAreEvictedFirst) {
  l2_hints const h = l2_hints_of(m_major(64, 16), all, tn(14336, 16, 4096));
  EXPECT_EQ(h.a, l2_load::evict_first);
  EXPECT_EQ(h.b, l2_load::plain);  // all CTAs load it
  EXPECT_FALSE(h.d_evict_first);
}

TEST(L2Hints, ManyCtasFetchThemInPiecesOf128Bytes) {
  EXPECT_TRUE(l2_hints_of(m_major(64, 32), 101, tn(14336, 32, 4096)).a_by_128_bytes);
  EXPECT_FALSE(l2_hints_of(m_major(64, 32), 100, tn(14336, 32, 4096)).a_by_128_bytes);
  EXPECT_FALSE(l2_hints_of(m_major(64, 64), all, tn(14336, 33, 4096)).a_by_128_bytes);
  EXPECT_FALSE(l2_hints_of(m_major(64, 32), all, tn(14336, 33, 4096)).a_by_128_bytes);  // plain
}

TEST(L2Hints, NotWhatAnotherTileLoadsAgain) {
  EXPECT_EQ(l2_hints_of(m_major(64, 16), all, tn(14336, 17, 4096)).a, l2_load::plain);
  EXPECT_EQ(l2_hints_of(row_major(64, 64), all, tn(65, 14336, 4096)).b, l2_load::plain);
  gemm_problem one_a_for_all = batch_of(tn(4096, 16, 128), 8);
  EXPECT_EQ(l2_hints_of(m_major(64, 16), all, one_a_for_all).a, l2_load::evict_first);
  one_a_for_all.a.batch_stride_elems = 0;
  EXPECT_EQ(l2_hints_of(m_major(64, 16), all, one_a_for_all).a, l2_load::plain);
  gemm_problem one_b_for_all = batch_of(tn(128, 4096, 4096), 4);
  EXPECT_EQ(l2_hints_of(row_major(128, 128), all, one_b_for_all).b, l2_load::evict_first);
  one_b_for_all.b.batch_stride_elems = matrix_desc::by_pointers;
  EXPECT_EQ(l2_hints_of(row_major(128, 128), all, one_b_for_all).b, l2_load::evict_first);
  one_b_for_all.b.batch_stride_elems = 0;
  EXPECT_EQ(l2_hints_of(row_major(128, 128), all, one_b_for_all).b, l2_load::plain);
}

TEST(L2Hints, NotBesideALargeD) {
  EXPECT_EQ(l2_hints_of(m_major(64, 64), all, tn(93750, 64, 4096)).a, l2_load::evict_first);
  EXPECT_EQ(l2_hints_of(m_major(64, 64), all, tn(93751, 64, 4096)).a, l2_load::plain);  // 12 MB
}

TEST(L2Hints, OnTheSideOfBOnlyLongOnes) {
  auto const of = [](gemm_config const& c, int ctas, std::int64_t n) {
    return l2_hints_of(c, ctas, tn(128, n, 4096)).b;
  };
  EXPECT_EQ(of(row_major(128, 128), all, 14336), l2_load::evict_first);
  EXPECT_EQ(of(row_major(128, 128), 66, 14336), l2_load::plain);
  EXPECT_EQ(of(row_major(128, 128), all, 7323), l2_load::plain);  // 60 MB
  EXPECT_EQ(of(row_major(128, 128), all, 7325), l2_load::evict_first);
  EXPECT_EQ(l2_hints_of(row_major(64, 128), all, tn(64, 62000, 4096)).b, l2_load::plain);  // 508 MB
  EXPECT_EQ(of(row_major(128, 256), all, 14336), l2_load::plain);
  gemm_config pingpong = row_major(128, 128);
  pingpong.pingpong = true;
  EXPECT_EQ(of(pingpong, all, 14336), l2_load::plain);
}

TEST(L2Hints, FewCtasWithTilesOf64RowsLoadAnotherWay) {
  auto const of = [](gemm_config const& c, int ctas) {
    return l2_hints_of(c, ctas, tn(512, 512, 8192)).a;
  };
  EXPECT_EQ(of(m_major(64, 64), 50), l2_load::evict_normal);
  EXPECT_EQ(of(m_major(64, 64), 51), l2_load::plain);
  EXPECT_EQ(of(m_major(128, 64), 32), l2_load::plain);
  EXPECT_EQ(of(row_major(64, 64), 32), l2_load::plain);
}

TEST(L2Hints, OnlyDWhereCtasMulticastOrPingPong) {
  auto const multicast = [](gemm_config c) { return c.cluster_n = 2, c; };
  auto const pingpong = [](gemm_config c) { return c.pingpong = true, c; };
  gemm_problem const columns = tn(14336, 64, 4096), rows = tn(64, 14336, 4096);
  for (auto const& with : {+multicast, +pingpong}) {
    EXPECT_EQ(l2_hints_of(with(m_major(64, 64)), all, columns).a, l2_load::plain);
    EXPECT_EQ(l2_hints_of(with(m_major(64, 64)), 32, tn(512, 512, 8192)).a, l2_load::plain);
    EXPECT_EQ(l2_hints_of(with(row_major(64, 64)), all, rows).b, l2_load::plain);
    EXPECT_TRUE(l2_hints_of(with(row_major(128, 128)), all, tn(8192, 8192, 64)).d_evict_first);
  }
  EXPECT_EQ(l2_hints_of(m_major(64, 64), all, columns).a, l2_load::evict_first);
  EXPECT_EQ(l2_hints_of(row_major(64, 64), all, rows).b, l2_load::evict_first);
}

TEST(L2Hints, ADThatIsLargerThanL2MakesRoomFirst) {
  auto const first = [](gemm_problem const& p) {
    return l2_hints_of(row_major(128, 256), all, p).d_evict_first;
  };
  EXPECT_TRUE(first(tn(5001, 5000, 4096)));
  EXPECT_FALSE(first(tn(5000, 5000, 4096)));
  EXPECT_TRUE(first(tn(3600, 3600, 64, elem::f32)));
  EXPECT_TRUE(first(batch_of(tn(1000, 1000, 64), 26)));
  gemm_problem gated = tn(2048, 16384, 64);  // 67 MB of gates and what they multiply
  EXPECT_TRUE(first(gated));
  gated.epilogue.gate = gating::split;
  EXPECT_FALSE(first(gated));
}

TEST(L2Hints, TheParametersOfALaunchHaveThem) {
  auto const params_of = [](gemm_problem const& p) {
    gemm_plan const plan = plan_gemm(p, with_workspace(), h200());
    launch_form const f = form_of(plan, with_workspace());
    return make_params(plan, f.problem, f.operands, target::emu);
  };
  // Transposed, M-major: the weights are A.
  gemm_params const few = params_of(tn(32, 16384, 4000)), large = params_of(tn(8192, 8192, 128));
  EXPECT_EQ(few.a_l2, l2_load::evict_first);
  EXPECT_EQ(few.b_l2, l2_load::plain);
  EXPECT_TRUE(unpack_tensor_map_emu(few.a).l2_fetches_128);
  EXPECT_FALSE(unpack_tensor_map_emu(few.b).l2_fetches_128);
  EXPECT_EQ(few.epilogue.d_evict_first, 0);
  EXPECT_EQ(large.a_l2, l2_load::plain);
  EXPECT_EQ(large.b_l2, l2_load::plain);
  EXPECT_EQ(large.epilogue.d_evict_first, 1);
}

}  // namespace
}  // namespace tw::test
