// SPDX-License-Identifier: Apache-2.0
// atom_picture.cpp  Thread-value layouts of operands, put next to each other.
#include "tools/picture/atom_picture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/atom/call.hpp"
#include "tilewright/atom/copy_names.hpp"
#include "tilewright/atom/mma_names.hpp"
#include "tilewright/base/check.hpp"
#include "tools/picture/tmem_picture.hpp"
#include "tools/picture/tv_picture.hpp"

namespace tw {
namespace {

/// An operand: where its elements are, and which thread holds them.
struct atom_operand {
  layout tv;
  i64 rows, columns;
  bool held;  // by threads
  std::string where;
};

panel operand_panel(atom_operand const& o, std::string const& name, std::string const& row,
                    std::string const& column, bool transposed) {
  tile_view const view{fmt::format("{} ({} x {}){}", name, row, column, o.where), row, column,
                       transposed};
  layout const tile = make_layout_left(make_shape(o.rows, o.columns));
  if (o.held) return tile_panel(o.tv, tile, view);
  layout const nobody = make_layout(layout(1, i64{0}), layout(1, i64{0}));
  panel p = tile_panel(nobody, tile, view);
  for (cell& k : p.cells) {
    k.text.clear();
    k.owners.clear();
    k.colour = pale;
    k.hint = k.hint.substr(0, k.hint.find(':')) + o.where;
  }
  return p;
}

picture product(std::string title, atom_operand const& a, atom_operand const& b,
                atom_operand const& c) {
  picture p;
  p.title = std::move(title);
  p.owner_name = "thread";
  p.aligned = true;
  p.panels = {operand_panel(b, "B", "k", "n", true), operand_panel(a, "A", "m", "k", false),
              operand_panel(c, "C", "m", "n", false)};
  for (panel& q : p.panels) {
    q.row_blocks = {8, 16};  // core matrices of 8 rows, warps of 16
    q.column_blocks = {8};
  }
  p.panels[0].row_blocks = {8};
  p.panels[0].place_column = 1;
  p.panels[1].place_row = 1;
  p.panels[2].place_row = p.panels[2].place_column = 1;
  p.legend = class_legend("thread mod 8");
  return p;
}

/// Threads hold this operand; otherwise all of them see the whole of it.
bool is_held(mma_atom const& atom, mma_operand which) {
  if (is_tcgen05(atom) || which == mma_operand::c || !is_wgmma(atom)) return true;
  return which == mma_operand::a && atom.a_from == mma_source::registers;
}

std::string place_of(mma_atom const& atom, mma_operand which) {
  if (is_tcgen05(atom)) {
    bool const tensor =
        which == mma_operand::c || (which == mma_operand::a && atom.a_from == mma_source::tensor);
    return tensor ? ", tensor memory" : ", shared memory";
  }
  return is_held(atom, which) ? ", registers" : ", shared memory";
}

atom_operand operand_of(mma_atom const& atom, mma_operand which, layout const& tv, i64 rows,
                        i64 columns) {
  return {tv, rows, columns, is_held(atom, which), place_of(atom, which)};
}

/// Cells that CTAs own: "T" becomes "C", for CTA.
void owners_are_ctas(picture& p) {
  p.owner_name = "CTA";
  p.legend = class_legend("CTA");
  p.legend.resize(2);
  for (panel& q : p.panels) {
    for (cell& k : q.cells) {
      if (k.owners.empty()) continue;
      k.text = fmt::format("CTA{}", k.owners[0].thread);
      k.hint = k.hint.substr(0, k.hint.find(':')) +
               fmt::format(": CTA {}, value {}", k.owners[0].thread, k.owners[0].value);
    }
  }
}

/// The most consecutive bits of one thread on either side.
i64 row_length(copy_atom const& a) {
  i64 most = 1;
  for (layout const& side : {a.src, a.dst}) {
    layout const values = coalesce(mode(side, 1));
    if (values.stride[0] == num{1}) most = std::max(most, i64{values.extent(0)});
  }
  return most;
}

bool names_tiled_copy(std::string_view text) {
  return text.starts_with("tiled_copy") || text.starts_with("cotiled_copy");
}

copy_atom in_cells(std::string_view name) {
  copy_atom const bits = one_copy(name);
  bool const tensor = canonical_copy_name(name).find("tcgen05") != std::string::npos;
  for (int const width : {tensor ? 32 : 16, 8, 4, 2}) {
    try {
      return in_values(bits, width);
    } catch (rejected const&) {
      continue;  // a thread moves less than this in one piece
    }
  }
  return bits;
}

}  // namespace

picture mma_picture(mma_atom const& atom) {
  picture p =
      product(to_string(atom), operand_of(atom, mma_operand::a, layout_a(atom), atom.m, atom.k),
              operand_of(atom, mma_operand::b, layout_b(atom), atom.n, atom.k),
              operand_of(atom, mma_operand::c, layout_c(atom), atom.m, atom.n));
  if (is_tcgen05(atom)) owners_are_ctas(p);
  return p;
}

picture mma_picture(tiled_mma const& mma) {
  tree const mnk = tile_mnk(mma);
  i64 const m = mnk.leaf[0].v, n = mnk.leaf[1].v, k = mnk.leaf[2].v;
  mma_atom const& atom = mma.atom;
  picture p = product(to_string(mma), operand_of(atom, mma_operand::a, tv_a(mma), m, k),
                      operand_of(atom, mma_operand::b, tv_b(mma), n, k),
                      operand_of(atom, mma_operand::c, tv_c(mma), m, n));
  if (is_tcgen05(atom)) owners_are_ctas(p);
  return p;
}

picture copy_picture(std::string_view name) {
  copy_atom const a = in_cells(name);
  picture p;
  p.title = canonical_copy_name(name);
  p.owner_name = "thread";
  p.legend = class_legend("thread mod 8");
  p.captions.push_back(
      fmt::format("cells of {} bits: what a thread of the source names is what the "
                  "same cell's thread receives",
                  a.element_bits));
  i64 const row = row_length(a);
  i64 const cells = std::max(cosize(a.src), cosize(a.dst));
  layout const tile = make_layout_left(make_shape(row, (cells + row - 1) / row));
  for (auto const& [side, title] : {std::pair{a.src, "source"}, {a.dst, "destination"}}) {
    p.panels.push_back(tile_panel(side, tile, {title, "piece", "element", true}));
    p.panels.back().row_blocks = {8};
  }
  bool const wide = p.panels[0].columns > 16;
  (wide ? p.panels[1].place_row : p.panels[1].place_column) = 1;
  return p;
}

picture copy_picture(tiled_copy const& c) {
  picture p;
  p.title = fmt::format("a tiled copy of {}", to_string(c.tv));
  p.owner_name = "thread";
  p.legend = class_legend("thread mod 8");
  tree extents;
  for (int i = 0; i < rank(c.tile); ++i)
    detail::append(extents, tree(size(mode(c.tile.cells.shape, i))));
  detail::wrap(extents);
  layout const tile = make_layout_left(extents);
  p.captions.push_back(fmt::format("{} threads move {} values of {} bits each: a tile of {}",
                                   c.threads(), c.values(), c.atom.element_bits,
                                   to_string(extents)));
  layout const source = layout_s(c), target = layout_d(c);
  bool const same = c.atom.src == c.atom.dst;
  p.panels.push_back(
      tile_panel(source, tile, {same ? "source and destination" : "source", "m", "n"}));
  if (same) return p;
  p.panels.push_back(tile_panel(target, tile, {"destination", "m", "n"}));
  (p.panels[0].columns > 16 ? p.panels[1].place_row : p.panels[1].place_column) = 1;
  return p;
}

bool names_atom(std::string_view text) {
  return text.starts_with("mma.") || text.starts_with("copy.") || text.starts_with("SM") ||
         text.starts_with("tiled_mma(") || names_tiled_copy(text) || names_tmem(text);
}

picture atom_picture(std::string_view text) {
  if (names_tmem(text)) return in_quarters(tmem_picture(parse_tmem(text)));
  if (text.starts_with("tiled_mma(")) return mma_picture(parse_tiled_mma(text));
  if (names_tiled_copy(text)) return copy_picture(parse_tiled_copy(text));
  mma_atom spelled;
  if (text.starts_with("SM") && !detail::read_field_spelling(text, spelled)) {
    return copy_picture(text);
  }
  return text.starts_with("copy.") ? copy_picture(text) : mma_picture(one_mma(text));
}

}  // namespace tw
