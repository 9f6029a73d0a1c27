// SPDX-License-Identifier: Apache-2.0
// sm80_gemm_emu_test.cpp  Every Ampere GEMM kernel of this build in the emulator against float64:
//                         random problems, batches, epilogues, gates and schedules.
#include <map>
#include <set>

#include "tests/effort.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/epilogue/fused_cases.hpp"

namespace tw::test {
namespace {

/// The plans by such kernels of this build, for a device with so many SMs.
std::vector<gemm_plan> sm80_plans(gemm_problem const& p, gemm_operands const& o, int sms = 4) {
  device const dev = with_sm_count(known_device("h200"), sms);
  std::vector<gemm_plan> plans = plan_candidates(p, o, dev, kernel_set::all);
  std::erase_if(plans,
                [](gemm_plan const& x) { return x.family->id() != "sm80_gemm" || !x.built; });
  return plans;
}

/// The names of the kernels of this build with float32 sums, with a fused epilogue or without.
std::set<std::string> built_sm80_kernels(bool fused) {
  gemm_family const& f = *find_family("sm80_gemm");
  std::set<std::string> names;
  for (int i = 0; i < f.kernel_count(); ++i)
    if (f.built(i) && f.facts(i).epilogue.ops == fused && !f.facts(i).precision.f16_sums)
      names.insert(f.name(i));
  return names;
}

/// Schedule `i` of the emulator.
emu_options sm80_schedule(int i, std::mt19937_64& rng) {
  emu_options o;
  o.policy = static_cast<async_policy>(i % 3);
  o.random_warps = i % 2 != 0;
  o.sms = 1 + i % 5;
  o.seed = rng();
  return o;
}

/// Runs one of the plans, which the generator chooses, its tiles in any order, on fewer CTAs than
/// tiles in half of the cases. Its kernel's name; empty where this build has none.
template <class Product>
std::string run_any_sm80(Product& p, int i, std::mt19937_64& rng, emu_workspace& space) {
  gemm_operands operands = p.operands();
  space.give(operands);
  std::vector<gemm_plan> plans = sm80_plans(p.problem, operands);
  if (plans.empty()) return {};
  gemm_plan& plan = plans[rng() % plans.size()];
  plan.schedule.raster = static_cast<order_kind>(rng() % 3);
  plan.schedule.band = 1 << rng() % 4;
  if (rng() % 2 == 0) plan.schedule.clusters = 1 + plan.schedule.clusters / 2;
  emulate(plan, operands, sm80_schedule(i, rng));
  SCOPED_TRACE("case " + std::to_string(i) + ", " + plan.kernel + ", " + plan.why);
  if constexpr (std::is_same_v<Product, product>)
    expect_right(p);
  else
    expect_fused_right(p);
  return plan.kernel;
}

TEST(Sm80GemmEmu, RandomProblemsKeepTheBound) {
  std::mt19937_64 rng(20261125);
  emu_workspace space;
  std::set<std::string> kernels;
  std::set<std::string> const built = built_sm80_kernels(false);
  int by_pointers = 0;
  for (int i = 0; runs_case(i, 160, kernels == built) && !HasFailure(); ++i) {
    product p = random_product(rng, i % 4 == 0 ? 300 : i % 4 == 1 ? 40 : 150, i % 5 == 0 ? 3 : 1);
    if (std::string const k = run_any_sm80(p, i, rng, space); !k.empty()) {
      kernels.insert(k);
      by_pointers += p.problem.has_pointers();
    }
  }
  EXPECT_EQ(kernels, built);
  EXPECT_GE(by_pointers, sample(5));
}

TEST(Sm80GemmEmu, RandomEpiloguesKeepTheBound) {
  emu_workspace space;
  run_every_epilogue(built_sm80_kernels(true), 20261126, sample(150), 200,
                     [&](fused_product& p, int i, std::mt19937_64& rng) {
                       return run_any_sm80(p, i, rng, space);
                     });
}

/// Sums are in the order of K, whatever the schedule and the number of CTAs.
TEST(Sm80GemmEmu, TheSameBitsInEverySchedule) {
  std::mt19937_64 rng(7);
  emu_workspace space;
  for (int i = 0; i < 6; ++i) {
    product p = random_product(rng, 150);
    gemm_operands operands = p.operands();
    space.give(operands);
    std::map<std::string, std::vector<std::byte>> results;  // by plan
    for (int s = 0; s < 3; ++s)
      for (gemm_plan plan : sm80_plans(p.problem, operands)) {
        plan.schedule.clusters = 1 + s;
        emulate(plan, operands, sm80_schedule(s, rng));
        auto const [first, is_new] =
            results.try_emplace(plan.kernel + (plan.swapped ? " transposed" : ""), p.d.bytes);
        EXPECT_EQ(p.d.bytes, first->second) << plan.kernel << " " << p.text();
      }
  }
}

/// NaN beyond the extents of the operands is not read.
TEST(Sm80GemmEmu, NanBeyondTheMatricesChangesNothing) {
  std::mt19937_64 rng(8);
  std::normal_distribution<float> normal;
  auto const fill = [&] { return normal(rng); };
  int planned = 0;
  for (auto const& [oa, ob] : {std::pair{order::row_major, order::col_major},
                               std::pair{order::col_major, order::col_major},
                               std::pair{order::row_major, order::row_major},
                               std::pair{order::col_major, order::row_major}})
    for (elem const ab : {elem::bf16, elem::f16}) {
      elem const d = ab == elem::bf16 ? elem::bf16 : elem::f32;
      product p;
      auto const gap = [](order o, int rows, int cols) {
        return 16 - (o == order::row_major ? cols : rows) % 8;
      };
      p.a = make_matrix(ab, oa, 67, 75, gap(oa, 67, 75), fill);
      p.b = make_matrix(ab, ob, 75, 69, gap(ob, 75, 69), fill);
      p.d = make_matrix(d, order::row_major, 67, 69, 3, nullptr);
      p.problem = {67, 69, 75, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F};
      for (gemm_plan const& plan : sm80_plans(p.problem, p.operands())) {
        emulate(plan, p.operands());
        expect_right(p);
        ++planned;
      }
    }
  EXPECT_GE(planned, 3);
}

/// f16 sums of -1, 0 and 1 are exact. Without the problem's consent they are not planned.
TEST(Sm80GemmEmu, SumsInF16) {
  std::mt19937_64 rng(9);
  auto const fill = [&] { return static_cast<float>(static_cast<int>(rng() % 3) - 1); };
  auto const keeps_f16 = [](gemm_plan const& x) {
    return x.family->facts(x.instance).precision.f16_sums;
  };
  int planned = 0;
  for (int k : {5, 64, 900}) {
    product p;
    p.a = make_matrix(elem::f16, order::row_major, 70, k, 3, fill);
    p.b = make_matrix(elem::f16, order::col_major, k, 90, 0, fill);
    p.d = make_matrix(elem::f16, order::row_major, 70, 90, 1, nullptr);
    p.problem = {70, 90, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F};
    emu_workspace space;
    gemm_operands operands = p.operands();
    space.give(operands);
    EXPECT_TRUE(std::ranges::none_of(sm80_plans(p.problem, operands), keeps_f16));
    p.problem.precision.f16_sums = true;
    for (gemm_plan const& plan : sm80_plans(p.problem, operands)) {
      if (!keeps_f16(plan)) continue;
      emulate(plan, operands, sm80_schedule(planned, rng));
      expect_right(p);
      ++planned;
    }
  }
  EXPECT_GE(planned, 3);
}

TEST(Sm80GemmEmu, RefusesWhatItDoesNotCompute) {
  gemm_family const& f = *find_family("sm80_gemm");
  using enum order;
  gemm_problem const p{64,
                       64,
                       64,
                       {elem::bf16, row_major, 64},
                       {elem::bf16, col_major, 64},
                       {elem::bf16, row_major, 64},
                       std::nullopt,
                       1.0F,
                       0.0F};
  gemm_problem gated = p, aux = p, gated_aux = p, pointers = p;
  gated.epilogue.gate = gating::split;
  gated.d.pitch_elems = 32;
  aux.aux = p.d;
  gated_aux = gated, gated_aux.aux = p.d;
  pointers.a.batch_stride_elems = matrix_desc::by_pointers;
  for (gemm_problem const& q : {p, gated, aux, gated_aux, pointers}) EXPECT_TRUE(f.computes(q));
  gemm_problem column_major = p, gate_of_columns = gated, aux_by_pointers = aux, quantised = p;
  column_major.d.ord = col_major;     // planned as the transposed problem
  gate_of_columns.d.ord = col_major;  // which one with a gate cannot be
  aux_by_pointers.a.batch_stride_elems = matrix_desc::by_pointers;
  quantised.scale_d = output_scales{};
  for (gemm_problem const& q : {column_major, gate_of_columns, aux_by_pointers, quantised})
    EXPECT_FALSE(f.computes(q));
}

}  // namespace
}  // namespace tw::test
