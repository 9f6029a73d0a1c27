// SPDX-License-Identifier: Apache-2.0
// check_test.cpp  The error bound holds for every way to sum in float32, and a wrong D is found.
#include "tools/check/check.hpp"

#include <cmath>
#include <cstring>
#include <random>

#include "tests/tools/support.hpp"
#include "tilewright/problem/block_quantize.hpp"
#include "tilewright/problem/block_result.hpp"
#include "tilewright/problem/reference.hpp"

namespace {

using namespace tw;

/// A problem in memory. Values are random with `bits` fractional bits or normal.
struct product {
  gemm_problem p;
  std::vector<std::uint16_t> a, b;
  std::vector<float> c, d;

  product(std::int64_t m, std::int64_t n, std::int64_t k, elem ab, order a_ord, order b_ord,
          unsigned seed, float low = -1.0F) {
    p.m = m;
    p.n = n;
    p.k = k;
    p.a = {ab, a_ord, (a_ord == order::row_major ? k : m) + 3};
    p.b = {ab, b_ord, (b_ord == order::row_major ? n : k) + 1};
    p.c = matrix_desc{elem::f32, order::col_major, m};
    p.d = {elem::f32, order::row_major, n};
    p.alpha = 1.5F;
    p.beta = -0.75F;
    std::mt19937 g(seed);
    std::uniform_real_distribution<float> value(low, 1.0F);
    auto const bits = [&] {
      return ab == elem::f16 ? to_f16(value(g)).bits : to_bf16(value(g)).bits;
    };
    a.resize(static_cast<std::size_t>(p.a.pitch_elems * (a_ord == order::row_major ? m : k)));
    b.resize(static_cast<std::size_t>(p.b.pitch_elems * (b_ord == order::row_major ? k : n)));
    c.resize(static_cast<std::size_t>(m * n));
    d.resize(c.size());
    for (auto& x : a) x = bits();
    for (auto& x : b) x = bits();
    for (auto& x : c) x = value(g);
  }

  gemm_operands operands() { return {a.data(), b.data(), c.data(), d.data()}; }

  /// D, where `sum` turns the terms a_k b_k of one element into S'.
  template <class Sum>
  void compute(Sum const& sum) {
    std::vector<float> products(static_cast<std::size_t>(p.k));
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        for (std::int64_t k = 0; k < p.k; ++k) {
          products[static_cast<std::size_t>(k)] =
              static_cast<float>(load_element(p.a, a.data(), i, k)) *
              static_cast<float>(load_element(p.b, b.data(), k, j));
        }
        float const c_ij = static_cast<float>(load_element(*p.c, c.data(), i, j));
        float const x = p.alpha * sum(products) + p.beta * c_ij;
        d[static_cast<std::size_t>(i * p.n + j)] = x;
      }
    }
  }
};

float sum_in_order(std::vector<float> const& x) {
  float s = 0;
  for (float v : x) s += v;
  return s;
}

float sum_pairwise(std::vector<float> x) {
  while (x.size() > 1) {
    std::vector<float> half;
    for (std::size_t i = 0; i < x.size(); i += 2) {
      half.push_back(i + 1 < x.size() ? x[i] + x[i + 1] : x[i]);
    }
    x = half;
  }
  return x[0];
}

/// x cut off below 2^(exponent - 23).
double cut(double x, int exponent) {
  return std::ldexp(std::trunc(std::ldexp(x, 23 - exponent)), exponent - 23);
}

/// A tensor core without extra bits: blocks are aligned to their largest exponent, what
/// falls below its last bit is cut, and so is the sum.
template <std::size_t Block>
float sum_truncating(std::vector<float> const& x) {
  double s = 0;
  for (std::size_t at = 0; at < x.size(); at += Block) {
    std::size_t const end = std::min(x.size(), at + Block);
    double largest = std::fabs(s);
    for (std::size_t i = at; i < end; ++i) largest = std::max<double>(largest, std::fabs(x[i]));
    if (largest == 0) continue;
    double sum = cut(s, std::ilogb(largest));
    for (std::size_t i = at; i < end; ++i) sum += cut(x[i], std::ilogb(largest));
    s = sum == 0 ? 0 : cut(sum, std::ilogb(sum));
  }
  return static_cast<float>(s);
}

constexpr order both_orders[] = {order::row_major, order::col_major};

