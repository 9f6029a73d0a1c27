// SPDX-License-Identifier: Apache-2.0
// trace_test.cpp  The timeline of a recorded launch: well-formed, in the order that the barriers
//                 require, and the same whatever the emulator's schedule was.
#include <gtest/gtest.h>

#include <algorithm>

#include "emu/trace/costs.hpp"
#include "tests/arch/kernels/sync.hpp"
#include "tilewright/arch/emu/trace.hpp"
#include "tools/check/mutants/reference_gemm.hpp"

namespace tw::test {
namespace {

using emu::row_kind;
using emu::slice_kind;
using emu::timeline;
using emu::trace_slice;

tensor_map map_of(void* memory, int inner, int outer, int box_inner, int box_outer) {
  tensor_map_desc d;
  d.base = memory;
  d.dim[0] = inner;
  d.dim[1] = outer;
  d.stride_bytes[0] = inner * 2;
  d.box[0] = box_inner;
  d.box[1] = box_outer;
  d.swizzle = swizzle_mode::b128;
  return make_tensor_map(d, target::emu);
}

constexpr int m = 512, n = 512, k = 256;  // 4 cluster tiles of 256 x 256, 4 K blocks each

emu::trace record(emu::options o, mutants::mutation broken = mutants::mutation::none,
                  std::size_t most_events = emu::trace::most_events_default, int ctas = 2) {
  std::vector<std::uint16_t> a(m * k), b(n * k), d(m * n);
  mutants::gemm_params const p{map_of(a.data(), k, m, 64, 128),
                               map_of(b.data(), k, n, 64, 128),
                               map_of(d.data(), n, m, 64, 64),
                               m / 256,
                               n / 256,
                               k / 64,
                               broken};
  emu::trace t(most_events);
  o.record = &t;
  try {
    launch<mutants::reference_gemm<>>(ctas, p, o);
  } catch (emu::fault const& f) {
    EXPECT_NE(broken, mutants::mutation::none) << f.what();
  }
  return t;
}

bool is_wait(slice_kind s) {
  return s == slice_kind::wait || s == slice_kind::barrier || s == slice_kind::wait_mma ||
         s == slice_kind::wait_store;
}

void expect_well_formed(timeline const& t) {
  trace_slice const* last = nullptr;
  for (trace_slice const& s : t.slices) {
    ASSERT_GE(s.row, 0);
    ASSERT_LT(s.row, static_cast<int>(t.rows.size()));
    EXPECT_FALSE(s.name.empty());
    EXPECT_GE(s.begin, 0);
    EXPECT_LT(s.begin, s.end) << s.name;
    EXPECT_LE(s.end, t.cycles) << s.name;
    if (last != nullptr && last->row == s.row) {
      EXPECT_LE(last->end, s.begin) << last->name << " overlaps " << s.name;
    }
    last = &s;
  }
  for (emu::trace_arrow const& a : t.arrows) {
    trace_slice const &from = t.slices[static_cast<std::size_t>(a.from)],
                      &to = t.slices[static_cast<std::size_t>(a.to)];
    EXPECT_TRUE(is_wait(to.kind)) << to.name;
    EXPECT_FALSE(is_wait(from.kind)) << from.name;
    EXPECT_LE(from.end + emu::cost::wake, to.end) << from.name << " releases " << to.name;
  }
}

int count(timeline const& t, int cta, row_kind row, slice_kind kind) {
  return static_cast<int>(std::ranges::count_if(t.slices, [&](trace_slice const& s) {
    emu::trace_row const& r = t.rows[static_cast<std::size_t>(s.row)];
    return r.cta == cta && r.kind == row && s.kind == kind;
  }));
}

TEST(Trace, GemmHasItsFillsGroupsAndStores) {
  timeline const t = emu::timeline_of(record({}));
  expect_well_formed(t);
  for (int cta = 0; cta < 2; ++cta) {
    EXPECT_EQ(count(t, cta, row_kind::tma_loads, slice_kind::fill), 4 * 4);
    EXPECT_EQ(count(t, cta, row_kind::tensor_core, slice_kind::multiply), 2 * 4 * 4);
    EXPECT_EQ(count(t, cta, row_kind::tma_stores, slice_kind::store), 4 * 2 * 4);
  }
  EXPECT_GE(t.arrows.size(), 2U * 2 * 16);  // at least one per stage and warpgroup
  EXPECT_EQ(t.run, "seed 1, eager completion, 2 CTAs in clusters of 2, 384 threads each");
  EXPECT_TRUE(t.cut_off.empty());
}

TEST(Trace, RowsAreRolesAndEngines) {
  timeline const t = emu::timeline_of(record({}));
  std::vector<std::string> names;
  for (emu::trace_row const& r : t.rows)
    if (r.cta == 1) names.push_back(r.name);
  EXPECT_EQ(names, (std::vector<std::string>{"load (warp 0)", "warp 1", "warp 2", "warp 3",
                                             "math (warps 4-7)", "math (warps 8-11)", "TMA loads",
                                             "tensor core, warpgroup 1", "tensor core, warpgroup 2",
                                             "TMA stores"}));
}

TEST(Trace, ATensorCoreServesOneGroupAtATime) {
  timeline const t = emu::timeline_of(record({}));
  std::vector<trace_slice const*> of_cta;
  for (trace_slice const& s : t.slices)
    if (s.kind == slice_kind::multiply && t.rows[static_cast<std::size_t>(s.row)].cta == 0)
      of_cta.push_back(&s);
  std::ranges::sort(of_cta, {}, [](trace_slice const* s) { return s->begin; });
  for (std::size_t i = 1; i < of_cta.size(); ++i)
    EXPECT_LE(of_cta[i - 1]->end, of_cta[i]->begin) << of_cta[i]->name;
}

TEST(Trace, TheScheduleDoesNotMatter) {
  timeline const eager = emu::timeline_of(record({}));
  for (auto const policy : {emu::async_policy::lazy, emu::async_policy::random})
    for (std::uint64_t const seed : {1, 7}) {
      emu::options o;
      o.policy = policy;
      o.seed = seed;
      o.random_warps = seed == 7;
      timeline const t = emu::timeline_of(record(o));
      expect_well_formed(t);
      ASSERT_EQ(t.slices.size(), eager.slices.size());
      for (std::size_t i = 0; i < t.slices.size(); ++i) {
        trace_slice const &s = t.slices[i], &e = eager.slices[i];
        ASSERT_EQ(std::tuple(s.row, s.begin, s.end, s.name, s.detail),
                  std::tuple(e.row, e.begin, e.end, e.name, e.detail));
      }
    }
}

TEST(Trace, AWaitForStoresEndsAfterThePeers) {
  emu::trace recorded(1 << 20);
  emu::options o;
  o.record = &recorded;
  std::vector<std::uint32_t> out(2 * 4 * 4 * 64);
  launch<store_async_kernel>(4, store_async_kernel::params{out.data(), 2}, o);
  timeline const t = emu::timeline_of(recorded);
  expect_well_formed(t);
  int waits = 0;
  for (trace_slice const& wait : t.slices) {
    if (wait.kind != slice_kind::wait || wait.number < 0) continue;
    ++waits;
    for (trace_slice const& s : t.slices)
      if (s.name.starts_with("store_async landed") && s.number == wait.number) {
        EXPECT_GE(wait.end, s.end + emu::cost::peer) << wait.name << ", " << s.name;
      }
  }
  EXPECT_EQ(waits, 4 * 2 * 2);  // CTAs, warps, rounds
  EXPECT_TRUE(std::ranges::any_of(t.arrows, [&](emu::trace_arrow const& a) {
    return t.slices[static_cast<std::size_t>(a.from)].name.starts_with("store_async landed");
  }));
}

TEST(Trace, AClusterAfterAnotherHasSeparateRows) {
  timeline const t = emu::timeline_of(record({}, mutants::mutation::none, 1 << 20, 4));
  expect_well_formed(t);
  EXPECT_EQ(t.rows.back().cta, 3);
  EXPECT_EQ(t.rows.back().cluster, 1);
  EXPECT_EQ(count(t, 3, row_kind::tma_loads, slice_kind::fill), 2 * 4);
}

TEST(Trace, ADeadlockShowsWhoIsStuckOnWhat) {
  timeline const t = emu::timeline_of(record({}, mutants::mutation::last_stage_never_released));
  expect_well_formed(t);
  EXPECT_TRUE(std::ranges::any_of(t.slices, [&](trace_slice const& s) {
    return s.kind == slice_kind::stuck && s.name.find("phase") != std::string::npos &&
           s.end == t.cycles && t.rows[static_cast<std::size_t>(s.row)].name == "load (warp 0)";
  }));
}

TEST(Trace, ACapLeavesOutTheEndAndSaysSo) {
  timeline const whole = emu::timeline_of(record({}));
  timeline const t = emu::timeline_of(record({}, mutants::mutation::none, 20'000));
  expect_well_formed(t);
  EXPECT_NE(t.cut_off.find("the first 20000 events"), std::string::npos) << t.cut_off;
  EXPECT_LT(t.slices.size(), whole.slices.size());
  EXPECT_FALSE(std::ranges::any_of(
      t.slices, [](trace_slice const& s) { return s.kind == slice_kind::stuck; }));
}

/// One box of 8192 bytes from the tensor to shared memory and back: the times of docs/timeline.md.
struct round_trip {
  using params = tensor_map;
  static constexpr int threads = 32, cluster = 1, smem_bytes = 16 * 1024;
  struct smem {
    alignas(1024) std::byte box[8192];
    mbarrier landed;
  };
  static void run(params const& p) {
    auto& s = dynamic_smem<smem>();
    if (thread_id() != 0) return;
    s.landed.init(1);
    fence_mbarrier_init();
    s.landed.arrive_expect_tx(8192);
    tma_load(s.box, p, s.landed, tma_coord{0, 0});
    s.landed.wait(0);
    tma_store(p, s.box, tma_coord{0, 0});
    tma_store_commit();
    tma_store_wait<0>();
  }
};

TEST(Trace, TimesAreThoseOfTheModel) {
  std::vector<std::uint16_t> memory(64 * 64);
  emu::trace recorded;
  emu::options o;
  o.record = &recorded;
  launch<round_trip>(1, map_of(memory.data(), 64, 64, 64, 64), o);
  timeline const t = emu::timeline_of(recorded);
  std::vector<std::tuple<std::string, std::int64_t, std::int64_t>> seen;
  for (trace_slice const& s : t.slices) seen.emplace_back(s.name, s.begin, s.end);
  // 8 cycles each to arrive and issue; the engine 16 + 8192/64; 700 more to land; 24 to wake.
  EXPECT_EQ(seen, (decltype(seen){{"arrive landed phase 0", 0, 8},
                                  {"issue load box", 8, 16},
                                  {"landed phase 0", 16, 884},
                                  {"issue store box", 884, 892},
                                  {"store group 1 written", 892, 1760},
                                  {"fill box", 16, 160},
                                  {"store box", 892, 1036}}));
}

}  // namespace
}  // namespace tw::test
