// SPDX-License-Identifier: Apache-2.0
// statistics_test.cpp  A run counts its operations; hazards or not, the counts are the same.
#include <gtest/gtest.h>

#include "tilewright/arch/select.hpp"
#include "tilewright/arch/tensor_map.hpp"

namespace tw {
namespace {

/// Each CTA of a pair: 4 rounds of load, wait, store.
struct rounds {
  static constexpr int threads = 64, cluster = 2;
  struct smem {
    alignas(128) float box[32][32];
    mbarrier landed;
  };
  static constexpr int smem_bytes = sizeof(smem);
  struct params {
    tensor_map from, to;
  };

  static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) {
      s.landed.init(1);
      fence_mbarrier_init();
    }
    cta_sync();
    for (int i = 0; i < 4; ++i) {
      if (thread_id() == 0) {
        s.landed.arrive_expect_tx(sizeof(s.box));
        tma_load(s.box, p.from, s.landed, tma_coord<2>{{0, 0}});
        s.landed.wait(static_cast<std::uint32_t>(i) & 1U);
        tma_store(p.to, s.box, tma_coord<2>{{0, 32 * cta_id()}});
        tma_store_commit();
        tma_store_wait<0>();
      }
      cta_sync();
    }
    cluster_sync();
  }
};

emu::report run(bool hazards) {
  static std::vector<float> from(32 * 32, 1.0F), to(4 * 32 * 32);
  auto const map = [](std::vector<float>& v) {
    tensor_map_desc d;
    d.base = v.data();
    d.type = elem::f32;
    d.dim[0] = d.box[0] = d.box[1] = 32;
    d.dim[1] = static_cast<std::int64_t>(v.size()) / 32;
    d.stride_bytes[0] = 128;
    return make_tensor_map(d, target::emu);
  };
  emu::options o;
  o.hazards = hazards;
  return emu::run(rounds{}, 4, {map(from), map(to)}, o);
}

TEST(Statistics, CountOperations) {
  for (bool const hazards : {true, false}) {
    emu::report const r = run(hazards);
    ASSERT_TRUE(r.clean()) << r.text();
    emu::statistics const& c = r.counts;
    EXPECT_EQ(c.ctas, 4);
    EXPECT_EQ(c.cluster, 2);
    EXPECT_EQ(c.smem_bytes, rounds::smem_bytes);
    EXPECT_EQ(c.mbarriers, 4);
    EXPECT_EQ(c.init_fences, 4);
    EXPECT_EQ(c.arrives, 16);
    EXPECT_EQ(c.remote_arrives, 0);
    EXPECT_EQ(c.expected_bytes, 16 * 4096);
    EXPECT_EQ(c.tma_load_bytes, 16 * 4096);
    EXPECT_EQ(c.tma_loads, 16);
    EXPECT_EQ(c.tma_stores, 16);
    EXPECT_EQ(c.mbarrier_waits, 16);
    EXPECT_EQ(c.phases, 16);
    EXPECT_EQ(c.barriers, 4 * 5);
    EXPECT_EQ(c.cluster_barriers, 2);
    EXPECT_EQ(c.wgmmas, 0);
    EXPECT_EQ(c.hazards, hazards);
    EXPECT_FALSE(c.plain_accesses_seen);
  }
}

TEST(Statistics, AreAddedWhereTheOptionsSay) {
  static std::vector<float> memory(32 * 32);
  emu::statistics all;
  emu::options o;
  o.counted = &all;
  o.hazards = false;  // both CTAs store the same tensor
  tensor_map_desc d;
  d.base = memory.data();
  d.type = elem::f32;
  d.dim[0] = d.dim[1] = d.box[0] = d.box[1] = 32;
  d.stride_bytes[0] = 128;
  tensor_map const map = make_tensor_map(d, target::emu);
  for (int i = 0; i < 2; ++i) launch<rounds>(2, {map, map}, o);
  EXPECT_EQ(all.ctas, 4);
  EXPECT_EQ(all.tma_loads, 16);
}

}  // namespace
}  // namespace tw
