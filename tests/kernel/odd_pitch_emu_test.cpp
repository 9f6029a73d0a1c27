// SPDX-License-Identifier: Apache-2.0
// odd_pitch_emu_test.cpp  GEMMs whose matrices TMA cannot address, in the emulator against
//                         float64: bases at any element, odd pitches, batches, fused epilogues.
#include <sys/resource.h>

#include <optional>
#include <set>

#include "tests/effort.hpp"
#include "tests/kernel/built_kernels.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/epilogue/fused_cases.hpp"

namespace tw::test {
namespace {

/// Runs any plan; one that a generator chooses. None where this build lacks all kernels for it, as
/// with fused epilogues and TW_KERNELS=representative.
template <class Product>
std::optional<gemm_plan> run_any(Product& p, emu_workspace& space, std::mt19937_64& rng,
                                 int index) {
  for (matrix* m : {&p.a, &p.b, &p.c, &p.d})
    if (rng() % 3 != 0) move_base(*m, rng);
  emu_options o;
  o.policy = async_policy(index % 3);
  o.seed = rng();
  o.random_warps = index % 2 != 0;
  o.sms = 2 + 2 * (index % 4);
  gemm_operands operands = p.operands();
  space.give(operands);
  std::vector<gemm_plan> const plans = built_plans(p.problem, operands, o.sms);
  if (plans.empty()) return std::nullopt;
  gemm_plan const& plan = plans[rng() % plans.size()];
  emulate(plan, operands, o);
  return plan;
}

TEST(OddPitch, RandomProblemsKeepTheBound) {
  std::mt19937_64 rng(20261122);
  emu_workspace space;
  std::set<int> ways;
  for (int i = 0; runs_case(i, 120, ways.size() == 8); ++i) {
    product p = random_product(rng, i % 3 == 0 ? 300 : i % 3 == 1 ? 64 : 150, i % 4 == 0 ? 5 : 1);
    gemm_plan const plan = run_any(p, space, rng, i).value();
    expect_right(p);
    ways.insert(plan.repitch.a + 2 * plan.repitch.b + 4 * plan.direct_d);
    ASSERT_FALSE(HasFailure()) << "case " << i << ", " << plan.kernel << ", " << plan.why;
  }
  EXPECT_EQ(ways.size(), 8U) << "some choice of copies and plain stores was not tried";
}

TEST(OddPitch, RandomFusedProblemsKeepTheBound) {
  std::mt19937_64 rng(20261123);
  emu_workspace space;
  int aux = 0;
  for (int i = 0; runs_case(i, 80, aux > 0); ++i) {
    fused_product p = random_fused(rng, i % 3 == 0 ? 300 : i % 3 == 1 ? 64 : 150);
    if (p.problem.aux) move_base(p.aux, rng);
    std::optional<gemm_plan> const plan = run_any(p, space, rng, i);
    if (!plan) continue;
    expect_fused_right(p);
    aux += p.problem.aux ? 1 : 0;
    ASSERT_FALSE(HasFailure()) << "case " << i << ", " << plan->kernel << ", " << plan->why;
  }
  EXPECT_GT(aux, kernels_of_this_build().name == "full" ? sample(5) : 0);
}

/// A matrix of a batch by pointers, at any addresses unless its pitch is a multiple of 16 bytes.
template <class Fill>
matrix anywhere(elem type, order ord, std::int64_t rows, std::int64_t cols, Fill fill,
                std::int64_t batch, std::mt19937_64& rng) {
  auto const any = [&](int most) { return static_cast<int>(rng() % (most + 1U)); };
  std::int64_t const line = ord == order::row_major ? cols : rows;
  int const pad = any(9);
  if ((line + pad) * size_bytes(type) % 16 == 0)
    return make_matrix(type, ord, rows, cols, pad, fill, batch, batch_form::pointers, 8 * any(3));
  matrix m = make_matrix(type, ord, rows, cols, pad, fill, batch, batch_form::behind, any(9));
  m.give_addresses();
  move_base(m, rng);
  return m;
}

/// One row, one column, or more: the leading dimension decides alone (docs/batches.md).
TEST(OddPitch, MatricesByPointersMayLieAnywhereUnlessTheirLeadingDimensionFits) {
  std::mt19937_64 rng(20261128);
  std::normal_distribution<float> normal;
  auto const fill = [&] { return normal(rng); };
  auto const any = [&](int lo, int hi) {
    return lo + static_cast<int>(rng() % static_cast<unsigned>(hi - lo + 1));
  };
  auto const ord = [&] { return any(0, 1) != 0 ? order::row_major : order::col_major; };
  emu_workspace space;
  int odd_lines = 0;
  std::set<std::string_view> families;
  for (int i = 0; i < sample(150) && !HasFailure(); ++i) {
    int const m = any(0, 2) == 0 ? 1 : any(2, 40), n = any(0, 2) == 0 ? 1 : any(2, 40);
    int const k = any(1, 70), batch = any(2, 4);
    elem const ab = any(0, 1) != 0 ? elem::bf16 : elem::f16;
    product p;
    p.a = anywhere(ab, ord(), m, k, fill, batch, rng);
    p.b = anywhere(ab, ord(), k, n, fill, batch, rng);
    p.d = anywhere(any(0, 1) != 0 ? elem::f32 : ab, ord(), m, n, nullptr, batch, rng);
    p.problem = {m, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F, batch};
    if (any(0, 2) == 0) {
      p.c = anywhere(elem::f32, ord(), m, n, fill, batch, rng);
      p.problem.c = p.c.desc, p.problem.beta = -0.75F;
    }
    char const* const devices[] = {"h200", "h200", "a100", "b200"};
    gemm_operands o = p.operands();
    space.give(o);
    std::vector<gemm_plan> const plans = built_plans(p.problem, o, 4, devices[i % 4]);
    if (plans.empty()) continue;
    gemm_plan const& plan = plans[rng() % plans.size()];
    SCOPED_TRACE(plan.kernel + ", " + p.text());
    families.insert(plan.family->id());
    for (matrix const* x : {&p.a, &p.b})
      odd_lines += (x->desc.ord == order::row_major ? x->rows : x->cols) == 1 &&
                   x->desc.pitch_bytes() % 16 != 0;
    emu_options how;
    how.seed = rng(), how.sms = 4;
    emulate(plan, o, how);
    expect_right(p);
  }
  EXPECT_GE(odd_lines, sample(20));
  EXPECT_GE(families.size(), 2U);
}

/// bf16, TN, dense pitches.
product dense_product(int m, int n, int k, unsigned seed) {
  std::mt19937_64 rng(seed);
  std::normal_distribution<float> normal;
  auto const fill = [&] { return normal(rng); };
  product p;
  p.a = make_matrix(elem::bf16, order::row_major, m, k, 0, fill);
  p.b = make_matrix(elem::bf16, order::col_major, k, n, 0, fill);
  p.d = make_matrix(elem::bf16, order::row_major, m, n, 0, nullptr);
  p.problem = {m, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F};
  return p;
}

/// 1500 CTAs of a copy that lived at once took 1.3 GB.
TEST(OddPitch, CopiesOfManyCtasTakeLittleMemory) {
  product p = dense_product(1000, 16, 4097, 8);
  emu_workspace space;
  gemm_operands o = p.operands();
  space.give(o);
  auto const most_kb = [] {
    rusage u{};
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
  };
  auto const before = most_kb();
  emu_options how;
  how.sms = 2;
  gemm_emulated(p.problem, o, how);
  EXPECT_LT(most_kb() - before, 300000);
  expect_right(p);
}

/// Copies and products of a stream, each launched so that it may start before its predecessor ends.
TEST(OddPitch, AChainWaitsForItsPredecessors) {
  constexpr int m = 70, n = 131;
  product p = dense_product(m, n, 93, 7);
  matrix second = make_matrix(elem::f32, order::row_major, m, m, 0, nullptr);
  gemm_problem square{m, m, n, p.d.desc, p.d.desc, second.desc, std::nullopt, 1.0F, 0.0F};
  square.b.ord = order::col_major;  // D D^T
  emu_workspace space;
  gemm_operands o = p.operands(), q{p.d.data(), p.d.data(), nullptr, second.data()};
  space.give(o), space.give(q);
  emu::stream stream;
  emu_options how;
  how.policy = async_policy::lazy;
  how.random_warps = true;
  how.sms = 4;
  how.in = &stream;
  how.pdl = true;
  gemm_emulated(p.problem, o, how);
  gemm_emulated(square, q, how);
  expect_right(p);
  for (int r = 0; r < m; ++r)
    for (int c = 0; c < m; ++c) {
      double sum = 0, size = 0;
      for (int i = 0; i < n; ++i) {
        double const x = p.d.load(r, i, 0) * p.d.load(c, i, 0);
        sum += x, size += std::fabs(x);
      }
      ASSERT_NEAR(second.load(r, c, 0), sum, 1e-4 * size) << r << ", " << c;
    }
}

}  // namespace
}  // namespace tw::test
