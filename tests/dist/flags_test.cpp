// SPDX-License-Identifier: Apache-2.0
// flags_test.cpp  The launches that begin a call and wait for ranks, in the emulator: the words of
//                 the arenas, the flags that a wait accepts, and the reports of a broken group.
#include <memory>

#include "dist/failure.hpp"
#include "dist/membership.hpp"
#include "tests/dist/ranks.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/kernel/ranks/begin_call.hpp"
#include "tilewright/kernel/ranks/exchange.hpp"
#include "tilewright/kernel/ranks/wait.hpp"

namespace tw::dist {
namespace {

constexpr int ranks = 3;
constexpr std::uint32_t digest = 0xABCD;

/// The heads of the arenas of a group, and the launches of its ranks.
struct heads {
  std::vector<std::unique_ptr<gpu_arena_head>> of;
  std::vector<std::unique_ptr<failure_record>> reports;
  std::uint32_t call = 0, refused = 0;  // of the ranks' launches

  explicit heads(std::uint32_t epoch = 0) {
    for (int r = 0; r < ranks; ++r) {
      of.push_back(std::make_unique<gpu_arena_head>());
      of.back()->epoch.value = epoch;
      reports.push_back(std::make_unique<failure_record>());
    }
  }

  ranks_view view(int rank, double timeout_s = 60) const {
    ranks_view v = {};
    for (int r = 0; r < ranks; ++r) v.heads[r] = of[static_cast<std::size_t>(r)].get();
    v.rank = rank, v.ranks = ranks;
    v.report = reports[static_cast<std::size_t>(rank)].get();
    v.timeout_ns = static_cast<std::uint64_t>(timeout_s * 1e9);
    v.call = call, v.refused = refused;
    return v;
  }

  void begin(int rank, std::uint32_t buffer, std::string const& text, std::uint32_t of_problem,
             bool wait = false, double timeout_s = 60) const {
    begin_call_params p = {};
    p.at = view(rank, timeout_s);
    p.digest = of_problem, p.buffer = buffer, p.wait = wait ? 1 : 0;
    put_text(p.text, text);
    launch<begin_call_kernel>(1, p, options());
  }

  void wait(int rank, std::uint32_t from, rank_flag flag = rank_flag::sent,
            double timeout_s = 60) const {
    wait_for_ranks_params p = {};
    p.at = view(rank, timeout_s);
    p.from = from, p.flag = flag, p.before = {rank_act::gemm, 32, 16};
    launch<wait_for_ranks_kernel>(1, p, options());
  }

  /// A copy engine's act: rank `from` sets its flag in the arena of `to`.
  void set(rank_flag flag, int from, int to) const {
    of[static_cast<std::size_t>(to)]->flags[static_cast<int>(flag)][from].value =
        of[static_cast<std::size_t>(from)]->outgoing.value;
  }

  /// A copy engine's act: rank `from` reports its refusals to `to`.
  void refuse(int from, int to, std::uint32_t begun, std::uint32_t count,
              std::string const& why) const {
    put_text(of[static_cast<std::size_t>(from)]->refusal[count % 2], why);
    of[static_cast<std::size_t>(to)]->refusals[from].value = refusals_word(begun, count);
  }

  failure_record const& report(int rank) const { return *reports[static_cast<std::size_t>(rank)]; }
  std::string text(int rank) const {
    return report(rank).whole == 0 ? "" : text_of(report(rank), rank).text;
  }

