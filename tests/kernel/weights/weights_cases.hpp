// SPDX-License-Identifier: Apache-2.0
// weights_cases.hpp  Random GEMMs with prepared 4-bit weights.
#pragma once

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "tests/kernel/gemm_cases.hpp"
#include "tilewright/family/family.hpp"
#include "tilewright/kernel/weights/weights.hpp"
#include "tilewright/problem/fused_bound.hpp"
#include "tilewright/problem/group_slices.hpp"
#include "tilewright/problem/reference.hpp"
#include "tilewright/problem/scale_convention.hpp"
#include "tilewright/problem/scale_place.hpp"
#include "tilewright/problem/without_indices.hpp"
#include "tools/check/random_weights.hpp"

namespace tw::test {

inline float float_of_weight(elem type, std::uint16_t bits) {
  return type == elem::bf16 ? to_float(bf16{bits}) : to_float(f16{bits});
}

inline std::uint16_t weight_rounded(elem type, double x) {
  auto const f = static_cast<float>(x);  // exact but with float zero points
  return type == elem::bf16 ? to_bf16(f).bits : to_f16(f).bits;
}

/// A random GEMM whose B is prepared weights of a kernel's format.
struct weights_product : product {
  weights_desc weights;
  std::vector<std::byte> prepared;
  std::vector<float> row_scale;
  gemm_operands operands() {
    gemm_operands o = product::operands();
    o.b = prepared.data(), o.row_scale = row_scale.data();
    return o;
  }
};

/// A GEMM with weights for e4m3 as one with their codes and with their factors as scales.
struct e4m3_codes {
  gemm_problem problem;
  gemm_operands operands;
  std::vector<e4m3> codes;
  std::vector<float> factors;

  e4m3_codes(gemm_problem const& p, gemm_operands const& o, weights_desc const& w)
      : problem(p),
        operands(o) {
    scale_desc s = make_scale({true, w.n, w.k}, scaling::block_1x128);
    std::int64_t const extent = scale_extent(s, w.n, w.k);
    if (p.b.batch_stride_elems != 0) s.batch_stride = extent;
    codes.resize(static_cast<std::size_t>(w.matrices * w.n * w.k));
    factors.resize(static_cast<std::size_t>(w.matrices * extent));
    auto const* const blocks = static_cast<std::byte const*>(o.b) + weights_header_bytes;
    for (std::int64_t i = 0; i < w.matrices; ++i)
      for (std::int64_t n = 0; n < w.n; ++n)
        for (std::int64_t k = 0; k < w.k; ++k) {
          e4m3_weight const x = e4m3_weight_at(w, blocks, i, n, k);
          codes[static_cast<std::size_t>((i * w.n + n) * w.k + k)] = x.code;
          factors[static_cast<std::size_t>(i * extent + scale_offset(s, n, k))] = x.factor;
        }
    problem.weights_b = {}, problem.scale_b = s;
    operands.b = codes.data(), operands.scale_b = factors.data();
  }
};

/// A GEMM with weights for activations of 16 bits as one with their decoded numbers.
struct decoded_weights {
  gemm_problem problem;
  gemm_operands operands;
  std::vector<std::uint16_t> decoded;

  decoded_weights(gemm_problem const& p, gemm_operands const& o, weights_desc const& w)
      : problem(p),
        operands(o),
        decoded(static_cast<std::size_t>(w.matrices * w.n * w.k)) {
    auto const* const blocks = static_cast<std::byte const*>(o.b) + weights_header_bytes;
    for (std::int64_t i = 0; i < w.matrices; ++i)
      decode_weights(w, blocks, i, p.b.type, decoded.data() + i * w.n * w.k);
    problem.weights_b = {};
    operands.b = decoded.data();
  }
};

/// Each element of D is within the bound of problem/fused_bound.hpp.
inline void expect_right_by_reference(gemm_problem const& p, gemm_operands const& o) {
  fused_terms const terms = make_fused_terms(p);
  for (std::int64_t i = 0; i < p.batch; ++i)
    for (std::int64_t row = 0; row < p.m; ++row)
      for (std::int64_t col = 0; col < result_cols(p.epilogue, p.n); ++col) {
        expected_element const want = expect_fused(reference_fused(p, o, row, col, i), terms);
        double const got = load_element(p.d, o.d, row, col, i);
        if (judge(got, want, terms.out) != verdict::right)
          FAIL() << "D(" << row << "," << col << ") of matrix " << i << " = " << got << ", want "
                 << want.value << " within " << want.bound;
      }
}

inline void expect_right_weights(weights_product& p) {
  if (!p.weights.format.fp8) return expect_right(p);
  e4m3_codes const plain(p.problem, p.operands(), p.weights);
  expect_right_by_reference(plain.problem, plain.operands);
}

/// A random GEMM of groups, or with a fused epilogue, or both, whose B is prepared weights.
struct fused_weights {
  gemm_problem problem;
  matrix a, c, d;
  weights_desc weights;
  std::vector<std::byte> prepared;
  std::vector<std::int32_t> ends, gather, scatter;
  std::vector<float> bias, row_weight;

