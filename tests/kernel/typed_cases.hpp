// SPDX-License-Identifier: Apache-2.0
// typed_cases.hpp  Random GEMMs of each pair of operand types, and the bound that D must keep.
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tests/kernel/epilogue/fused_cases.hpp"
#include "tests/kernel/gemm_cases.hpp"

namespace tw::test {

struct types {
  elem a, b, d;
  int promote_k = 128;
  bool f16_sums = false;
};

inline std::string text_of(types const& t) {
  std::string const sums = t.f16_sums           ? "_sums"
                           : t.promote_k == 128 ? ""
                           : t.promote_k == 0   ? "_fast"
                                                : "_promoted_64";
  return std::string(name(t.a)) + "_" + name(t.b) + "_" + name(t.d) + sums;
}

/// Each combination that accept() takes, of operands that are not both 16-bit floats.
inline std::vector<types> all_types() {
  using enum elem;
  return {{e4m3, e4m3, bf16},
          {e4m3, e4m3, f16},
          {e4m3, e4m3, f32},
          {e4m3, e4m3, e4m3},
          {e4m3, e4m3, e5m2},
          {e4m3, e5m2, bf16},
          {e4m3, e5m2, f32},
          {e5m2, e4m3, bf16},
          {e5m2, e4m3, f32},
          {e5m2, e5m2, bf16},
          {e5m2, e5m2, f32},
          {e4m3, e4m3, bf16, 64},
          {e4m3, e4m3, bf16, 0},
          {e4m3, e4m3, e4m3, 0},
          {s8, s8, s32},
          {s8, s8, f32},
          {s8, s8, bf16},
          {s8, s8, f16},
          {s8, u8, s32},
          {s8, u8, bf16},
          {u8, s8, s32},
          {u8, s8, bf16},
          {u8, u8, s32},
          {u8, u8, bf16},
          {tf32, tf32, f32},
          {f32, f32, f32},
          {f32, tf32, f32},
          {f16, f16, f16, 128, true},
          {f16, f16, f32, 128, true}};
}

/// A number for an element of this type: integers use all of their range.
inline float typed_value(elem type, std::mt19937_64& rng) {
  std::normal_distribution<float> normal;
  if (type == elem::s8) return static_cast<float>(static_cast<int>(rng() % 256) - 128);
  if (type == elem::u8) return static_cast<float>(rng() % 256);
  return normal(rng);
}

/// An element as a tensor core multiplies it: tf32 has 10 fraction bits, float32 is rounded to
/// them, ties to even.
inline double as_multiplied(elem type, double x) {
  if (type != elem::f32 && type != elem::tf32) return x;
  auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(x));
  if (type == elem::f32) bits += 0xFFFU + (bits >> 13 & 1U);
  return std::bit_cast<float>(bits & 0xFFFFE000U);
}

struct typed_product : product {};

/// A random GEMM of these types with extents up to `most`: all orders and pitches, batches by
/// strides, and where D is not the sum itself alpha, beta and C.
inline typed_product random_typed(std::mt19937_64& rng, types const& t, int most) {
  auto const any = [&](int lo, int hi) {
    return lo + static_cast<int>(rng() % static_cast<unsigned>(hi - lo + 1));
  };
  std::normal_distribution<float> normal;
  auto const ord = [&] { return any(0, 2) != 0 ? order::row_major : order::col_major; };
  typed_product p;
  int const batch = any(0, 4) == 0 ? any(2, 3) : 1;
  int const m = any(1, most / batch), n = any(1, most / batch), k = any(1, 2 * most);
  auto const extra = [&](order o, int rows, int cols) {
    int const inner = o == order::row_major ? cols : rows, kind = any(0, 5);
    return kind < 4 ? (inner + 15) / 16 * 16 - inner : kind == 4 ? any(0, 9) : 0;
  };
  order const oa = ord(), od = ord(),
              ob = ord() == order::row_major ? order::col_major : order::row_major;
  p.a = make_matrix(
      t.a, oa, m, k, extra(oa, m, k), [&] { return typed_value(t.a, rng); }, batch);
  p.b = make_matrix(
      t.b, ob, k, n, extra(ob, k, n), [&] { return typed_value(t.b, rng); }, batch);
  p.d = make_matrix(t.d, od, m, n, extra(od, m, n), nullptr, batch);
  for (matrix* x : {&p.a, &p.b, &p.d})
    if (any(0, 3) == 0) move_base(*x, rng);
  p.problem = {m, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F, batch};
  p.problem.precision = {.promote_k = t.promote_k, .f16_sums = t.f16_sums};
  if (t.d == elem::s32) return p;
  if (any(0, 1) != 0) p.problem.alpha = normal(rng) / 8;
  if (any(0, 2) != 0) return p;
  elem const addends[] = {elem::bf16, elem::f16, elem::f32};
  p.c = make_matrix(
      addends[any(0, 2)], ord(), m, n, any(0, 3), [&] { return normal(rng); }, batch);
  p.problem.c = p.c.desc;
  p.problem.beta = normal(rng);
  return p;
}