TEST(check, every_way_to_sum_is_within_the_bound) {
  unsigned seed = 0;
  for (float low : {-1.0F, 0.0F}) {  // with and without cancellation
    for (elem ab : {elem::bf16, elem::f16}) {
      product x(17, 13, 1 + 61 * (seed % 5), ab, both_orders[seed % 2], both_orders[seed / 2 % 2],
                seed, low);
      ++seed;
      double share = 0;
      auto const passes = [&](auto const& sum) {
        x.compute(sum);
        check_report const r = check_gemm(x.p, x.operands());
        EXPECT_EQ(r.wrong + r.unjudged, 0);
        EXPECT_EQ(r.rows_checked, 17);
        share = std::max(share, r.largest_ratio.ratio);
      };
      passes(sum_in_order);
      passes(sum_pairwise);
      passes(sum_truncating<1>);
      passes(sum_truncating<4>);
      passes(sum_truncating<16>);
      EXPECT_LT(share, 1.0);
      EXPECT_GT(share, 0.01);  // the bound is no blank cheque
    }
  }
}

TEST(check, truncation_can_use_up_most_of_the_bound) {
  // 1 + many terms just below the last bit: each is cut off whole. Here a unit of 2^-24, the one
  // of rounding to nearest, would be exceeded.
  product x(1, 1, 1000, elem::bf16, order::row_major, order::col_major, 1);
  for (auto& v : x.a) v = to_bf16(0x1p-12F).bits;
  for (auto& v : x.b) v = to_bf16(0x1.FCp-13F).bits;
  x.a[0] = x.b[0] = to_bf16(1.0F).bits;
  x.p.c.reset();
  x.p.alpha = 1;
  x.p.beta = 0;
  x.c = {0};
  float const s = sum_truncating<16>([&] {
    std::vector<float> products(1000, 0x1p-12F * 0x1.FCp-13F);
    products[0] = 1;
    return products;
  }());
  EXPECT_EQ(s, 1.0F);
  x.d[0] = s;
  check_report const r = check_gemm(x.p, x.operands());
  EXPECT_TRUE(r.passed());
  double const nearest_unit = std::expm1(1000 * std::log1p(0x1p-24)) * r.largest_error.expected;
  EXPECT_GT(r.largest_error.error, 0.9 * nearest_unit);
}

TEST(check, expects_what_three_loops_expect) {
  for (int i = 0; i < 4; ++i) {
    product x(5, 700, 90, elem::bf16, both_orders[i % 2], both_orders[i / 2], 7);
    x.compute(sum_in_order);
    x.d[3 * 700 + 611] += 1.0F;  // makes this the place that is shown
    check_report const r = check_gemm(x.p, x.operands());
    bound_terms const t = make_bound_terms(90, x.p.alpha, x.p.beta, elem::f32);
    auto const e = expect_element(reference_element(x.p, x.operands(), 3, 611), t);
    EXPECT_EQ(r.wrong, 1);
    EXPECT_EQ(r.largest_error.row, 3);
    EXPECT_EQ(r.largest_error.col, 611);
    EXPECT_NEAR(r.largest_error.expected, e.value, 1e-13);
    EXPECT_NEAR(r.largest_error.bound, e.bound, 1e-6 * e.bound);
    EXPECT_NEAR(r.largest_error.error, 1.0, 1e-4);
  }
}

TEST(check, an_error_beyond_the_bound_is_found_anywhere) {
  product x(40, 30, 64, elem::f16, order::row_major, order::col_major, 3);
  std::mt19937 g(1);
  for (int round = 0; round < 50; ++round) {
    x.compute(sum_in_order);
    std::size_t const at = g() % x.d.size();
    auto const row = static_cast<std::int64_t>(at) / 30, col = static_cast<std::int64_t>(at) % 30;
    bound_terms const t = make_bound_terms(64, x.p.alpha, x.p.beta, elem::f32);
    auto const e = expect_element(reference_element(x.p, x.operands(), row, col), t);
    x.d[at] = static_cast<float>(e.value + 1.01 * e.bound);
    check_report const r = check_gemm(x.p, x.operands());
    EXPECT_EQ(r.wrong, 1);
    EXPECT_EQ(r.largest_ratio.row, row);
    EXPECT_EQ(r.largest_ratio.col, col);
  }
}

