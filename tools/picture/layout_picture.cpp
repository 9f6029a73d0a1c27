// SPDX-License-Identifier: Apache-2.0
// layout_picture.cpp  Cells of a layout, slice by slice.
#include "tools/picture/layout_picture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/io/refuse.hpp"
#include "tools/picture/blocks.hpp"
#include "tools/picture/write_svg.hpp"

namespace tw {
namespace {

constexpr i64 longest_row = 32;

/// The part of a shape that one leaf of the slice's coordinate stands for.
struct free_mode {
  tree shape;
  i64 extent = 1;
  i64 step = 1;  // of the index of the whole layout
  i64 fixed = -1;
};

std::vector<free_mode> modes_of(tree const& shape, tree const& c) {
  matching const m = match(c, shape);
  if (!m.ok) {
    refuse("TW0171", "slice", to_string(c), "a coordinate of " + to_string(shape),
           "numbers fix a mode, _ keeps it, for example (_,_,2)");
  }
  std::vector<free_mode> modes;
  i64 step = 1;
  for (int j = 0; j < c.n; ++j) {
    free_mode part;
    part.step = step;
    for (int k = m.at[j]; k < m.at[j + 1]; ++k) detail::append(part.shape, tree(shape.leaf[k]));
    part.extent = size(part.shape);
    step = times(step, part.extent);
    if (!is_any(c.leaf[j])) {
      part.fixed = c.leaf[j].v;
      if (part.fixed < 0 || part.fixed >= part.extent || c.leaf[j].unit != unit_none) {
        refuse("TW0171", "coordinate of the slice", to_string(tree(c.leaf[j])),
               fmt::format("0 to {}, or _", part.extent - 1));
      }
    }
    modes.push_back(part);
  }
  return modes;
}

/// As many _ as the layout has modes.
tree all_free(layout const& l) {
  if (l.shape.is_leaf()) return tree(any);
  tree c;
  for (int i = 0; i < rank(l); ++i) detail::append(c, tree(any));
  detail::wrap(c);
  return c;
}

/// Text, colour and owner of cells of one answer.
class cell_maker {
 public:
  explicit cell_maker(answer const& a) : a_(a), l_(*a.function), coordinates_(a.is_coordinate()) {}

  cell at(i64 index, std::string const& where) const {
    cell k;
    k.text = a_.offset_text(index);
    k.hint = where + " → " + k.text;
    if (coordinates_) {
      k.colour = static_cast<int>(index & 7);
    } else {
      i64 const offset = a_.base + l_(index);
      k.colour = static_cast<int>((offset >> l_.sw.base) & 7);
      k.owners.push_back({offset, index});
    }
    return k;
  }
  std::vector<legend_entry> legend() const {
    if (coordinates_) return {};
    return class_legend(l_.sw.base == 0 ? std::string("offset mod 8")
                                        : fmt::format("offset / {} mod 8", i64{1} << l_.sw.base));
  }

