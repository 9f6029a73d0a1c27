// SPDX-License-Identifier: Apache-2.0
// hazards_test.cpp  For each hazard a small kernel that has it and its neighbour that has not: the
//                   first is named, in every kind of schedule, and the second is left in peace.
#include "tests/hazard/expect.hpp"

namespace tw::test {
namespace {

using memory = hazard_smem&;
using args = hazard_params const&;

auto const race = []<bool Broken>(memory s, args) {
  int const t = thread_id();
  s.x[t] = 1;
  cta_sync();
  float const neighbour = s.x[t ^ 1];  // earlier
  if (!Broken) cta_sync();
  s.x[t] = neighbour;  // now
};
TEST_P(Hazards, E0024RaceOfOrdinaryAccesses) {
  expect({.code = "E0024", .object = "x", .part = "missing: a barrier that leads from"}, race);
}

// Neighbours of one 16-byte cell, and of one 4-byte word: bytes are distinguished.
TEST_P(Hazards, E0024BytesOfOneCell) {
  expect({.code = "E0024", .object = "x", .part = "x"}, []<bool Broken>(memory s, args) {
    auto* const bytes = reinterpret_cast<unsigned char*>(s.x);
    bytes[Broken ? thread_id() / 2 : thread_id()] = 1;  // now and earlier
  });
}

TEST_P(Hazards, E0024NamedBarrierOfTheWrongThreads) {
  expect({.code = "E0024", .object = "x", .part = "x"}, []<bool Broken>(memory s, args) {
    int const t = thread_id();
    s.x[t] = 1;
    cta_sync();
    float const other = s.x[t ^ 64];  // earlier
    named_barrier_sync(Broken ? 1 + t % 128 / 64 : 1, Broken ? 64 : 128);
    s.x[t] = other;  // now
  });
}

TEST_P(Hazards, E0024AccessOfAPeersMemory) {
  expect<128, 2>({.code = "E0024", .object = "x", .part = "x"}, []<bool Broken>(memory s, args) {
    s.x[thread_id()] = 1;
    cluster_sync();
    if (thread_id() == 0) *dsmem(s.x, cluster_rank() ^ 1) = 2;  // earlier
    if (Broken)
      cta_sync();
    else
      cluster_sync();
    float const got = s.x[0];  // now
    cluster_sync();
    s.x[thread_id()] = got;
  });
}

TEST_P(Hazards, E0025StoreWithoutProxyFence) {
  expect({.code = "E0025", .object = "a[0]", .part = "missing: a proxy fence"},
         []<bool Broken>(memory s, args p) {
           for (int i = thread_id(); i < 1024; i += 128) s.a[0][i] = 7;  // earlier
           if (!Broken) fence_proxy_async();
           cta_sync();
           if (thread_id() == 0) {
             tma_store(p.inner, s.a[0], tma_coord{0, 0});  // now
             tma_store_commit();
             tma_store_wait_read<0>();
           }
         });
}

TEST_P(Hazards, E0025StmatrixWithoutProxyFence) {
  expect({.code = "E0025", .object = "a[0]", .part = "written with stmatrix by thread"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           load(s, p, s.a[0], 0);
           s.full[0].wait(0);
           stmatrix<4>(s.a[0] + thread_id() * 2, b32<4>{});  // earlier
           if (!Broken) fence_proxy_async();
           cta_sync();
           if (thread_id() == 0) {
             tma_store(p.inner, s.a[0], tma_coord{0, 0});  // now
             tma_store_commit();
             tma_store_wait_read<0>();
           }
         });
}

TEST_P(Hazards, E0025FenceBeforeTheStores) {
  expect({.code = "E0025", .object = "a[0]", .part = "missing: a proxy fence"},
         []<bool Broken>(memory s, args p) {
           if (Broken) fence_proxy_async();
           for (int i = thread_id(); i < 1024; i += 128) s.a[0][i] = 7;  // earlier
           if (!Broken) fence_proxy_async();
           cta_sync();
           if (thread_id() == 0) {
             tma_store(p.inner, s.a[0], tma_coord{0, 0});  // now
             tma_store_commit();
             tma_store_wait_read<0>();
           }
         });
}

auto const refill = []<bool Broken>(memory s, args p) {
  make_barriers(s);
  load(s, p, s.a[0], 0);
  s.full[0].wait(0);
  std::uint64_t const got = s.a[0][thread_id()];  // earlier
  if (!Broken) fence_proxy_async();
  cta_sync();
  load(s, p, s.a[0], 64);  // now
  s.full[0].wait(1);
  s.x[thread_id()] = static_cast<float>(got);
};
TEST_P(Hazards, E0025RefillOfWhatWasReadPlainly) {
  expect({.code = "E0025", .object = "a[0]", .phase = 1, .part = "earlier: read by"}, refill);
}

TEST_P(Hazards, E0026ReadBeforeTheCopyArrives) {
  expect({.code = "E0026",
          .object = "a[0]",
          .phase = 0,
          .part = "missing: a wait for phase 0 of full[0]"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           load(s, p, s.a[0], 0);  // earlier
           cta_sync();
           std::uint64_t got = 0;
           if (Broken) got = s.a[0][thread_id()];  // now
           s.full[0].wait(0);
           if (!Broken) got = s.a[0][thread_id()];
           s.x[thread_id()] = static_cast<float>(got);
         });
}

TEST_P(Hazards, E0026WaitOnAnotherBarrier) {
  expect({.code = "E0026", .object = "a[0]", .phase = 0, .part = "has seen none end"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           load(s, p, s.a[0], 0, 0);  // earlier
           load(s, p, s.a[1], 64, 1);
           s.full[Broken ? 1 : 0].wait(0);
           std::uint64_t const got = s.a[0][thread_id()];  // now
           s.full[Broken ? 0 : 1].wait(0);
           s.x[thread_id()] = static_cast<float>(got);
         });
}

auto const multiply_and_refill = []<bool Broken>(memory s, args p) {
  accumulator<64> acc;
  make_barriers(s);
  load(s, p, s.a[0], 0, 0);
  load(s, p, s.b[0], 0, 1);
  s.full[0].wait(0);
  s.full[1].wait(0);
  wgmma_fence(acc);
  multiply(acc, operand(s.a[0]), operand(s.b[0]));  // earlier
  wgmma_commit();
  if (!Broken) wgmma_wait<0>(acc);
  cta_sync();
  load(s, p, s.a[0], 64, 0);  // now
  s.full[0].wait(1);
  wgmma_wait<0>(acc);
};
TEST_P(Hazards, E0027RefillWhileWgmmaReads) {
  expect(
      {.code = "E0027", .object = "a[0]", .phase = 1, .part = "the thread has waited for no group"},
      multiply_and_refill);
}

TEST_P(Hazards, E0028WriteWhileATmaStoreReads) {
  expect({.code = "E0028",
          .object = "a[0]",
          .part = "earlier: read by a TMA store, bulk group 0 of thread 0 (test, CTA 0, warp 0)"},
         []<bool Broken>(memory s, args p) {
           for (int round = 0; round < 2; ++round) {
             for (int i = thread_id(); i < 1024; i += 128) s.a[0][i] = 7;  // now
             fence_proxy_async();
             cta_sync();
             if (thread_id() == 0) {
               tma_store(p.inner, s.a[0], tma_coord{64 * round, 0});  // earlier
               tma_store_commit();
               if (!Broken || round == 1) tma_store_wait_read<0>();
             }
             cta_sync();
           }
         });
}

TEST_P(Hazards, E0029ReadOfUnwrittenBytes) {
  expect({.code = "E0029", .object = "x+0x200", .part = "x+0x200"},
         []<bool Broken>(memory s, args) {
           s.x[thread_id()] = 1;
           float const got = s.x[thread_id() + (Broken ? 128 : 0)];  // now
           s.x[thread_id()] = got;
         });
}

TEST_P(Hazards, E0029HalfAWordIsMissing) {
  expect({.code = "E0029", .object = "x", .part = "x"}, []<bool Broken>(memory s, args) {
    auto* const bytes = reinterpret_cast<unsigned char*>(s.x + thread_id());
    bytes[0] = bytes[1] = 0;
    if (!Broken) bytes[2] = bytes[3] = 0;
    s.x[256 + thread_id()] = s.x[thread_id()];  // now
  });
}

TEST_P(Hazards, E0029ReadOfWhatMayBeAnything) {
  expect({.code = "E0029", .object = "b[0]", .part = "b[0]"}, []<bool Broken>(memory s, args p) {
    accumulator<64> acc;
    make_barriers(s);
    load(s, p, s.a[0], 0);
    if (!Broken && thread_id() == 0) leave_undefined(s.b[0], sizeof s.b[0]);
    s.full[0].wait(0);
    wgmma_fence(acc);
    multiply(acc, operand(s.a[0]), operand(s.b[0]));  // now
    wgmma_commit();
    wgmma_wait<0>(acc);
  });
}

// Memory that others may still read must not be released.
TEST_P(Hazards, E0027GivenUpWhileItIsRead) {
  expect({.code = "E0027", .object = "a[0]", .part = "leave_undefined() changes a[0]"},
         []<bool Broken>(memory s, args p) {
           accumulator<64> acc;
           make_barriers(s);
           load(s, p, s.a[0], 0);
           s.full[0].wait(0);
           wgmma_fence(acc);
           multiply(acc, operand(s.a[0]), operand(s.a[0]));  // earlier
           wgmma_commit();
           if (!Broken) wgmma_wait<0>(acc);
           cta_sync();
           if (thread_id() == 0) leave_undefined(s.a[0], 1024);  // now
           if (Broken) wgmma_wait<0>(acc);
         });
}

// A thread that reads its own word again: the word stays written, and a race with it is still seen.
TEST_P(Hazards, E0024WriteThatItsThreadReadSince) {
  expect({.code = "E0024", .object = "x", .part = "earlier: written by"},
         []<bool Broken>(memory s, args) {
           int const t = thread_id();
           s.x[t] = 1;  // earlier
           float const own = s.x[t];
           if (!Broken) cta_sync();
           s.x[128 + t] = t > 0 ? own + s.x[t - 1] : own;  // now
         });
}

TEST_P(Hazards, E0030AccumulatorReadBeforeTheWait) {
  expect({.code = "E0030", .object = "accumulator of warpgroup 0", .part = "wgmma_wait<0>()"},
         []<bool Broken>(memory s, args p) {
           accumulator<64> acc;
           make_barriers(s);
           load(s, p, s.a[0], 0);
           s.full[0].wait(0);
           wgmma_fence(acc);
           multiply(acc, operand(s.a[0]), operand(s.a[0]));  // earlier
           wgmma_commit();
           float got = 0;
           if (Broken) got = acc[3];  // now
           wgmma_wait<0>(acc);
           s.x[thread_id()] = got + acc[3];
         });
}

TEST_P(Hazards, E0031AccumulatorTouchedBeforeTheMultiply) {
  expect(
      {.code = "E0031", .object = "accumulator of warpgroup 0", .part = "wgmma_fence(accumulator)"},
      []<bool Broken>(memory s, args p) {
        accumulator<64> acc;
        make_barriers(s);
        load(s, p, s.a[0], 0);
        s.full[0].wait(0);
        if (!Broken) acc[0] = 0;
        wgmma_fence(acc);
        if (Broken) acc[0] = 0;                           // earlier
        multiply(acc, operand(s.a[0]), operand(s.a[0]));  // now
        wgmma_commit();
        wgmma_wait<0>(acc);
      });
}

TEST_P(Hazards, E0037DescriptorOfAnotherSwizzle) {
  expect({.code = "E0037",
          .object = "a[0]",
          .part = "with a swizzle of 64 bytes; TMA wrote it with 128"},
         []<bool Broken>(memory s, args p) {
           accumulator<64> acc;
           make_barriers(s);
           load(s, p, s.a[0], 0);  // earlier
           s.full[0].wait(0);
           wgmma_fence(acc);
           auto const mode = Broken ? swizzle_mode::b64 : swizzle_mode::b128;
           multiply(acc, operand(s.a[0], 1024, mode), operand(s.a[0], 1024, mode));  // now
           wgmma_commit();
           wgmma_wait<0>(acc);
         });
}

TEST_P(Hazards, E0038DescriptorOfAnotherStride) {
  expect(
      {.code = "E0038", .object = "a[0]", .part = "after the operand's first chunk it should be"},
      []<bool Broken>(memory s, args p) {
        accumulator<64> acc;
        make_barriers(s);
        load(s, p, s.a[0], 0);  // earlier
        s.full[0].wait(0);
        wgmma_fence(acc);
        multiply(acc, operand(s.a[0], Broken ? 512 : 1024), operand(s.a[0]));  // now
        wgmma_commit();
        wgmma_wait<0>(acc);
      });
}

auto const apart_in_k = []<bool Broken>(memory s, args p) {
  accumulator<64> acc;
  make_barriers(s);
  load(s, p, s.a[0], 0, 0);
  load(s, p, s.b[0], Broken ? 64 : 0, 1);
  s.full[0].wait(0);
  s.full[1].wait(0);
  wgmma_fence(acc);
  multiply(acc, operand(s.a[0]), operand(s.b[0]));  // now
  wgmma_commit();
  wgmma_wait<0>(acc);
};
TEST_P(Hazards, E0039OperandsFromDifferentK) {
  expect({.code = "E0039", .object = "a[0]", .part = "A from k = 0 with B from k = 64"},
         apart_in_k);
}

TEST_P(Hazards, E0040BoxOutsideTheTensor) {
  auto const body = []<bool Broken>(memory s, args p) {
    make_barriers(s);
    load(s, p, s.a[0], Broken ? 128 : 64);
    s.full[0].wait(0);
  };
  emu::options o = scheduled(GetParam());
  emu::report const quiet = run_body<true>(body, o);
  EXPECT_TRUE(quiet.clean()) << quiet.text();
  EXPECT_EQ(quiet.counts.boxes_outside, 1);
  o.boxes_outside = true;
  emu::report const told = run_body<true>(body, o);
  ASSERT_TRUE(told.has("E0040"));
  EXPECT_NE(told.diagnoses.front().text.find("begins at (128, 0), in a tensor of (128, 64)"),
            std::string::npos);
  EXPECT_TRUE(run_body<false>(body, o).clean());
}

INSTANTIATE_TEST_SUITE_P(Schedules, Hazards, testing::Values(0, 1, 2), [](auto const& i) {
  return std::string(i.param == 0 ? "eager" : i.param == 1 ? "lazy" : "random");
});

struct HazardOptions : testing::Test {
  void SetUp() override {
    if (!plain_accesses_seen) GTEST_SKIP() << "built without sight of ordinary loads and stores";
  }
};

// The copy is bound to phase 0 and lands in phase 1, which did not expect it.
TEST_F(HazardOptions, E0032CopyThatLandsInAnotherPhase) {
  auto const body = []<bool Broken>(memory s, args p) {
    make_barriers(s);
    if (thread_id() == 0) {
      if (!Broken) s.full[0].expect_tx(8192);
      tma_load(s.a[0], p.inner, s.full[0], tma_coord{0, 0});
      s.full[0].arrive();
    }
    s.full[0].wait(0);
  };
  EXPECT_TRUE(run_body<false>(body, scheduled(1)).clean());
  emu::report const r = run_body<true>(body, scheduled(1));
  EXPECT_TRUE(r.has("E0015")) << r.text();
  ASSERT_TRUE(r.has("E0032")) << r.text();
  expect_objects(r, "full[0] of CTA 0", 0);
  expect_readable(r);
}

// Thread 0 fences for all others, after the barrier.
TEST_F(HazardOptions, FenceOnTheWayCountsUnderTheOtherReading) {
  auto const body = []<bool>(memory s, args p) {
    for (int i = thread_id(); i < 1024; i += 128) s.a[0][i] = 7;
    cta_sync();
    if (thread_id() == 0) {
      fence_proxy_async();
      tma_store(p.inner, s.a[0], tma_coord{0, 0});
      tma_store_commit();
      tma_store_wait_read<0>();
    }
  };
  emu::options o = scheduled(0);
  EXPECT_TRUE(run_body<true>(body, o).has("E0025"));
  o.proxy = emu::proxy_rule::on_path;
  emu::report const r = run_body<true>(body, o);
  EXPECT_TRUE(r.clean()) << r.text();
}

// With no fence at all, the other reading finds it too.
TEST_F(HazardOptions, NoFenceIsNamedUnderBothReadings) {
  emu::options o = scheduled(0);
  o.proxy = emu::proxy_rule::on_path;
  EXPECT_TRUE(run_body<true>(refill, o).has("E0025"));
}

TEST_F(HazardOptions, FenceAfterReadsCanBeWaived) {
  emu::options o = scheduled(2);
  EXPECT_TRUE(run_body<true>(refill, o).has("E0025"));
  o.fence_after_reads = false;
  emu::report const r = run_body<true>(refill, o);
  EXPECT_TRUE(r.clean()) << r.text();
}

TEST_F(HazardOptions, ProvenanceCanBeWaived) {
  emu::options o = scheduled(0);
  o.provenance = false;
  emu::report const r = run_body<true>(apart_in_k, o);
  EXPECT_TRUE(r.clean()) << r.text();
}

TEST_F(HazardOptions, HazardsCanBeSwitchedOff) {
  emu::options o = scheduled(0);
  o.hazards = false;
  EXPECT_TRUE(run_body<true>(race, o).clean());
}

// Three hazards of different lines, each by many threads.
auto const many = []<bool>(memory s, args) {
  int const t = thread_id();
  s.x[t] = 1;
  s.x[128 + t] = 1;
  s.x[256 + t] = 1;
  cta_sync();
  float const got = s.x[t ^ 1] + s.x[128 + (t ^ 1)] + s.x[256 + (t ^ 1)];
  s.x[t] = got;
  s.x[128 + t] = got;
  s.x[256 + t] = got;
};

TEST_F(HazardOptions, OneDiagnosisForAllThreadsOfALine) {
  emu::report const r = run_body<true>(race, scheduled(0));
  int writes = 0;
  for (emu::diagnosis const& d : r.diagnoses) writes += d.count;
  EXPECT_LE(r.diagnoses.size(), 2U) << r.text();
  EXPECT_GE(writes, 64) << r.text();
}

TEST_F(HazardOptions, StopsAfterMostReports) {
  emu::options o = scheduled(0);
  for (int const most : {1, 2, 3}) {
    o.most_reports = most;
    EXPECT_EQ(run_body<true>(many, o).diagnoses.size(), static_cast<std::size_t>(most));
  }
}

TEST_F(HazardOptions, SameOptionsSameReport) {
  for (int schedule = 0; schedule < 3; ++schedule) {
    emu::options o = scheduled(schedule);
    o.random_warps = true;
    std::string const first = run_body<true>(many, o).text();
    EXPECT_EQ(run_body<true>(many, o).text(), first);
    EXPECT_NE(first.find("E0024"), std::string::npos);
  }
}

TEST_F(HazardOptions, ReportAsJson) {
  std::string const text = to_json(run_body<true>(multiply_and_refill, scheduled(1)));
  for (char const* part :
       {R"("seed":8)", R"("code":"E0027")", R"("kind":"stage-overwritten-while-wgmma-reads")",
        R"("file":")", R"("line":)", R"("earlier_line":)", R"("thread":0)",
        R"("object":"a[0] of CTA 0")", R"("phase":1)", R"("count":)"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
}

}  // namespace
}  // namespace tw::test