/// Two GEMMs of other magnitudes with a D in NVFP4, as a kernel writes it.
struct stack_in_nvfp4 {
  static constexpr std::int64_t m = 8, n = 32, k = 16, batch = 2;
  gemm_problem p;
  std::vector<float> a, b;
  std::vector<std::uint8_t> d;
  std::vector<float> scales;  // bytes; their address is a multiple of 4

  stack_in_nvfp4() {
    p.m = m, p.n = n, p.k = k, p.batch = batch;
    p.a = {elem::f32, order::row_major, k, m * k};
    p.b = {elem::f32, order::row_major, n, k * n};
    p.d = {elem::e2m1, order::row_major, n, m * n};
    p.scale_d = make_block_result(block_format::nvfp4, m, n, factor_order::linear, batch);
    for (std::int64_t i = 0; i < batch * m * k; ++i)
      a.push_back(static_cast<float>(i * 5 % 7 - 3) * (i < m * k ? 1.0F : 32.0F));
    for (std::int64_t i = 0; i < batch * k * n; ++i)
      b.push_back(static_cast<float>(i * 3 % 5 - 2) * (i < k * n ? 1.0F : 0.5F));
    d.resize(batch * m * n / 2);
    scales.resize(static_cast<std::size_t>(block_result_bytes(p) / 4));
    auto* const factors = reinterpret_cast<std::uint8_t*>(scales.data());
    std::vector<float> wide(m * n);
    for (std::int64_t i = 0; i < batch; ++i) {
      for (std::int64_t row = 0; row < m; ++row)
        for (std::int64_t col = 0; col < n; ++col)
          wide[static_cast<std::size_t>(row * n + col)] =
              static_cast<float>(reference_element(p, operands(), row, col, i).s);
      block_quantize_problem const q{
          m, n, {elem::f32, order::row_major, n}, block_format::nvfp4, factor_order::linear};
      level(i) = quantize(q, wide.data(), d.data() + i * m * n / 2,
                          factors + i * p.scale_d->desc.batch_stride)
                     .second_level;
    }
  }
  float& level(std::int64_t i) {
    return scales[static_cast<std::size_t>(second_level_offset(p) / 4 + i)];
  }
  gemm_operands operands() {
    gemm_operands o{a.data(), b.data(), nullptr, d.data()};
    o.scale_d = scales.data();
    return o;
  }
};

TEST(check, each_matrix_of_a_stack_has_its_scales_and_second_level) {
  stack_in_nvfp4 right;
  check_report const r = check_gemm(right.p, right.operands());
  EXPECT_TRUE(r.passed());
  EXPECT_EQ(r.scales, 2 * (8 * 2 + 1));
  for (std::int64_t i = 0; i < 2; ++i) {
    stack_in_nvfp4 other;  // the second level of the other matrix
    other.level(i) = other.level(1 - i);
    check_report const wrong = check_gemm(other.p, other.operands());
    EXPECT_FALSE(wrong.passed());
    EXPECT_GE(wrong.wrong_scales, 1);
    EXPECT_EQ(wrong.largest_ratio.product, i);
  }
  for (std::int64_t i = 0; i < 2; ++i) {
    stack_in_nvfp4 factor;
    reinterpret_cast<std::uint8_t*>(factor.scales.data())[i * 8 * 2 + 3] ^= 0x08;  // of matrix i
    check_report const wrong = check_gemm(factor.p, factor.operands());
    EXPECT_EQ(wrong.wrong_scales, 1) << i;
    EXPECT_FALSE(wrong.passed()) << i;
  }
}

/// GEMMs whose matrices lie one after the other, with C, and their exact results: D, and of the
/// fused ones the auxiliary output too.
struct gemms_in_line {
  static constexpr std::int64_t m = 5, n = 6, k = 8, batch = 4;
  gemm_problem p;
  std::vector<float> a, b, c, d, aux;

