// SPDX-License-Identifier: Apache-2.0
// groups_cases.hpp  Random GEMMs of groups with a float64 reference: empty groups, rows that belong
//                   to none, NaN and infinities in neighbours.
#pragma once

#include <cmath>
#include <limits>

#include "tests/kernel/gemm_cases.hpp"
#include "tilewright/problem/fused_bound.hpp"
#include "tilewright/problem/group_slices.hpp"
#include "tilewright/problem/reference.hpp"
#include "tilewright/problem/scale_convention.hpp"

namespace tw::test {

struct grouped_product : product {
  std::vector<std::int64_t> numbers;  // of the array
  std::vector<std::int32_t> narrow;   // in 32 bits
  std::vector<group_range> ranges;
  std::vector<float> alphas;   // of the groups, or none
  std::vector<bool> poisoned;  // groups whose operands have NaN and infinities
  std::uint32_t status = 0;

  gemm_operands operands() {
    gemm_operands o = product::operands();
    narrow.assign(numbers.begin(), numbers.end());
    o.groups = problem.groups->index_bits == 64 ? static_cast<void const*>(numbers.data())
                                                : static_cast<void const*>(narrow.data());
    o.group_status = &status;
    o.group_alpha = alphas.data();
    return o;
  }
  std::string text() const {
    group_desc const& g = *problem.groups;
    return product::text() + " axis " + group_axis_names[static_cast<int>(g.axis)] + " form " +
           group_form_names[static_cast<int>(g.form)] + " groups " + std::to_string(g.count);
  }
};

/// Sizes of groups: empty ones, one to five rows, whole tiles, anything.
inline std::vector<std::int64_t> random_sizes(std::mt19937_64& rng, int groups, int most,
                                              int step = 1) {
  std::vector<std::int64_t> sizes;
  for (int g = 0; g < groups; ++g) {
    auto const any = [&](int lo, int hi) {
      return lo + static_cast<int>(rng() % static_cast<unsigned>(hi - lo + 1));
    };
    int const kind = any(0, 5);
    int const size = kind < 2 ? 0 : kind == 2 ? any(1, 5) : kind == 3 ? 128 : any(1, most);
    sizes.push_back(std::min(size, most) / step * step);
  }
  return sizes;
}

/// Overwrites line `i` of the ragged extent of an operand, for all its other indices.
inline void fill_line(matrix& x, bool rows, std::int64_t i, std::int64_t of, float value) {
  for (std::int64_t j = 0; j < (rows ? x.cols : x.rows); ++j)
    rows ? x.store(i, j, of, value) : x.store(j, i, of, value);
}

/// Types and orders of a problem.
struct grouped_shape {
  group_axis axis = group_axis::m;
  elem ab = elem::bf16, d = elem::bf16;
  order a = order::row_major, b = order::col_major, d_order = order::row_major;
  bool gate = false;   // D has half of the columns of A B
  bool poison = true;  // do all operands of some groups hold NaN and infinities?
};

/// Do groups divide an extent that is contiguous in A or B?
inline bool divides_contiguous(grouped_shape const& w) {
  bool const a_rows = w.a == order::row_major, b_rows = w.b == order::row_major;
  switch (w.axis) {
    case group_axis::k: return a_rows || !b_rows || size_bytes(w.ab) != 2;
    case group_axis::m: return !a_rows;
    default: return b_rows;
  }
}

inline grouped_product random_groups(std::mt19937_64& rng, grouped_shape const& w, int most) {
  auto const any = [&](int lo, int hi) {
    return lo + static_cast<int>(rng() % static_cast<unsigned>(hi - lo + 1));
  };
  std::normal_distribution<float> normal;
  // Numbers that the operands' type holds.
  auto const fill = [&] {
    if (is_8_bit_integer(w.ab)) return 40 * normal(rng);
    float const x = normal(rng);
    return w.ab != elem::tf32 ? x
                              : std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xFFFFE000U);
  };
  int const chunk = 16 / size_bytes(w.ab);
  bool const of_m = w.axis == group_axis::m, of_n = w.axis == group_axis::n,
             of_k = w.axis == group_axis::k;
  grouped_product p;
  group_desc g;
  g.axis = w.axis;
  g.count = any(0, 5) == 0 ? any(33, 70) : any(1, 12);
  // Slots begin a whole number of lines apart.
  bool const divides_lines = !of_k && of_m == (w.d_order == order::col_major);
  using enum group_form;
  std::vector<group_form> forms = {ends, starts, sizes};
  if (!of_k) forms.push_back(rows);
  if (!of_k && !divides_lines) forms.push_back(counts);
  g.form = forms[static_cast<std::size_t>(any(0, static_cast<int>(forms.size()) - 1))];
  if (g.form == rows) g.count = any(1, 9);
  g.index_bits = any(0, 1) != 0 ? 32 : 64;
  if (any(0, 2) == 0) g.expected_size = any(1, most);
  // A group begins at a multiple of 16 bytes of a contiguous extent.
  int const step = divides_contiguous(w) && g.form != rows && g.form != counts ? chunk : 1;
  std::vector<std::int64_t> const all =
      random_sizes(rng, g.form == rows ? any(1, 5) : static_cast<int>(g.count), most, step);
  std::int64_t total = g.form == starts ? step * any(0, 3) : 0, blocks = 0;
  if (g.form == starts) p.numbers.push_back(total);
  for (std::int64_t const size : all) {
    auto const group = static_cast<std::int64_t>(p.ranges.size());
    if (g.form == rows) {  // any group, then rows of none up to a multiple of 128 or further
      if (size == 0) {
        p.numbers.insert(p.numbers.end(), group_alignment, -1);
        continue;
      }
      p.ranges.push_back({static_cast<std::int64_t>(p.numbers.size()), size,
                          any(0, static_cast<int>(g.count) - 1)});
      p.numbers.insert(p.numbers.end(), static_cast<std::size_t>(size), p.ranges.back().group);
      if (&size != &all.back() || any(0, 1) != 0)
        while (p.numbers.size() % group_alignment != 0) p.numbers.push_back(-1);
      continue;
    }
    p.ranges.push_back({g.slots() ? 0 : total, size, group, blocks});
    total += size, blocks += (size + 127) / 128;
    p.numbers.push_back(g.slots() || g.form == sizes ? size : total);
  }
  if (p.numbers.empty()) p.numbers.push_back(-1);
  std::int64_t extent = g.slots()        ? most
                        : g.form == rows ? static_cast<std::int64_t>(p.numbers.size())
                                         : total + any(0, 9);
  extent = (extent + step - 1) / step * step;
  extent = std::max<std::int64_t>(extent, step);
  std::int64_t const m = of_m ? extent : any(1, 200),
                     n = of_n     ? extent
                         : w.gate ? 16 * any(1, 14)
                                  : any(1, 200),
                     k = of_k ? extent : any(1, 200), d_cols = w.gate ? n / 2 : n;
  // Lines at multiples of 16 bytes, but for D.
  auto const pad = [&](order o, std::int64_t rows, std::int64_t cols) {
    std::int64_t const inner = o == order::row_major ? cols : rows;
    return (inner + chunk - 1) / chunk * chunk - inner + chunk * any(0, 1);
  };
  auto const make = [&](elem e, order o, std::int64_t rows, std::int64_t cols, bool each,
                        auto&& values) {
    bool const many = each || g.slots();
    std::int64_t const extra = pad(o, rows, cols);
    std::int64_t const inner = (o == order::row_major ? cols : rows) + extra;
    return make_matrix(e, o, rows, cols, extra, values, many ? g.count : 1, batch_form::behind,
                       inner * any(0, 1));
  };
  p.a = make(w.ab, w.a, m, k, of_n, fill);
  p.b = make(w.ab, w.b, k, n, of_m, fill);
  // A D of any leading dimension goes by plain stores.
  std::int64_t const d_extra = any(0, 2) == 0 ? any(0, 9) : pad(w.d_order, m, d_cols);
  std::int64_t const d_inner = (w.d_order == order::row_major ? d_cols : m) + d_extra;
  std::int64_t const d_gap = any(0, 1);
  p.d = make_matrix(w.d, w.d_order, m, d_cols, d_extra, nullptr, of_k || g.slots() ? g.count : 1,
                    batch_form::behind, d_inner * d_gap);
  p.problem = {m, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F};
  if (g.slots()) p.problem.batch = g.count;
  p.problem.groups = g;
  bool const exact = holds_integer_sums(w.d);  // D is the sum itself
  if (!exact && any(0, 2) == 0) p.problem.alpha = normal(rng);
  if (!exact && any(0, 3) == 0) {  // some of them 0, whose sums do not take part
    p.problem.groups->alpha = true;
    for (std::int64_t i = 0; i < g.count; ++i) p.alphas.push_back(any(0, 4) == 0 ? 0 : normal(rng));
  }
  if (!exact && any(0, 2) == 0) {
    bool const by_tma = of_k && any(0, 1) != 0;  // C as TMA loads it, of groups of K
    order const o = g.slots()                  ? w.d_order
                    : by_tma || any(0, 1) != 0 ? order::row_major
                                               : order::col_major;
    std::int64_t const inner = o == order::row_major ? d_cols : m;
    int const of_16_bytes = 16 / size_bytes(w.d);
    std::int64_t const extra =
        by_tma ? (inner + of_16_bytes - 1) / of_16_bytes * of_16_bytes - inner : any(0, 3);
    p.c = make_matrix(!by_tma && any(0, 1) != 0 ? elem::f32 : w.d, o, m, d_cols, extra, fill,
                      of_k || g.slots() ? g.count : 1, batch_form::behind, 0);
    if (g.slots()) {  // D's distance of slots, in lines
      std::int64_t const outer = o == order::row_major ? m : d_cols;
      p.c = make_matrix(p.c.desc.type, o, m, d_cols, 0, fill, g.count, batch_form::behind,
                        g.count > 1 ? (p.d.stride / p.d.desc.pitch_elems - outer) * inner : 0);
    }
    p.problem.c = p.c.desc;
    p.problem.beta = normal(rng);
  }
  // Lines of no group, and all of some groups, hold NaN and infinities.
  std::vector<bool> used(static_cast<std::size_t>(extent), false);
  p.poisoned.assign(p.ranges.size(), false);
  float const bad[] = {std::numeric_limits<float>::quiet_NaN(),
                       std::numeric_limits<float>::infinity()};
  auto const poison = [&](std::int64_t i, std::int64_t of) {
    if (of_m || of_k) fill_line(p.a, of_m, i, of, bad[any(0, 1)]);
    if (of_n || of_k) fill_line(p.b, of_k, i, of, bad[any(0, 1)]);
  };
  for (std::size_t i = 0; i < p.ranges.size(); ++i) {
    group_range const r = p.ranges[i];
    p.poisoned[i] = w.poison && r.size > 0 && any(0, 7) == 0;
    for (std::int64_t x = 0; x < r.size; ++x) {
      if (p.poisoned[i]) poison(r.begin + x, g.slots() ? static_cast<std::int64_t>(i) : 0);
      if (!g.slots()) used[static_cast<std::size_t>(r.begin + x)] = true;
    }
    if (g.slots())
      for (std::int64_t x = r.size; x < extent; ++x) poison(x, static_cast<std::int64_t>(i));
  }
  if (!g.slots())
    for (std::size_t i = 0; i < used.size(); ++i)
      if (!used[i]) poison(static_cast<std::int64_t>(i), 0);
  return p;
}

