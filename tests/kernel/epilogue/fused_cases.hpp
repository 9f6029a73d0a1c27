// SPDX-License-Identifier: Apache-2.0
// fused_cases.hpp  Random GEMMs with fused epilogues, checked element by element.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <utility>

#include "tests/kernel/gemm_cases.hpp"
#include "tests/problem/activation_formulas.hpp"
#include "tilewright/problem/reference.hpp"

namespace tw::test {

struct fused_product : product {
  matrix bias, row_scale, col_scale;  // 1 x M or N
  matrix aux;                         // M x N

  gemm_operands operands() {
    gemm_operands o = product::operands();
    o.bias = bias.bytes.empty() ? nullptr : bias.data();
    o.row_scale = row_scale.bytes.empty() ? nullptr : static_cast<float const*>(row_scale.data());
    o.aux = aux.bytes.empty() ? nullptr : aux.data();
    o.col_scale = col_scale.bytes.empty() ? nullptr : static_cast<float const*>(col_scale.data());
    return o;
  }
  std::string text() const {
    gemm_epilogue const& e = problem.epilogue;
    return product::text() + " bias " + std::to_string(int(e.bias.over)) + " " +
           std::string(name(e.bias.type)) + " scales " + std::to_string(bool{e.row_scale}) +
           std::to_string(bool{e.col_scale}) + " act " + std::to_string(int(e.act)) + " gate " +
           std::to_string(int(e.gate)) + (e.c_last ? " C last" : " C first") +
           (problem.aux ? " aux" : "");
  }
};

/// A random epilogue for a random GEMM with extents up to `most`: what is compiled (TW0414) and
/// what accept() takes, and never none of all.
inline fused_product random_fused(std::mt19937_64& rng, int most) {
  auto const any = [&](int lo, int hi) {
    return lo + static_cast<int>(rng() % static_cast<unsigned>(hi - lo + 1));
  };
  std::normal_distribution<float> normal;
  auto const fill = [&] { return normal(rng); };
  auto const ord = [&] { return any(0, 1) != 0 ? order::row_major : order::col_major; };
  fused_product p;
  gemm_epilogue e;
  auto const& all_gates = all_accepted_gates();
  e.gate = all_gates[static_cast<std::size_t>(any(0, 3)) % all_gates.size()];
  bool const gated = e.gate != gating::none;
  int const m = any(1, most), k = any(1, most);
  int n = any(1, most);
  if (gated) n = (n + 15) / 16 * 16;
  elem const ab = any(0, 1) != 0 ? elem::bf16 : elem::f16;
  elem d_type = any(0, 3) == 0 ? elem::f32 : ab;
  order oa = ord(), ob = gated ? order::col_major : ord(), od = ord();
  if (gated && od == order::col_major) oa = order::row_major, d_type = ab;
  auto const extra = [&](order o, int rows, int cols) {
    int const inner = o == order::row_major ? cols : rows, kind = any(0, 5);
    return kind < 2 ? (inner + 7) / 8 * 8 - inner : kind == 2 ? any(0, 9) : 0;
  };
  int const d_cols = gated ? n / 2 : n, batch = any(0, 5) == 0 ? any(2, 4) : 1;
  auto const form = any(0, 3) == 0 ? batch_form::same : batch_form::behind;
  p.a = make_matrix(ab, oa, m, k, extra(oa, m, k), fill, batch);
  p.b = make_matrix(ab, ob, k, n, extra(ob, k, n), fill, batch, form);
  p.d = make_matrix(d_type, od, m, d_cols, extra(od, m, d_cols), nullptr, batch);
  // Sums of magnitude 1, where activations bend.
  float const alpha = any(0, 1) != 0 ? 1.0F : normal(rng) / std::sqrt(static_cast<float>(k));
  p.problem = {m, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, alpha, 0.0F, batch, e};
  elem const outputs[] = {elem::bf16, elem::f16, elem::f32};
  if (any(0, 2) == 0) {
    p.c = make_matrix(outputs[any(0, 2)], ord(), m, d_cols, any(0, 3), fill, batch);
    p.problem.c = p.c.desc;
    p.problem.beta = normal(rng);
    e.c_last = gated || any(0, 1) != 0;
  }
  e.bias = along(any(0, 2));
  e.bias.type = outputs[any(0, 2)];
  do e.act = activation(any(0, activation_count - 1));
  while (!gated && is_gate_only(e.act));
  e.row_scale = any(0, 2) == 0 ? along::rows : along::none;
  e.col_scale = any(0, 2) == 0 ? along::cols : along::none;
  if (!is_fused(e)) e.bias = along::cols;
  if (e.bias != along::none)
    p.bias = make_matrix(e.bias.type, order::row_major, 1, e.bias == along::rows ? m : n, 0, fill);
  if (e.row_scale) p.row_scale = make_matrix(elem::f32, order::row_major, 1, m, 0, fill);
  if (e.col_scale) p.col_scale = make_matrix(elem::f32, order::row_major, 1, n, 0, fill);
  bool const tn = oa == order::row_major && ob == order::col_major && d_type == ab;
  if (tn && !(gated && od == order::col_major) && any(0, 1) != 0) {
    p.aux = make_matrix(ab, od, m, n, extra(od, m, n), nullptr, batch);
    p.problem.aux = p.aux.desc;
  }
  p.problem.epilogue = e;
  return p;
}

/// Checks D of matrix `of` against float64 within the bound of problem/fused_bound.hpp.
inline void expect_fused_product(fused_product& p, std::int64_t of) {
  auto const m = p.problem.m, n = p.problem.n, k = p.problem.k;
  std::vector<double> sum(static_cast<std::size_t>(m * n)), mag(sum.size());
  auto const values = [&](matrix const& x) {
    auto const first = x.value.begin() + x.matrix_of(of) * x.rows * x.cols;
    return std::vector<double>(first, first + x.rows * x.cols);
  };
  std::vector<double> const all_a = values(p.a), all_b = values(p.b);
  std::vector<double> abs_a = all_a, abs_b = all_b;
  for (double& x : abs_a) x = std::fabs(x);
  for (double& x : abs_b) x = std::fabs(x);
  auto const dgemm = [&](std::vector<double> const& a, std::vector<double> const& b,
                         std::vector<double>& out) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(m), static_cast<int>(n),
                static_cast<int>(k), 1.0, a.data(), static_cast<int>(k), b.data(),
                static_cast<int>(n), 0.0, out.data(), static_cast<int>(n));
  };
  dgemm(all_a, all_b, sum);
  dgemm(abs_a, abs_b, mag);
  fused_terms const terms = make_fused_terms(p.problem);
  gemm_operands const o = p.operands();
  for (std::int64_t r = 0; r < m; ++r)
    for (std::int64_t c = 0; c < p.d.cols; ++c) {
      exact_fused x = reference_vectors(p.problem, o, r, c, of);
      product_columns const j = columns_of(p.problem, c);
      auto const at = [&](std::int64_t col) { return static_cast<std::size_t>(r * n + col); };
      x.x.s = sum[at(j.x)], x.x.t = mag[at(j.x)];
      if (j.up >= 0) x.up.s = sum[at(j.up)], x.up.t = mag[at(j.up)];
      expected_element const want = expect_fused(x, terms);
      for (std::int64_t const col : {j.x, j.up}) {
        if (!p.problem.aux || col < 0) continue;
        expected_element const before = expect_aux(col == j.x ? x.x : x.up, x.c, terms);
        double const saved = p.aux.load(r, col, of);
        if (judge(saved, before, terms.out) != verdict::right)
          FAIL() << p.text() << ": matrix " << of << ", aux(" << r << "," << col << ") = " << saved
                 << ", want " << before.value << " within " << before.bound;
      }
      double const got = p.d.load(r, c, of);
      if (judge(got, want, terms.out) != verdict::right) {
        FAIL() << p.text() << ": matrix " << of << ", D(" << r << "," << c << ") = " << got
               << ", want " << want.value << " within " << want.bound;
      }
    }
}