  explicit gemms_in_line(bool fused) {
    auto const line = [](std::int64_t rows, std::int64_t cols) {
      return matrix_desc{elem::f32, order::row_major, cols, rows * cols};
    };
    p.m = m, p.n = n, p.k = k, p.batch = batch;
    p.a = line(m, k), p.b = line(k, n), p.d = line(m, n), p.c = p.d, p.beta = 1;
    if (fused) p.epilogue.act = activation::relu, p.aux = p.d;
    std::mt19937 g(20261128);
    auto const fill = [&](std::vector<float>& x, std::int64_t of_one) {
      for (std::int64_t i = 0; i < batch * of_one; ++i)
        x.push_back(static_cast<float>(static_cast<int>(g() % 9) - 4));
    };
    fill(a, m * k), fill(b, k * n), fill(c, m * n);
    for (std::int64_t i = 0; i < batch; ++i)
      for (std::int64_t at = 0; at < m * n; ++at) {
        exact_fused const x = reference_fused(p, operands(), at / n, at % n, i);
        auto const sum = static_cast<float>(x.x.s + x.c);
        d.push_back(fused ? std::max(sum, 0.0F) : sum);
        aux.push_back(sum);
      }
  }
  gemm_operands operands() {
    gemm_operands o{a.data(), b.data(), c.data(), d.data()};
    o.aux = aux.data();
    return o;
  }
};

/// Every count of a report is over all matrices, not over the last one, the first one or most.
TEST(check, one_wrong_element_in_any_matrix_of_a_batch_is_found) {
  using of = gemms_in_line;
  for (bool const fused : {false, true})
    for (std::int64_t i = 0; i < of::batch; ++i)
      for (std::int64_t at = 0; at < of::m * of::n; ++at)
        for (bool const in_aux : {false, true}) {
          if (in_aux && !fused) continue;
          of x(fused);
          EXPECT_TRUE(check_gemm(x.p, x.operands()).passed());
          (in_aux ? x.aux : x.d)[static_cast<std::size_t>(i * of::m * of::n + at)] += 1.0F;
          check_report const r = check_gemm(x.p, x.operands());
          EXPECT_FALSE(r.passed()) << i << " " << at;
          EXPECT_EQ(r.wrong, 1);
          EXPECT_EQ(r.judged, of::batch * of::m * of::n * (fused ? 2 : 1));
          EXPECT_EQ(r.unjudged, 0);
          EXPECT_EQ(r.rows, of::batch * of::m);
          EXPECT_EQ(r.rows_checked, r.rows);
          EXPECT_EQ(r.cols, of::n);
          for (check_place const& place : {r.largest_error, r.largest_ratio}) {
            EXPECT_EQ(place.product, i);
            EXPECT_EQ(place.row, at / of::n);
            EXPECT_EQ(place.col, at % of::n);
          }
        }
}

TEST(check, wrong_elements_of_several_matrices_are_added_and_the_largest_is_shown) {
  using of = gemms_in_line;
  for (bool const fused : {false, true})
    for (std::int64_t largest = 0; largest < of::batch; ++largest) {
      of x(fused);
      for (std::int64_t i = 0; i < of::batch; ++i)
        for (std::int64_t at = 0; at <= i; ++at)  // i + 1 elements of matrix i
          x.d[static_cast<std::size_t>(i * of::m * of::n + at)] += i == largest ? 64.0F : 16.0F;
      check_report const r = check_gemm(x.p, x.operands());
      EXPECT_EQ(r.wrong, of::batch * (of::batch + 1) / 2);
      EXPECT_EQ(r.largest_error.product, largest);
      EXPECT_EQ(r.largest_error.error, 64.0);
    }
}

/// The sums of a row overflow in float32 on the way, and come back: no check can judge them.
TEST(check, elements_that_cannot_be_judged_count_in_any_matrix_of_a_batch) {
  using of = gemms_in_line;
  for (std::int64_t i = 0; i < of::batch; ++i)
    for (std::int64_t rows : {1, 2, 3}) {
      of x(false);
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t j = 0; j < of::k; ++j)
          x.a[static_cast<std::size_t>((i * of::m + row) * of::k + j)] =
              j % 2 == 0 ? 3e38F : -3e38F;
        for (std::int64_t j = 0; j < of::n; ++j)
          x.d[static_cast<std::size_t>((i * of::m + row) * of::n + j)] = NAN;
      }
      for (std::int64_t at = 0; at < of::k * of::n; ++at)
        x.b[static_cast<std::size_t>(i * of::k * of::n + at)] = 2;
      for (std::int64_t row = rows; row < of::m; ++row)
        for (std::int64_t col = 0; col < of::n; ++col) {
          auto const e = reference_element(x.p, x.operands(), row, col, i);
          x.d[static_cast<std::size_t>((i * of::m + row) * of::n + col)] =
              static_cast<float>(e.s + e.c);
        }
      check_report const r = check_gemm(x.p, x.operands());
      EXPECT_EQ(r.wrong, 0);
      EXPECT_EQ(r.unjudged, rows * of::n);
      EXPECT_EQ(r.judged, (of::batch * of::m - rows) * of::n);
      EXPECT_EQ(r.passed(), rows <= 2) << "90 % of 20 rows";
    }
}