/// Vectors and scales of a problem, for each group.
struct vectors_of_groups {
  std::vector<float> bias, row_scale, col_scale, row_weight, scale_a, scale_b;
  gemm_operands with(gemm_operands o) const {
    o.bias = bias.data(), o.row_scale = row_scale.data(), o.col_scale = col_scale.data();
    o.row_weight = row_weight.data();
    o.scale_a = scale_a.data(), o.scale_b = scale_b.data();
    return o;
  }
};
/// Block scales of 128 along K for groups of K, adjacent along rows or along K. Some of A or of B
/// are of blocks of 128 rows too.
inline void add_scales_of_k(gemm_problem& p, std::mt19937_64& rng) {
  p.groups->scale_blocks = scaled_k(p) / 128;
  for (role const x : a_and_b) {
    std::int64_t const outer = outer_extent(p, x), blocks = scaled_k(p) / 128;
    scale_desc s = make_scale({x == role::b, outer, scaled_k(p)}, scaling::block_1x128);
    bool const by_rows = rng() % 2 != 0;
    s.block_outer = rng() % 4 == 0 ? 128 : 1, s.block_k = 128;
    std::int64_t const lines = scale_blocks(s.block_outer, outer);
    s.stride_outer = by_rows ? blocks : 1, s.stride_k = by_rows ? 1 : lines;
    scale(p, x) = s;
  }
}
/// A scale for each row of A and column of B; if `of_each`, each group has other scales.
inline void add_row_scales(gemm_problem& p, bool of_each) {
  for (role const x : a_and_b) {
    std::int64_t const outer = outer_extent(p, x);
    scale(p, x) = make_scale({x == role::b, outer, p.k}, scaling::row);
    scale(p, x)->batch_stride = of_each ? outer : 0;
  }
}
inline vectors_of_groups random_vectors(gemm_problem const& p, std::mt19937_64& rng) {
  auto const fill = [&](std::vector<float>& x, std::int64_t count) {
    x.resize(static_cast<std::size_t>(count));
    for (float& v : x) v = std::ldexp(1.0F + static_cast<float>(rng() % 97) / 97, -2);
  };
  vectors_of_groups v;
  std::int64_t const each = p.groups->count * std::max(p.m, p.n);
  fill(v.bias, each), fill(v.row_scale, each), fill(v.col_scale, each);
  fill(v.row_weight, each);
  std::int64_t const blocks = scaled_k(p) / 128 + 1;
  fill(v.scale_a, each * blocks), fill(v.scale_b, each * blocks);
  return v;
}