/// Each product of the batch, and that no byte outside D was written.
inline void expect_fused_right(fused_product& p) {
  for (std::int64_t i = 0; i < p.problem.batch; ++i) {
    expect_fused_product(p, i);
    if (testing::Test::HasFatalFailure()) return;
  }
  expect_nothing_else_written(p, p.d);
  if (p.problem.aux) expect_nothing_else_written(p, p.aux);
}

/// Random fused GEMMs, at least `least`, until each of the kernels `built` has run, and each
/// activation in both orders of gates. run(p, i) runs case i and returns the kernel's name; empty
/// where the build has none. One case in four has extents up to `most`.
template <class Run>
void run_every_epilogue(std::set<std::string> const& built, std::uint64_t seed, int least, int most,
                        Run run) {
  std::mt19937_64 rng(seed);
  std::set<std::string> kernels;
  std::set<std::pair<activation, gating>> gates;
  std::size_t const all_gates = (all_accepted_gates().size() - 1) * activation_count;
  int gated_batches = 0, with_c = 0;
  auto const done = [&] { return kernels == built && gates.size() == all_gates; };
  for (int i = 0; (i < least || (i < 3000 && !done())) && !testing::Test::HasFailure(); ++i) {
    fused_product p = random_fused(rng, i % 4 == 0 ? most : 90);
    std::string const k = run(p, i, rng);
    if (k.empty()) continue;
    kernels.insert(k);
    gemm_epilogue const& e = p.problem.epilogue;
    if (e.gate == gating::none) continue;
    gates.insert({e.act, e.gate});
    gated_batches += p.problem.batch > 1;
    with_c += p.problem.c.has_value();
  }
  EXPECT_EQ(kernels, built);
  EXPECT_EQ(gates.size(), all_gates);
  EXPECT_GE(gated_batches, 2);
  EXPECT_GE(with_c, 2);
}

}  // namespace tw::test
