// SPDX-License-Identifier: Apache-2.0
// sm100_gemm_emu_test.cpp  Every Blackwell GEMM kernel of this build in the emulator against
//                          float64: random problems, types, batches, epilogues and schedules.
#include <cstdlib>
#include <map>
#include <set>

#include "tests/effort.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/epilogue/fused_cases.hpp"
#include "tests/kernel/typed_cases.hpp"

namespace tw::test {
namespace {

/// The plans by such kernels of this build, for a device with so many SMs.
std::vector<gemm_plan> sm100_plans(gemm_problem const& p, gemm_operands const& o, int sms) {
  device const dev = with_sm_count(known_device("b200"), sms);
  try {
    std::vector<gemm_plan> plans = plan_candidates(p, o, dev, kernel_set::all);
    std::erase_if(plans,
                  [](gemm_plan const& x) { return x.family->id() != "sm100_gemm" || !x.built; });
    return plans;
  } catch (rejected const& r) {
    // No kernel for this device, or one for another type of D.
    EXPECT_TRUE(r.why().code == "TW0471" || r.why().code == "TW0414") << r.what();
    return {};
  }
}

/// Cases of each test: TW_SM100_CASES more than these, for a long run.
int cases(int all) {
  char const* const more = std::getenv("TW_SM100_CASES");
  return sample(all, 2) + (more != nullptr ? std::atoi(more) : 0);
}

emu_options schedule(int i, std::mt19937_64& rng) {
  emu_options o;
  o.policy = static_cast<async_policy>(i % 3);
  o.random_warps = i % 2 != 0;
  o.sms = 2 + i % 5;
  o.seed = rng();
  return o;
}

void expect_right_of(product& p) { expect_right(p); }
void expect_right_of(fused_product& p) { expect_fused_right(p); }
void expect_right_of(typed_product& p) { expect_right(p); }

/// Runs one of the plans, which the generator chooses, its tiles in any order. Its kernel's name;
/// empty where this build has none.
template <class Product>
std::string run_any(Product& p, int i, std::mt19937_64& rng, emu_workspace& space) {
  gemm_operands operands = p.operands();
  space.give(operands);
  emu_options const options = schedule(i, rng);
  std::vector<gemm_plan> plans = sm100_plans(p.problem, operands, options.sms);
  if (plans.empty()) return {};
  gemm_plan& plan = plans[rng() % plans.size()];
  plan.schedule.raster = static_cast<order_kind>(rng() % 3);
  plan.schedule.band = 1 << rng() % 4;
  emulate(plan, operands, options);
  SCOPED_TRACE("case " + std::to_string(i) + ", " + plan.kernel + ", " + plan.why);
  expect_right_of(p);
  return plan.kernel;
}

/// The names of the kernels of this build for 16-bit floats, with a fused epilogue or without;
/// those with scales of D are in result_scales_emu_test.cpp.
std::set<std::string> built_kernels(bool fused) {
  gemm_family const& f = *find_family("sm100_gemm");
  std::set<std::string> names;
  for (int i = 0; i < f.kernel_count(); ++i)
    if (f.built(i) && f.facts(i).epilogue.ops == fused && !f.facts(i).epilogue.scales &&
        size_bytes(f.facts(i).ab) == 2)
      names.insert(f.name(i));
  return names;
}

TEST(Sm100GemmEmu, RandomProblemsKeepTheBound) {
  std::mt19937_64 rng(20261125);
  emu_workspace space;
  std::set<std::string> kernels;
  std::set<std::string> const built = built_kernels(false);
  int by_pointers = 0;
  for (int i = 0; (i < cases(200) || (i < 2000 && kernels != built)) && !HasFailure(); ++i) {
    product p = random_product(rng, i % 4 == 0 ? 300 : i % 4 == 1 ? 40 : 150, i % 5 == 0 ? 3 : 1);
    std::string const k = run_any(p, i, rng, space);
    if (k.empty()) continue;
    kernels.insert(k);
    by_pointers += p.problem.has_pointers();
  }
  EXPECT_EQ(kernels, built);
  EXPECT_GE(by_pointers, sample(5));
}

/// Boxes of a tile, and the second half of a pair's, lie wholly outside of such matrices, where TMA
/// cannot load by a map over all memory (E0023).
TEST(Sm100GemmEmu, SmallMatricesByPointers) {
  std::mt19937_64 rng(20261129);
  std::normal_distribution<float> normal;
  auto const fill = [&] { return normal(rng); };
  emu_workspace space;
  std::set<std::string> kernels;
  constexpr auto pointers = batch_form::pointers;
  for (order const oa : {order::row_major, order::col_major})
    for (order const ob : {order::row_major, order::col_major})
      for (elem const type : {elem::bf16, elem::f16}) {
        int const m = 8 + static_cast<int>(rng() % 40), n = 8 + static_cast<int>(rng() % 40),
                  k = 80;
        auto const up = [](int x) { return (x + 7) / 8 * 8 - x; };
        product p;
        p.a = make_matrix(type, oa, m, k, up(oa == order::row_major ? k : m), fill, 2, pointers);
        p.b = make_matrix(type, ob, k, n, up(ob == order::row_major ? n : k), fill, 2, pointers);
        p.d = make_matrix(type, order::row_major, m, n, up(n), nullptr, 2, pointers);
        p.problem = {m, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F, 2};
        gemm_operands operands = p.operands();
        space.give(operands);
        for (gemm_plan const& plan : sm100_plans(p.problem, operands, 4)) {
          emulate(plan, operands, schedule(0, rng));
          SCOPED_TRACE(plan.kernel + " " + p.text());
          expect_right(p);
          kernels.insert(plan.kernel);
        }
      }
  EXPECT_GE(kernels.size(), 5U);
}

TEST(Sm100GemmEmu, RandomEpiloguesKeepTheBound) {
  emu_workspace space;
  run_every_epilogue(
      built_kernels(true), 20261126, cases(150), 400,
      [&](fused_product& p, int i, std::mt19937_64& rng) { return run_any(p, i, rng, space); });
}

/// 8-bit floats and tf32; float32 operands are rounded by TMA.
TEST(Sm100GemmEmu, RandomTypesKeepTheBound) {
  std::mt19937_64 rng(20261127);
  emu_workspace space;
  std::set<std::string> kernels;
  for (types const& t : all_types())
    for (int i = 0; i < cases(8) && !HasFailure(); ++i) {
      if (is_integer(t.a) || t.promote_k != 128) continue;
      typed_product p = random_typed(rng, t, 150);
      if (std::string const k = run_any(p, i, rng, space); !k.empty()) kernels.insert(k);
    }
  EXPECT_GE(kernels.size(), 2U);
}

/// Sums are in the order of K, whatever the schedule and the number of CTAs.
TEST(Sm100GemmEmu, TheSameBitsInEverySchedule) {
  std::mt19937_64 rng(7);
  emu_workspace space;
  for (int i = 0; i < 4; ++i) {
    product p = random_product(rng, 150);
    gemm_operands operands = p.operands();
    space.give(operands);
    std::map<std::string, std::vector<std::byte>> results;  // by plan
    for (int s = 0; s < 3; ++s)
      for (gemm_plan plan : sm100_plans(p.problem, operands, 4)) {
        plan.schedule.clusters = std::min(plan.schedule.clusters, 1 + s);
        emulate(plan, operands, schedule(s, rng));
        auto const [first, is_new] =
            results.try_emplace(plan.kernel + (plan.swapped ? " transposed" : ""), p.d.bytes);
        EXPECT_EQ(p.d.bytes, first->second) << plan.kernel << " " << p.text();
      }
  }
}

TEST(Sm100GemmEmu, RefusesWhatItDoesNotCompute) {
  gemm_family const& f = *find_family("sm100_gemm");
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
  EXPECT_TRUE(f.computes(p));
  gemm_problem gated = p, column_major = p, integers = p;
  gated.epilogue.gate = gating::split;
  gated.d.pitch_elems = 32;
  EXPECT_TRUE(f.computes(gated));
  gated.b = {elem::bf16, row_major, 64};  // gates are loaded from a K-major B
  column_major.d.ord = col_major;         // planned as the transposed problem
  integers.a.type = integers.b.type = elem::s8;
  for (gemm_problem const& q : {gated, column_major, integers}) EXPECT_FALSE(f.computes(q));
}

/// Kernels for tcgen05 run on compute capabilities 10.0 and 10.3 alone, those for wgmma on 9.0.
TEST(Sm100GemmEmu, DevicesGetKernelsThatTheyRun) {
  gemm_problem const p{256,
                       256,
                       256,
                       {elem::bf16, order::row_major, 256},
                       {elem::bf16, order::col_major, 256},
                       {elem::bf16, order::row_major, 256},
                       std::nullopt,
                       1.0F,
                       0.0F};
  auto* const at = reinterpret_cast<void*>(std::uintptr_t{0x1000});
  auto const families_for = [&](char const* device) {
    std::set<std::string> ids;
    for (gemm_plan const& x :
         plan_candidates(p, {at, at, nullptr, at}, known_device(device), kernel_set::all))
      ids.insert(std::string(x.family->id()));
    return ids;
  };
  for (char const* device : {"b200", "gb300"}) {
    EXPECT_TRUE(families_for(device).contains("sm100_gemm")) << device;
    EXPECT_FALSE(families_for(device).contains("sm90_gemm")) << device;
  }
  EXPECT_FALSE(families_for("h200").contains("sm100_gemm"));
}

}  // namespace
}  // namespace tw::test