/// Checks that no byte outside of the groups' D was written.
inline void expect_nothing_between_groups(grouped_product const& p) {
  group_desc const& g = *p.problem.groups;
  bool const of_m = g.axis == group_axis::m, of_n = g.axis == group_axis::n,
             of_k = g.axis == group_axis::k;
  std::vector<bool> inside(p.d.bytes.size(), false);
  for (std::size_t i = 0; i < p.ranges.size(); ++i) {
    group_range const r = p.ranges[i];
    std::int64_t const of = of_k || g.slots() ? r.group : 0;
    std::int64_t const rows = of_m ? r.size : p.d.rows, cols = of_n ? r.size : p.d.cols;
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t col = 0; col < cols; ++col)
        for (int byte = 0; byte < size_bytes(p.d.desc.type); ++byte)
          inside[p.d.at(row + (of_m ? r.begin : 0), col + (of_n ? r.begin : 0), of) +
                 static_cast<std::size_t>(byte)] = true;
  }
  for (std::size_t i = 0; i < inside.size(); ++i)
    if (!inside[i] && p.d.bytes[i] != std::byte{0xFF})
      FAIL() << p.text() << ": byte " << i << " outside of the groups written";
}

/// Checks each group that is not poisoned against the exact result of its epilogue, within the
/// bound of problem/fused_bound.hpp. o: the operands, with vectors.
inline void expect_right_fused_groups(grouped_product const& p, gemm_operands const& o) {
  for (std::size_t i = 0; i < p.ranges.size(); ++i) {
    if (p.poisoned[i]) continue;
    group_slice const s = slice_of_group(p.problem, o, p.ranges[i]);
    fused_terms const terms = make_fused_terms(s.problem);
    std::int64_t const cols = result_cols(s.problem.epilogue, s.problem.n);
    for (std::int64_t row = 0; row < s.problem.m; ++row)
      for (std::int64_t col = 0; col < cols; ++col) {
        expected_element const want =
            expect_fused(reference_fused(s.problem, s.operands, row, col, 0), terms);
        double const got = load_element(s.problem.d, s.operands.d, row, col);
        if (judge(got, want, terms.out) != verdict::right)
          FAIL() << p.text() << ": group " << i << " from " << p.ranges[i].begin << ", D(" << row
                 << "," << col << ") = " << got << ", want " << want.value << " within "
                 << want.bound;
      }
  }
}

