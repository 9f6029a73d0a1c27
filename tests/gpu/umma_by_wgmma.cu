// SPDX-License-Identifier: Apache-2.0
// umma_by_wgmma.cu  Blackwell kernels of one CTA on a Hopper GPU, with wgmma instead of tcgen05:
//                   their TMA boxes, tiles in shared memory, descriptors, mbarriers, tile order and
//                   epilogues, as hardware executes them. Random GEMMs against float64. Exit 0
//                   done, 1 wrong, 77 no Hopper GPU.
//
// by_wgmma/ replaces two headers of arch/cuda; the kernels are those of the library, unchanged.
// Another warpgroup executes the multiplies in the order of their issue (by_wgmma/.../umma.hpp).
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "family/bind.hpp"
#include "family/sm100_gemm/computes.hpp"
#include "family/sm100_gemm/params.hpp"
#include "tests/gpu/device_copy.hpp"
#include "tests/gpu/device_scales.hpp"
#include "tests/kernel/epilogue/fused_cases.hpp"
#include "tests/kernel/scales/scaled_cases.hpp"
#include "tests/kernel/typed_cases.hpp"
#include "tilewright/base/round_up.hpp"
#include "tilewright/device/device.hpp"
#include "tilewright/kernel/sm100/gemm.hpp"

namespace tw::test {
namespace {

/// One stage fewer, which leaves shared memory for the queue of operations.
constexpr sm100_config shortened(sm100_config c) {
  --c.stages;
  return c;
}

/// The kernel's warps, then idle ones up to a whole warpgroup, and the warpgroup that multiplies.
template <sm100_config C>
struct on_hopper {
  using kernel = gemm_sm100<shortened(C)>;
  using params = typename kernel::params;
  static_assert(C.ctas == 1 && !C.dynamic);
  static constexpr int first_of_multiply = static_cast<int>(round_up(kernel::threads, 128));
  static constexpr int threads = first_of_multiply + 128;
  static constexpr int cluster = 1;
  static constexpr int smem_bytes = kernel::smem_bytes;

  TW_DEVICE static void run(params const& p) {
    int const thread = thread_id();
    if (thread == 0) by_wgmma::clear_queue();
    cta_sync();
    if (thread < kernel::threads) return kernel::run(p);
    cta_sync();  // two of set_up()
    cta_sync();
    if (thread >= first_of_multiply)
      by_wgmma::execute<C.a.multiplied, C.a.major, C.b.major, C.b.multiplied>(
          thread - first_of_multiply, operations(p));
    cta_sync();  // after the roles
  }

