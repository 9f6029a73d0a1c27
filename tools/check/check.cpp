// SPDX-License-Identifier: Apache-2.0
// check.cpp  Panels of A and B as float64, two GEMMs per panel pair (S and T), then every element
// is judged by problem/error_bound.hpp.
#include "tools/check/check.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "tilewright/base/convert.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/weights/weights.hpp"
#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/block_result.hpp"
#include "tilewright/problem/epilogue_kind.hpp"
#include "tilewright/problem/error_bound.hpp"
#include "tilewright/problem/group_slices.hpp"
#include "tilewright/problem/reference.hpp"
#include "tilewright/problem/scale_convention.hpp"
#include "tilewright/problem/scale_place.hpp"
#include "tilewright/problem/without_indices.hpp"
#include "tools/check/check_scales.hpp"
#include "tools/check/reference_blas.hpp"

namespace tw {
namespace {

constexpr std::int64_t panel_rows = 512, panel_cols = 512, panel_depth = 2048;

using indices = std::vector<std::int64_t>;

/// out(i, j) = m(rows[i], first_col + j), row-major, as float64.
template <class T>
void load_typed(matrix_desc const& m, void const* base, indices const& rows, std::int64_t first_col,
                std::int64_t cols, double* out) {
  std::int64_t const row_step = m.ord == order::row_major ? m.pitch_elems : 1;
  std::int64_t const col_step = m.ord == order::row_major ? 1 : m.pitch_elems;
  auto const* bytes = static_cast<char const*>(base);
  auto const load = [=](std::int64_t row, std::int64_t col) {
    T value;  // by memcpy: the data of a file need not be aligned
    std::int64_t const at = row * row_step + col * col_step;
    std::memcpy(&value, bytes + at * std::int64_t{sizeof(T)}, sizeof(T));
    if constexpr (std::is_integral_v<T>)
      return static_cast<double>(value);
    else
      return static_cast<double>(to_float(value));
  };
  auto const n = static_cast<std::int64_t>(rows.size());
  if (m.ord == order::row_major) {
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t const row = rows[static_cast<std::size_t>(i)];
      for (std::int64_t j = 0; j < cols; ++j) out[i * cols + j] = load(row, first_col + j);
    }
  } else {
    for (std::int64_t j = 0; j < cols; ++j) {
      for (std::int64_t i = 0; i < n; ++i) {
        out[i * cols + j] = load(rows[static_cast<std::size_t>(i)], first_col + j);
      }
    }
  }
}

/// Two elements in a byte.
void load_packed(matrix_desc const& m, void const* base, indices const& rows,
                 std::int64_t first_col, std::int64_t cols, double* out) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::int64_t j = 0; j < cols; ++j)
      out[static_cast<std::int64_t>(i) * cols + j] = load_element(m, base, rows[i], first_col + j);
}

void load(matrix_desc const& m, void const* base, indices const& rows, std::int64_t first_col,
          std::int64_t cols, double* out) {
  if (packs_in_pairs(m.type)) return load_packed(m, base, rows, first_col, cols, out);
  with_elem(m.type, [&](auto t) {
    if constexpr (size_bits(t.value) >= 8)
      load_typed<typename decltype(t)::type>(m, base, rows, first_col, cols, out);
  });
}

/// A panel of A or B, as the tensor core multiplies it.
void load_operand_panel(matrix_desc const& m, void const* base, indices const& rows,
                        std::int64_t first_col, std::int64_t cols, std::vector<double>& out) {
  load(m, base, rows, first_col, cols, out.data());
  if (!is_multiplied_as_tf32(m.type)) return;
  for (double& x : out) x = multiplied_value(m.type, x);
}

indices index_range(std::int64_t first, std::int64_t count) {
  indices r(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) r[static_cast<std::size_t>(i)] = first + i;
  return r;
}

/// `count` of `rows` rows: one from each of `count` slices, where a hash of its number points.
indices chosen_rows(std::int64_t rows, std::int64_t count) {
  if (count >= rows) return index_range(0, rows);
  indices chosen;
  for (std::int64_t i = 0; i < count; ++i) {
    double const low = static_cast<double>(rows) * static_cast<double>(i) / count;
    double const high = static_cast<double>(rows) * static_cast<double>(i + 1) / count;
    std::uint64_t const hash = (static_cast<std::uint64_t>(i) + 1) * 0x9E3779B97F4A7C15ULL;
    double const share = static_cast<double>(hash >> 11) * 0x1p-53;
    chosen.push_back(std::min(rows - 1, static_cast<std::int64_t>(low + share * (high - low))));
  }
  return chosen;
}