/// Checks each group that is not poisoned as expect_right_product() does, and
/// expect_nothing_between_groups().
inline void expect_right_groups(grouped_product const& p) {
  group_desc const& g = *p.problem.groups;
  bool const of_m = g.axis == group_axis::m, of_n = g.axis == group_axis::n,
             of_k = g.axis == group_axis::k;
  double const rounding = p.d.desc.type == elem::bf16  ? std::ldexp(1, -8)
                          : p.d.desc.type == elem::f16 ? std::ldexp(1, -11)
                                                       : std::ldexp(1, -24);
  double const tiny = p.d.desc.type == elem::f16 ? std::ldexp(1, -25) : 0;
  for (std::size_t i = 0; i < p.ranges.size(); ++i) {
    group_range const r = p.ranges[i];
    std::int64_t const of = r.group;
    std::int64_t const m = of_m ? r.size : p.problem.m, n = of_n ? r.size : p.problem.n,
                       k = of_k ? r.size : p.problem.k;
    std::int64_t const a_of = of_n || g.slots() ? of : 0, b_of = of_m || g.slots() ? of : 0,
                       d_of = of_k || g.slots() ? of : 0;
    double const* const a = p.a.value.data() + p.a.matrix_of(a_of) * p.a.rows * p.a.cols +
                            (of_m   ? r.begin * p.a.cols
                             : of_k ? r.begin
                                    : 0);
    double const* const b = p.b.value.data() + p.b.matrix_of(b_of) * p.b.rows * p.b.cols +
                            (of_k   ? r.begin * p.b.cols
                             : of_n ? r.begin
                                    : 0);
    for (std::int64_t row = 0; row < m; ++row)
      for (std::int64_t col = 0; col < n; ++col) {
        std::int64_t const d_row = row + (of_m ? r.begin : 0), d_col = col + (of_n ? r.begin : 0);
        if (p.poisoned[i]) continue;
        double sum = 0, size = 0;
        for (std::int64_t x = 0; x < k; ++x) {
          double const term = a[row * p.a.cols + x] * b[x * p.b.cols + col];
          sum += term, size += std::fabs(term);
        }
        float const alpha =
            p.problem.alpha * (p.alphas.empty() ? 1 : p.alphas[static_cast<std::size_t>(r.group)]);
        double want = alpha == 0 ? 0 : alpha * sum;
        size *= std::fabs(alpha);
        if (p.problem.c) {
          double const addend = p.problem.beta * p.c.load(d_row, d_col, d_of);
          want += addend, size += std::fabs(addend);
        }
        double const sum_error = (static_cast<double>(k) + 4) * std::ldexp(1, -23) * size;
        double const bound = sum_error + rounding * (std::fabs(want) + sum_error) + tiny;
        double const got = p.d.load(d_row, d_col, d_of);
        if (!(std::fabs(got - want) <= bound))
          FAIL() << p.text() << ": group " << i << " of " << r.size << " from " << r.begin << ", D("
                 << row << "," << col << ") = " << got << ", want " << want << " within " << bound;
      }
  }
  expect_nothing_between_groups(p);
}

}  // namespace tw::test