 private:
  answer const& a_;
  layout l_;
  bool coordinates_;
};

void need_modes(answer const& a) {
  if (!a.function || a.function->shape.n == 0) {
    refuse("TW0170", "what is to be drawn", a.res.empty() ? "nothing" : a.res,
           "a layout with at least one mode",
           "shapes, numbers and predicates have no cells; --print text shows them");
  }
}

/// A row of cells, broken into rows of one length if it is long.
panel one_row(cell_maker const& make, free_mode const& m, i64 start, std::string title) {
  i64 columns = m.extent;
  if (columns > 2 * longest_row) {
    columns = longest_row;
    for (i64 const b : blocks_of(m.shape)) {
      if (b <= 2 * longest_row && m.extent % b == 0) columns = b;
    }
    if (columns < 8 || m.extent % columns != 0) columns = longest_row;
  }
  i64 const rows = (m.extent + columns - 1) / columns;
  panel p = make_panel(std::move(title), rows, columns);
  for (i64 i = 0; i < m.extent; ++i) {
    p.cells[static_cast<std::size_t>(i)] = make.at(start + i * m.step, fmt::format("{}", i));
  }
  if (rows == 1) {
    p.column_blocks = blocks_of(m.shape);
    return p;
  }
  for (i64 r = 0; r < rows; ++r) p.row_labels.push_back(std::to_string(r * columns));
  for (i64 const b : blocks_of(m.shape)) {
    if (b < columns) p.column_blocks.push_back(b);
    if (b > columns && b % columns == 0) p.row_blocks.push_back(b / columns);
  }
  return p;
}

panel two_modes(cell_maker const& make, free_mode const& down, free_mode const& across, i64 start,
                std::string const& further, std::string title) {
  panel p = make_panel(std::move(title), down.extent, across.extent);
  for (i64 r = 0; r < p.rows; ++r) {
    for (i64 c = 0; c < p.columns; ++c) {
      p.at(r, c) =
          make.at(start + r * down.step + c * across.step, fmt::format("({},{}{})", r, c, further));
    }
  }
  p.row_blocks = blocks_of(down.shape);
  p.column_blocks = blocks_of(across.shape);
  return p;
}

}  // namespace

picture layout_picture(answer const& a, std::optional<tree> const& slice) {
  need_modes(a);
  tree const c = slice.value_or(all_free(*a.function));
  std::vector<free_mode> free;
  i64 start = 0;
  i64 cells = 1;
  for (free_mode const& m : modes_of(a.function->shape, c)) {
    if (m.fixed >= 0) {
      start += m.fixed * m.step;
    } else {
      free.push_back(m);
      cells = times(cells, m.extent);
    }
  }
  check_cells(cells);
  cell_maker const make(a);
  picture p;
  p.title = a.res;
  p.owner_name = "offset";
  p.legend = make.legend();
  if (slice) p.captions.push_back("slice " + to_string(c));
  if (free.empty()) free.push_back({});
  if (free.size() == 1) {
    p.panels.push_back(one_row(make, free[0], start, ""));
    return p;
  }
  i64 const panels = cells / (free[0].extent * free[1].extent);
  i64 const room = std::clamp<i64>(64 / free[1].extent, 1, 8);
  i64 const third = free.size() > 2 ? free[2].extent : 1;
  i64 const per_row = third <= room ? third : room;  // a row of panels is mode 2 if it fits
  for (i64 i = 0; i < panels; ++i) {
    i64 rest = i;
    i64 at = start;
    std::string further;
    for (std::size_t k = 2; k < free.size(); ++k) {
      at += rest % free[k].extent * free[k].step;
      further += fmt::format(",{}", rest % free[k].extent);
      rest /= free[k].extent;
    }
    p.panels.push_back(two_modes(make, free[0], free[1], at, further,
                                 further.empty() ? "" : fmt::format("(_,_{})", further)));
    p.panels.back().place_row = static_cast<int>(i / per_row);
    p.panels.back().place_column = static_cast<int>(i % per_row);
  }
  return p;
}

panel flat_panel(answer const& a, std::string title) {
  need_modes(a);
  layout const& l = *a.function;
  free_mode down{mode(l, 0).shape, size(mode(l, 0)), 1};
  if (rank(l) < 2) return one_row(cell_maker(a), down, 0, std::move(title));
  free_mode across{{}, size(l) / down.extent, down.extent};
  for (int i = 1; i < rank(l); ++i) detail::append(across.shape, mode(l, i).shape);
  return two_modes(cell_maker(a), down, across, 0, "", std::move(title));
}

picture swizzle_picture(layout const& l) {
  if (!l.swizzled()) {
    refuse("TW0174", "swizzle of the layout", to_string(l) + ", which has none",
           "a swizzled layout", "for example Sw<3,4,3> o 0 o (8,64):(64,1)");
  }
  picture p;
  p.owner_name = "offset";
  layout before = linear_part(l);
  before.offset = l.offset;
  answer const first{.res = to_string(before), .function = before, .origin = {}};
  answer const second{.res = to_string(l), .function = l, .origin = {}};
  p.title = second.res;
  p.panels.push_back(flat_panel(first, "before: offsets without the swizzle"));
  p.panels.push_back(flat_panel(second, "after: " + to_string(l.sw)));
  bool const wide = p.panels[0].columns > 16;
  (wide ? p.panels[1].place_row : p.panels[1].place_column) = 1;
  p.legend = cell_maker(second).legend();
  for (cell& k : p.panels[0].cells) {  // the same classes on both sides
    k.colour = static_cast<int>((k.owners[0].thread >> l.sw.base) & 7);
  }
  std::string bits;
  int const last = l.sw.base + l.sw.bits + static_cast<int>(magnitude(l.sw.shift));
  for (int b = last; b-- > 0;) {
    bool const y = ((l.sw.y_mask() >> b) & 1) != 0;
    bool const z = ((l.sw.z_mask() >> b) & 1) != 0;
    bits += z && y ? 'X' : y ? 'Y' : z ? 'Z' : b < l.sw.base ? 'b' : '.';
  }
  p.captions.push_back(fmt::format(
      "bits {} to 0 of the offset: {}   Z becomes Z xor Y, the rest stays", last - 1, bits));
  return p;
}

std::string svg_of(layout const& l) {
  return write_svg(layout_picture({.res = to_string(l), .function = l, .origin = {}}));
}

}  // namespace tw
