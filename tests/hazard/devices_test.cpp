// SPDX-License-Identifier: Apache-2.0
// devices_test.cpp  Launches on several devices: the exchange of small results is clean, reports
//                   name the devices. tools/check/mutants/rank_mutants.cpp has the faults.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tilewright/arch/emu/devices.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/ranks/exchange.hpp"
#include "tools/check/mutants/gated_gemm.hpp"
#include "tools/check/mutants/mutants.hpp"

namespace tw::test {
namespace {

std::string report_of(std::string_view kernel, std::string_view name) {
  for (mutants::mutant const& m : mutants::all_mutants())
    if (m.kernel == kernel && m.name == name) {
      emu::report r;
      r.diagnoses = m.run(m.which, mutants::schedule(2, 1)).diagnoses;
      return r.text();
    }
  return "no mutant of this name";
}

emu::options schedule(int which, std::uint64_t seed) {
  emu::options o;
  o.os_threads = 1;
  o.policy = which % 3 == 0   ? emu::async_policy::eager
             : which % 3 == 1 ? emu::async_policy::lazy
                              : emu::async_policy::random;
  o.random_warps = which % 2 == 1;
  o.seed = seed;
  return o;
}

class Devices : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!plain_accesses_seen) GTEST_SKIP() << "built without interception";
  }
};
INSTANTIATE_TEST_SUITE_P(Schedules, Devices, testing::Range(0, 6));

