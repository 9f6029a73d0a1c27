// SPDX-License-Identifier: Apache-2.0
// occupancy_test.cpp  Occupancy: monotone in every resource, and what an SM that is filled CTA by
//                     CTA holds.
#include "tilewright/device/occupancy.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tw::test {
namespace {

/// An SM that is filled: it places the warps of CTAs one by one, until a CTA has no room. Written
/// from the rules of the CUDA C++ Programming Guide, without the quotients of occupancy_of().
class filled_sm {
 public:
  explicit filled_sm(sm_limits const& sm) : sm_(sm) {}

  int ctas(cta_resources const& c) {
    if (!fits_a_launch(c)) return 0;
    while (place(c)) ++placed_;
    return placed_;
  }

 private:
  static int registers_of_warp(cta_resources const& c) {
    int allocated = 0;
    while (allocated < c.registers * 32) allocated += sm_limits::register_step;
    return allocated;
  }
  static int warps_of(cta_resources const& c) {
    int warps = 0;
    for (int thread = 0; thread < c.threads; thread += 32) ++warps;
    return warps;
  }
  /// False for what the driver refuses whatever else runs.
  bool fits_a_launch(cta_resources const& c) const {
    int slots = warps_of(c);
    while (slots % sm_limits::partitions != 0) ++slots;
    return c.threads <= 1024 && registers_of_warp(c) <= 256 * 32 &&
           slots * registers_of_warp(c) <= sm_limits::registers &&
           c.smem_bytes <= sm_.max_smem_bytes_per_cta;
  }
  bool place(cta_resources const& c) {
    if (placed_ == sm_.max_ctas) return false;
    std::int64_t smem = 0;
    while (smem < c.smem_bytes + sm_.reserved_smem_bytes_per_cta) smem += sm_.smem_step_bytes;
    if (smem_ + smem > sm_.smem_bytes) return false;
    if (sm_.max_barriers > 0 && barriers_ + c.barriers > sm_.max_barriers) return false;
    if (columns_ + c.tensor_columns >
        (sm_.compute_capability / 10 == 10 || sm_.compute_capability / 10 == 11 ? 512 : 0))
      return false;
    for (int warp = 0; warp < warps_of(c); ++warp)
      if (!place_warp(registers_of_warp(c))) return false;
    smem_ += smem;
    barriers_ += c.barriers;
    columns_ += c.tensor_columns;
    return true;
  }
  /// On the partition with the fewest warps that has registers.
  bool place_warp(int registers) {
    int best = -1;
    for (int p = 0; p < sm_limits::partitions; ++p) {
      bool const room = registers_[p] + registers <= sm_limits::registers / sm_limits::partitions &&
                        warps_[p] < sm_.max_warps / sm_limits::partitions;
      if (room && (best < 0 || warps_[p] < warps_[best])) best = p;
    }
    if (best < 0) return false;
    registers_[best] += registers;
    ++warps_[best];
    return true;
  }

