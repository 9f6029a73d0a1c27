// SPDX-License-Identifier: Apache-2.0
// without_indices.cpp  Lines are copied whole, scales with their stride.
#include "tilewright/problem/without_indices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tilewright/problem/group_slices.hpp"
#include "tilewright/problem/operand.hpp"

namespace tw {

namespace {

/// Line i of the copy is line `from(i)` of `data`; zeros if that is negative. Lines begin
/// `pitch_bytes` apart, and the first `used_bytes` of each are copied: the last line may end there.
template <class From>
std::vector<std::byte> copied(void const* data, std::int64_t lines, std::int64_t pitch_bytes,
                              std::int64_t used_bytes, From const& from) {
  std::vector<std::byte> all(static_cast<std::size_t>(lines * pitch_bytes));
  for (std::int64_t i = 0; i < lines; ++i)
    if (std::int64_t const line = from(i); line >= 0)
      std::memcpy(all.data() + i * pitch_bytes,
                  static_cast<std::byte const*>(data) + line * pitch_bytes,
                  static_cast<std::size_t>(used_bytes));
  return all;
}

std::int64_t number_at(void const* array, std::int64_t i) {
  return static_cast<std::int32_t const*>(array)[i];
}

/// The row of A that a number of `gather` names; -1: none.
std::int64_t gathered_row(group_desc const& g, std::int64_t number) {
  return number < 0 || number / g.choices >= g.gather_from ? -1 : number / g.choices;
}

/// The row of D that a number of `scatter` names; -1: none.
std::int64_t scattered_row(group_desc const& g, std::int64_t number) {
  return number < 0 || number >= g.scatter_to ? -1 : number;
}

}  // namespace

std::optional<bad_index> first_bad_index(gemm_problem const& p, gemm_operands const& o) {
  group_desc const& g = *p.groups;
  std::vector<bool> taken(static_cast<std::size_t>(g.scatter_to), false);
  for (group_range const& r : ranges_of_groups(p, o.groups).of)
    for (std::int64_t i = r.begin; i < r.begin + r.size; ++i) {
      if (g.gather_from > 0) {
        std::int64_t const x = number_at(o.gather, i);
        if (gathered_row(g, x) < 0) return bad_index{false, i, x, false};
      }
      if (g.scatter_to > 0) {
        std::int64_t const x = number_at(o.scatter, i);
        if (scattered_row(g, x) < 0) return bad_index{true, i, x, false};
        if (taken[static_cast<std::size_t>(x)]) return bad_index{true, i, x, true};
        taken[static_cast<std::size_t>(x)] = true;
      }
    }
  return std::nullopt;
}

std::optional<rejection> refuse_indices(gemm_problem const& p, gemm_operands const& o) {
  auto const bad = first_bad_index(p, o);
  if (!bad) return std::nullopt;
  group_desc const& g = *p.groups;
  std::int64_t const rows = bad->of_scatter ? g.scatter_to : g.gather_from * g.choices;
  return rejection{
      "TW0496", fmt::format("number {} of {}", bad->index, bad->of_scatter ? "scatter" : "gather"),
      fmt::format("{}{}", bad->number, bad->twice ? ", a second time" : ""),
      bad->twice ? "another row of D for each" : fmt::format("0 to {}", rows - 1),
      "a launch skips the row and says so in group_status"};
}

without_indices::without_indices(gemm_problem const& p, gemm_operands const& o)
    : problem_(p),
      operands_(o) {
  group_desc const& g = *p.groups;
  bool const of_m = g.axis == group_axis::m;
  role const tokens = of_m ? role::a : role::b;
  std::int64_t const count = ragged_extent(p);
  problem_.groups->gather_from = problem_.groups->scatter_to = 0, problem_.groups->choices = 1;
  operands_.gather = operands_.scatter = nullptr;
  // Only indices of groups are numbers.
  std::vector<std::int64_t> gather(static_cast<std::size_t>(count), -1), scatter = gather;
  for (group_range const& r : ranges_of_groups(p, o.groups).of)
    for (std::int64_t i = r.begin; i < r.begin + r.size; ++i) {
      auto const at = static_cast<std::size_t>(i);
      if (g.gather_from > 0) gather[at] = gathered_row(g, number_at(o.gather, i));
      if (g.scatter_to > 0) scatter[at] = scattered_row(g, number_at(o.scatter, i));
    }
  auto const gathered = [&](std::int64_t i) { return gather[static_cast<std::size_t>(i)]; };
  auto const scattered = [&](std::int64_t i) { return scatter[static_cast<std::size_t>(i)]; };
  constexpr std::int64_t f32_bytes = size_bytes(elem::f32);
  if (g.gather_from > 0) {
    matrix_desc const& rows = *matrix_of(p, tokens);
    rows_ = copied(address(o, tokens), count, rows.pitch_bytes(), p.k * size_bits(rows.type) / 8,
                   gathered);
    set_address(operands_, tokens, rows_.data());
    if (vector_desc const& v = epilogue_scale(p.epilogue, tokens); v && !v.one) {
      role const r = epilogue_scale_of(tokens);
      vector_ = copied(address(o, r), count, f32_bytes, f32_bytes, gathered);
      set_address(operands_, r, vector_.data());
    }
    if (auto const& s = scale(p, tokens); s && s->block_outer == 1) {
      // Copied with a row's scales side by side.
      std::int64_t const block = s->block_k == 0 ? p.k : s->block_k;
      std::int64_t const blocks = (p.k + block - 1) / block, bytes_each = size_bytes(s->type);
      scales_.resize(static_cast<std::size_t>(count * blocks * bytes_each));
      for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t b = 0; b < blocks && gathered(i) >= 0; ++b)
          std::memcpy(scales_.data() + (i * blocks + b) * bytes_each,
                      static_cast<std::byte const*>(address(o, scales_of(tokens))) +
                          scale_offset(*s, gathered(i), b * block) * bytes_each,
                      static_cast<std::size_t>(bytes_each));
      scale(problem_, tokens)->packed_k = 1;
      scale(problem_, tokens)->stride_outer = blocks;
      scale(problem_, tokens)->stride_k = 1;
      set_address(operands_, scales_of(tokens), scales_.data());
    }
  }
  if (g.scatter_to > 0) {
    std::int64_t const length = of_m ? result_cols(p.epilogue, p.n) : p.m;
    results_ = copied(o.d, count, p.d.pitch_bytes(), length * size_bits(p.d.type) / 8,
                      [&](std::int64_t i) { return std::max<std::int64_t>(scattered(i), 0); });
    operands_.d = results_.data();
    if (p.c && o.c != nullptr) {
      // C of any order, with lines of D side by side.
      bool const lines = of_m == (p.c->ord == order::row_major);
      std::int64_t const bytes_each = size_bytes(p.c->type);
      std::int64_t const along = (lines ? 1 : p.c->pitch_elems) * bytes_each,
                         across = (lines ? p.c->pitch_elems : 1) * bytes_each;
      addends_.resize(static_cast<std::size_t>(count * length * bytes_each));
      for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t j = 0; j < length && scattered(i) >= 0; ++j)
          std::memcpy(addends_.data() + (i * length + j) * bytes_each,
                      static_cast<std::byte const*>(o.c) + scattered(i) * across + j * along,
                      static_cast<std::size_t>(bytes_each));
      problem_.c->ord = of_m ? order::row_major : order::col_major;
      problem_.c->pitch_elems = length;
      operands_.c = addends_.data();
    }
    if (p.epilogue.row_weight) {
      weights_ = copied(o.row_weight, count, f32_bytes, f32_bytes, scattered);
      operands_.row_weight = weights_.data();
    }
  }
}

}  // namespace tw
