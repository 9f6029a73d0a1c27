// SPDX-License-Identifier: Apache-2.0
// accept_groups.cpp  Number and form of the groups, strides of slots, and the other operands.
#include "problem/accept_groups.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/problem/epilogue_kind.hpp"
#include "tilewright/problem/group_slices.hpp"
#include "tilewright/problem/scale_place.hpp"

namespace tw {

namespace {

refusal check_form(group_desc const& g) {
  auto const value = [](auto e) { return static_cast<int>(e); };
  if (g.axis == group_axis::none || value(g.axis) > value(group_axis::k))
    return rejection{"TW0416", "axis of the groups", fmt::format("the value {}", value(g.axis)),
                     "group_axis::m, n or k", ""};
  if (value(g.form) > value(group_form::rows))
    return rejection{"TW0416", "form of the groups", fmt::format("the value {}", value(g.form)),
                     fmt::format("an enumerator, 0 to {}", value(group_form::rows)), ""};
  if (g.count < 1 || g.count > max_groups)
    return rejection{"TW0492", "number of groups", fmt::format("{}", g.count),
                     fmt::format("1 to {}, the table in shared memory", max_groups),
                     g.count > max_groups ? "compute them in several calls" : ""};
  if (g.index_bits != 32 && g.index_bits != 64)
    return rejection{"TW0492", "bits of a number of the groups", fmt::format("{}", g.index_bits),
                     "32 or 64, signed", ""};
  if ((g.slots() || g.form == group_form::rows) && g.axis == group_axis::k)
    return rejection{"TW0492", "form of groups of K", group_form_names[value(g.form)],
                     "ends, starts or sizes", "slots and rows are of rows or columns of D"};
  if (g.scale_blocks != 0 && g.axis != group_axis::k)
    return rejection{"TW0492", "blocks of scales", fmt::format("{}", g.scale_blocks),
                     "0: only scales of groups of K begin anew in each group", ""};
  if (g.expected_size < 0)
    return rejection{"TW0492", "expected size of a group", fmt::format("{}", g.expected_size),
                     "0 (not known) or more", ""};
  return std::nullopt;
}

/// Index arrays name lines of A (axis n: of B) and of D that are contiguous in memory.
refusal check_indices(gemm_problem const& p) {
  group_desc const& g = *p.groups;
  bool const gathers = g.gather_from != 0, scatters = g.scatter_to != 0;
  if (!gathers && !scatters && g.choices == 1) return std::nullopt;
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 1 - 512;
  for (std::int64_t const rows : {g.gather_from, g.scatter_to})
    if (rows < 0 || rows > most)
      return rejection{"TW0492", "rows that an index array names", fmt::format("{}", rows),
                       fmt::format("1 to {}, or 0 without the array", most), ""};
  if (g.choices < 1 || g.choices > most || (!gathers && g.choices != 1))
    return rejection{"TW0492", "choices of a token", fmt::format("{}", g.choices),
                     gathers ? fmt::format("1 to {}", most) : "1 without gather_from", ""};
  auto const refused = [](char const* what, char const* need) {
    return rejection{"TW0494", "gather or scatter", what, need, "docs/groups.md lists the kernels"};
  };
  bool const of_m = g.axis == group_axis::m;
  if (g.axis == group_axis::k) return refused("groups of K", "groups of rows or columns");
  if (g.slots()) return refused("slots", "groups that follow each other");
  if (gathers && (of_m ? p.a.ord == order::col_major : p.b.ord == order::row_major))
    return refused(of_m ? "a column-major A" : "a row-major B",
                   "lines that are contiguous along K");
  if (scatters && of_m == (p.d.ord == order::col_major))
    return refused(of_m ? "a column-major D" : "a row-major D", "contiguous lines of D");
  return std::nullopt;
}

/// Slots are matrices of a batch, whose distance is a whole number of rows or columns: D's map
/// reaches a slot's end by its rows (docs/decisions/0054).
refusal check_matrices_of_groups(gemm_problem const& p) {
  group_desc const& g = *p.groups;
  std::int64_t const batch = g.slots() ? g.count : 1;
  if (p.batch != batch)
    return rejection{
        "TW0493", "GEMMs in the batch", fmt::format("{}", p.batch),
        g.slots() ? fmt::format("{}, a matrix for each slot", batch) : "1: groups are not a batch",
        ""};
  if (p.has_pointers())
    return rejection{"TW0493", "operands of groups", "a batch by pointers", "batch strides",
                     "groups divide rows, columns or K of one allocation; matrices of one shape at "
                     "any addresses are a batch by pointers without groups"};
  if (!g.slots()) return std::nullopt;
  if ((g.axis == group_axis::m) == (p.d.ord == order::col_major))
    return rejection{"TW0493", "order of D in slots", "the used index is contiguous",
                     "row_major for slots of rows, col_major for slots of columns", ""};
  std::int64_t const pitch = p.d.pitch_elems, stride = p.d.batch_stride_elems;
  if (pitch <= 0) return std::nullopt;  // TW0402
  if (stride % pitch != 0)
    return rejection{"TW0493", "batch stride of D in slots", fmt::format("{} elements", stride),
                     fmt::format("a multiple of its leading dimension, {} elements", pitch), ""};
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 1 - 512;  // TMA coordinates are int32
  if (stride / pitch > most / g.count)
    return rejection{"TW0493", "rows of all slots",
                     fmt::format("{} of {}", g.count, stride / pitch),
                     fmt::format("at most {}", most), "compute them in several calls"};
  if (p.c && (p.c->ord != p.d.ord || p.c->batch_stride_elems != stride / pitch * p.c->pitch_elems))
    return rejection{
        "TW0493", "batch stride of C in slots",
        fmt::format("{} elements, leading dimension {}", p.c->batch_stride_elems, p.c->pitch_elems),
        fmt::format("the order of D, and {} leading dimensions from a slot to the next",
                    stride / pitch),
        ""};
  return std::nullopt;
}

/// A weight of each token: of the extent that groups divide.
refusal check_row_weight(gemm_problem const& p) {
  vector_desc const& v = p.epilogue.row_weight;
  if (!v) return std::nullopt;
  if (!p.groups)
    return rejection{"TW0494", "a row weight", "a GEMM without groups",
                     "groups of rows or columns: gemm_problem::groups",
                     "a row_scale multiplies before bias and activation"};
  along const ragged = p.groups->axis == group_axis::m ? along::rows : along::cols;
  if (p.groups->axis != group_axis::k && v.over != ragged)
    return rejection{"TW0412", "direction of the row weight",
                     v == along::rows ? "along::rows" : "along::cols",
                     ragged == along::rows ? "along::rows for groups of rows"
                                           : "along::cols for groups of columns",
                     ""};
  return std::nullopt;
}

/// Block scales along a K that groups divide begin anew in each group, and follow each other.
refusal check_scales_of_k(gemm_problem const& p) {
  group_desc const& g = *p.groups;
  std::int64_t const least = (p.k + scale_block_k - 1) / scale_block_k;
  bool const blocks = std::ranges::any_of(
      a_and_b, [&](role x) { return scale(p, x) && scale(p, x)->block_k != 0; });
  if ((blocks || g.scale_blocks != 0) &&
      (g.scale_blocks < least || scaled_k(p) > std::int64_t{1} << 30))
    return rejection{"TW0492", "blocks of scales of groups of K", fmt::format("{}", g.scale_blocks),
                     fmt::format("{} or more of {} elements, which the array of scales has", least,
                                 scale_block_k),
                     "gemm_problem::groups->scale_blocks; each group begins a block"};
  for (role const x : a_and_b) {
    auto const& s = scale(p, x);
    if (!s || s->block_k == 0) continue;
    if (s->batch_stride != 0 || s->packed_k != 1)
      return rejection{
          "TW0494", fmt::format("scales of {} in groups of K", row_of(x).text),
          fmt::format("a batch stride of {}, {} adjacent along K", s->batch_stride, s->packed_k),
          "0, and 1 adjacent: blocks of all groups follow each other",
          "docs/groups.md has their order"};
  }
  return std::nullopt;
}

refusal check_operations(gemm_problem const& p) {
  auto const refused = [](char const* what, char const* need) {
    return rejection{"TW0494", "a GEMM of groups", what, need, "docs/groups.md lists the kernels"};
  };
  if (p.k == 0 && p.groups->axis != group_axis::k)
    return refused("K = 0", "K of 1 or more, or groups of K");
  if (p.aux) return refused("an auxiliary output", "D alone");
  if (p.scale_d) return refused("scales of D", "D of 16 or 32 bits");
  bool const of_k = p.groups->axis == group_axis::k;
  if (of_k && is_fused(p.epilogue) && !has_scales_alone(p))
    return refused("a fused epilogue, groups of K", "alpha, beta C, row and column scales");
  if (of_k)
    if (auto r = check_scales_of_k(p)) return r;
  if (std::int64_t const extent = ragged_extent(p); extent % step_of_numbers(p) != 0) {
    char const* const axis = of_k ? "K" : p.groups->axis == group_axis::m ? "M" : "N";
    return rejection{
        "TW0495", fmt::format("{0} of a GEMM of groups of {0}", axis),
        fmt::format("{} elements of {}", extent, name(p.a.type)),
        fmt::format("a multiple of 16 bytes if {} is contiguous in memory", axis),
        of_k
            ? "pad A and B along K; elements after the last group are not read"
            : "pad the operand, or store it contiguous along K; lines after the last group are not "
              "read"};
  }
  if (of_k || p.groups->slots()) return std::nullopt;
  // Groups begin at any row: blocks of rows would begin anew in each.
  auto const& ragged = scale(p, p.groups->axis == group_axis::m ? role::a : role::b);
  if (ragged && (ragged->block_outer > 1 || ragged->tiled))
    return refused("block scales of the rows that groups divide",
                   "a scale for each row, or one for all");
  if (ragged && ragged->batch_stride != 0)
    return refused("other scales for each group of the operand that groups divide",
                   "scales of its rows");
  return std::nullopt;
}

}  // namespace

refusal check_groups(gemm_problem const& p) {
  if (auto r = check_row_weight(p); r && !p.groups) return r;
  if (!p.groups) return std::nullopt;
  if (auto r = check_form(*p.groups)) return r;
  if (auto r = check_indices(p)) return r;
  if (auto r = check_matrices_of_groups(p)) return r;
  if (auto r = check_row_weight(p)) return r;
  return check_operations(p);
}

}  // namespace tw
