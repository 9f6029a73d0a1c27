// SPDX-License-Identifier: Apache-2.0
// typed_special_emu_test.cpp  NaN, infinities, subnormal numbers and saturation with 8-bit types,
//                             and exact sums of integers, in every plan of the build.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/kernel/built_kernels.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/typed_cases.hpp"

namespace tw::test {
namespace {

/// Runs every plan of the build for the problem, on few SMs and, with split K, on many. D is given
/// to `look` after each.
template <class Look>
void run_all(typed_product& p, Look const& look) {
  emu_workspace space;
  int runs = 0;
  for (int const sms : {2, 12}) {
    gemm_operands operands = p.operands();
    space.give(operands);
    for (gemm_plan const& plan : built_plans(p.problem, operands, sms)) {
      std::fill(p.d.bytes.begin(), p.d.bytes.end(), std::byte{0xFF});
      emu_options o;
      o.sms = sms;
      o.policy = async_policy::random;
      o.seed = static_cast<std::uint64_t>(++runs);
      emulate(plan, operands, o);
      SCOPED_TRACE(plan.kernel + ", " + plan.family->schedule_text(plan));
      look();
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(runs, 1);
}

/// A problem with row-major A and D and column-major B, all elements of A and B 1.
typed_product ones(types const& t, int m, int n, int k) {
  typed_product p;
  p.a = make_matrix(t.a, order::row_major, m, k, (16 - k % 16) % 16, [] { return 1.0F; });
  p.b = make_matrix(t.b, order::col_major, k, n, (16 - k % 16) % 16, [] { return 1.0F; });
  p.d = make_matrix(t.d, order::row_major, m, n, (16 - n % 16) % 16, nullptr);
  p.problem = {m, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F};
  p.problem.precision = {.promote_k = t.promote_k, .f16_sums = t.f16_sums};
  return p;
}

TEST(TypedSpecialEmu, NansAndInfinitiesReachTheirRow) {
  int const k = 200;
  using enum elem;
  for (types const& t : {types{e5m2, e5m2, f32}, types{e5m2, e4m3, bf16},
                         types{e4m3, e4m3, bf16, 64}, types{e4m3, e4m3, bf16, 0}}) {
    typed_product p = ones(t, 5, 40, k);
    bool const infinities = p.problem.a.type == elem::e5m2;
    p.a.store(0, 150, 0, NAN);
    p.a.store(1, 10, 0, infinities ? INFINITY : 9);
    p.a.store(2, 199, 0, infinities ? -INFINITY : 9);
    for (int i = 0; i < 8; ++i) p.a.store(3, i, 0, 0);
    run_all(p, [&] {
      for (int c = 0; c < 40; ++c) {
        EXPECT_TRUE(std::isnan(p.d.load(0, c, 0)));
        EXPECT_EQ(p.d.load(1, c, 0), infinities ? INFINITY : k + 8);
        EXPECT_EQ(p.d.load(2, c, 0), infinities ? -INFINITY : k + 8);
        EXPECT_EQ(p.d.load(3, c, 0), k - 8);
        EXPECT_EQ(p.d.load(4, c, 0), k);
      }
    });
  }
}

TEST(TypedSpecialEmu, ResultsOf8BitsSaturate) {
  for (elem const d : {elem::e4m3, elem::e5m2}) {
    typed_product p = ones({elem::e4m3, elem::e4m3, d}, 6, 48, 500);
    double const most = d == elem::e4m3 ? 448 : 57344;
    for (int i = 0; i < 500; ++i) {
      p.a.store(0, i, 0, 448);
      p.a.store(1, i, 0, -448);
      p.a.store(2, i, 0, i == 7 ? NAN : 1.0F);
      p.a.store(3, i, 0, i < 448 ? 1.0F : 0.0F);
      p.a.store(4, i, 0, i == 3 ? 0x1p-9F : 0.0F);  // the smallest number of e4m3
      p.a.store(5, i, 0, 0);
    }
    run_all(p, [&] {
      for (int c = 0; c < 48; ++c) {
        EXPECT_EQ(p.d.load(0, c, 0), most);
        EXPECT_EQ(p.d.load(1, c, 0), -most);
        EXPECT_TRUE(std::isnan(p.d.load(2, c, 0)));
        EXPECT_EQ(p.d.load(3, c, 0), 448);
        EXPECT_EQ(p.d.load(4, c, 0), 0x1p-9);
        EXPECT_EQ(p.d.load(5, c, 0), 0);
      }
    });
  }
}

/// Terms of 2^-6 beside one of 2^8, which tensor cores cut off (base/accumulator_bits.hpp): of each
/// sum that begins anew they are kept.
TEST(TypedSpecialEmu, PromotionKeepsWhatALongSumLoses) {
  int const k = 1024;
  for (int const interval : {128, 64, 0}) {
    typed_product p = ones({elem::e4m3, elem::e4m3, elem::f32, interval}, 8, 16, k);
    if (interval != 128) p = ones({elem::e4m3, elem::e4m3, elem::bf16, interval}, 8, 16, k);
    for (int i = 0; i < k; ++i) {
      for (int m = 0; m < 8; ++m) p.a.store(m, i, 0, i == 0 ? 16 : 0.125F);
      for (int n = 0; n < 16; ++n) p.b.store(i, n, 0, i == 0 ? 16 : 0.125F);
    }
    gemm_operands const operands = p.operands();
    int runs = 0;
    for (gemm_plan const& plan : built_plans(p.problem, operands, 2)) {
      bool const by_mma_sync = plan.family->id() == "gemv";  // of f16 numbers: it loses nothing
      if (plan.schedule.split_k_tiles > 0) continue;
      if (!by_mma_sync && sm90_config(plan).value().cluster_k > 1) continue;
      emu_options o;
      o.exact_sums = true;
      emulate(plan, operands, o);
      double const kept = by_mma_sync ? (k - 1) / 64.0 : interval == 0 ? 0 : (k - interval) / 64.0;
      double const of_d = p.problem.d.type == elem::f32 ? 0 : 1;  // half a last bit of bf16
      EXPECT_NEAR(p.d.load(3, 5, 0), 256 + kept, of_d) << plan.kernel;
      ++runs;
    }
    EXPECT_GT(runs, 0);
  }
}

/// Odd sums beyond 2^24, which float32 lacks, also where several CTAs share K.
TEST(TypedSpecialEmu, SumsOfIntegersAreExact) {
  struct row {
    elem a, b;
    int most_a, most_b;
  };
  for (row const& r : {row{elem::s8, elem::s8, -128, -128},
                       {elem::u8, elem::s8, 255, -128},
                       {elem::u8, elem::u8, 255, 255}}) {
    int const k = 3000;
    typed_product p = ones({r.a, r.b, elem::s32}, 20, 24, k);
    for (int i = 0; i < k; ++i) {
      for (int m = 1; m < 20; ++m)
        p.a.store(m, i, 0, i < k - 1 ? static_cast<float>(r.most_a) : 1.0F);
      for (int n = 1; n < 24; ++n)
        p.b.store(i, n, 0, i < k - 1 ? static_cast<float>(r.most_b) : 1.0F);
    }
    double const sum = static_cast<double>(k - 1) * r.most_a * r.most_b + 1;
    ASSERT_NE(static_cast<double>(static_cast<float>(sum)), sum);
    run_all(p, [&] {
      EXPECT_EQ(p.d.load(0, 0, 0), k);
      EXPECT_EQ(p.d.load(7, 9, 0), sum);
      EXPECT_EQ(p.d.load(19, 23, 0), sum);
    });
  }
}

/// Numbers below tf32's last bit: of tf32 operands they are ignored, float32 ones are rounded.
TEST(TypedSpecialEmu, Tf32TruncatesWhereFloat32Rounds) {
  for (elem const type : {elem::tf32, elem::f32}) {
    typed_product p = ones({type, type, elem::f32}, 3, 8, 64);
    for (int i = 0; i < 64; ++i) {
      p.a.store(0, i, 0, 1 + 0x1p-10F + 0x1.8p-11F);
      p.a.store(1, i, 0, 1 + 0x1p-11F);             // halfway: to the even neighbour
      p.a.store(2, i, 0, 1 + 0x1p-10F + 0x1p-11F);  // the same, upwards
    }
    bool const rounds = type == elem::f32;
    run_all(p, [&] {
      EXPECT_EQ(p.d.load(0, 0, 0), 64 * (1 + (rounds ? 0x1p-9 : 0x1p-10)));
      EXPECT_EQ(p.d.load(1, 0, 0), 64);
      EXPECT_EQ(p.d.load(2, 0, 0), 64 * (1 + (rounds ? 0x1p-9 : 0x1p-10)));
    });
  }
}

/// Operands contiguous along M and N are transposed in the workspace; the plan says so.
TEST(TypedSpecialEmu, TheHintNamesATransposedOperand) {
  typed_product p = ones({elem::e4m3, elem::e4m3, elem::bf16}, 64, 64, 64);
  p.a = make_matrix(elem::e4m3, order::col_major, 64, 64, 0, [] { return 1.0F; });
  p.problem.a = p.a.desc;
  gemm_operands operands = p.operands();
  emu_workspace space;
  space.give(operands);
  gemm_plan const plan = plan_gemm(p.problem, operands, with_sm_count(known_device("h200"), 4));
  EXPECT_GT(plan.workspace_bytes, gemm_workspace_zeros);
  ASSERT_EQ(plan.hints.size(), 1U);
  EXPECT_NE(
      plan.hints[0].find("A: wgmma reads e4m3 operands from shared memory contiguous along K only"),
      std::string::npos)
      << plan.hints[0];
  EXPECT_GE(gemm_workspace_bytes(p.problem, operands), plan.workspace_bytes);
}

}  // namespace
}  // namespace tw::test
