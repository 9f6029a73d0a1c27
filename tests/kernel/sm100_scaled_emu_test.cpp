// SPDX-License-Identifier: Apache-2.0
// sm100_scaled_emu_test.cpp  Every block-scaled kernel of this build in the emulator against
//                            float64, hazards on: MXFP8, MXFP4 and NVFP4, scales in both orders.
#include <cstdlib>
#include <set>

#include "tests/effort.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/scales/block_scaled_cases.hpp"
#include "tilewright/arch/emu/options.hpp"
#include "tilewright/problem/block_quantize.hpp"
#include "tilewright/problem/reference.hpp"

namespace tw::test {
namespace {

/// Cases of each format: TW_SCALED_CASES more than these, for a long run.
int scaled_cases(int all) {
  char const* const more = std::getenv("TW_SCALED_CASES");
  return sample(all, 4) + (more != nullptr ? std::atoi(more) : 0);
}

emu_options scaled_schedule(int i, std::mt19937_64& rng) {
  emu_options o;
  o.policy = static_cast<async_policy>(i % 3);
  o.random_warps = i % 2 != 0;
  o.sms = 2 + i % 5;
  o.seed = rng();
  return o;
}

/// Runs one of the plans of this build, which the generator chooses; its kernel's name.
std::string run_any_scaled(block_scaled_product& p, int i, std::mt19937_64& rng,
                           emu_workspace& space) {
  gemm_operands operands = p.operands();
  space.give(operands);
  emu_options const options = scaled_schedule(i, rng);
  device const dev = with_sm_count(known_device("b200"), options.sms);
  std::vector<gemm_plan> plans = plan_candidates(p.problem, operands, dev, kernel_set::all);
  std::erase_if(plans, [](gemm_plan const& x) { return !x.built; });
  if (plans.empty()) return {};
  gemm_plan& plan = plans[rng() % plans.size()];
  EXPECT_EQ(plan.family->id(), "sm100_scaled");
  plan.schedule.raster = static_cast<order_kind>(rng() % 3);
  plan.schedule.band = 1 << rng() % 4;
  emulate(plan, operands, options);
  SCOPED_TRACE("case " + std::to_string(i) + ", " + plan.kernel + ", " + plan.why);
  expect_right(p);
  return plan.kernel;
}

std::set<std::string> built_kernels(block_format format, bool fused) {
  gemm_family const& f = *find_family("sm100_scaled");
  std::set<std::string> names;
  for (int i = 0; i < f.kernel_count(); ++i)
    if (f.built(i) && f.facts(i).epilogue == epilogue_operands{.ops = fused} &&
        f.facts(i).block_scaled == format)
      names.insert(f.name(i));
  return names;
}

class Sm100ScaledEmu : public testing::TestWithParam<block_format> {};

TEST_P(Sm100ScaledEmu, RandomProblemsKeepTheBound) {
  std::mt19937_64 rng(20261125 + static_cast<unsigned>(GetParam()));
  emu_workspace space;
  std::set<std::string> kernels;
  std::set<std::string> const built = built_kernels(GetParam(), false);
  int run = 0;
  for (int i = 0; (i < scaled_cases(14) || kernels != built) && i < 100 && !HasFailure(); ++i) {
    block_scaled_product p = random_block_scaled(rng, GetParam(), i % 4 == 0 ? 300 : 140, false);
    std::string const k = run_any_scaled(p, i, rng, space);
    if (k.empty()) continue;
    kernels.insert(k), ++run;
  }
  EXPECT_GE(run, scaled_cases(14) / 2);
  EXPECT_EQ(kernels, built);
}

/// Sums that float32 holds exactly: the bits of the float64 result, rounded once.
TEST_P(Sm100ScaledEmu, ExactSumsHaveTheBitsOfAnIndependentReference) {
  std::mt19937_64 rng(7 + static_cast<unsigned>(GetParam()));
  emu_workspace space;
  for (int i = 0; i < scaled_cases(8) && !HasFailure(); ++i) {
    block_scaled_product p = random_block_scaled(rng, GetParam(), 150, true);
    run_any_scaled(p, i, rng, space);
  }
}

/// The reference and the bound of the library judge these results right, and broken ones wrong.
TEST_P(Sm100ScaledEmu, TheReferenceOfTheLibraryAgrees) {
  std::mt19937_64 rng(77 + static_cast<unsigned>(GetParam()));
  emu_workspace space;
  for (int i = 0; i < 4 && !HasFailure(); ++i) {
    block_scaled_product p = random_block_scaled(rng, GetParam(), 60, false);
    if (run_any_scaled(p, i, rng, space).empty()) continue;
    bound_terms const terms = make_bound_terms(p.problem);
    gemm_operands const o = p.operands();
    for (std::int64_t b = 0; b < p.problem.batch; ++b)
      for (std::int64_t r = 0; r < p.problem.m; ++r)
        for (std::int64_t c = 0; c < p.problem.n; ++c) {
          expected_element const e =
              expect_element(reference_element(p.problem, o, r, c, b), terms);
          double const got = p.d.load(r, c, b);
          ASSERT_NE(judge(got, e, terms), verdict::wrong) << p.text() << " " << r << " " << c;
          if (std::isfinite(got) && std::isfinite(e.value)) {
            EXPECT_EQ(judge(got + 3 * e.bound + 1e-6, e, terms), verdict::wrong) << p.text();
          }
        }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Sm100ScaledEmu,
                         testing::Values(block_format::mxfp8, block_format::mxfp4,
                                         block_format::nvfp4),
                         [](auto const& i) { return traits_of(i.param).name; });

/// The example of docs/block_scaling.md, with operands of quantize().
void multiply_nvfp4(std::int64_t m, std::int64_t n, std::int64_t k, void const* a, void const* b,
                    void const* factors_a, void const* factors_b, float scale_of_a,
                    float scale_of_b, bf16* d) {
  tw::gemm_problem p;
  p.m = m, p.n = n, p.k = k;
  p.a = {tw::elem::e2m1, tw::order::row_major, k};
  p.b = {tw::elem::e2m1, tw::order::col_major, k};
  p.d = {tw::elem::bf16, tw::order::row_major, n};
  p.scale_a = tw::make_block_scale({.outer = m, .k = k}, tw::block_format::nvfp4);  // 32x4x4
  p.scale_b = tw::make_block_scale({.is_b = true, .outer = n, .k = k}, tw::block_format::nvfp4);
  tw::gemm_operands o{.a = a, .b = b, .d = d, .scale_a = factors_a, .scale_b = factors_b};
  o.second_level_a = &scale_of_a;
  o.second_level_b = &scale_of_b;
  tw::gemm_emulated(tw::plan_gemm(p, o, tw::known_device("b200")), o);
  // On a Blackwell GPU, with device pointers: tw::gemm(p, o, stream);
}

TEST(Sm100ScaledExample, MultipliesWhatQuantizeWrites) {
  constexpr std::int64_t m = 40, n = 24, k = 96;
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  struct quantized {
    std::vector<float> wide;
    std::vector<std::uint64_t> values, factors;
    float second;
  };
  auto const make = [&](std::int64_t rows) {
    quantized q{std::vector<float>(static_cast<std::size_t>(rows * k)), {}, {}, 1.0F};
    for (float& x : q.wide) x = normal(random);
    block_quantize_problem const p{rows, k, {elem::f32, order::row_major, k}};
    q.values.resize(static_cast<std::size_t>(rows * k / 16 + 2));
    q.factors.resize(static_cast<std::size_t>(p.factor_bytes() / 8 + 2));
    q.second = quantize(p, q.wide.data(), q.values.data(), q.factors.data()).second_level;
    return q;
  };
  quantized const a = make(m), b = make(n);
  std::vector<bf16> d(m * n);
  multiply_nvfp4(m, n, k, a.values.data(), b.values.data(), a.factors.data(), b.factors.data(),
                 a.second, b.second, d.data());
  double off = 0, all = 0;
  for (std::int64_t r = 0; r < m; ++r)
    for (std::int64_t c = 0; c < n; ++c) {
      double want = 0;
      for (std::int64_t i = 0; i < k; ++i)
        want += static_cast<double>(a.wide[static_cast<std::size_t>(r * k + i)]) *
                static_cast<double>(b.wide[static_cast<std::size_t>(c * k + i)]);
      double const got = static_cast<double>(to_float(d[static_cast<std::size_t>(r * n + c)]));
      off += (got - want) * (got - want), all += want * want;
    }
  // An element of 4 bits is off by about a tenth; a wrong factor, by more than its own size.
  EXPECT_LT(off / all, 0.03);
  EXPECT_GT(off / all, 0.001);
}

/// The kernel with a fused epilogue: bias, scale of columns and an activation.
TEST(Sm100ScaledFused, AnEpilogueIsThatOfTheOtherKernels) {
  std::mt19937_64 rng(5);
  emu_workspace space;
  std::set<std::string> kernels;
  for (int i = 0; i < 4; ++i) {
    block_scaled_product p = random_block_scaled(rng, block_format::nvfp4, 200, true);
    p.d = make_matrix(elem::bf16, order::row_major, p.problem.m, p.problem.n, 0, nullptr,
                      p.problem.batch);
    gemm_problem& q = p.problem;
    q.d = p.d.desc;
    q.c.reset(), q.beta = 0;
    q.epilogue.act = activation::relu;
    q.epilogue.bias = along::cols;
    q.epilogue.col_scale = along::cols;
    std::vector<float> bias, scale;
    for (std::int64_t j = 0; j < q.n; ++j)
      bias.push_back(static_cast<float>(j % 7) - 3), scale.push_back(j % 2 == 0 ? 0.5F : 2.0F);
    gemm_operands o = p.operands();
    o.bias = bias.data(), o.col_scale = scale.data();
    space.give(o);
    emu_options const options = scaled_schedule(i, rng);
    auto plans = plan_candidates(q, o, with_sm_count(known_device("b200"), options.sms));
    emulate(plans.front(), o, options);
    kernels.insert(plans.front().kernel);
    double const second = static_cast<double>(p.second_a * p.second_b);
    for (std::int64_t b = 0; b < q.batch; ++b)
      for (std::int64_t r = 0; r < q.m; ++r)
        for (std::int64_t c = 0; c < q.n; ++c) {
          double s = 0;
          for (std::int64_t k = 0; k < q.k; ++k) s += p.a.of(b, r, k) * p.b.of(b, c, k) * second;
          auto const j = static_cast<std::size_t>(c);
          double const x = static_cast<double>(q.alpha) * s * static_cast<double>(scale[j]) +
                           static_cast<double>(bias[j]);
          double const want =
              static_cast<double>(to_float(to_bf16(static_cast<float>(std::max(0.0, x)))));
          ASSERT_EQ(p.d.load(r, c, b), want) << p.text() << " " << plans.front().kernel;
        }
  }
  std::set<std::string> built = built_kernels(block_format::nvfp4, true);
  std::erase_if(built, [](std::string const& name) { return name.find("gate") != name.npos; });
  EXPECT_EQ(kernels, built);
}

/// A gate, interleaved or split at any multiple of 8 columns, and x as a second result, of sums
/// that float32 holds exactly.
TEST_P(Sm100ScaledEmu, GatesAndAuxiliaryOutputsHaveTheBitsOfAReference) {
  std::mt19937_64 rng(99 + static_cast<unsigned>(GetParam()));
  emu_workspace space;
  std::set<std::string> kernels;
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    block_scaled_product p = random_block_scaled(rng, GetParam(), 500, true);
    gemm_problem& q = p.problem;
    bool const gated = i % 3 != 2, with_aux = i % 3 != 0;
    if (q.n < 16 || q.k > 400 || q.a.type != q.b.type) continue;
    if (gated) q.n = q.n / 16 * 16;
    std::int64_t const cols = gated ? q.n / 2 : q.n;
    q.c.reset(), q.beta = 0;
    q.epilogue.act = activation::relu;
    q.epilogue.gate = !gated ? gating::none : i % 2 == 0 ? gating::split : gating::interleaved;
    int const gap = i % 4 == 0 ? 3 : 0;
    p.d = make_matrix(elem::bf16, order::row_major, q.m, cols, gap, nullptr, q.batch);
    matrix aux = make_matrix(elem::bf16, order::row_major, q.m, q.n, gap, nullptr, q.batch);
    q.d = p.d.desc;
    if (with_aux) q.aux = aux.desc;
    gemm_operands o = p.operands();
    o.aux = with_aux ? aux.data() : nullptr;
    space.give(o);
    emu_options const options = scaled_schedule(i, rng);
    auto plans =
        plan_candidates(q, o, with_sm_count(known_device("b200"), options.sms), kernel_set::all);
    std::erase_if(plans, [](gemm_plan const& x) { return !x.built; });
    if (plans.empty()) continue;
    gemm_plan const& plan = plans[rng() % plans.size()];
    emulate(plan, o, options);
    kernels.insert(plan.kernel);
    double const second = static_cast<double>(p.second_a * p.second_b);
    auto const x_of = [&](std::int64_t b, std::int64_t r, std::int64_t c) {
      double s = 0;
      for (std::int64_t k = 0; k < q.k; ++k) s += p.a.of(b, r, k) * p.b.of(b, c, k) * second;
      return static_cast<float>(static_cast<double>(q.alpha) * s);
    };
    auto const rounded = [](float x) { return static_cast<double>(to_float(to_bf16(x))); };
    bool const interleaved = q.epilogue.gate == gating::interleaved;
    for (std::int64_t b = 0; b < q.batch; ++b)
      for (std::int64_t r = 0; r < q.m; ++r)
        for (std::int64_t c = 0; c < cols; ++c) {
          std::int64_t const at = interleaved ? 2 * c : c, up_at = interleaved ? at + 1 : cols + c;
          float const x = x_of(b, r, at), up = gated ? x_of(b, r, up_at) : 1.0F;
          ASSERT_EQ(p.d.load(r, c, b), rounded(std::max(0.0F, x) * up)) << p.text() << plan.kernel;
          if (!with_aux) continue;
          ASSERT_EQ(aux.load(r, at, b), rounded(x)) << p.text() << plan.kernel;
          if (gated) {
            ASSERT_EQ(aux.load(r, up_at, b), rounded(up)) << p.text() << plan.kernel;
          }
        }
  }
  gemm_family const& f = *find_family("sm100_scaled");
  for (int i = 0; i < f.kernel_count(); ++i) {
    kernel_facts const x = f.facts(i);
    if (f.built(i) && x.block_scaled == GetParam() && !x.epilogue.scales &&
        (x.epilogue.gate || x.epilogue.aux)) {
      EXPECT_TRUE(kernels.contains(f.name(i))) << f.name(i) << " was never planned";
    }
  }
  EXPECT_FALSE(kernels.empty());
}

}  // namespace
}  // namespace tw::test
