// SPDX-License-Identifier: Apache-2.0
// special_values_test.cpp  --check on data with infinities, NaN and numbers near float32's limit:
//                          no order of summation is called wrong, and planted faults are.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/problem/activation_formulas.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/problem/reference.hpp"
#include "tools/check/check.hpp"

namespace tw {
namespace {

constexpr float inf = HUGE_VALF;

/// Draws with a fixed seed, which a failure prints.
class dice {
 public:
  explicit dice(unsigned seed) : g_(seed) {}
  int below(int n) { return static_cast<int>(g_() % static_cast<unsigned>(n)); }
  bool one_in(int n) { return below(n) == 0; }
  float normal() { return std::uniform_real_distribution<float>(-1, 1)(g_); }
  /// One of a hundred (or so) is infinite, NaN, huge or tiny.
  float value(int rare) {
    if (!one_in(rare)) return normal();
    float const specials[] = {inf, -inf, NAN, 1e38F, -1e38F, 2e19F, -2e19F, 1e-38F, 0.0F};
    return specials[below(9)];
  }
  std::mt19937& engine() { return g_; }

 private:
  std::mt19937 g_;
};

/// A small problem with any epilogue, and its D as a correct kernel may compute it.
struct example {
  gemm_problem p;
  std::vector<std::uint16_t> a, b;
  std::vector<float> c, bias, row_scale, col_scale, d, aux;
  dice draw;
  std::vector<int> order;

  explicit example(unsigned seed) : draw(seed) {
    p.m = 1 + draw.below(6), p.n = 16, p.k = 1 + draw.below(40);
    p.a = {elem::bf16, order::row_major, p.k};
    p.b = {elem::bf16, order::col_major, p.k};
    gemm_epilogue& e = p.epilogue;
    bool const fused = draw.one_in(2);
    if (fused) {
      auto const& gates = test::all_accepted_gates();
      e.gate = gates[static_cast<std::size_t>(draw.below(static_cast<int>(gates.size())))];
      do e.act = static_cast<activation>(draw.below(activation_count));
      while (e.gate == gating::none && is_gate_only(e.act));
      e.bias = static_cast<along>(draw.below(3));
      e.row_scale = draw.one_in(2) ? along::rows : along::none,
      e.col_scale = draw.one_in(2) ? along::cols : along::none;
      e.c_last = e.gate != gating::none || draw.one_in(2);
    }
    std::int64_t const cols = result_cols(e, p.n);
    p.d = {elem::f32, order::row_major, cols};
    if (draw.one_in(2)) p.aux = matrix_desc{elem::f32, order::row_major, p.n};
    p.alpha = draw.one_in(3) ? 1.0F : draw.one_in(8) ? 0.0F : 3 * draw.normal();
    if (draw.one_in(2)) p.c = matrix_desc{elem::f32, order::row_major, cols};
    p.beta = p.c ? 1.5F : 0.0F;
    int const rare = draw.one_in(3) ? 10 : 100;
    auto const fill = [&](auto& to, std::int64_t n) {
      to.resize(static_cast<std::size_t>(n));
      for (auto& x : to) {
        if constexpr (sizeof(x) == 2)
          x = to_bf16(draw.value(rare)).bits;
        else
          x = draw.value(rare);
      }
    };
    fill(a, p.m * p.k), fill(b, p.n * p.k), fill(c, p.m * cols);
    fill(bias, e.bias == along::rows ? p.m : p.n), fill(row_scale, p.m), fill(col_scale, p.n);
    d.resize(c.size()), aux.resize(static_cast<std::size_t>(p.m * p.n));
    for (int i = 0; i < p.k; ++i) order.push_back(i);
  }

  gemm_operands operands() {
    gemm_operands o{a.data(), b.data(), c.data(), d.data()};
    o.bias = bias.data(), o.row_scale = row_scale.data(), o.col_scale = col_scale.data();
    o.aux = aux.data();
    return o;
  }

  /// Sums in float32, in a random order, in random groups.
  float sum(std::int64_t row, std::int64_t col) {
    std::shuffle(order.begin(), order.end(), draw.engine());
    float total = 0, group = 0;
    for (int const k : order) {
      group += static_cast<float>(load_element(p.a, a.data(), row, k) *
                                  load_element(p.b, b.data(), k, col));
      if (draw.one_in(4)) total += group, group = 0;
    }
    return total + group;
  }

  float linear(std::int64_t row, std::int64_t col, float const* c_value) {
    gemm_epilogue const& e = p.epilogue;
    auto const at = [](std::vector<float> const& v, std::int64_t i) {
      return v[static_cast<std::size_t>(i)];
    };
    float x = p.alpha == 0 ? 0.0F : p.alpha * sum(row, col);
    if (e.row_scale) x *= at(row_scale, row);
    if (e.col_scale) x *= at(col_scale, col);
    if (e.bias != along::none) x += at(bias, e.bias == along::rows ? row : col);
    if (c_value != nullptr) x = with_c(x, *c_value);
    aux[static_cast<std::size_t>(row * p.n + col)] = x;
    return x;
  }
  float with_c(float x, float c_value) {
    return draw.one_in(2) ? std::fma(p.beta, c_value, x) : x + p.beta * c_value;
  }

  float activated(float x) {
    return static_cast<float>(test::formula_of(p.epilogue.act, static_cast<double>(x)));
  }
  float passed(float up) {
    return static_cast<float>(test::passed(p.epilogue.act, static_cast<double>(up)));
  }