  /// That a CTA issues: the multiplies of its tiles, and commits to slot_free and to acc_full.
  TW_DEVICE static unsigned operations(params const& p) {
    int const tiles = (p.walk.order.tiles() - cluster_id() + cluster_count() - 1) / cluster_count();
    int const steps = C.tile_k() / kernel::multiply_k;
    int const of_tile = C.block_scales ? p.k_blocks * (steps + 2) : p.k_blocks * (steps + 1) + 1;
    return static_cast<unsigned>(tiles * of_tile);
  }
};

using enum elem;
constexpr epilogue_id ops = epilogue_id::ops, ops_aux = epilogue_id::ops_aux,
                      gated = epilogue_id::gated;

/// Kernels of one CTA with each kind of operand, major and epilogue. ptxas spills some of those
/// with block scales: their epilogue has 255 registers on Blackwell and 168 here.
constexpr sm100_config configs[] = {
    {.a = {bf16}, .b = {bf16}, .d = bf16, .stages = 6},
    {.a = {bf16}, .b = {bf16, bf16, operand_major::mn}, .d = bf16, .stages = 6},
    {.a = {bf16, bf16, operand_major::mn}, .b = {bf16}, .d = f32, .stages = 6},
    {.a = {f16, f16, operand_major::mn}, .b = {f16, f16, operand_major::mn}, .d = f16, .stages = 6},
    {.a = {f16}, .b = {f16}, .d = f16, .tile_n = 256, .stages = 4},
    {.a = {f16}, .b = {f16, f16, operand_major::mn}, .d = f16, .tile_n = 64, .stages = 8},
    {.a = {bf16}, .b = {bf16}, .d = bf16, .stages = 6, .epilogue = ops},
    {.a = {f16}, .b = {f16}, .d = f16, .stages = 6, .epilogue = ops_aux},
    {.a = {bf16}, .b = {bf16}, .d = bf16, .tile_n = 256, .stages = 4, .epilogue = gated},
    {.a = {tf32}, .b = {tf32}, .d = f32, .stages = 6},
    {.a = {e4m3}, .b = {e4m3}, .d = bf16, .stages = 6},
    {.a = {e5m2}, .b = {e4m3}, .d = bf16, .stages = 6},
    {.a = {e4m3}, .b = {e4m3}, .d = bf16, .tile_n = 64, .stages = 8, .block_scales = true},
    {.a = {e4m3}, .b = {e4m3}, .d = f32, .tile_n = 64, .stages = 8, .block_scales = true},
    {.a = {e5m2}, .b = {e5m2}, .d = f32, .stages = 6, .block_scales = true},
};

using launcher = cudaError_t (*)(int, sm100_params const&);
template <std::size_t... I>
constexpr auto launchers_of(std::index_sequence<I...>) {
  return std::array<launcher, sizeof...(I)>{[](int ctas, sm100_params const& p) {
    return launch<on_hopper<configs[I]>>(extents3{ctas, 1, 1}, p, nullptr, false);
  }...};
}
/// In the order of `configs`.
constexpr auto launchers = launchers_of(std::make_index_sequence<std::size(configs)>{});

class UmmaByWgmma : public testing::Test {
 protected:
  /// A plan of one of these kernels that copies nothing first; without a family: no kernel has it.
  static gemm_plan plan_of(gemm_problem const& p, gemm_operands const& o, std::mt19937_64& rng) {
    std::vector<gemm_plan> plans;
    try {
      plans = plan_candidates(p, o, known_device("b200"), kernel_set::all);
    } catch (rejected const& r) {
      EXPECT_TRUE(r.why().code == "TW0471" || r.why().code == "TW0414") << r.what();
    }
    std::erase_if(plans, [](gemm_plan const& x) {
      return x.family->id() != "sm100_gemm" || !launcher_of(x) || x.repitch.a || x.repitch.b ||
             x.stage_d || x.workspace_bytes != 0;
    });
    if (plans.empty()) return {};
    gemm_plan plan = plans[rng() % plans.size()];
    plan.schedule.clusters = 1 + static_cast<int>(rng() % by_wgmma::most_ctas);
    plan.schedule.raster = static_cast<order_kind>(rng() % 3);
    plan.schedule.band = 1 << rng() % 4;
    return plan;
  }
  static launcher launcher_of(gemm_plan const& plan) {
    auto const* const found = std::ranges::find(configs, sm100_gemm_family::config_of(plan));
    return found == std::end(configs) ? nullptr
                                      : launchers[static_cast<std::size_t>(found - configs)];
  }
  static void run(gemm_plan const& plan, gemm_operands const& o) {
    launch_form const form = form_of(plan, o);
    ASSERT_FALSE(form.copied());
    sm100_params const p =
        sm100_gemm_family::make_params(plan, form.problem, form.operands, target::gpu);
    must(launcher_of(plan)(std::min(plan.schedule.clusters, p.walk.order.tiles()), p));
    must(cudaDeviceSynchronize());
    ++ran[plan.kernel];
  }
  static inline std::map<std::string, int> ran;
};

TEST_F(UmmaByWgmma, SixteenBitTypesKeepTheBound) {
  std::mt19937_64 rng(20261127);
  for (int i = 0; i < 3000 && !HasFailure(); ++i) {
    product p = random_product(rng, i % 4 == 0 ? 700 : 150, i % 5 == 0 ? 3 : 1);
    device_copy const a(p.a), b(p.b), c(p.c), d(p.d);
    gemm_operands o{a.data, b.data, c.data, d.data};
    o.a_array = a.addresses, o.b_array = b.addresses, o.c_array = c.addresses;
    o.d_array = d.addresses;
    gemm_plan const plan = plan_of(p.problem, o, rng);
    if (plan.family == nullptr) continue;
    run(plan, o);
    d.fetch();
    SCOPED_TRACE(plan.kernel);
    expect_right(p);
  }
}

TEST_F(UmmaByWgmma, EpiloguesKeepTheBound) {
  std::mt19937_64 rng(20261128);
  for (int i = 0; i < 3000 && !HasFailure(); ++i) {
    fused_product p = random_fused(rng, i % 4 == 0 ? 700 : 150);
    device_copy const a(p.a), b(p.b), c(p.c), d(p.d), bias(p.bias), rows(p.row_scale),
        cols(p.col_scale), aux(p.aux);
    gemm_operands o{a.data, b.data, c.data, d.data};
    o.bias = bias.data, o.aux = aux.data;
    o.row_scale = static_cast<float const*>(rows.data);
    o.col_scale = static_cast<float const*>(cols.data);
    gemm_plan const plan = plan_of(p.problem, o, rng);
    if (plan.family == nullptr) continue;
    run(plan, o);
    d.fetch();
    if (p.problem.aux) aux.fetch();
    SCOPED_TRACE(plan.kernel);
    expect_fused_right(p);
  }
}

/// Sums of wgmma are never promoted here, and the bound allows for it.
TEST_F(UmmaByWgmma, OtherTypesKeepTheBound) {
  std::mt19937_64 rng(20261129);
  for (types const& t : all_types())
    for (int i = 0; i < 60 && !HasFailure(); ++i) {
      if (is_integer(t.a) || t.promote_k != 128 || t.f16_sums) continue;
      typed_product p = random_typed(rng, t, i % 4 == 0 ? 600 : 150);
      device_copy const a(p.a), b(p.b), c(p.c), d(p.d);
      gemm_operands const o{a.data, b.data, c.data, d.data};
      gemm_plan const plan = plan_of(p.problem, o, rng);
      if (plan.family == nullptr) continue;
      run(plan, o);
      d.fetch();
      p.problem.precision.promote_k = 0;
      SCOPED_TRACE(plan.kernel);
      expect_right(p);
    }
}

TEST_F(UmmaByWgmma, BlockScalesKeepTheBound) {
  std::mt19937_64 rng(20261130);
  std::array const requests{random_request{e4m3, e4m3, bf16, true},
                            random_request{e4m3, e4m3, f32, true},
                            random_request{e5m2, e5m2, f32, true}};
  for (int i = 0; i < 600 && !HasFailure(); ++i) {
    scaled_product p = random_scaled(rng, requests[rng() % requests.size()], finite_scale);
    device_copy const a(p.a), b(p.b), d(p.d);
    device_scales const of_a(p.of_a), of_b(p.of_b);
    gemm_operands o{a.data, b.data, nullptr, d.data};
    o.scale_a = of_a.data, o.scale_b = of_b.data;
    gemm_plan const plan = plan_of(p.problem, o, rng);
    if (plan.family == nullptr) continue;
    run(plan, o);
    d.fetch();
    SCOPED_TRACE(plan.kernel);
    expect_right(p);
  }
}

TEST_F(UmmaByWgmma, EveryKernelHasRun) {
  for (auto const& [kernel, times] : ran) std::printf("%5d  %s\n", times, kernel.c_str());
  EXPECT_EQ(ran.size(), std::size(configs));
}

}  // namespace
}  // namespace tw::test

int main(int argc, char** argv) {
  if (!tw::gpu().usable || tw::gpu().compute_capability != 90) {
    std::printf("skipped: no Hopper GPU %s\n", to_string(tw::gpu().why_not).c_str());
    return 77;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
