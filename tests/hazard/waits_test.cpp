// SPDX-License-Identifier: Apache-2.0
// waits_test.cpp  Kernels that hang: the barrier at fault comes first, also where more CTAs are
//                 launched than the device holds.
#include "tests/hazard/protocol.hpp"

namespace tw::test {
namespace {

using memory = hazard_smem&;
using protocol_args = protocol_params const&;

/// 40 CTAs of 33 KiB on a device that holds 7 at once.
template <bool Broken, int Threads, class Body>
emu::report run_crowded(Body body, int schedule) {
  emu::options o = scheduled(schedule);
  o.sms = 1;
  return run_protocol<Broken, Threads, 1>(body, 40, o);
}

class Waits : public Protocol {
 protected:
  /// The first barrier of the report is `barrier`; the report holds `part`, and the CTAs that have
  /// not started are no cause.
  template <int Threads = 128, class Body>
  void expect_first(char const* barrier, char const* part, Body body) {
    expect_clean_report(run_crowded<false, Threads>(body, GetParam()));
    emu::report const alone = run_protocol<true, Threads, 1>(body, 1, scheduled(GetParam()));
    for (emu::report const& r : {run_crowded<true, Threads>(body, GetParam()), alone}) {
      ASSERT_FALSE(r.clean());
      emu::diagnosis const& d = r.diagnoses.front();
      EXPECT_EQ(d.code, "E0001");
      std::string const first = d.text.substr(d.text.find("\n  barrier: "));
      EXPECT_EQ(first.find(std::string("\n  barrier: ") + barrier), 0U) << d.text;
      EXPECT_NE(d.text.find(part), std::string::npos) << d.text;
      EXPECT_EQ(d.text.find("have not started"), std::string::npos) << d.text;
      EXPECT_EQ(d.object.find(barrier), 0U) << d.object;
      expect_readable(r);
    }
  }
};

/// Thread 0 fills two stages, warps 1 to 3 use them. frees(k): do they say that K block k is done?
template <class Frees>
void ring(hazard_smem& s, Frees frees) {
  constexpr int blocks = 6;
  bool const uses = warp_id() > 0;
  if (thread_id() == 0) {
    for (int i = 0; i < 2; ++i) {
      s.full[i].init(1);
      s.empty[i].init(96);
    }
    fence_mbarrier_init();
  }
  cta_sync();
  for (int k = 0; k < blocks; ++k) {
    auto const turn = static_cast<std::uint32_t>(k / 2);
    if (thread_id() == 0) {
      if (k >= 2) s.empty[k % 2].wait((turn - 1) & 1U);
      s.full[k % 2].arrive();
    } else if (uses) {
      s.full[k % 2].wait(turn & 1U);
      if (frees(k)) s.empty[k % 2].arrive();
    }
  }
}

TEST_P(Waits, StagesAreNeverFreed) {
  expect_first("empty[0]", "phase 0: 96 of 96 arrivals never came",
               []<bool Broken>(memory s, protocol_args) { ring(s, [](int) { return !Broken; }); });
}

TEST_P(Waits, StagesAreFreedInTheFirstTurnAlone) {
  expect_first("empty[0]",
               "missing: arrivals of threads 32-127 (test, CTA 0), which arrived "
               "before and now wait for full[0]",
               []<bool Broken>(memory s, protocol_args) {
                 ring(s, [](int k) { return !Broken || k < 2 || thread_id() < 32; });
               });
}

TEST_P(Waits, ParityOfALaterPhase) {
  expect_first("full[0]", "the wait has a later phase's parity",
               []<bool Broken>(memory s, protocol_args p) {
                 make_barriers(s);
                 load_box(p, s.a[0], s.full[0]);
                 s.full[0].wait(0);
                 cta_sync();
                 load_box(p, s.b[0], s.full[1], 64);
                 if (Broken) s.full[0].wait(1);
                 s.full[1].wait(0);
               });
}

TEST_P(Waits, WhoWaitsForOthersComesLater) {
  // cta_sync waits for thread 0, which waits for bytes that no copy brings.
  expect_first("full[0]", "expect_tx is 8 bytes too large",
               []<bool Broken>(memory s, protocol_args p) {
                 make_barriers(s);
                 if (thread_id() == 0) {
                   s.full[0].arrive_expect_tx(Broken ? 8200 : 8192);
                   tma_load(s.a[0], p.inner, s.full[0], tma_coord{0, 0});
                   s.full[0].wait(0);
                 }
                 if (thread_id() == 127) s.empty[1].arrive();
                 if (thread_id() < 127) s.empty[1].wait(0);
                 cta_sync();
               });
}

TEST_P(Waits, BytesThatNoCopyBrings) {
  // Thread 0 waits for a free stage, which depends on the bytes of the first one.
  expect_first("full[0]", "expect_tx is 8 bytes too large",
               []<bool Broken>(memory s, protocol_args p) {
                 make_barriers(s);
                 if (thread_id() == 0) {
                   s.full[0].arrive_expect_tx(Broken ? 8200 : 8192);
                   tma_load(s.a[0], p.inner, s.full[0], tma_coord{0, 0});
                   s.empty[0].wait(0);
                 }
                 if (thread_id() >= 32) s.full[0].wait(0);
                 if (thread_id() == 32) s.empty[0].arrive();
               });
}

TEST_P(Waits, MoreArrivalsThanTheCount) {
  expect_first<160>("empty[0]", "32 phases have ended since the waiting thread last saw one end",
                    []<bool Broken>(memory s, protocol_args) {
                      if (thread_id() == 0) {
                        s.empty[0].init(4);
                        fence_mbarrier_init();
                      }
                      cta_sync();
                      if (warp_id() < 4 && (Broken || thread_id() % 32 == 0)) s.empty[0].arrive();
                      cta_sync();
                      if (warp_id() == 4) s.empty[0].wait(0);
                    });
}

TEST_P(Waits, TwoCommitsWhereOneEndsThePhase) {
  expect_first<64>("empty[0]", "2 phases have ended since the waiting thread last saw one end",
                   []<bool Broken>(memory s, protocol_args) {
                     if (thread_id() == 0) {
                       s.empty[0].init(1);
                       fence_mbarrier_init();
                     }
                     cta_sync();
                     if (thread_id() == 0) {
                       umma_commit(s.empty[0]);
                       s.empty[0].wait(0);
                       if (Broken) {
                         umma_commit(s.empty[0]);
                         s.empty[0].wait(1);
                       }
                     }
                     cta_sync();
                     if (warp_id() == 1) s.empty[0].wait(0);
                   });
}

TEST_P(Waits, ForARegisterBudget) {
  auto const budget = []<bool Broken>(memory, protocol_args) {
    if (warpgroup_id() == 0)
      set_max_regs_dec<Broken ? 32 : 24>();
    else
      set_max_regs_inc<240>();
  };
  expect_clean_report(run_crowded<false, 384>(budget, GetParam()));
  emu::report const r = run_crowded<true, 384>(budget, GetParam());
  ASSERT_FALSE(r.clean());
  EXPECT_EQ(r.diagnoses.front().code, "E0008") << r.text();
}

INSTANTIATE_TEST_SUITE_P(Schedules, Waits, testing::Range(0, 4));

}  // namespace
}  // namespace tw::test