/// S and T of a block of D, accumulated over panels of K.
class block_sums {
 public:
  void compute(gemm_problem const& p, gemm_operands const& o, indices const& rows,
               std::int64_t first_col, std::int64_t cols) {
    auto const m = static_cast<std::int64_t>(rows.size());
    bool const scaled = scales_in_main_loop(p);
    std::int64_t const most = scaled ? main_loop_block_k(p) : panel_depth;
    s.assign(static_cast<std::size_t>(m * cols), 0.0);
    t.assign(static_cast<std::size_t>(m * cols), 0.0);
    std::vector<double> scaled_s, scaled_t;
    largest = scaled ? 0 : 1;
    if (scaled) scaled_s = s, scaled_t = t;
    for (std::int64_t k = 0; k < p.k; k += most) {
      std::int64_t const depth = std::min(most, p.k - k);
      a_.resize(static_cast<std::size_t>(m * depth));
      b_.resize(static_cast<std::size_t>(depth * cols));
      load_operand_panel(p.a, o.a, rows, k, depth, a_);
      load_operand_panel(p.b, o.b, index_range(k, depth), first_col, cols, b_);
      add_infinite_products(m, cols, depth);
      multiply(m, cols, depth, s);
      for (double& x : a_) x = bound_magnitude(p.a.type, x);
      for (double& x : b_) x = bound_magnitude(p.b.type, x);
      multiply(m, cols, depth, t);
      if (!scaled) continue;
      for (std::size_t i = 0; i < s.size(); ++i) {
        auto const at = static_cast<std::int64_t>(i);
        double const scale = scale_of_block(p, o, rows[static_cast<std::size_t>(at / cols)],
                                            first_col + at % cols, k);
        if (std::isfinite(scale)) largest = std::max(largest, std::fabs(scale));
        scaled_s[i] += scale * s[i];
        if (std::isfinite(scale)) scaled_t[i] += std::fabs(scale) * t[i];
        s[i] = t[i] = 0;
      }
    }
    if (scaled) s.swap(scaled_s), t.swap(scaled_t);
  }

  std::vector<double> s, t;  // rows x cols, row-major
  double largest = 1;        // scale of them all, in magnitude

 private:
  /// Adds the partial products with an infinity or NaN to S and replaces them by zeros: how a BLAS
  /// treats them is not specified, and T counts finite partial products alone.
  void add_infinite_products(std::int64_t m, std::int64_t n, std::int64_t depth) {
    auto const at = [](std::vector<double>& x, std::int64_t i) -> double& {
      return x[static_cast<std::size_t>(i)];
    };
    std::vector<std::int64_t> of_a, of_b;
    for (std::int64_t i = 0; i < m * depth; ++i)
      if (!std::isfinite(at(a_, i))) of_a.push_back(i);
    for (std::int64_t i = 0; i < depth * n; ++i)
      if (!std::isfinite(at(b_, i))) of_b.push_back(i);
    for (std::int64_t const i : of_a)
      for (std::int64_t j = 0; j < n; ++j)
        at(s, i / depth * n + j) += at(a_, i) * at(b_, i % depth * n + j);
    for (std::int64_t const j : of_b)
      for (std::int64_t i = 0; i < m; ++i)
        if (double const a = at(a_, i * depth + j / n); std::isfinite(a))
          at(s, i * n + j % n) += a * at(b_, j);
    for (std::int64_t const i : of_a) at(a_, i) = 0;
    for (std::int64_t const j : of_b) at(b_, j) = 0;
  }

  void multiply(std::int64_t m, std::int64_t n, std::int64_t k, std::vector<double>& sum) const {
    reference_blas::get().add_gemm(m, n, k, a_.data(), b_.data(), sum.data());
  }
  std::vector<double> a_, b_;
};

