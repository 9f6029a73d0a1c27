// SPDX-License-Identifier: Apache-2.0
// scale_order_emu_test.cpp  Every kernel multiplies alpha, row scale and column scale in the
//                           documented order, also one that computes the transposed GEMM: factors
//                           whose terms overflow or vanish in any other order give the same
//                           bits.
#include "tests/kernel/built_kernels.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/gemm_cases.hpp"

#include <map>

namespace tw::test {
namespace {

struct scaled {
  product p;
  matrix row_scale, col_scale;

  gemm_operands operands() {
    gemm_operands o = p.operands();
    o.row_scale = static_cast<float const*>(row_scale.data());
    o.col_scale = static_cast<float const*>(col_scale.data());
    return o;
  }
};

/// One addend for each sum, so that the sum is exact; factors with exponents up to `ab_exponent`
/// and of 2^-120 to 2^120.
scaled make_scaled(std::mt19937_64& rng, elem ab, elem d_type, order d, int m, int n,
                   int ab_exponent) {
  auto const number = [&](int exponent) {
    int const e = static_cast<int>(rng() % static_cast<unsigned>(2 * exponent + 1)) - exponent;
    float const x = 1 + static_cast<float>(rng() % 128) / 128;
    return std::ldexp(rng() % 2 != 0 ? x : -x, e);
  };
  auto const zero = [] { return 0.0F; };
  auto const scale = [&] { return number(120); };
  scaled s;
  s.p.a = make_matrix(ab, order::row_major, m, 8, 0, zero);
  s.p.b = make_matrix(ab, order::col_major, 8, n, 0, zero);
  s.p.d = make_matrix(d_type, d, m, n, 0, nullptr);
  for (int i = 0; i < m; ++i) s.p.a.store(i, 0, 0, number(ab_exponent));
  for (int j = 0; j < n; ++j) s.p.b.store(0, j, 0, number(ab_exponent));
  s.row_scale = make_matrix(elem::f32, order::row_major, 1, m, 0, scale);
  s.col_scale = make_matrix(elem::f32, order::row_major, 1, n, 0, scale);
  s.p.problem = {m, n, 8, s.p.a.desc, s.p.b.desc, s.p.d.desc, std::nullopt};
  s.p.problem.alpha = number(20);
  s.p.problem.epilogue.row_scale = along::rows, s.p.problem.epilogue.col_scale = along::cols;
  return s;
}

/// x as D holds it.
double as(elem d, float x) {
  return static_cast<double>(d == elem::f32    ? x
                             : d == elem::bf16 ? to_float(to_bf16(x))
                                               : to_float(to_f16(x)));
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

TEST(ScaleOrderEmu, IsTheDocumentedOneInEveryKernel) {
  std::mt19937_64 rng(20261125);
  std::map<bool, int> plans;  // of the transposed GEMM or not
  int order_matters = 0;
  for (elem const ab : {elem::bf16, elem::f16})
    for (elem const d_type : {ab, elem::f32})
      for (order const d : {order::row_major, order::col_major})
        for (auto const& [m, n] : {std::pair{33, 40}, {40, 5}, {5, 130}}) {
          scaled s = make_scaled(rng, ab, d_type, d, m, n, ab == elem::f16 ? 6 : 40);
          for (gemm_plan const& plan : built_plans(s.p.problem, s.operands(), 8)) {
            ++plans[plan.swapped];
            emulate(plan, s.operands());
            for (int i = 0; i < m; ++i)
              for (int j = 0; j < n; ++j) {
                auto const f = [](double x) { return static_cast<float>(x); };
                float const row = f(s.row_scale.load(0, i, 0)), col = f(s.col_scale.load(0, j, 0));
                float const acc = f(s.p.a.load(i, 0, 0)) * f(s.p.b.load(0, j, 0));
                float const x = s.p.problem.alpha * acc;
                double const want = as(d_type, x * row * col);
                if (!same(want, as(d_type, x * col * row))) ++order_matters;
                double const got = s.p.d.load(i, j, 0);
                ASSERT_TRUE(same(got, want))
                    << plan.kernel << (plan.swapped ? " transposed" : "") << ", D(" << i << "," << j
                    << ") of " << s.p.text() << ": " << got << ", want " << want << " = " << x
                    << " * " << row << " * " << col;
              }
          }
        }
  EXPECT_GT(plans[false], 10);
  EXPECT_GT(plans[true], 10);
  EXPECT_GT(order_matters, 1000);
}

}  // namespace
}  // namespace tw::test
