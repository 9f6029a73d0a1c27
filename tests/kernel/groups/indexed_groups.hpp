// SPDX-License-Identifier: Apache-2.0
// indexed_groups.hpp  Random GEMMs of groups with index arrays, and the same GEMMs without.
#pragma once

#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "tests/kernel/groups/groups_cases.hpp"
#include "tilewright/family/family.hpp"
#include "tilewright/problem/scale_convention.hpp"

namespace tw::test {

/// A problem of groups, and the same with index arrays: A's rows and D's rows in another order.
struct indexed_groups {
  grouped_product p;
  gemm_problem problem;             // with index arrays
  matrix tokens, results, addends;  // C of the rows of `results`
  std::vector<std::int32_t> gather, scatter;
  std::vector<float> row_scale, token_scale, weight, weight_of_rows, scale_tokens, scale_rows,
      scale_weights, bias;

  bool of_m() const { return p.problem.groups->axis == group_axis::m; }
  gemm_operands plain() {
    gemm_operands o = p.operands();
    o.bias = bias.data(), o.row_weight = weight.data();
    (of_m() ? o.scale_a : o.scale_b) = scale_rows.data();
    (of_m() ? o.scale_b : o.scale_a) = scale_weights.data();
    (of_m() ? o.row_scale : o.col_scale) = row_scale.data();
    return o;
  }
  gemm_operands indexed() {
    gemm_operands o = plain();
    if (!gather.empty()) {
      (of_m() ? o.a : o.b) = tokens.data();
      (of_m() ? o.scale_a : o.scale_b) = scale_tokens.data();
      (of_m() ? o.row_scale : o.col_scale) = token_scale.data();
    }
    if (!scatter.empty()) {
      o.d = results.data(), o.row_weight = weight_of_rows.data();
      if (problem.c) o.c = addends.data();
    }
    o.gather = gather.data(), o.scatter = scatter.data();
    return o;
  }
};

/// Bytes of line i: a row of a row-major matrix, a column of a column-major one.
inline std::size_t line_bytes(matrix const& x) {
  bool const row_major = x.desc.ord == order::row_major;
  return static_cast<std::size_t>((row_major ? x.cols : x.rows) * size_bytes(x.desc.type));
}
inline std::byte* line_of(matrix& x, std::int64_t i) {
  bool const row_major = x.desc.ord == order::row_major;
  return x.bytes.data() + x.at(row_major ? i : 0, row_major ? 0 : i, 0);
}

/// Makes ue8m0 of float32 scales, in their memory: equal scales become equal bytes.
inline void make_exponents(std::vector<float>& scales) {
  auto* const bytes = reinterpret_cast<std::uint8_t*>(scales.data());
  for (std::size_t i = 0; i < scales.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>(122 + static_cast<int>(194 * scales[i]) % 9);
}

inline indexed_groups random_indices(std::mt19937_64& rng, kernel_facts const& x, int most) {
  auto const any = [&](std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(hi - lo + 1));
  };
  auto const is_k = [](operand_major m) { return m == operand_major::k; };
  indexed_groups t;
  do
    t.p = random_groups(
        rng,
        {x.groups, x.ab, x.d, is_k(x.a) ? order::row_major : order::col_major,
         is_k(x.b) ? order::col_major : order::row_major, *x.d_order, x.epilogue.gate, false},
        most);
  while (t.p.problem.groups->slots());
  gemm_problem& q = t.p.problem;
  bool const of_m = x.groups == group_axis::m;
  q.precision = x.precision;
  std::int64_t const count = ragged_extent(q);
  auto const floats = [&](std::vector<float>& to, std::int64_t n) {
    to.resize(static_cast<std::size_t>(n));
    for (float& v : to) v = std::ldexp(1.0F + static_cast<float>(rng() % 97) / 97, -1);
  };
  bool const lines_along_k = is_k(of_m ? x.a : x.b);
  bool const gathers = lines_along_k && any(0, 3) != 0, scatters = !gathers || any(0, 1) != 0;
  bool const lines_of_d = of_m == (*x.d_order == order::row_major);
  std::int64_t const choices = gathers && any(0, 1) != 0 ? any(1, 4) : 1;
  std::int64_t const stored = any(1, count + 5), to = count + any(0, 5);
  if (x.epilogue.ops) {
    q.epilogue.act = activation::silu;
    if (x.epilogue.gate) q.epilogue.gate = gating::split;
    q.epilogue.bias = of_m ? along::cols : along::rows;
    q.epilogue.row_weight = of_m ? along::rows : along::cols;
    q.epilogue.c_last = q.c && (x.epilogue.gate || any(0, 1) != 0);
    if (any(0, 1) != 0) {
      (of_m ? q.epilogue.row_scale : q.epilogue.col_scale) = of_m ? along::rows : along::cols;
      floats(t.row_scale, count);
      floats(t.token_scale, stored);
    }
    floats(t.bias, q.groups->count * std::max(q.m, q.n));
    floats(t.weight_of_rows, to);
  }
  if (x.scaled) {
    auto const make = [&](std::int64_t rows) {
      return make_scale({!of_m, rows, q.k}, scaling::block_1x128);
    };
    (of_m ? q.scale_a : q.scale_b) = make(count);
    (of_m ? q.scale_b : q.scale_a) =
        make_scale({of_m, of_m ? q.n : q.m, q.k}, scaling::block_128x128);
    std::optional<scale_desc>& other = of_m ? q.scale_b : q.scale_a;
    other->batch_stride = scale_extent(*other, of_m ? q.n : q.m, q.k);
    floats(t.scale_weights, other->batch_stride * q.groups->count);
    floats(t.scale_rows, scale_extent(*(of_m ? q.scale_a : q.scale_b), count, q.k));
    floats(t.scale_tokens, scale_extent(make(stored), stored, q.k));
  }
  t.problem = q;
  group_desc& g = *t.problem.groups;
  if (gathers) {
    g.gather_from = stored, g.choices = choices;
    matrix& rows = of_m ? t.p.a : t.p.b;
    std::normal_distribution<float> normal;
    auto const fill = [&] { return normal(rng); };
    std::int64_t const pad = rows.desc.pitch_elems - q.k;
    t.tokens = make_matrix(rows.desc.type, rows.desc.ord, of_m ? stored : q.k, of_m ? q.k : stored,
                           pad, fill);
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t const row = any(0, stored - 1);
      t.gather.push_back(static_cast<std::int32_t>(row * choices + any(0, choices - 1)));
      std::memcpy(line_of(rows, i), line_of(t.tokens, row), line_bytes(rows));
      if (!t.token_scale.empty())
        t.row_scale[static_cast<std::size_t>(i)] = t.token_scale[static_cast<std::size_t>(row)];
      if (!x.scaled) continue;
      scale_desc const &to_rows = *(of_m ? q.scale_a : q.scale_b),
                       from = make_scale({!of_m, stored, q.k}, scaling::block_1x128);
      for (std::int64_t k = 0; k < q.k; k += 128)
        t.scale_rows[static_cast<std::size_t>(scale_offset(to_rows, i, k))] =
            t.scale_tokens[static_cast<std::size_t>(scale_offset(from, row, k))];
    }
    if (x.scaled)
      (of_m ? t.problem.scale_a : t.problem.scale_b) =
          make_scale({!of_m, stored, q.k}, scaling::block_1x128);
  }
  if (x.scaled && any(0, 2) == 0) {
    for (std::vector<float>* scales : {&t.scale_rows, &t.scale_tokens, &t.scale_weights})
      make_exponents(*scales);
    for (gemm_problem* p : {&q, &t.problem}) p->scale_a->type = p->scale_b->type = elem::ue8m0;
  }
  t.weight.assign(static_cast<std::size_t>(count), 0);
  if (scatters && lines_of_d) {
    g.scatter_to = to;
    t.scatter.resize(static_cast<std::size_t>(to));
    std::iota(t.scatter.begin(), t.scatter.end(), 0);
    std::ranges::shuffle(t.scatter, rng);
    t.scatter.resize(static_cast<std::size_t>(count));
    t.results =
        make_matrix(t.p.d.desc.type, t.p.d.desc.ord, of_m ? to : t.p.d.rows, of_m ? t.p.d.cols : to,
                    t.p.d.desc.pitch_elems - (of_m ? t.p.d.cols : t.p.d.rows), nullptr);
    if (q.c) {  // row i of the plain C is row scatter[i] of this one
      std::normal_distribution<float> normal;
      matrix& plain = t.p.c;
      t.addends = make_matrix(plain.desc.type, plain.desc.ord, of_m ? to : plain.rows,
                              of_m ? plain.cols : to, any(0, 3), [&] { return normal(rng); });
      t.problem.c = t.addends.desc;
      for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t j = 0; j < (of_m ? plain.cols : plain.rows); ++j) {
          std::int64_t const line = t.scatter[static_cast<std::size_t>(i)];
          of_m ? plain.store(i, j, 0, static_cast<float>(t.addends.load(line, j, 0)))
               : plain.store(j, i, 0, static_cast<float>(t.addends.load(j, line, 0)));
        }
    }
  }
  for (std::int64_t i = 0; x.epilogue.ops && i < count; ++i)
    t.weight[static_cast<std::size_t>(i)] = t.weight_of_rows[static_cast<std::size_t>(
        t.scatter.empty() ? i : t.scatter[static_cast<std::size_t>(i)])];
  return t;
}

}  // namespace tw::test
