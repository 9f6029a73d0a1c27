// SPDX-License-Identifier: Apache-2.0
// group_slices.cpp  Clamps numbers as pipeline/group_table.hpp does, and moves operands.
#include "tilewright/problem/group_slices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>

#include "tilewright/problem/scale_place.hpp"

namespace tw {

namespace {

std::int64_t number_at(group_desc const& g, void const* array, std::int64_t i) {
  return g.index_bits == 64 ? static_cast<std::int64_t const*>(array)[i]
                            : static_cast<std::int32_t const*>(array)[i];
}

/// As fill_table_of_rows() of pipeline/group_table.hpp, which looks at a few of the numbers.
group_ranges ranges_of_rows(gemm_problem const& p, void const* array) {
  group_desc const& g = *p.groups;
  std::int64_t const total = ragged_extent(p);
  group_ranges r;
  std::int64_t entries = 0, left_group = -2, left_end = 0;
  auto const bad = [&](std::int64_t row) {
    if (!r.first_bad || row < *r.first_bad) r.first_bad = row;
  };
  for (std::int64_t first = 0; first < total; first += group_alignment) {
    std::int64_t const length = std::min<std::int64_t>(group_alignment, total - first);
    std::int64_t const number = number_at(g, array, first);
    bool const in = number >= 0 && number < g.count;
    std::int64_t last = 0;
    for (std::int64_t step = group_alignment / 2; in && step > 0; step /= 2)
      if (last + step < length && number_at(g, array, first + last + step) == number) last += step;
    if (!in && number != -1) bad(first);
    if (in && last + 1 < length && number_at(g, array, first + last + 1) != -1)
      bad(first + last + 1);
    std::int64_t const group = in ? number : -1, end = first + (in ? last + 1 : length);
    if (group != left_group || left_end != first) {
      if (entries == max_groups) {
        bad(first);
        return r;
      }
      ++entries;
      if (in) r.of.push_back({first, 0, group});
    }
    if (in) r.of.back().size = end - r.of.back().begin;
    left_group = group, left_end = end;
  }
  return r;
}

}  // namespace

group_ranges ranges_of_groups(gemm_problem const& p, void const* array) {
  group_desc const& g = *p.groups;
  if (g.form == group_form::rows) return ranges_of_rows(p, array);
  std::int64_t const total = ragged_extent(p), step = step_of_numbers(p);
  auto const number = [&](std::int64_t i) { return number_at(g, array, i); };
  auto const clamped = [&](std::int64_t x, std::int64_t lo) {
    return std::clamp(x - (x > 0 ? x % step : 0), lo, total);
  };
  group_ranges r;
  bool const starts = g.form == group_form::starts;
  std::int64_t blocks = 0, before = starts ? clamped(number(0), 0) : 0;
  if (starts && before != number(0)) r.first_bad = 0;
  for (std::int64_t i = 0; i < g.count; ++i) {
    std::int64_t const x = number(i + (starts ? 1 : 0));
    std::int64_t end = 0;
    if (g.slots())
      before = 0, end = clamped(x, 0);
    else if (g.form == group_form::sizes)
      end = std::min(total, before + clamped(x, 0));
    else
      end = clamped(x, before);
    std::int64_t const size = end - before;
    if (x != (g.form == group_form::sizes ? size : end) && !r.first_bad) r.first_bad = i;
    r.of.push_back({before, size, i, blocks});
    blocks += (size + scale_block_k - 1) / scale_block_k;
    before = end;
  }
  return r;
}

std::optional<rejection> refuse_numbers(gemm_problem const& p, void const* array) {
  group_desc const& g = *p.groups;
  group_ranges const ranges = ranges_of_groups(p, array);
  if (!ranges.first_bad) return std::nullopt;
  std::int64_t const bad = *ranges.first_bad;
  if (g.form == group_form::rows)
    return rejection{
        "TW0496", fmt::format("group of row {}", bad), fmt::format("{}", number_at(g, array, bad)),
        fmt::format("0 to {}, or -1 (none); a group begins at a multiple of {}, and at most {} "
                    "of them follow each other",
                    g.count - 1, group_alignment, max_groups),
        "a launch computes the rows before it in these 128 and says so in group_status"};
  bool const starts = g.form == group_form::starts;
  bool const first = starts && number_at(g, array, 0) != ranges.of[0].begin;
  std::int64_t const step = step_of_numbers(p);
  std::int64_t const begin = ranges.of[static_cast<std::size_t>(bad)].begin;
  std::int64_t const total = ragged_extent(p);
  std::string const need =
      g.slots()                     ? fmt::format("0 to {}, all of a slot", total)
      : g.form == group_form::sizes ? fmt::format("0 to {}, the rest of {}", total - begin, total)
      : first || (bad == 0 && !starts)
          ? fmt::format("0 to {}", total)
          : fmt::format("{}, the end of the group before, to {}", begin, total);
  return rejection{
      "TW0496", fmt::format("number of group {}", bad),
      fmt::format("{}", number_at(g, array, bad + (starts && !first ? 1 : 0))),
      need + (step == 1 ? "" : fmt::format(", and a multiple of {} (16 bytes)", step)),
      fmt::format("the form of the numbers is {}; a launch takes the nearest possible number and "
                  "says so in group_status",
                  group_form_names[static_cast<int>(g.form)])};
}

group_slice slice_of_group(gemm_problem const& p, gemm_operands const& o,
                           group_range const& range) {
  std::int64_t const group = range.group;
  group_desc const& g = *p.groups;
  group_slice s{p, o};
  s.problem.groups.reset();
  s.problem.batch = 1;
  ragged_extent(s.problem, g.axis) = range.size;
  // Matrix `group` if the operand has one for each group, and line `range.begin`, which is a
  // row or, if `cols`, a column.
  auto const at = [&](auto* base, matrix_desc& m, bool each, bool ragged, bool cols) {
    std::int64_t const stride = cols == (m.ord == order::col_major) ? m.pitch_elems : 1;
    std::int64_t const elems = (each || g.slots() ? group * m.batch_stride_elems : 0) +
                               (ragged ? range.begin * stride : 0);
    m.batch_stride_elems = 0;
    using byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(base)>>,
                                    std::byte const, std::byte>;
    return base == nullptr ? base : static_cast<byte*>(base) + elems * size_bits(m.type) / 8;
  };
  bool const m = g.axis == group_axis::m, n = g.axis == group_axis::n, k = g.axis == group_axis::k;
  s.operands.a = at(o.a, s.problem.a, n, m || k, k);
  s.operands.b = at(o.b, s.problem.b, m, n || k, n);
  s.operands.d = at(o.d, s.problem.d, k, m || n, n);
  if (p.c) s.operands.c = at(o.c, *s.problem.c, k, m || n, n);
  s.operands.groups = s.operands.group_alpha = nullptr;
  if (g.alpha) s.problem.alpha *= static_cast<float const*>(o.group_alpha)[group];
  // Vectors along rows and columns, and scales.
  auto const moved = [](void const* base, std::int64_t elems, elem type) -> void const* {
    if (base == nullptr) return nullptr;
    return static_cast<std::byte const*>(base) + elems * size_bits(type) / 8;
  };
  std::int64_t const row = p.rows_of_each_group() ? group * p.m : m ? range.begin : 0;
  std::int64_t const col = p.cols_of_each_group() ? group * p.n : n ? range.begin : 0;
  for (operand_row const& r : operand_rows) {
    if (r.vector == nullptr) continue;
    vector_desc const& v = p.epilogue.*r.vector;
    if (v && !v.one)
      set_address(s.operands, r.is, moved(address(o, r.is), v == along::rows ? row : col, v.type));
  }
  for (role const x : a_and_b) {
    std::optional<scale_desc>& d = scale(s.problem, x);
    if (!d) continue;
    bool const ragged = x == role::a ? m : n;
    std::int64_t const first = (of_each_group(p, x) ? group * d->batch_stride : 0) +
                               (ragged && d->block_outer == 1 ? range.begin * d->stride_outer : 0) +
                               (k && d->block_k != 0 ? range.first_block * d->stride_k : 0);
    d->batch_stride = 0;
    set_address(s.operands, scales_of(x), moved(address(o, scales_of(x)), first, d->type));
  }
  return s;
}

}  // namespace tw