 private:
  static emu::options options() {
    emu::options o;
    o.os_threads = 1;
    o.catch_crashes = false;
    return o;
  }
};

TEST(Flags, ABegunCallIsCountedAndSentToAllRanks) {
  for (std::uint32_t const epoch : {0U, 0xFFFFFFFEU, 0xFFFFFFFFU}) {
    heads const h(epoch);
    h.begin(1, 0, "first", digest);
    h.begin(1, 1, "second", digest + 1);
    std::uint64_t const want = std::uint64_t{epoch + 2} << 32 | (digest + 1);
    EXPECT_EQ(h.of[1]->epoch.value, epoch + 2U);
    EXPECT_EQ(h.of[1]->outgoing.value, want);
    for (std::size_t r : {0U, 2U})
      EXPECT_EQ(h.of[r]->flags[static_cast<int>(rank_flag::begun)][1].value, want);
    EXPECT_EQ(h.text(1), "");
  }
}

TEST(Flags, AWaitAcceptsItsCallAndLaterOnes) {
  for (std::uint32_t const epoch : {0U, 0xFFFFFFFEU, 0xFFFFFFFFU}) {
    heads const h(epoch);
    for (int r = 0; r < ranks; ++r) h.begin(r, 0, "problem", digest);
    h.set(rank_flag::sent, 1, 0);
    h.begin(2, 1, "next problem", digest + 9);  // a rank that is a call ahead
    h.set(rank_flag::sent, 2, 0);
    h.wait(0, 0b110);
    EXPECT_EQ(h.text(0), "");
  }
}

TEST(Flags, AnOldFlagIsNotAccepted) {
  heads const h;
  for (int r = 0; r < 2; ++r) h.begin(r, 0, "problem", digest);
  h.set(rank_flag::sent, 1, 0);
  h.wait(0, 0b010);
  EXPECT_EQ(h.text(0), "");
  h.begin(0, 1, "problem", digest);
  h.wait(0, 0b010, rank_flag::sent, 1e-6);
  EXPECT_EQ(h.report(0).why, rank_failure::late);
  EXPECT_NE(h.text(0).find("for rank 1 in call 2 before all tiles of its GEMM of 16 rows from "
                           "32; rank 1 was last seen in call 1"),
            std::string::npos)
      << h.text(0);
  h.wait(0, 0b100, rank_flag::results, 1e-6);  // the first report stays
  EXPECT_EQ(h.report(0).of, 1U);
}

TEST(Flags, OtherProblemsAreReportedByTheFlagBegunToo) {
  for (bool const sent : {false, true}) {
    heads const h;
    h.begin(0, 0, "M = 32", digest);
    h.begin(2, 0, "M = 33", digest + 1);
    if (sent) h.set(rank_flag::sent, 2, 0);
    h.wait(0, 0b100);
    EXPECT_EQ(h.report(0).why, rank_failure::other_problem);
    EXPECT_EQ(h.text(0), "rank 0 has M = 32; rank 2 has M = 33");
    h.wait(1, 0b001);  // a third rank leaves its wait with the same report
    EXPECT_EQ(h.text(1), h.text(0));
    EXPECT_FALSE(text_of(h.report(1), 1).found_here);
    EXPECT_TRUE(text_of(h.report(0), 0).found_here);
  }
}

TEST(Flags, ARankThatHasLeftIsNotWaitedForButItsLastFlagCounts) {
  heads const h;
  for (int r = 0; r < ranks; ++r) h.begin(r, 0, "problem", digest);
  h.set(rank_flag::sent, 1, 0);
  h.of[0]->left[1].value = 1;
  h.wait(0, 0b010);
  EXPECT_EQ(h.text(0), "");
  h.begin(0, 1, "problem", digest);
  h.wait(0, 0b010);
  EXPECT_EQ(h.report(0).why, rank_failure::left);
}

/// A rank that refuses a call which this rank begins is not waited for, also if its flag comes
/// later. Refusals that this rank shares, or before an earlier or a later call, do not count.
TEST(Flags, ARefusalOfAPeerEndsAWaitIfThisRankDoesNotRefuse) {
  struct given {
    std::uint32_t begun, count, call, refused;
    bool flag, ends;
  };
  for (given const x : {given{0, 1, 1, 0, false, true}, given{0, 1, 1, 0, true, true},
                        given{6, 3, 7, 2, false, true}, given{0xFFFFFFFF, 1, 0, 0, false, true},
                        given{0, 1, 1, 1, true, false}, given{6, 2, 7, 3, true, false},
                        given{5, 1, 7, 0, true, false}, given{7, 1, 7, 0, true, false}}) {
    heads h;
    h.call = x.call, h.refused = x.refused;
    for (int r = 0; r < 2; ++r) h.begin(r, 0, "problem", digest);
    h.refuse(1, 0, x.begun, x.count, "TW0904: no kernel");
    if (x.flag) h.set(rank_flag::sent, 1, 0);
    h.wait(0, 0b010);
    EXPECT_EQ(h.report(0).why == rank_failure::refused, x.ends) << x.begun << " " << x.count;
    EXPECT_EQ(h.text(0), x.ends ? "rank 1 has refused call 1, in which rank 0 waits for it before "
                                  "all tiles of its GEMM of 16 rows from 32: TW0904: no kernel"
                                : "");
    if (!x.ends) continue;
    h.wait(2, 0b001);  // all ranks learn of it
    EXPECT_EQ(h.text(2), h.text(0));
  }
}

TEST(Flags, ALateRankIsNamedWithThePartOfTheExchange) {
  heads const h;
  exchange_params p = {};
  p.at = h.view(0, 1e-6);
  p.at.ranks = 2;
  p.digest = digest, p.ctas = 1, p.unit = 16, p.before = {rank_act::sum, 0, 24};
  emu::options o;
  o.os_threads = 1;
  launch<exchange_kernel>(1, p, o);
  EXPECT_NE(h.text(0).find("before part 1 of 1 of the exchange for its sum of 24 rows from 0; rank "
                           "1 has begun no call"),
            std::string::npos)
      << h.text(0);
}

TEST(Flags, AStoppedGroupEndsEveryWait) {
  heads const h;
  h.begin(0, 0, "problem", digest);
  failure_record& stop = h.of[0]->failures[1][2];
  stop.why = rank_failure::stopped;
  put_text(stop.text[0], "rank 2 called abort()");
  stop.whole = 1;
  h.wait(0, 0b110);
  EXPECT_EQ(h.text(0), "rank 2 called abort()");
}

TEST(Flags, ACallWithTheBufferOfTheLastOneWaitsUntilAllHaveBegun) {
  heads const h;
  h.begin(0, 0, "problem", digest);
  h.begin(0, 1, "problem", digest, false, 1e-6);  // the other buffer: no wait
  EXPECT_EQ(h.text(0), "");
  h.begin(0, 1, "problem", digest, false, 1e-6);
  EXPECT_EQ(h.report(0).why, rank_failure::late);
  EXPECT_NE(h.text(0).find("in call 3 before its first launch; rank 1 has begun no call"),
            std::string::npos)
      << h.text(0);

  heads const all;
  for (int r = 0; r < ranks; ++r) all.begin(r, 0, "problem", digest);
  for (std::size_t r = 1; r < ranks; ++r) {
    all.of[r]->used.value = 0;  // these do not wait
    all.begin(static_cast<int>(r), 0, "problem", digest);
  }
  all.begin(0, 0, "problem", digest);
  EXPECT_EQ(all.text(0), "");
}

}  // namespace
}  // namespace tw::dist