/// A size that is not possible fails, also if D has the result of the nearest one.
TEST(check, the_first_group_whose_number_is_not_possible_is_named) {
  product x(12, 5, 7, elem::bf16, order::row_major, order::row_major, 3);
  x.compute(sum_in_order);
  x.p.groups = group_desc{.count = 3};  // of one B
  std::int32_t ends[] = {4, 2, 12};
  gemm_operands o = x.operands();
  o.groups = ends;
  check_report const descends = check_gemm(x.p, o);
  EXPECT_EQ(descends.judged, 12 * 5);
  EXPECT_EQ(descends.wrong, 0);
  EXPECT_EQ(descends.bad_group, 1);
  EXPECT_FALSE(descends.passed());
  ends[1] = 4;
  check_report const possible = check_gemm(x.p, o);
  EXPECT_EQ(possible.bad_group, -1);
  EXPECT_TRUE(possible.passed());
  ends[0] = ends[1] = ends[2] = 0;  // nothing to judge
  EXPECT_TRUE(check_gemm(x.p, o).passed());
}

TEST(check, large_results_are_sampled_by_rows_from_every_part) {
  product x(100, 8, 16, elem::bf16, order::row_major, order::row_major, 5);
  x.compute(sum_in_order);
  check_report r = check_gemm(x.p, x.operands(), 10 * 2.0 * 8 * 16);
  EXPECT_EQ(r.rows_checked, 10);
  EXPECT_TRUE(r.passed());
  for (int slice = 0; slice < 10; ++slice) {  // any ten rows together are noticed
    x.compute(sum_in_order);
    for (int i = 0; i < 80; ++i) x.d[static_cast<std::size_t>(80 * slice + i)] = 1e6F;
    EXPECT_EQ(check_gemm(x.p, x.operands(), 10 * 2.0 * 8 * 16).wrong, 8);
  }
  EXPECT_EQ(check_gemm(x.p, x.operands(), 1.0).rows_checked, 1);
}

TEST(bound, infinities_and_nan_are_right_only_where_the_exact_result_requires_them) {
  double const inf = HUGE_VAL;
  bound_terms const f16_terms = make_bound_terms(8, 1, 0, elem::f16);
  auto const judged = [&](double d, double s, double t) {
    return judge(d, expect_element({s, t, 0}, f16_terms), f16_terms);
  };
  EXPECT_EQ(judged(1, 1, 1), verdict::right);
  EXPECT_EQ(judged(NAN, 1, 1), verdict::wrong);
  EXPECT_EQ(judged(inf, 1, 1), verdict::wrong);
  EXPECT_EQ(judged(inf, 70000, 70000), verdict::right);
  EXPECT_EQ(judged(-inf, 70000, 70000), verdict::wrong);
  EXPECT_EQ(judged(inf, 65000, 65000), verdict::wrong);  // rounds to a finite number
  EXPECT_EQ(judged(inf, inf, inf), verdict::right);
  EXPECT_EQ(judged(1, inf, inf), verdict::wrong);
  EXPECT_EQ(judged(NAN, NAN, NAN), verdict::right);
  EXPECT_EQ(judged(NAN, 0, 1e39), verdict::unjudged);  // float32 may have overflowed on the way
}

TEST(bound, one_rounding_to_the_output_type_is_within_it_and_two_units_are_not) {
  for (elem d : {elem::bf16, elem::f16}) {
    bound_terms const t = make_bound_terms(1, 1, 0, d);
    std::mt19937 g(3);
    std::uniform_real_distribution<float> value(1e-6F, 100.0F);
    for (int i = 0; i < 2000; ++i) {
      float const x = value(g);
      float const rounded = d == elem::bf16 ? to_float(to_bf16(x)) : to_float(to_f16(x));
      double const ulp = std::fabs(rounded) * (d == elem::bf16 ? 0x1p-7 : 0x1p-10);
      auto const e = expect_element({x, x, 0}, t);
      EXPECT_EQ(judge(rounded, e, t), verdict::right);
      EXPECT_EQ(judge(rounded + 2 * std::max(ulp, 0x1p-24), e, t), verdict::wrong);
    }
  }
}

}  // namespace