/// Each element of D against float64. A sum errs by at most `unit` of the sum of the
/// magnitudes of a b: nothing for integers; for 8-bit floats 34 of 2^-13 for each instruction of
/// 32 terms between two promotions; 2^-22 for each term else.
inline void expect_right(typed_product const& p) {
  gemm_problem const& q = p.problem;
  auto const k = static_cast<double>(q.k);
  bool const fp8 = size_bytes(q.a.type) == 1 && !is_integer(q.a.type);
  int const interval = q.precision.promote_k == 0 ? 1 << 30 : q.precision.promote_k;
  double const steps = std::ceil(std::min<double>(k, interval) / 32);
  double const unit = is_integer(q.a.type) ? 0
                      : fp8 ? std::pow(1 + 34 * 0x1p-13, steps) - 1 + (k / interval + 3) * 0x1p-22
                      : q.precision.f16_sums ? std::pow(1 + 17 * 0x1p-10, std::ceil(k / 16)) - 1
                                             : k * 0x1p-22;
  // A subnormal factor counts as the smallest normal number.
  bool const mixed = q.a.type != q.b.type;
  double const floor = !fp8 ? 0 : std::ceil(k / 32) * 66 * std::ldexp(1, (mixed ? 9 : 2) - 13);
  struct format {
    double rounding, tiny, most;
  };
  auto const of_d = [&]() -> format {
    switch (q.d.type) {
      case elem::s32: return {0, 0, INFINITY};
      case elem::f16: return {0x1p-11, 0x1p-25, INFINITY};
      case elem::bf16: return {0x1p-8, 0, INFINITY};
      case elem::e4m3: return {0x1p-4, 0x1p-10, 448};
      case elem::e5m2: return {0x1p-3, 0x1p-17, 57344};
      default: return {0x1p-24, 0, INFINITY};
    }
  }();
  auto const exact = [](matrix const& x) {
    std::vector<double> v = x.value;
    for (double& e : v) e = as_multiplied(x.desc.type, e);
    return v;
  };
  std::vector<double> const a = exact(p.a), b = exact(p.b);
  for (std::int64_t line = 0; line < q.batch * q.m; ++line)
    for (std::int64_t c = 0; c < q.n; ++c) {
      std::int64_t const of = line / q.m, r = line % q.m;
      double s = 0, t = 0;
      for (std::int64_t i = 0; i < q.k; ++i) {
        double const x = a[static_cast<std::size_t>(line * q.k + i)] *
                         b[static_cast<std::size_t>((of * q.k + i) * q.n + c)];
        s += x, t += std::fabs(x);
      }
      double const addend = q.c ? q.beta * p.c.load(r, c, of) : 0;
      double want = q.alpha * s + addend;
      bool const scaled = q.alpha != 1 || q.c;
      double const error = std::fabs(q.alpha) * (unit * t + floor) +
                           (q.d.type == elem::s32 ? 0 : 0x1p-24 * std::fabs(s * q.alpha)) +
                           (scaled ? 0x1p-22 * (std::fabs(q.alpha * s) + std::fabs(addend)) : 0);
      double const bound = error + of_d.rounding * (std::fabs(want) + error) + of_d.tiny;
      want = std::clamp(want, -of_d.most, of_d.most);
      double const got = p.d.load(r, c, of);
      if (q.d.type == elem::f16 && std::isinf(got) && std::fabs(want) + bound >= 65504) continue;
      if (!(std::fabs(got - want) <= bound))
        FAIL() << p.text() << " b=" << name(q.b.type) << ": D(" << r << "," << c << ") of matrix "
               << of << " = " << got << ", want " << want << " within " << bound;
    }
  expect_nothing_else_written(p, p.d);
}

}  // namespace tw::test