void judge_element(check_report& r, check_place place, expected_element const& e,
                   bound_terms const& terms) {
  verdict const v = judge(place.got, e, terms);
  if (v == verdict::unjudged) {
    ++r.unjudged;
    return;
  }
  ++r.judged;
  constexpr double infinite = std::numeric_limits<double>::infinity();
  place.expected = e.value;
  place.bound = e.bound;
  place.error = std::fabs(place.got - e.value);
  if (!std::isfinite(place.got) || !std::isfinite(e.value)) {
    place.error = v == verdict::right ? 0.0 : infinite;  // an infinity or NaN is right or is not
  }
  place.ratio = place.error == 0.0 ? 0.0 : place.error / e.bound;
  if (v == verdict::wrong) {
    ++r.wrong;
    place.ratio = std::isnan(place.ratio) ? infinite : place.ratio;
  }
  if (place.error >= r.largest_error.error) r.largest_error = place;
  if (place.ratio >= r.largest_ratio.ratio) r.largest_ratio = place;
}

/// S and T of the block of D that begins at column `first`, from the columns of A B that follow it.
class fused_sums {
 public:
  void compute(gemm_problem const& p, gemm_operands const& o, indices const& rows,
               std::int64_t first, std::int64_t cols) {
    cols_ = cols;
    gating const gate = p.epilogue.gate;
    interleaved_ = gate == gating::interleaved;
    if (interleaved_)
      x_.compute(p, o, rows, 2 * first, 2 * cols);
    else
      x_.compute(p, o, rows, first, cols);
    if (gate == gating::split) up_.compute(p, o, rows, p.n / 2 + first, cols);
  }
  /// Into `e`, those of row i and column j of the block.
  void put(std::int64_t i, std::int64_t j, gating gate, exact_fused& e) const {
    auto const at = static_cast<std::size_t>(interleaved_ ? 2 * (i * cols_ + j) : i * cols_ + j);
    e.x.s = x_.s[at], e.x.t = x_.t[at];
    e.x.largest_scale = e.up.largest_scale = x_.largest;
    if (gate == gating::interleaved) e.up.s = x_.s[at + 1], e.up.t = x_.t[at + 1];
    if (gate != gating::split) return;
    e.up.s = up_.s[at], e.up.t = up_.t[at], e.up.largest_scale = up_.largest;
  }

 private:
  block_sums x_, up_;
  std::int64_t cols_ = 0;
  bool interleaved_ = false;
};

/// Judges one element of the auxiliary output: x before the activation, and with a gate its factor.
void judge_aux(check_report& r, gemm_problem const& p, gemm_operands const& o, exact_fused const& x,
               fused_terms const& terms, std::int64_t row, std::int64_t col) {
  product_columns const j = columns_of(p, col);
  auto const judge_one = [&](std::int64_t at, exact_linear const& value) {
    check_place const place{row, at, load_element(*p.aux, o.aux, row, at)};
    judge_element(r, place, expect_aux(value, x.c, terms), terms.out);
  };
  judge_one(j.x, x.x);
  if (j.up >= 0) judge_one(j.up, x.up);
}

check_report check_fused(gemm_problem const& p, gemm_operands const& o, indices const& all) {
  auto const total = static_cast<std::int64_t>(all.size());
  std::int64_t const d_cols = result_cols(p.epilogue, p.n);
  fused_terms const terms = make_fused_terms(p);
  check_report report{p.m, total, d_cols, 0, 0, {}, {}};
  fused_sums sums;
  bool const scaled = p.scale_d && !p.scale_d->given;
  for (std::int64_t i0 = 0; i0 < total; i0 += panel_rows) {
    indices const rows(all.begin() + i0, all.begin() + std::min(total, i0 + panel_rows));
    std::optional<scale_check> scales;
    if (scaled) scales.emplace(p, rows);
    for (std::int64_t j0 = 0; j0 < d_cols; j0 += panel_cols) {
      std::int64_t const cols = std::min(panel_cols, d_cols - j0);
      sums.compute(p, o, rows, j0, cols);
      for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::int64_t j = 0; j < cols; ++j) {
          exact_fused x = reference_vectors(p, o, rows[i], j0 + j);
          sums.put(static_cast<std::int64_t>(i), j, p.epilogue.gate, x);
          check_place const place{rows[i], j0 + j, load_element(p.d, o.d, rows[i], j0 + j)};
          // An element whose factor is NaN is one, whatever its code; scales judge the factor.
          if (scaled && !has_nan(p.d.type) && std::isnan(x.scale_d))
            ++report.judged;
          else
            judge_element(report, place, expect_fused(x, terms), terms.out);
          if (p.aux) judge_aux(report, p, o, x, terms, rows[i], j0 + j);
          if (scales) scales->add(i, j0 + j, x);
        }
    }
    if (scales) scales->judge(o, report);
  }
  return report;
}