  gemm_operands operands() {
    gemm_operands o{a.data(), prepared.data(), c.bytes.empty() ? nullptr : c.data(), d.data()};
    o.groups = ends.data(), o.bias = bias.data(), o.row_weight = row_weight.data();
    o.gather = gather.data(), o.scatter = scatter.data();
    return o;
  }
  /// Each element of D is right, and rows of no group were not written.
  void expect_right() {
    if (weights.format.fp8) {
      e4m3_codes const plain(problem, operands(), weights);
      expect_right_groups(plain.problem, plain.operands);
    } else {
      decoded_weights const plain(problem, operands(), weights);
      expect_right_groups(plain.problem, plain.operands);
    }
  }

 private:
  void expect_right_groups(gemm_problem const& p, gemm_operands const& o) {
    if (!p.groups) return expect_right_by_reference(p, o);
    if (p.groups->gather_from > 0 || p.groups->scatter_to > 0) {
      without_indices const flat(p, o);
      return expect_right_groups(flat.problem(), flat.operands());
    }
    for (group_range const& r : ranges_of_groups(p, ends.data()).of) {
      group_slice const one = slice_of_group(p, o, r);
      if (r.size > 0) expect_right_by_reference(one.problem, one.operands);
    }
    for (std::int64_t i = ends.back(); i < p.m; ++i) {
      std::int64_t const row = scatter.empty() ? i : scatter[static_cast<std::size_t>(i)];
      ASSERT_TRUE(std::isnan(d.load(row, 0, 0))) << "a row of no group was written";
    }
  }
};

/// Of a kernel with weights, and with groups or a fused epilogue.
inline fused_weights random_fused_weights(std::mt19937_64& rng, kernel_facts const& x) {
  auto const any = [&](int lo, int hi) {
    return lo + static_cast<int>(rng() % static_cast<unsigned>(hi - lo + 1));
  };
  std::normal_distribution<float> normal;
  auto const fill = [&] { return normal(rng); };
  bool const grouped = x.groups != group_axis::none, fused = x.epilogue.ops, gate = x.epilogue.gate;
  fused_weights t;
  int m = 0;
  for (int g = 0; g < (grouped ? any(1, 6) : 1); ++g)
    t.ends.push_back(m += any(0, 2) == 0 ? 0 : any(1, 90));
  m += any(1, 5);  // rows of no group
  int const n = gate ? 16 * any(1, 18) : any(1, 300), k = x.weights.group * any(1, 4);
  int const d_cols = gate ? n / 2 : n, chunk = 16 / size_bytes(x.ab);
  auto const groups = static_cast<std::int64_t>(t.ends.size());
  bool const gathers = grouped && any(0, 2) == 0;
  int const tokens = gathers ? any(1, 40) : m;
  t.a = make_matrix(x.ab, order::row_major, tokens, k, (chunk - k % chunk) % chunk, fill);
  t.d = make_matrix(x.d, order::row_major, m, d_cols,
                    any(0, 1) != 0 ? any(0, 9) : (8 - d_cols % 8) % 8, nullptr);
  gemm_problem& p = t.problem;
  p = {m, n, k, t.a.desc, {x.ab, order::col_major, k, n * k}, t.d.desc, std::nullopt};
  if (groups == 1) p.b.batch_stride_elems = 0;
  p.weights_b = x.weights;
  if (grouped) p.groups = group_desc{.axis = group_axis::m, .count = groups};
  if (gathers) {
    p.groups->gather_from = tokens;
    for (int i = 0; i < m; ++i) t.gather.push_back(any(0, tokens - 1));
  }
  if (grouped && any(0, 2) == 0) {
    p.groups->scatter_to = m;
    for (int i = 0; i < m; ++i) t.scatter.push_back(i);
    std::ranges::shuffle(t.scatter, rng);
  }
  if (fused) {
    p.epilogue.act = gate ? activation::silu : activation::relu;
    p.epilogue.bias = {along::cols, elem::f32};
    for (std::int64_t i = 0; i < groups * n; ++i) t.bias.push_back(5 * normal(rng));
    if (gate) p.epilogue.gate = any(0, 1) != 0 ? gating::split : gating::interleaved;
    if (grouped && any(0, 1) != 0) {
      p.epilogue.row_weight = along::rows;
      for (int i = 0; i < m; ++i) t.row_weight.push_back(normal(rng));
    }
  }
  if (any(0, 2) == 0) {
    t.c = make_matrix(elem::f32, order::row_major, m, d_cols, any(0, 3), fill);
    p.c = t.c.desc, p.beta = normal(rng);
    p.epilogue.c_last = fused && (gate || any(0, 1) != 0);
  }
  p.weights_b.gate = p.epilogue.gate;
  t.weights = {n, k, groups, p.weights_b};
  t.prepared = random_weights(t.weights, rng);
  return t;
}

inline weights_product random_weights_product(std::mt19937_64& rng, kernel_facts const& facts) {
  auto const any = [&](int lo, int hi) {
    return lo + static_cast<int>(rng() % static_cast<unsigned>(hi - lo + 1));
  };
  std::normal_distribution<float> normal;
  auto const fill = [&] { return normal(rng); };
  weights_product p;
  weight_format f = facts.weights;
  // In a quarter of the cases each consumer of six multiplies several K blocks.
  bool const deep = any(0, 3) == 0;
  int const most_k = deep ? 2048 : 384;
  int const m = any(1, deep ? 40 : 150), n = any(1, 300);
  int k = f.group * any(1, most_k / f.group);
  if (f.fp8 && f.code == weight_code::int4) f.group = std::array{f.group, 0, k}[any(0, 2)];
  if (f.group == 64) {
    f.group = any(0, 3) == 0 ? 0 : 64 * any(1, 3);
    if (f.group > 0) k = f.group * any(1, deep ? most_k / f.group : 2);
  }
  std::int64_t const batch = any(0, 3) == 0 ? any(2, 3) : 1;
  int const matrices = batch > 1 && any(0, 1) != 0 ? static_cast<int>(batch) : 1;
  int const chunk = 16 / size_bytes(facts.ab);
  p.a = make_matrix(facts.ab, order::row_major, m, k,
                    any(0, 1) * chunk + (chunk - k % chunk) % chunk, fill, batch);
  p.d = make_matrix(facts.d, order::row_major, m, n, any(0, 2) == 0 ? any(0, 9) : (8 - n % 8) % 8,
                    nullptr, batch);
  weights_desc const w{n, k, matrices, f};
  p.weights = w;
  p.prepared = random_weights(w, rng);
  std::vector<std::uint16_t> decoded(static_cast<std::size_t>(n * k));
  p.b = make_matrix(
      facts.ab, order::col_major, k, n, 0, [] { return 0.0F; }, matrices);
  for (int i = 0; i < matrices && !f.fp8; ++i) {
    decode_weights(w, p.prepared.data() + weights_header_bytes, i, facts.ab, decoded.data());
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < k; ++c)
        p.b.value[static_cast<std::size_t>((i * k + c) * n + r)] =
            float_of_weight(facts.ab, decoded[static_cast<std::size_t>(r * k + c)]);
  }
  if (matrices == 1) p.b.desc.batch_stride_elems = 0;
  p.problem = {m, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F, batch};
  p.problem.weights_b = f;
  if (f.fp8 && batch == 1 && any(0, 1) != 0) {
    p.problem.epilogue.row_scale = along::rows;
    for (int i = 0; i < m; ++i) p.row_scale.push_back(std::ldexp(1.0F, any(-3, 3)) * 1.25F);
  }
  if (any(0, 2) == 0) p.problem.alpha = normal(rng);
  if (any(0, 2) == 0) {
    p.c = make_matrix(facts.d, order::row_major, m, n, any(0, 3), fill, batch);
    p.problem.c = p.c.desc;
    p.problem.beta = normal(rng);
  }
  return p;
}

}  // namespace tw::test
