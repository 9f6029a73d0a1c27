// SPDX-License-Identifier: Apache-2.0
// scaled_emu_test.cpp  GEMMs with scales of A and B in the emulator, with its checks of hazards,
//                      against float64: every scaling on either side, in every convention.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "tests/effort.hpp"
#include "tests/kernel/built_kernels.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/scales/scaled_cases.hpp"
#include "tests/kernel/scales/scaled_fused.hpp"
#include "tilewright/problem/fused_bound.hpp"
#include "tilewright/problem/reference.hpp"

namespace tw::test {
namespace {

emu_options options_of(std::mt19937_64& rng, int i) {
  emu_options o;
  o.policy = static_cast<async_policy>(i % 3);
  o.seed = rng();
  o.random_warps = i % 2 != 0;
  o.sms = 2 + 2 * (i % 4);
  return o;
}

/// Any plan of the build.
void run_any(scaled_product& p, emu_options const& o, emu_workspace& space, std::mt19937_64& rng,
             std::set<std::string>& kernels) {
  gemm_operands operands = p.operands();
  space.give(operands);
  std::vector<gemm_plan> const plans = built_plans(p.problem, operands, o.sms);
  ASSERT_FALSE(plans.empty()) << p.text();
  gemm_plan const& plan = plans[rng() % plans.size()];
  kernels.insert(plan.kernel);
  emulate(plan, operands, o);
  expect_right(p);
  if (testing::Test::HasFailure())
    ADD_FAILURE() << "emulator seed " << o.seed << ", " << plan.kernel << ", " << plan.why;
}

TEST(ScaledEmu, BlocksOnEitherSideKeepTheBound) {
  std::mt19937_64 rng(20261126);
  emu_workspace space;
  std::set<std::string> kernels;
  for (int i = 0; runs_case(i, 40, kernels.size() >= 3) && !HasFailure(); ++i) {
    scaled_product p = random_scaled(rng, {elem::e4m3, elem::e4m3, elem::bf16, true}, finite_scale);
    if (scales_in_main_loop(p.problem)) p.problem.precision.promote_k = (3 - i % 3) % 3 * 64;
    run_any(p, options_of(rng, i), space, rng, kernels);
  }
  EXPECT_GE(kernels.size(), 3U);  // one for small M, one that promotes every 64
}

TEST(ScaledEmu, TensorsAndRowsKeepTheBoundInTheEpilogue) {
  std::mt19937_64 rng(20261127);
  emu_workspace space;
  std::set<std::string> kernels;
  random_request const requests[] = {{elem::e4m3, elem::e4m3, elem::bf16, false},
                                     {elem::bf16, elem::bf16, elem::bf16, false},
                                     {elem::s8, elem::s8, elem::bf16, false}};
  for (int i = 0; i < sample(18, 6) && !HasFailure(); ++i) {
    scaled_product p = random_scaled(rng, requests[i % 3], finite_scale);
    EXPECT_FALSE(scales_in_main_loop(p.problem));
    run_any(p, options_of(rng, i), space, rng, kernels);
  }
}

TEST(ScaledEmu, ScalesOfNanAndZeroReachTheirBlocksAlone) {
  std::mt19937_64 rng(20261128);
  emu_workspace space;
  std::set<std::string> kernels;
  auto const special = [](std::mt19937_64& g) {
    return g() % 40 == 0 ? NAN : g() % 3 == 0 ? 0.0F : finite_scale(g);
  };
  for (int i = 0; i < sample(12, 4) && !HasFailure(); ++i) {
    scaled_product p = random_scaled(rng, {elem::e4m3, elem::e4m3, elem::bf16, true}, special);
    run_any(p, options_of(rng, i), space, rng, kernels);
  }
}

/// With an epilogue: scales of blocks, then row and column scales, bias and activation.
TEST(ScaledEmu, FusedEpiloguesFollow) {
  std::mt19937_64 rng(20261129);
  emu_workspace space;
  for (int i = 0; i < 8 && !HasFailure(); ++i) {
    scaled_product p = random_scaled(rng, {elem::e4m3, elem::e4m3, elem::bf16, true}, finite_scale);
    gating const gate = i % 2 == 0   ? gating::none
                        : i % 4 == 1 ? gating::split
                                     : gating::interleaved;
    if (!takes_gate(p, gate)) {
      --i;
      continue;
    }
    emu_options const e = options_of(rng, i);
    check_fused(p, gate, rng, space, e, [&](gemm_problem const& q, gemm_operands const& o) {
      return built_plans(q, o, e.sms);
    });
  }
}

/// No tokens: no rows of A, no scales of theirs, nothing to compute.
TEST(ScaledEmu, WithoutRowsNothingIsRead) {
  for (std::int64_t const k : {128, 1000}) {
    gemm_problem p;
    p.m = 0, p.n = 64, p.k = k;
    p.a = {elem::e4m3, order::row_major, k}, p.b = {elem::e4m3, order::col_major, k};
    p.d = {elem::bf16, order::row_major, 64};
    std::int64_t const blocks = (k + 127) / 128;
    for (auto const& shape : {std::vector<std::int64_t>{0, blocks}, {0, 1}, {0}}) {
      auto const scales = recognise_scale(dense_scales(elem::f32, shape), {false, 0, k});
      ASSERT_TRUE(std::holds_alternative<scale_desc>(scales)) << k;
      p.scale_a = std::get<scale_desc>(scales);
      p.scale_b = make_scale({true, p.n, k}, scaling::block_128x128);
      EXPECT_NO_THROW(gemm_emulated(p, {}));
      p.scale_d = output_scales{make_scale({false, 0, p.n}, scaling::row)};
      EXPECT_NO_THROW(gemm_emulated(p, {}));
      p.scale_d.reset();
    }
  }
}

TEST(ScaledEmu, RefusalsNameWhatIsMissing) {
  std::mt19937_64 rng(1);
  scaled_product const p =
      random_scaled(rng, {elem::e4m3, elem::e4m3, elem::bf16, true}, finite_scale);
  auto const code = [&](auto change) {
    gemm_problem q = p.problem;
    change(q);
    auto const why = accept(q);
    return why ? why->code : "";
  };
  EXPECT_EQ(code([](gemm_problem&) {}), "");
  EXPECT_EQ(code([](gemm_problem& q) { q.scale_a->type = elem::f16; }), "TW0453");
  EXPECT_EQ(code([](gemm_problem& q) { q.scale_a->block_k = 32; }), "TW0453");
  EXPECT_EQ(code([](gemm_problem& q) { q.scale_a->stride_k = -1; }), "TW0453");
  EXPECT_EQ(code([](gemm_problem& q) { q.scale_a->packed_k = 3; }), "TW0453");
  EXPECT_EQ(code([](gemm_problem& q) { q.scale_a->tiled = true; }), "TW0453");
  EXPECT_EQ(code([](gemm_problem& q) { q.scale_b->tiled = true; }), "TW0453");
  EXPECT_EQ(code([](gemm_problem& q) { q.scale_b->second_level = true; }), "TW0453");
  EXPECT_EQ(code([](gemm_problem& q) {
              q.k = 512, q.a.pitch_elems = q.b.pitch_elems = 512;
              q.a.type = q.b.type = elem::bf16;
              q.scale_a = make_scale({false, q.m, q.k}, scaling::block_1x128);
            }),
            "TW0454");
  gemm_operands o;
  o.a = o.b = o.d = reinterpret_cast<void*>(std::uintptr_t{0x100000});
  try {
    gemm_emulated(p.problem, o);
    ADD_FAILURE() << "no address of the scales";
  } catch (rejected const& r) {
    EXPECT_EQ(r.why().code, "TW0408");
  }
}

}  // namespace
}  // namespace tw::test