check_report check_one(gemm_problem const& p, gemm_operands const& o, double max_flops) {
  double const row_flops = 2.0 * static_cast<double>(p.n) * static_cast<double>(p.k);
  double const affordable = std::clamp(max_flops / row_flops, 1.0, static_cast<double>(p.m));
  indices const all = chosen_rows(p.m, static_cast<std::int64_t>(affordable));
  if (operands_needed(with_epilogue_scales(p)).ops) return check_fused(p, o, all);
  auto const total = static_cast<std::int64_t>(all.size());
  bound_terms const terms = make_bound_terms(p);
  double const second = second_level_of_sums(p, o);
  check_report report{p.m, total, p.n, 0, 0, {}, {}};
  block_sums sums;
  std::vector<double> d, c(static_cast<std::size_t>(panel_rows * panel_cols), 0.0);
  for (std::int64_t i0 = 0; i0 < total; i0 += panel_rows) {
    indices const rows(all.begin() + i0, all.begin() + std::min(total, i0 + panel_rows));
    for (std::int64_t j0 = 0; j0 < p.n; j0 += panel_cols) {
      std::int64_t const cols = std::min(panel_cols, p.n - j0);
      sums.compute(p, o, rows, j0, cols);
      d.resize(sums.s.size());
      load(p.d, o.d, rows, j0, cols, d.data());
      if (p.c) load(*p.c, o.c, rows, j0, cols, c.data());
      for (std::size_t i = 0; i < d.size(); ++i) {
        auto const at = static_cast<std::int64_t>(i);
        check_place const place{rows[static_cast<std::size_t>(at / cols)], j0 + at % cols, d[i]};
        judge_element(report, place,
                      expect_element({sums.s[i], sums.t[i], c[i], sums.largest, second}, terms),
                      terms);
      }
    }
  }
  return report;
}

void const* matrix_at(void const* base, matrix_desc const& m, std::int64_t product) {
  return static_cast<std::byte const*>(base) + product * m.batch_stride_bytes();
}

void const* scales_at(void const* base, std::optional<scale_desc> const& s, std::int64_t product) {
  if (!s) return nullptr;
  return static_cast<std::byte const*>(base) + product * s->batch_stride * size_bytes(s->type);
}

/// D's scales of a matrix and, of NVFP4, its second level, as they lie in memory if the batch is
/// this matrix alone.
std::vector<std::byte> scales_alone(gemm_problem const& p, gemm_problem const& alone,
                                    void const* scales, std::int64_t product) {
  std::vector<std::byte> copy(static_cast<std::size_t>(block_result_bytes(alone)));
  std::memcpy(copy.data(), scales_at(scales, p.scale_d->desc, product),
              static_cast<std::size_t>(block_result_scale_bytes(alone)));
  if (p.scale_d->desc.second_level) {
    float const level = second_level(p, scales, product);
    std::memcpy(copy.data() + second_level_offset(alone), &level, sizeof level);
  }
  return copy;
}

}  // namespace