  sm_limits const& sm_;
  int placed_ = 0, barriers_ = 0, columns_ = 0;
  std::int64_t smem_ = 0;
  int registers_[sm_limits::partitions] = {}, warps_[sm_limits::partitions] = {};
};

std::vector<cta_resources> random_launches(unsigned seed, int count) {
  std::mt19937 random(seed);
  auto const up_to = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  std::vector<cta_resources> all;
  for (int i = 0; i < count; ++i)
    all.push_back({.threads = up_to(0, 2) != 0 ? 32 * up_to(1, 32) : up_to(1, 1024),
                   .registers = up_to(1, 256),
                   .smem_bytes = up_to(0, 2) != 0 ? 1024 * up_to(0, 227) : up_to(0, 232448),
                   .barriers = up_to(0, 1) != 0 ? up_to(0, 16) : 0,
                   .tensor_columns = up_to(0, 2) == 0 ? 32 << up_to(0, 4) : 0});
  return all;
}

std::string text(cta_resources const& c) {
  return "threads " + std::to_string(c.threads) + ", registers " + std::to_string(c.registers) +
         ", smem " + std::to_string(c.smem_bytes) + ", barriers " + std::to_string(c.barriers) +
         ", tensor columns " + std::to_string(c.tensor_columns);
}

TEST(Occupancy, IsThatOfAnSmFilledCtaByCta) {
  unsigned const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (sm_limits const& sm : known_sm_limits())
    for (cta_resources const& c : random_launches(seed, 2000)) {
      occupancy const o = occupancy_of(c, sm);
      ASSERT_EQ(o.ctas, filled_sm(sm).ctas(c)) << sm.compute_capability << ": " << text(c);
      ASSERT_TRUE(o.limited_by(o.limit));
    }
}

TEST(Occupancy, NoResourceThatGrowsGivesMoreCtas) {
  unsigned const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (sm_limits const& sm : known_sm_limits())
    for (cta_resources const& c : random_launches(seed, 500)) {
      int const now = occupancy_of(c, sm).ctas;
      auto const more = [&](auto change) {
        cta_resources x = c;
        change(x);
        return occupancy_of(x, sm).ctas;
      };
      EXPECT_LE(more([](cta_resources& x) { ++x.registers; }), now) << text(c);
      EXPECT_LE(more([](cta_resources& x) { ++x.threads; }), now) << text(c);
      EXPECT_LE(more([](cta_resources& x) { x.smem_bytes += 100; }), now) << text(c);
      EXPECT_LE(more([](cta_resources& x) { x.barriers += 1; }), now) << text(c);
    }
}

TEST(Occupancy, StepsAreWhereTheNumberOfCtasChanges) {
  for (sm_limits const& sm : known_sm_limits())
    for (cta_resources const& c : random_launches(7, 300)) {
      int const now = occupancy_of(c, sm).ctas;
      if (now == 0) continue;
      occupancy_steps const s = steps_of(c, sm);
      auto const registers = [&](int r) {
        cta_resources x = c;
        x.registers = r;
        return occupancy_of(x, sm).ctas;
      };
      auto const smem = [&](std::int64_t b) {
        cta_resources x = c;
        x.smem_bytes = b;
        return occupancy_of(x, sm).ctas;
      };
      EXPECT_EQ(registers(s.max_registers), now) << text(c);
      EXPECT_LT(registers(s.max_registers + 1), now) << text(c);
      EXPECT_EQ(smem(s.max_smem_bytes), now) << text(c);
      EXPECT_LT(smem(s.max_smem_bytes + 1), now) << text(c);
      EXPECT_LE(registers(s.registers_for_more + 1), now) << text(c);
      if (s.registers_for_more > 0) {
        EXPECT_GT(registers(s.registers_for_more), now) << text(c);
      }
      EXPECT_LE(smem(s.smem_bytes_for_more + 1), now) << text(c);
      if (s.smem_bytes_for_more >= 0) {
        EXPECT_GT(smem(s.smem_bytes_for_more), now) << text(c);
      }
    }
}

TEST(Occupancy, AHopperSmHolds64Warps) {
  // A table of 128 threads that calls 32 warps 100 % is common; 64 registers give half of the SM.
  struct {
    int registers, ctas, warps;
  } const rows[] = {{32, 16, 64}, {64, 8, 32}, {96, 5, 20}, {128, 4, 16}, {192, 2, 8}, {256, 2, 8}};
  sm_limits const& hopper = *find_sm_limits(90);
  for (auto const& row : rows) {
    occupancy const o = occupancy_of({.threads = 128, .registers = row.registers}, hopper);
    EXPECT_EQ(o.ctas, row.ctas) << row.registers;
    EXPECT_EQ(o.warps, row.warps) << row.registers;
    EXPECT_DOUBLE_EQ(o.share(hopper), row.warps / 64.0);
  }
}

TEST(Occupancy, FragmentsOfAWarpAndOfAWarpgroup) {
  fragment_registers const warp = fragments_of(16, 256, 16, 16, 32);  // a quarter of the rows
  EXPECT_EQ(warp.a, 4);
  EXPECT_EQ(warp.b, 64);
  EXPECT_EQ(warp.sums, 128);
  EXPECT_EQ(warp.total(), 196);
  EXPECT_EQ(fragments_of(64, 256, 16, 16, 128).total(), 148);
}

TEST(Occupancy, WordsOfDevices) {
  EXPECT_EQ(sm_limits_named("a100")->compute_capability, 80);
  EXPECT_EQ(sm_limits_named("b200")->compute_capability, 100);
  for (char const* word : {"h100", "h200", "sm_90", "sm_90a", "9.0"})
    EXPECT_EQ(sm_limits_named(word)->compute_capability, 90) << word;
  for (char const* word : {"", "sm_", "sm_12345", "90x", "h300", "9.", "-90"})
    EXPECT_EQ(sm_limits_named(word), nullptr) << word;
}

}  // namespace
}  // namespace tw::test
