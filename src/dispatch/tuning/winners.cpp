// SPDX-License-Identifier: Apache-2.0
// winners.cpp  Searches the embedded tuning tables.
#include "dispatch/tuning/winners.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "dispatch/tuning/embedded_tuning.hpp"
#include "family/normal_form.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/epilogue_kind.hpp"

namespace tw {

namespace {

constexpr std::array<std::string_view, 4> layouts = {"TN", "TT", "NT", "NN"};

std::span<tuning_row const> rows_of(std::string_view device_id) {
  for (tuning_table const& t : tuning_tables())
    if (t.device == device_id) return t.rows;
  return {};
}

std::optional<scaling> scaling_in(std::int8_t cell) {
  return cell < 0 ? std::nullopt : std::optional(static_cast<scaling>(cell));
}

std::int8_t cell_of(std::optional<scaling> s) {
  return s ? static_cast<std::int8_t>(*s) : std::int8_t{-1};
}

winner winner_of(tuning_row const& r, std::string_view device_id) {
  return {.m = r.m,
          .n = r.n,
          .k = r.k,
          .batch = r.batch,
          .ab = r.ab,
          .d = r.d,
          .layout = layouts[static_cast<std::size_t>(r.layout)],
          .scales = {scaling_in(r.scale_a), scaling_in(r.scale_b)},
          .promote_k = r.promote_k,
          .kernel = tuning_kernel(r.kernel),
          .f16_kernel = tuning_kernel(r.f16_kernel),
          .split_k_tiles = r.split_k_tiles,
          .split_k_clusters = r.split_k_clusters,
          .us = r.us,
          .starts_early = r.start < 0 ? std::nullopt : std::optional(r.start == 1),
          .measured_on = known_device(device_id).name};
}

auto extents_of(tuning_row const& r) {
  return std::tuple(std::int64_t{r.m}, std::int64_t{r.n}, std::int64_t{r.k}, std::int64_t{r.batch});
}

/// Are the matrices of `p` those that tables have?
bool dense(gemm_problem const& p) {
  bool const lines = p.a.pitch_elems == (p.a.ord == order::row_major ? p.k : p.m) &&
                     p.b.pitch_elems == (p.b.ord == order::row_major ? p.n : p.k) &&
                     p.d.pitch_elems == p.n;
  auto const in_line = [&](matrix_desc const& m, std::int64_t elems) {
    return p.batch == 1 || m.has_pointers() || m.batch_stride_elems == elems;
  };
  return lines && in_line(p.a, p.m * p.k) && in_line(p.b, p.k * p.n) && in_line(p.d, p.m * p.n);
}

/// The epilogue's vector that multiplies the rows of A, or the columns of B. as_run() moves a scale
/// of A or B into this vector if it fits.
vector_desc const& vector_of(gemm_problem const& p, role x) {
  return x == role::a ? p.epilogue.row_scale : p.epilogue.col_scale;
}

/// The type whose measurements serve a type that was not measured: f16 takes the time of bf16.
elem measured_as(elem e) { return e == elem::f16 ? elem::bf16 : e; }

std::optional<winner> find_in(std::string_view device_id, gemm_problem const& p) {
  std::string const layout{p.a.ord == order::row_major ? 'T' : 'N',
                           p.b.ord == order::col_major ? 'N' : 'T'};
  auto const all = rows_of(device_id);
  auto const rows =
      std::ranges::equal_range(all, std::tuple(p.m, p.n, p.k, p.batch), {}, extents_of);
  auto const find = [&](elem ab, elem d) -> std::optional<winner> {
    for (tuning_row const& r : rows)
      if (r.ab == ab && r.d == d && layouts[static_cast<std::size_t>(r.layout)] == layout &&
          r.scale_a == cell_of(scaling_in_tables(p, role::a)) &&
          r.scale_b == cell_of(scaling_in_tables(p, role::b)) &&
          (!is_fp8(ab) || r.promote_k == p.precision.promote_k))
        return winner_of(r, device_id);
    return std::nullopt;
  };
  if (auto w = find(p.a.type, p.d.type)) return w;
  if (measured_as(p.a.type) == p.a.type) return std::nullopt;
  return find(measured_as(p.a.type), measured_as(p.d.type));
}

}  // namespace

std::optional<scaling> scaling_in_tables(gemm_problem const& p, role x) {
  std::int64_t const outer = x == role::a ? p.m : p.n;
  vector_desc const& v = vector_of(p, x);
  auto const& s = scale(p, x);
  if (!s && !v) return std::nullopt;
  scaling const is = s ? scaling_of(*s) : v.one ? scaling::tensor : scaling::row;
  return is == scaling::row && outer == 1 ? scaling::tensor : is;
}

bool fits_tables(gemm_problem const& p) {
  auto const listed = [&](role x) {
    auto const& s = scale(p, x);
    if (s && vector_of(p, x)) return false;
    return !s || (s->type == elem::f32 && !s->tiled && scaling_of(*s) != scaling::other);
  };
  int const every = p.precision.promote_k;
  bool const listed_sums = !is_fp8(p.a.type) || every == 128 || every == 64 || every == 0;
  bool const usual = p.a.type == p.b.type && listed_sums && !may_sum_in_f16(p) && !p.reproducible &&
                     std::ranges::all_of(a_and_b, listed) && !p.scale_d;
  bool const both =
      scaling_in_tables(p, role::a).has_value() == scaling_in_tables(p, role::b).has_value();
  return usual && both && !p.groups && !has_weights(p) && !p.c &&
         (!is_fused(p.epilogue) || has_scales_alone(p)) && !p.aux && p.d.ord == order::row_major &&
         dense(p);
}

bool is_plan(winner const& w, gemm_plan const& p) {
  bool const f16 = measured_as(p.problem.a.type) != p.problem.a.type && w.ab != p.problem.a.type;
  return p.kernel == (f16 ? w.f16_kernel : w.kernel) &&
         p.schedule.split_k_tiles == w.split_k_tiles &&
         p.schedule.split_k_clusters == w.split_k_clusters;
}

std::vector<winner> winners(std::string_view device_id) {
  std::vector<winner> all;
  for (tuning_row const& r : rows_of(device_id)) all.push_back(winner_of(r, device_id));
  return all;
}

std::optional<winner> find_winner(gemm_problem const& p, device const& dev) {
  if (p.d.ord != order::row_major) {
    if (p.epilogue.gate != gating::none) return std::nullopt;
    return find_winner(transposed(p), dev);
  }
  if (!fits_tables(p)) return std::nullopt;
  if (auto w = find_in(dev.tuning_table, p)) return w;
  auto other = find_in(dev.fallback_tuning_table, p);
  if (other) other->of_this_device = false;
  return other;
}

}  // namespace tw