namespace {

/// Adds the report `r` of matrix or group `i` to `all`; `first`: `all` is empty.
void add(check_report& all, check_report r, std::int64_t i, bool first) {
  r.largest_error.product = r.largest_ratio.product = i;
  if (first || r.largest_error.error >= all.largest_error.error)
    all.largest_error = r.largest_error;
  if (first || r.largest_ratio.ratio >= all.largest_ratio.ratio)
    all.largest_ratio = r.largest_ratio;
  all.rows += r.rows, all.rows_checked += r.rows_checked, all.cols = r.cols;
  all.scales += r.scales, all.wrong_scales += r.wrong_scales;
  all.wrong += r.wrong, all.unjudged += r.unjudged, all.judged += r.judged;
}

/// Weights for e4m3: their codes, and their factors as 1x128 scales.
check_report check_e4m3_weights(gemm_problem p, gemm_operands o, weights_desc const& w, role x,
                                double max_flops) {
  auto const* const blocks = static_cast<std::byte const*>(address(o, x)) + weights_header_bytes;
  std::optional<scale_desc>& scales = scale(p, x);
  scales = make_scale({x == role::b, w.n, w.k}, scaling::block_1x128);
  std::int64_t const extent = scale_extent(*scales, w.n, w.k);
  if (w.matrices > 1) scales->batch_stride = extent;
  std::vector<e4m3> codes(static_cast<std::size_t>(w.matrices * w.n * w.k));
  std::vector<float> factors(static_cast<std::size_t>(w.matrices * extent));
  for (std::int64_t i = 0; i < w.matrices; ++i)
    for (std::int64_t n = 0; n < w.n; ++n)
      for (std::int64_t k = 0; k < w.k; ++k) {
        e4m3_weight const from = e4m3_weight_at(w, blocks, i, n, k);
        codes[static_cast<std::size_t>((i * w.n + n) * w.k + k)] = from.code;
        factors[static_cast<std::size_t>(i * extent + scale_offset(*scales, n, k))] = from.factor;
      }
  weights(p, x) = {};
  set_address(o, x, codes.data());
  set_address(o, scales_of(x), factors.data());
  return check_gemm(p, o, max_flops);
}

/// With the weights decoded, each rounded once as in the kernels.
check_report check_weights(gemm_problem p, gemm_operands o, double max_flops) {
  role const x = p.weights_a ? role::a : role::b;
  matrix_desc const& m = *matrix_of(p, x);
  std::int64_t const matrices = m.batch_stride_elems == 0 ? 1 : matrix_count(p, x);
  weights_desc const w{outer_extent(p, x), p.k, matrices, weights(p, x)};
  if (w.format.fp8) return check_e4m3_weights(p, o, w, x, max_flops);
  std::vector<std::uint16_t> decoded(static_cast<std::size_t>(matrices * w.n * w.k));
  auto const* const blocks = static_cast<std::byte const*>(address(o, x)) + weights_header_bytes;
  for (std::int64_t i = 0; i < matrices; ++i)
    decode_weights(w, blocks, i, m.type, decoded.data() + i * w.n * w.k);
  weights(p, x) = {};
  set_address(o, x, decoded.data());
  return check_gemm(p, o, max_flops);
}

check_report check_groups(gemm_problem const& p, gemm_operands const& o, double max_flops) {
  if (p.groups->gather_from > 0 || p.groups->scatter_to > 0) {
    without_indices const flat(p, o);
    return check_groups(flat.problem(), flat.operands(), max_flops);
  }
  group_ranges const groups = ranges_of_groups(p, o.groups);
  check_report all;
  all.bad_group = groups.first_bad.value_or(-1);
  for (std::size_t i = 0; i < groups.of.size(); ++i) {
    group_slice const one = slice_of_group(p, o, groups.of[i]);
    if (computes_nothing(one.problem)) continue;
    add(all,
        check_gemm(one.problem, one.operands, max_flops / static_cast<double>(p.groups->count)),
        groups.of[i].group, all.rows == 0);
  }
  return all;
}

}  // namespace

check_report check_gemm(gemm_problem const& p, gemm_operands const& o, double max_flops) {
  if (has_weights(p)) return check_weights(p, o, max_flops);
  if (p.groups) return check_groups(p, o, max_flops);
  check_report all;
  gemm_problem alone = p;
  alone.batch = 1;
  for (std::int64_t i = 0; i < p.batch; ++i) {
    gemm_operands one = o;
    one.a = matrix_at(o.a, p.a, i);
    one.b = matrix_at(o.b, p.b, i);
    if (p.c) one.c = matrix_at(o.c, *p.c, i);
    one.d = const_cast<void*>(matrix_at(o.d, p.d, i));
    for (role const x : a_and_b)
      set_address(one, scales_of(x), scales_at(address(o, scales_of(x)), scale(p, x), i));
    std::vector<std::byte> block_scales;
    if (is_block_result(p))
      one.scale_d = (block_scales = scales_alone(p, alone, o.scale_d, i)).data();
    else if (p.scale_d)
      one.scale_d = const_cast<void*>(scales_at(o.scale_d, p.scale_d->desc, i));
    if (p.aux) one.aux = const_cast<void*>(matrix_at(o.aux, *p.aux, i));
    add(all, check_one(alone, one, max_flops / static_cast<double>(p.batch)), i, i == 0);
  }
  return all;
}

}  // namespace tw
