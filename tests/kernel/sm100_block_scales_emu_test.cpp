// SPDX-License-Identifier: Apache-2.0
// sm100_block_scales_emu_test.cpp  The Blackwell GEMM with scales for blocks of K in the emulator,
//                                  with its checks of hazards, against float64 and against the
//                                  Hopper kernel.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "tests/effort.hpp"
#include "tests/kernel/built_kernels.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/scales/scaled_cases.hpp"
#include "tests/kernel/scales/scaled_fused.hpp"
#include "tests/problem/activation_formulas.hpp"
#include "tilewright/problem/fused_bound.hpp"
#include "tilewright/problem/reference.hpp"

namespace tw::test {
namespace {

emu_options block_schedule(std::mt19937_64& rng, int i) {
  emu_options o;
  o.policy = static_cast<async_policy>(i % 3);
  o.seed = rng();
  o.random_warps = i % 2 != 0;
  o.sms = 2 + i % 5;
  return o;
}

/// Of this family alone.
std::vector<gemm_plan> block_scale_plans(gemm_problem const& p, gemm_operands const& o, int sms) {
  std::vector<gemm_plan> plans = built_plans(p, o, sms, "b200");
  std::erase_if(plans, [](gemm_plan const& x) { return x.family->id() != "sm100_gemm"; });
  return plans;
}

/// Any plan of the build, its tiles in any order.
void run_block_scales(scaled_product& p, emu_options const& o, emu_workspace& space,
                      std::mt19937_64& rng, std::set<std::string>& kernels) {
  gemm_operands operands = p.operands();
  space.give(operands);
  std::vector<gemm_plan> plans = block_scale_plans(p.problem, operands, o.sms);
  ASSERT_FALSE(plans.empty()) << p.text();
  gemm_plan& plan = plans[rng() % plans.size()];
  plan.schedule.raster = static_cast<order_kind>(rng() % 3);
  plan.schedule.band = 1 << rng() % 4;
  kernels.insert(plan.kernel);
  emulate(plan, operands, o);
  expect_right(p);
  if (testing::Test::HasFailure())
    ADD_FAILURE() << "emulator seed " << o.seed << ", " << plan.kernel << ", " << plan.why;
}

/// Kernels of this build with block scales, of these operand and result types, that compute alpha A
/// B + beta C.
std::set<std::string> plain_kernels(elem a, elem b, elem d) {
  gemm_family const& f = *find_family("sm100_gemm");
  std::set<std::string> names;
  for (int i = 0; i < f.kernel_count(); ++i) {
    kernel_facts const x = f.facts(i);
    if (f.built(i) && x.scaled && x.ab == a && x.b_type.value_or(a) == b && x.d == d &&
        x.epilogue == epilogue_operands{})
      names.insert(f.name(i));
  }
  return names;
}

/// Scales in the main loop. A column-major D makes B the kernel's A: of two types the
/// representative kernels have one order.
bool is_case(scaled_product const& p) {
  return scales_in_main_loop(p.problem) &&
         (p.a.desc.type == p.b.desc.type || p.d.desc.ord == order::row_major);
}

/// 1x128 and 128x128 on either side, float32 and UE8M0, in every convention; one side may have
/// scales of rows, of the tensor, or none.
TEST(Sm100BlockScalesEmu, BlocksOnEitherSideKeepTheBound) {
  std::mt19937_64 rng(20261201);
  emu_workspace space;
  random_request const requests[] = {{elem::e4m3, elem::e4m3, elem::bf16, true},
                                     {elem::e4m3, elem::e4m3, elem::f32, true},
                                     {elem::e4m3, elem::e5m2, elem::f32, true}};
  for (random_request const& r : requests) {
    std::set<std::string> kernels;
    std::set<std::string> const built = plain_kernels(r.a, r.b, r.d);
    for (int i = 0; runs_case(i, 24, kernels == built) && !HasFailure(); ++i)
      if (scaled_product p = random_scaled(rng, r, finite_scale); is_case(p)) {
        p.problem.precision.promote_k = i % 3 * 64;  // sums are float32 whatever it says
        run_block_scales(p, block_schedule(rng, i), space, rng, kernels);
      }
    EXPECT_EQ(kernels, built);
  }
}

TEST(Sm100BlockScalesEmu, ScalesOfNanAndZeroReachTheirBlocksAlone) {
  std::mt19937_64 rng(20261202);
  emu_workspace space;
  std::set<std::string> kernels;
  auto const special = [](std::mt19937_64& g) {
    return g() % 40 == 0 ? NAN : g() % 3 == 0 ? 0.0F : finite_scale(g);
  };
  for (int i = 0; i < 10 && !HasFailure(); ++i)
    if (scaled_product p = random_scaled(rng, {elem::e4m3, elem::e4m3, elem::bf16, true}, special);
        is_case(p))
      run_block_scales(p, block_schedule(rng, i), space, rng, kernels);
}

/// Sums of small integers over a block of K are exact on both tensor cores. What follows has one
/// order: a factor float32(sa sb), and a fused multiply-add of each block, in the order of K.
TEST(Sm100BlockScalesEmu, ExactBlocksGiveTheBitsOfTheHopperKernel) {
  std::mt19937_64 rng(20261203);
  emu_workspace space;
  for (int i = 0; i < 8 && !HasFailure(); ++i) {
    scaled_product p = random_scaled(rng, {elem::e4m3, elem::e5m2, elem::f32, true}, finite_scale);
    if (!is_case(p)) continue;
    for (std::vector<std::byte>* const bytes : {&p.a.bytes, &p.b.bytes})
      for (std::byte& x : *bytes) {
        bool const of_a = bytes == &p.a.bytes;
        auto const value = static_cast<float>(rng() % 9) - 4;
        x = std::byte{of_a ? to_e4m3(value, saturation::finite).bits
                           : to_e5m2(value, saturation::finite).bits};
      }
    gemm_operands operands = p.operands();
    space.give(operands);
    std::vector<std::byte> bits[2];
    for (char const* const device : {"h200", "b200"}) {
      std::vector<gemm_plan> plans = built_plans(p.problem, operands, 4, device);
      std::erase_if(plans, [](gemm_plan const& x) {
        return x.schedule.split_k_tiles > 0 || x.kernel.find("_scaled") == std::string::npos;
      });
      ASSERT_FALSE(plans.empty()) << device << " " << p.text();
      emulate(plans[rng() % plans.size()], operands, block_schedule(rng, i));
      bits[device[0] == 'b'] = p.d.bytes;
    }
    EXPECT_EQ(bits[0], bits[1]) << p.text();
  }
}

/// With an epilogue: scales of blocks, then row and column scales, bias, activation and gate,
/// where the columns of a tile have one scale of B and where each has another.
TEST(Sm100BlockScalesEmu, FusedEpiloguesFollow) {
  std::mt19937_64 rng(20261204);
  emu_workspace space;
  std::set<std::pair<gating, bool>> run;
  for (int i = 0; i < 4000 && run.size() < 6 && !HasFailure(); ++i) {
    gating const gate =
        all_accepted_gates()[static_cast<std::size_t>(i) % all_accepted_gates().size()];
    scaled_product p = random_scaled(
        rng, {elem::e4m3, elem::e4m3, gate == gating::none ? elem::f32 : elem::bf16, true},
        finite_scale);
    gemm_problem const& q = p.problem;
    if (!scales_in_main_loop(q) || !takes_gate(p, gate) || !q.scale_b) continue;
    bool const by_column = canonical(*q.scale_b, q.n, q.k).block_outer == 1;
    if (!run.insert({gate, by_column}).second) continue;
    emu_options const e = block_schedule(rng, i);
    check_fused(p, gate, rng, space, e, [&](gemm_problem const& x, gemm_operands const& o) {
      return block_scale_plans(x, o, e.sms);
    });
  }
  EXPECT_EQ(run.size(), 6U);
}

/// Each matrix of a batch has the bits that it has alone, with its own scales.
TEST(Sm100BlockScalesEmu, MatricesOfABatchHaveTheirScales) {
  constexpr int m = 136, n = 72, k = 300, pitch = 304, batch = 3;
  constexpr int k_blocks = 3;
  std::mt19937_64 rng(20261205);
  std::vector<std::uint8_t> a(m * pitch * batch), b(n * pitch * batch);
  for (auto* const x : {&a, &b})
    for (std::uint8_t& e : *x)
      e = to_e4m3(static_cast<float>(rng() % 100) / 10 - 5, saturation::finite).bits;
  std::vector<float> scale_a(m * k_blocks * batch), scale_b(k_blocks * batch);
  for (auto* const x : {&scale_a, &scale_b})
    for (float& e : *x) e = finite_scale(rng);
  std::vector<float> together(m * n * batch), alone(m * n * batch);
  gemm_problem p{m,
                 n,
                 k,
                 {elem::e4m3, order::row_major, pitch},
                 {elem::e4m3, order::col_major, pitch},
                 {elem::f32, order::row_major, n},
                 std::nullopt,
                 1.0F,
                 0.0F};
  p.scale_a = make_scale({false, m, k}, scaling::block_1x128);
  p.scale_b = make_scale({true, n, k}, scaling::block_128x128, scale_library::deepgemm);
  gemm_operands o{a.data(), b.data(), nullptr, together.data()};
  o.scale_a = scale_a.data(), o.scale_b = scale_b.data();
  auto const run = [&](gemm_problem const& q, gemm_operands const& given) {
    for (gemm_plan const& plan : block_scale_plans(q, given, 3))
      if (!plan.swapped) return emulate(plan, given, block_schedule(rng, 1));
    FAIL() << "no plan";
  };
  gemm_problem all = p;
  all.batch = batch;
  all.a.batch_stride_elems = m * pitch, all.b.batch_stride_elems = n * pitch;
  all.d.batch_stride_elems = m * n;
  all.scale_a->batch_stride = m * k_blocks, all.scale_b->batch_stride = k_blocks;
  run(all, o);
  for (int i = 0; i < batch; ++i) {
    gemm_operands one = o;
    one.a = a.data() + i * m * pitch, one.b = b.data() + i * n * pitch;
    one.d = alone.data() + i * m * n;
    one.scale_a = scale_a.data() + i * m * k_blocks, one.scale_b = scale_b.data() + i * k_blocks;
    run(p, one);
  }
  EXPECT_EQ(together, alone);
}

}  // namespace
}  // namespace tw::test
