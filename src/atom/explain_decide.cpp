// SPDX-License-Identifier: Apache-2.0
// explain_decide.cpp  The map of a copy, and its composition with the tile in shared memory.
#include <fmt/format.h>

#include "atom/explain_parts.hpp"
#include "tilewright/atom/call.hpp"
#include "tilewright/atom/copy_find.hpp"
#include "tilewright/atom/tiled_mma.hpp"

namespace tw {
namespace detail {
namespace {

constexpr i64 most_registers = 255, most_smem_bytes = 232448;  // CUDA C++ Programming Guide, 9.0

/// The sums of c's warpgroups: wgmma with float32 sums, their fragments are those of every type.
tiled_mma product_of(combination const& c) {
  mma_type const ab = c.mma_k == 8    ? mma_type::tf32
                      : c.mma_k == 16 ? mma_type::f16
                                      : mma_type::e4m3;
  mma_atom const atom{.arch = mma_arch::sm90,
                      .m = 64,
                      .n = c.mma_n,
                      .k = c.mma_k,
                      .d = mma_type::f32,
                      .a = ab,
                      .b = ab,
                      .a_from = mma_source::shared};
  layout const groups = make_layout_left(make_shape(c.groups_m, c.groups_n, 1));
  if (!c.by_turns) return make_tiled_mma(atom, groups);
  // Columns in the order of the warpgroups' fragments: 8, then every groups_n-th 8, then the next.
  i64 const g = c.groups_n;
  layout const turns = make_layout(layout(8, 1), layout(c.mma_n / 8, 8 * g), layout(g, 8));
  return make_tiled_mma(atom, groups, tile(any, turns, any));
}

copy_atom atom_of(combination const& c) {
  std::string const text =
      c.copy.kind == copy_kind::stmatrix
          ? fmt::format("copy.sm90.stmatrix.x{}{}", c.copy.count, c.copy.transposed ? ".t" : "")
          : fmt::format("copy.universal.{}", c.copy.bits);
  return in_values(copy_atom_named(text.c_str(), static_cast<int>(text.size())), size_bits(c.type));
}

void check_numbers(combination const& c) {
  i64 const step_m = i64{64} * c.groups_m, step_n = i64{c.mma_n} * c.groups_n;
  if (c.rows % step_m != 0 || c.columns % step_n != 0) {
    bool const rows = c.rows % step_m != 0;
    int const groups = rows ? c.groups_m : c.groups_n;
    refuse("TW0254", rows ? "rows of the tile" : "columns of the tile",
           fmt::format("{}", rows ? c.rows : c.columns),
           fmt::format("a multiple of {}, what {} warpgroup{} along {} write{} at a time",
                       rows ? step_m : step_n, groups, groups == 1 ? "" : "s", rows ? 'M' : 'N',
                       groups == 1 ? "s" : ""));
  }
  i64 const sums = c.rows * c.columns / (i64{128} * c.groups_m * c.groups_n);
  if (sums > most_registers) {
    refuse("TW0255", "sums of a thread", fmt::format("{} registers", sums),
           fmt::format("at most the {} that a thread can have", most_registers));
  }
  i64 const bytes = c.rows * c.columns * size_bytes(c.type);
  if (bytes > most_smem_bytes) {
    refuse("TW0256", "tile in shared memory", fmt::format("{} bytes", bytes),
           fmt::format("at most {}", most_smem_bytes));
  }
}

/// (inside a step, which step) of a mode.
layout in_steps(i64 whole, i64 step) {
  return make_layout(layout(step, 1), layout(whole / step, whole == step ? 0 : step));
}

/// Every address is a multiple of what it takes, and what it takes is contiguous.
void check_address(layout const& tile, layout const& values, i64 n) {
  if (n == 1) return;
  layout const run = coalesce(linear_part(values));
  bool const contiguous = run.shape.n == 1 && run.extent(0) == n && run.stride[0] == num{1};
  i64 const together = contiguous ? max_alignment(tile) : 1;
  if (together % n != 0) {
    refuse("TW0257", "elements that lie together, aligned", fmt::format("{}", together),
           fmt::format("{}, which one address of the copy takes", n));
  }
}

}  // namespace

copy_map map_of(combination const& c) {
  tiled_mma const product = product_of(c);
  copy_map m;
  m.rows = i64{64} * c.groups_m;
  m.columns = i64{c.mma_n} * c.groups_n;
  copy_atom const atom = atom_of(c);
  tiled_copy const copy = make_tiled_copy_of(atom, tv_c(product), tile(m.rows, m.columns));
  m.cells = layout_d(copy);
  m.address_elements = size(mode(mode(m.cells, 1), 0));
  return m;
}

layout tile_in_memory(combination const& c) {
  tree const shape = make_tree(c.rows, c.columns);
  if (c.smem) return smem_tile(c.contiguous, *c.smem, size_bits(c.type), shape);
  layout const l = parse_layout(c.smem_text.data(), static_cast<int>(c.smem_text.size()));
  if (size(mode(l, 0)) == c.rows && size(mode(l, 1)) == c.columns) return l;
  return tile_to_shape(l, shape,
                       c.contiguous == operand_major::k ? make_tree(0, 1) : make_tree(1, 0));
}

bool only_partition_missing(decision const& d) {
  return !d.works && d.why->code >= "TW0104" && d.why->code <= "TW0108";
}

}  // namespace detail

decision decide(combination const& c) {
  decision d;
  try {
    detail::check_numbers(c);
    d.tile = detail::tile_in_memory(c);
    detail::copy_map const m = detail::map_of(c);
    // A divide, but without its rounding up: a step must be whole.
    tiler const steps =
        tile(detail::in_steps(c.rows, m.rows), detail::in_steps(c.columns, m.columns));
    d.operation = fmt::format("composition({}, {})", to_string(d.tile), to_string(steps));
    layout const divided = composition(d.tile, steps);
    layout const rows = linear_part(mode(divided, 0)), columns = linear_part(mode(divided, 1));
    layout const step = swizzled_as(make_layout(mode(rows, 0), mode(columns, 0)), d.tile);
    d.operation = fmt::format("composition({}, {})", to_string(step), to_string(m.cells));
    layout const part = composition(step, m.cells);
    detail::check_address(d.tile, mode(mode(part, 1), 0), m.address_elements);
    d.partition = swizzled_as(make_layout(linear_part(mode(part, 0)), linear_part(mode(part, 1)),
                                          make_layout(mode(rows, 1), mode(columns, 1))),
                              d.tile);
    d.works = true;
    d.cost = detail::cost_of(c, d.tile, m);
    d.cost.measured = detail::measured_registers(c, detail::addressing::stepped);
  } catch (rejected const& r) {
    d.why = r.why();
  }
  return d;
}

}  // namespace tw