void expect_report(std::string_view kernel, std::string_view name, std::string const& code,
                   std::vector<std::string> const& parts) {
  std::string const text = report_of(kernel, name);
  EXPECT_EQ(text.rfind(code, 0), 0U) << text;
  for (std::string const& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(DeviceReports, NameDevicesScopesAndThePolledWords) {
  if (!plain_accesses_seen) GTEST_SKIP() << "built without interception";
  expect_report("rank_push", "acquire-of-gpu-scope", "E0130", {"scope::sys"});
  expect_report("rank_gate", "next-call-too-early", "E0131", {"device 0 still reads the bytes"});
  expect_report("rank_push", "outside-of-the-window", "E0132", {"memory of device"});
  expect_report("rank_push", "flag-never-set", "E0133",
                {"waiting: device 0: thread 0 (CTA 0", "waiting: device 1: thread 0 (CTA 1",
                 "which holds 0x0"});
  expect_report("rank_gate", "no-proxy-fence", "E0044", {"a copy engine wrote the bytes"});
  expect_report("gated_gemm", "no-proxy-fence", "E0044",
                {"a copy engine wrote the bytes", "loads.hpp"});
}

// ---- The exchange -------------------------------------------------------------------------------

/// Ranks that exchange partial results of 5 rows and 40 columns, and add them.
struct exchange_memory {
  static constexpr int rows = 5, cols = 40, ctas = 3;
  struct rank {
    gpu_arena_head head = {};
    failure_record report = {};
    alignas(64) float slots[2][4][rows * cols] = {};  // of each buffer, from each rank
    alignas(64) float partial[rows * cols] = {};
    alignas(64) float d[rows * cols] = {};
  };
  int ranks;
  std::vector<std::unique_ptr<rank>> of;

  exchange_memory(int count, std::uint32_t epoch) : ranks(count) {
    for (int r = 0; r < ranks; ++r) {
      of.push_back(std::make_unique<rank>());
      of.back()->head.epoch.value = epoch;
    }
  }
  emu::report run(std::uint32_t buffer, int call, emu::options const& o) {
    std::vector<exchange_params> all;
    for (int r = 0; r < ranks; ++r) {
      rank& mine = *of[static_cast<std::size_t>(r)];
      for (int i = 0; i < rows * cols; ++i)
        mine.partial[i] = static_cast<float>((r + 2) * i + call);
      exchange_params p = {};
      for (int peer = 0; peer < ranks; ++peer)
        p.at.heads[peer] = &of[static_cast<std::size_t>(peer)]->head;
      p.at.rank = r, p.at.ranks = ranks, p.at.report = &mine.report, p.at.timeout_ns = ~0ULL;
      p.digest = 0xABCD, p.buffer = buffer, p.ctas = ctas, p.unit = 32,
      p.before.act = rank_act::sum;
      for (int peer = 0; peer < ranks; ++peer)
        if (peer != r)
          p.to[peer] = {
              mine.partial,
              reinterpret_cast<std::byte*>(of[static_cast<std::size_t>(peer)]->slots[buffer][r]),
              cols * 4,
              cols * 4,
              rows,
              cols * 4};
      p.adds = true;
      p.sum.parts = mine.slots[buffer], p.sum.part_stride = rows * cols, p.sum.pitch = cols;
      p.sum.own = mine.partial, p.sum.own_index = r;
      p.sum.count = ranks, p.sum.rows = rows, p.sum.cols = cols, p.sum.type = elem::f32;
      p.sum.d = {mine.d, cols, 1, elem::f32};
      p.sum.epilogue.alpha = 1;
      all.push_back(p);
    }
    return emu::run_on_devices(exchange_kernel{}, ctas, std::span<exchange_params const>(all), o);
  }
};

/// Calls with both buffers in turn, then with one buffer twice, as a replayed graph has it.
TEST_P(Devices, TheExchangeOfSmallResultsIsClean) {
  for (int const ranks : {2, 3, 4}) {
    exchange_memory m(ranks, 0xFFFFFFFEU);
    int call = 0;
    for (std::uint32_t const buffer : {1U, 0U, 1U, 1U}) {
      ++call;
      auto const o = schedule(GetParam(), static_cast<std::uint64_t>(call));
      emu::report const r = m.run(buffer, call, o);
      ASSERT_TRUE(r.clean()) << r.text();
      for (auto const& x : m.of) {
        EXPECT_EQ(x->report.whole, 0U);
        EXPECT_EQ(static_cast<std::uint32_t>(x->head.epoch.value),
                  0xFFFFFFFEU + static_cast<std::uint32_t>(call));
        for (int i = 0; i < exchange_memory::rows * exchange_memory::cols; ++i) {
          float want = 0;
          for (int s = 0; s < ranks; ++s) want += static_cast<float>((s + 2) * i + call);
          ASSERT_EQ(x->d[i], want) << "ranks " << ranks << " call " << call << " element " << i;
        }
      }
    }
  }
}

// ---- A GEMM with a gate -------------------------------------------------------------------------

std::vector<int> gated_shards(int ranks, bool uneven) {
  if (!uneven) return std::vector<int>(static_cast<std::size_t>(ranks), 64);
  return ranks == 2   ? std::vector<int>{64, 101}
         : ranks == 3 ? std::vector<int>{70, 0, 122}
                      : std::vector<int>{33, 64, 1, 94};
}

void expect_right(mutants::gated_product const& p, int ranks, int call) {
  EXPECT_EQ(p.wrong_elements(), 0) << ranks << " ranks, call " << call;
  for (auto const& x : p.of) EXPECT_EQ(x->report.whole, 0U) << ranks << " ranks, call " << call;
}

/// Each device multiplies while copy engines of its peers bring its rows of A: no report, and
/// right sums. Two calls with both buffers in turn, whose epochs pass 2^32.
TEST_P(Devices, AGemmWithAGateIsCleanAndRight) {
  for (int const ranks : {2, 3, 4}) {
    mutants::gated_product p(gated_shards(ranks, GetParam() % 2 == 0));
    for (int call = 0; call < 2; ++call) {
      auto const o = schedule(GetParam(), static_cast<std::uint64_t>(10 * ranks + call));
      std::uint32_t const epoch = 0xFFFFFFFFU + static_cast<std::uint32_t>(call);
      ASSERT_NO_THROW(p.run<gate_steps>(call, epoch, o)) << ranks << " ranks";
      expect_right(p, ranks, call);
    }
  }
}

/// As on several devices, of virtual ranks whose CTAs are in one launch on one device.
TEST_P(Devices, VirtualRanksInOneLaunchAreCleanAndRight) {
  for (int ranks = 1 + GetParam() % 2; ranks <= 4; ranks += 2) {
    mutants::gated_product p(ranks == 1 ? std::vector<int>{101}
                                        : gated_shards(ranks, GetParam() % 3 == 0));
    for (int call = 0; call < 2; ++call) {
      auto const o = schedule(GetParam(), static_cast<std::uint64_t>(20 * ranks + call));
      std::uint32_t const epoch = 0xFFFFFFFFU + static_cast<std::uint32_t>(call);
      ASSERT_NO_THROW(p.run_in_one_launch<gate_steps>(call, epoch, o)) << ranks << " ranks";
      expect_right(p, ranks, call);
    }
  }
}

/// Ranks that never send: the GEMMs end after the time-out, and say who waited for whom.
TEST_P(Devices, AGemmWhoseGateStaysClosedEndsAndReports) {
  mutants::gated_product p({64, 64});
  p.silent = 3;
  p.timeout_ns = 1000;
  ASSERT_NO_THROW(p.run<gate_steps>(0, 1, schedule(GetParam(), 5)));
  for (auto const& x : p.of) {
    failure_record const& r = x->report;
    EXPECT_EQ(r.whole, 1U);
    EXPECT_EQ(r.why, rank_failure::late);
    EXPECT_EQ(r.by + r.of, 1U);  // of this rank, or of its peer
    EXPECT_EQ(r.epoch, 1U);
    EXPECT_EQ(r.place.in, rank_waiter::gate);  // before a tile of 64x64
    EXPECT_EQ(r.place.first_row, 64 * r.of);
    EXPECT_EQ(r.place.rows, 64);
    EXPECT_EQ(r.place.cols, 64);
    EXPECT_EQ(r.place.first_col % 64, 0);
    EXPECT_EQ(p.of[1 - r.by]->head.failures[0][r.by].whole, 1U);  // the peer has it too
  }
}

/// A broken group opens the gates at once.
TEST_P(Devices, AGemmLeavesItsGatesIfTheGroupIsBroken) {
  mutants::gated_product p({64, 64});
  p.silent = 1;
  p.of[1]->head.failures[1][0].whole = 1;  // as abort() on rank 0 writes it
  p.of[1]->head.failures[1][0].why = rank_failure::stopped;
  ASSERT_NO_THROW(p.run<gate_steps>(0, 1, schedule(GetParam(), 6)));
  EXPECT_EQ(p.of[1]->report.why, rank_failure::stopped);
}

}  // namespace
}  // namespace tw::test
