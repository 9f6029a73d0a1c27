// SPDX-License-Identifier: Apache-2.0
// banks_test.cpp  Wavefronts of each instruction of an emulated kernel against the ideal.
#include <algorithm>

#include "tests/hazard/hazard_kernels.hpp"

namespace tw::test {
namespace {

using memory = hazard_smem&;
using args = hazard_params const&;

emu::options measured(int schedule = 0) {
  emu::options o = scheduled(schedule);
  o.bank_conflicts = true;
  return o;
}

/// The only entry of this kind.
emu::bank_traffic only(emu::report const& r, emu::bank_access what) {
  emu::bank_traffic found;
  int entries = 0;
  for (emu::bank_traffic const& t : r.banks)
    if (t.what == what) {
      found = t;
      ++entries;
    }
  EXPECT_EQ(entries, 1);
  return found;
}
void expect(emu::bank_traffic const& t, int executions, int wavefronts, int ideal) {
  EXPECT_EQ(t.executions, executions);
  EXPECT_EQ(t.wavefronts, wavefronts);
  EXPECT_EQ(t.ideal, ideal);
}

// Rows of 64 bf16: 128 bytes. Plain: 8 rows of a matrix in the same 4 banks. Swizzled: in all 32.
template <bool Swizzled>
auto const matrices = []<bool>(memory s, args) {
  auto* const tile = reinterpret_cast<std::uint16_t*>(s.a[0]);
  int const row = thread_id() % 16 + 16 * warp_id(), half = lane_id() / 16;
  for (int q = 0; q < 4; ++q) {
    int const chunk = (2 * q + half) ^ (Swizzled ? row & 7 : 0);
    stmatrix<4>(tile + row * 64 + 8 * chunk, b32<4>{});
  }
  warp_sync();
  b32<2> const got = ldmatrix<2>(tile + row * 64 + 8 * (half ^ (Swizzled ? row & 7 : 0)));
  stmatrix<2>(tile + row * 64 + 8 * (half ^ (row & 7)), got);
};

TEST(Banks, MatricesWithoutASwizzle) {
  emu::report const r = run_body<true>(matrices<false>, measured());
  expect(only(r, emu::bank_access::ldmatrix), 4, 4 * 16, 4 * 2);
  ASSERT_EQ(r.banks.size(), 3U);  // worst first
  EXPECT_EQ(r.banks.front().wavefronts, 8 * r.banks.front().ideal);
  EXPECT_EQ(r.banks.back().wavefronts, r.banks.back().ideal);
  ASSERT_TRUE(r.has("E0041"));
  EXPECT_EQ(r.diagnoses.front().code, "E0041");
  EXPECT_NE(r.diagnoses.front().text.find("lanes 0-7 want 8 different words of banks 0-3"),
            std::string::npos)
      << r.text();
  expect_readable(r);
}

TEST(Banks, MatricesWithASwizzle) {
  emu::report const r = run_body<true>(matrices<true>, measured());
  EXPECT_TRUE(r.clean()) << r.text();
  expect(only(r, emu::bank_access::ldmatrix), 4, 4 * 2, 4 * 2);
}

// A column of 32 x 32 floats, and of 32 x 33.
template <int Pitch>
auto const column = []<bool>(memory s, args) {
  float* const tile = s.x;
  for (int i = 0; i < 4; ++i) tile[thread_id() + 128 * i] = 1;
  cta_sync();
  float sum = 0;
  for (int i = 0; i < 3; ++i) sum += tile[Pitch * (lane_id() % 16) + warp_id() + i];
  s.a[1][thread_id()] = static_cast<std::uint64_t>(sum);
};

TEST(Banks, OrdinaryLoadsOfAColumn) {
  if (!plain_accesses_seen) GTEST_SKIP();
  for (int schedule = 0; schedule < 3; ++schedule) {
    emu::report const bad = run_body<true>(column<32>, measured(schedule));
    expect(only(bad, emu::bank_access::load), 12, 12 * 16, 12);
    ASSERT_EQ(bad.diagnoses.size(), 1U) << bad.text();
    EXPECT_EQ(bad.diagnoses.front().code, "E0041");
    EXPECT_NE(bad.diagnoses.front().text.find("16 different words of bank 0"), std::string::npos)
        << bad.text();
    emu::report const good = run_body<true>(column<31>, measured(schedule));
    EXPECT_TRUE(good.clean()) << good.text();
    expect(only(good, emu::bank_access::load), 12, 12, 12);
  }
}

// Lanes with different numbers of turns: after a barrier they are counted together again.
TEST(Banks, LanesReconvergeAtBarriers) {
  if (!plain_accesses_seen) GTEST_SKIP();
  auto const body = []<bool>(memory s, args) {
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i <= lane_id() % 2 + round % 2; ++i) s.x[32 * i + thread_id()] = 1;
      cta_sync();
    }
  };
  emu::options o = measured();
  o.hazards = false;  // warps write into each other's rows here
  emu::report const r = run_body<true>(body, o);
  EXPECT_TRUE(r.clean()) << r.text();
  std::int64_t executions = 0, wavefronts = 0;
  for (emu::bank_traffic const& t : r.banks) {
    executions += t.executions;
    wavefronts += t.wavefronts;
  }
  EXPECT_EQ(executions, 4 * (2 + 3 + 2));
  EXPECT_EQ(wavefronts, executions);
}

// Conflicts are neither counted nor reported unless requested.
TEST(Banks, OffByDefault) {
  emu::report const r = run_body<true>(matrices<false>, scheduled(0));
  EXPECT_TRUE(r.clean()) << r.text();
  EXPECT_TRUE(r.banks.empty());
}

}  // namespace
}  // namespace tw::test