  void compute() {
    gemm_epilogue const& e = p.epilogue;
    for (std::int64_t row = 0; row < p.m; ++row)
      for (std::int64_t col = 0; col < p.d.pitch_elems; ++col) {
        auto const at = static_cast<std::size_t>(row * p.d.pitch_elems + col);
        float const* const added = p.c ? &c[at] : nullptr;
        product_columns const j = columns_of(p, col);
        float y = activated(linear(row, j.x, e.c_last ? nullptr : added));
        if (j.up >= 0) y *= passed(linear(row, j.up, nullptr));
        if (e.c_last && added != nullptr) y = with_c(y, *added);
        d[at] = y;
      }
  }
};

TEST(SpecialValues, CorrectResultsAreNeverCalledWrong) {
  int with_specials = 0, passed = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    example x(seed);
    x.compute();
    check_report const r = check_gemm(x.p, x.operands());
    ASSERT_EQ(r.wrong, 0) << "seed " << seed << ": got " << r.largest_ratio.got << ", exact "
                          << r.largest_ratio.expected << " +- " << r.largest_ratio.bound << " at "
                          << r.largest_ratio.row << ", " << r.largest_ratio.col;
    with_specials += std::ranges::any_of(x.d, [](float v) { return !std::isfinite(v); });
    passed += r.passed();
  }
  EXPECT_GT(with_specials, 1500);  // the cases that this test is for
  EXPECT_GT(passed, 3600);         // and few of them are too uncertain to be judged
}

TEST(SpecialValues, PlantedFaultsAreFound) {
  int planted = 0, missed = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    example x(seed);
    x.compute();
    if (check_gemm(x.p, x.operands()).unjudged > 0) continue;
    auto const at = static_cast<std::size_t>(x.draw.below(static_cast<int>(x.d.size())));
    float& d = x.d[at];
    float const right = d;
    if (std::isnan(right)) {
      d = x.draw.one_in(2) ? 0.0F : inf;
    } else if (std::isinf(right)) {
      float const faults[] = {-right, NAN, 0.0F, 3e38F};
      d = faults[x.draw.below(4)];
    } else {
      float const faults[] = {inf, -inf, NAN, 1.5F * right + 1};
      d = faults[x.draw.below(4)];
    }
    ++planted;
    // Where a value may overflow on the way, or errs by its own size, the fault is possible.
    missed += check_gemm(x.p, x.operands()).wrong == 0;
  }
  EXPECT_GT(planted, 3500);
  EXPECT_LT(missed, planted / 25);
}

TEST(SpecialValues, SumOfTheDocumentedCases) {
  auto const verdict_of = [](double d, std::vector<double> const& products, float alpha, double c,
                             elem type = elem::f32) {
    exact_sum x{0, 0, c};
    for (double const v : products) {
      x.s += v;
      if (std::isfinite(v)) x.t += std::fabs(v);
    }
    auto const t = make_bound_terms(static_cast<std::int64_t>(products.size()), alpha, 1, type);
    return judge(d, expect_element(x, t), t);
  };
  double const infinite = HUGE_VAL;
  // -6e38 overflows to -inf and is added to +inf, or does not.
  EXPECT_EQ(verdict_of(NAN, {-6e38, infinite}, 1, 0), verdict::unjudged);
  EXPECT_EQ(verdict_of(infinite, {-6e38, infinite}, 1, 0), verdict::right);
  EXPECT_EQ(verdict_of(5, {-6e38, infinite}, 1, 0), verdict::wrong);
  EXPECT_EQ(verdict_of(-infinite, {-6e38, infinite}, 1, 0), verdict::wrong);
  EXPECT_EQ(verdict_of(NAN, {-6, infinite}, 1, 0), verdict::wrong);
  // alpha acc overflows to +inf and is added to C = -inf.
  EXPECT_EQ(verdict_of(NAN, {2e38}, 3, -infinite), verdict::unjudged);
  EXPECT_EQ(verdict_of(-infinite, {2e38}, 3, -infinite), verdict::right);
  EXPECT_EQ(verdict_of(infinite, {2e38}, 3, -infinite), verdict::wrong);
  // Positive terms alone: infinite, and nothing else.
  EXPECT_EQ(verdict_of(infinite, {3e38, 3e38}, 1, 0), verdict::right);
  EXPECT_EQ(verdict_of(NAN, {3e38, 3e38}, 1, 0), verdict::wrong);
  EXPECT_EQ(verdict_of(1e38, {3e38, 3e38}, 1, 0), verdict::wrong);
  // alpha = 0: A and B take no part.
  EXPECT_EQ(verdict_of(7, {NAN}, 0, 7), verdict::right);
  EXPECT_EQ(verdict_of(NAN, {NAN}, 0, 7), verdict::wrong);
}

TEST(SpecialValues, ACheckThatJudgedTooLittleHasNotPassed) {
  gemm_problem p;
  p.m = 10, p.n = 1, p.k = 4;
  p.a = {elem::bf16, order::row_major, 4};
  p.b = {elem::bf16, order::col_major, 4};
  p.d = {elem::f32, order::row_major, 1};
  for (int uncertain = 0; uncertain <= 10; ++uncertain) {
    std::vector<std::uint16_t> a, b(4, to_bf16(1.0F).bits);
    std::vector<float> d;
    for (int row = 0; row < 10; ++row) {
      float const x = row < uncertain ? 2e38F : 2.0F;
      for (float const v : {x, x, -x, -x}) a.push_back(to_bf16(v).bits);
      d.push_back(row < uncertain ? NAN : 0.0F);  // 4e38 - 4e38
    }
    gemm_operands const o{a.data(), b.data(), nullptr, d.data()};
    check_report const r = check_gemm(p, o);
    EXPECT_EQ(r.wrong, 0);
    EXPECT_EQ(r.unjudged, uncertain);
    EXPECT_EQ(r.passed(), uncertain <= 1) << uncertain;
  }
}

}  // namespace
}  // namespace tw
