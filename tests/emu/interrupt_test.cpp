// SPDX-License-Identifier: Apache-2.0
// interrupt_test.cpp  A caller ends a launch that runs: its function is called in its own thread,
//                     soon and often, and the next launch is as any other.
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "tilewright/arch/select.hpp"

namespace tw::test {
namespace {

/// Two CTAs of `rounds` barriers.
struct meetings {
  static constexpr int threads = 64, cluster = 1, smem_bytes = 0;
  struct params {
    long rounds;
    int* done;
  };
  static void run(params const& p) {
    for (long i = 0; i < p.rounds; ++i) cta_sync();
    if (thread_id() == 0) p.done[cta_id()] = 1;
  }
};

constexpr long for_ever = 1L << 60;
using seconds = std::chrono::duration<double>;

class Interrupt : public testing::TestWithParam<int> {};

TEST_P(Interrupt, EndsTheLaunchSoon) {
  int done[2] = {};
  auto const me = std::this_thread::get_id();
  int called = 0;
  std::chrono::steady_clock::time_point wanted;
  emu::options o;
  o.os_threads = GetParam();
  o.interrupt = [&] {
    EXPECT_EQ(std::this_thread::get_id(), me);
    wanted = std::chrono::steady_clock::now();
    return ++called == 3;
  };
  EXPECT_THROW(emu::run(meetings{}, 2, {for_ever, done}, o), emu::interrupted);
  EXPECT_EQ(called, 3);
  EXPECT_LT(seconds(std::chrono::steady_clock::now() - wanted).count(), 5);
  EXPECT_EQ(done[0] + done[1], 0);

  o.interrupt = [] { return false; };
  EXPECT_TRUE(emu::run(meetings{}, 2, {1000, done}, o).clean());
  EXPECT_EQ(done[0] + done[1], 2);
}

TEST_P(Interrupt, PassesOnWhatItThrows) {
  int done[2] = {};
  emu::options o;
  o.os_threads = GetParam();
  o.interrupt = []() -> bool { throw std::out_of_range("called"); };
  EXPECT_THROW(emu::run(meetings{}, 2, {for_ever, done}, o), std::out_of_range);
  EXPECT_TRUE(emu::run(meetings{}, 2, {10, done}, {}).clean());
}

TEST(Interrupt, DoesNotChangeWhatIsFound) {
  int done[2] = {};
  emu::options o;
  o.os_threads = 1;
  emu::report const without = emu::run(meetings{}, 2, {300, done}, o);
  o.interrupt = [] { return false; };
  emu::report const with = emu::run(meetings{}, 2, {300, done}, o);
  EXPECT_EQ(with.counts.barriers, without.counts.barriers);
  EXPECT_EQ(with.text(), without.text());
}

// Kernels compiled without the calls before ordinary accesses: no fault, but a report says it.
TEST(Report, SaysThatOrdinaryAccessesWereNotSeen) {
  int done[2] = {};
  emu::report const blind = emu::run<meetings, false>({}, 2, {1, done}, {});
  EXPECT_TRUE(blind.clean());
  EXPECT_NE(blind.text().find("ordinary loads and stores were not seen"), std::string::npos);
  EXPECT_NE(emu::to_json(blind).find("\"plain_accesses_seen\":false"), std::string::npos);
  emu::report const seeing = emu::run<meetings, true>({}, 2, {1, done}, {});
  EXPECT_EQ(seeing.text(), "no hazard was found");
  EXPECT_NE(emu::to_json(seeing).find("\"plain_accesses_seen\":true"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Threads, Interrupt, testing::Range(1, 3));

}  // namespace
}  // namespace tw::test
