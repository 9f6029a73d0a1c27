// SPDX-License-Identifier: Apache-2.0
// steps_picture.cpp  Calls the algebra for each intermediate and colours cells by part.
#include "tools/picture/steps_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "tilewright/atom/call.hpp"
#include "tools/io/refuse.hpp"
#include "tools/picture/expression_parts.hpp"
#include "tools/picture/layout_picture.hpp"

namespace tw {
namespace {

answer answer_with(layout const& l) { return {.res = to_string(l), .function = l, .origin = {}}; }
layout layout_of_text(std::string const& text) {
  return parse_layout(text.data(), static_cast<int>(text.size()));
}
tiler tiler_of(std::string const& text) {
  return parse_tiler(text.data(), static_cast<int>(text.size()));
}

void drop_owners(panel& p) {
  for (cell& k : p.cells) k.owners.clear();
}

/// Panels below each other, where a step is wide, else side by side in rows.
class step_list {
 public:
  step_list(std::string title, std::string owner) {
    p_.title = std::move(title);
    p_.owner_name = std::move(owner);
  }

  /// Good until the next one is added.
  panel& add(std::string const& what, layout const& l, std::string caption = {}) {
    panel q = flat_panel(answer_with(l), fmt::format("{}. {}", p_.panels.size() + 1, what));
    q.caption = caption.empty() ? to_string(l) : std::move(caption);
    drop_owners(q);  // parts are owners, where a panel has them
    p_.panels.push_back(std::move(q));
    return p_.panels.back();
  }
  void say(std::string text) { p_.captions.push_back(std::move(text)); }

  /// The next panel begins a row.
  void next_row() { begins_.push_back(p_.panels.size()); }

  picture done() {
    int row = -1, column = 0;
    for (std::size_t i = 0; i < p_.panels.size(); ++i) {
      panel& q = p_.panels[i];
      bool const wide = q.columns > 20 || (i > 0 && p_.panels[i - 1].columns > 20);
      if (i == 0 || wide || std::ranges::find(begins_, i) != begins_.end()) {
        ++row;
        column = 0;
      }
      q.place_row = row;
      q.place_column = column++;
    }
    check_cells(cell_count(p_));
    return std::move(p_);
  }

 private:
  picture p_;
  std::vector<std::size_t> begins_;
};

/// Which part (tile, copy) each offset or index belongs to, and its place there.
using parts_by_place = std::unordered_map<i64, cell_owner>;

/// Colours and owners of cells by their place; places of no part are pale.
void colour_by(panel& p, parts_by_place const& parts, std::string const& name,
               std::function<i64(std::size_t)> const& place) {
  for (std::size_t i = 0; i < p.cells.size(); ++i) {
    cell& k = p.cells[i];
    if (k.colour == blank) continue;
    k.owners.clear();
    k.colour = pale;
    auto const at = parts.find(place(i));
    if (at == parts.end()) continue;
    k.owners.push_back(at->second);
    k.colour = static_cast<int>(at->second.thread % colours);
    k.hint += fmt::format(" ({} {}, cell {})", name, at->second.thread, at->second.value);
  }
}

/// Column-major index of a panel's cell.
i64 index_of(panel const& p, std::size_t cell) {
  i64 const i = static_cast<i64>(cell);
  if (p.rows > 1 && p.row_labels.empty()) return i / p.columns + i % p.columns * p.rows;
  return i;  // one row, broken if it is long
}

/// parts[P((a, b))] = copy b, cell a, for a pair of layouts (inside, which).
parts_by_place parts_of_pair(layout const& pair) {
  check_cells(size(pair));
  i64 const inside = size(mode(pair, 0));
  parts_by_place parts;
  for (i64 i = 0; i < size(pair); ++i)
    parts.try_emplace(pair(i), cell_owner{i / inside, i % inside});
  return parts;
}

/// "tile_of" of every leaf tiler: complement, concatenation, composition.
/// `whole_tiles`: t cuts all of L, so that its tiles are the tiles of the picture.
void divide_leaves(step_list& steps, layout const& l, tiler const& t, std::string const& name,
                   bool whole_tiles = true) {
  if (t.keeps()) {
    steps.say(name + " is left as it is: " + to_string(l));
    return;
  }
  if (t.by_mode()) {
    for (int i = 0; i < rank(t); ++i) {
      divide_leaves(steps, mode(linear_part(l), i), mode(t, i), fmt::format("{}, mode {}", name, i),
                    false);
    }
    return;
  }
  layout const tile = as_layout(t);
  layout const whole =
      detail::round_up_extent(linear_part(l), number(detail::find_gaps(tile).block));
  layout const rest = complement(tile, size(whole));
  layout const both = make_layout(tile, rest);
  layout const composed = logical_divide(l, t);
  steps.say(fmt::format("{} = {}: tile T = {}, complement(T, {}) = {}", name, to_string(l),
                        to_string(tile), size(whole), to_string(rest)));
  steps.next_row();
  panel& p = steps.add(name + ": (T, complement)", both);
  colour_by(p, parts_of_pair(both), "tile", [&](std::size_t i) { return both(index_of(p, i)); });
  if (!whole_tiles) drop_owners(p);
  panel& q = steps.add(name + " o (T, complement)", composed);
  parts_by_place by_index;
  i64 const inside = size(mode(composed, 0));
  for (i64 i = 0; i < size(composed); ++i) {
    by_index.try_emplace(i, cell_owner{i / inside, i % inside});
  }
  colour_by(q, by_index, "tile", [&](std::size_t i) { return index_of(q, i); });
  if (!whole_tiles) drop_owners(q);
}

picture divide_steps(std::string_view expression, std::string const& op, layout const& l,
                     tiler const& t, layout const& result) {
  step_list steps(std::string(expression), "tile");
  layout indices = make_layout_left(l.shape);
  parts_by_place const tiles = parts_of_pair(zipped_divide(indices, t));
  panel& whole = steps.add("L, coloured by tile", l);
  colour_by(whole, tiles, "tile", [&](std::size_t i) { return index_of(whole, i); });
  divide_leaves(steps, l, t, "L");
  layout const divided = call(op, {to_string(indices), to_string(t)}).function.value();
  if (t.by_mode() || op != "logical_divide") {
    steps.next_row();
    if (t.by_mode() && op != "logical_divide") {
      layout const logical = logical_divide(l, t);
      layout const walked = logical_divide(indices, t);
      panel& p = steps.add("logical_divide: (tile, rest) by mode", logical);
      colour_by(p, tiles, "tile", [&](std::size_t i) { return walked(index_of(p, i)); });
    }
    panel& last = steps.add(op, result);
    colour_by(last, tiles, "tile", [&](std::size_t i) { return divided(index_of(last, i)); });
  }
  return steps.done();
}

using colour_panel = std::function<void(panel&, layout const&)>;

void product_leaves(step_list& steps, layout const& a, tiler const& t, std::string const& name,
                    colour_panel const& by_offset) {
  if (t.keeps()) return;
  if (t.by_mode()) {
    for (int i = 0; i < rank(t); ++i) {
      product_leaves(steps, mode(linear_part(a), i), mode(t, i),
                     fmt::format("{}, mode {}", name, i), [](panel&, layout const&) {});
    }
    return;
  }
  layout const block = linear_part(a);
  layout const b = as_layout(t);
  layout const free = complement(block, size(block) * cosize(b));
  layout const places = mode(logical_product(block, t), 1);
  steps.say(fmt::format("{} = {}: free places = complement({}, {}) = {}", name, to_string(a),
                        to_string(block), size(block) * cosize(b), to_string(free)));
  steps.next_row();
  by_offset(steps.add(name + ": where copies may start", free), free);
  by_offset(steps.add(fmt::format("{}: where the copies {} start", name, to_string(b)), places),
            places);
}

picture product_steps(std::string_view expression, std::string const& op, layout const& a,
                      tiler const& t, layout const& result) {
  step_list steps(std::string(expression), "copy");
  bool const zips = op == "blocked_product" || op == "raked_product";
  layout block = a;
  tiler copies = t;
  if (zips) {
    int const r = std::max(rank(a), rank(as_layout(t)));
    block = detail::padded(a, r);
    copies = tiler(detail::padded(as_layout(t), r));
    if (r > rank(a) || r > rank(as_layout(t))) {
      steps.say(fmt::format("modes 1:0 fill up the ranks: {} and {}", to_string(block),
                            to_string(copies)));
    }
  }
  layout const logical = logical_product(block, copies);
  layout const pair = linear_part(copies.by_mode() ? zipped_product(block, copies) : logical);
  parts_by_place const places = parts_of_pair(pair);
  auto const by_offset = [&](panel& p, layout const& l) {
    layout const unswizzled = linear_part(l);
    colour_by(p, places, "copy", [&](std::size_t i) { return unswizzled(index_of(p, i)); });
  };
  panel& first = steps.add("the block A", block);
  by_offset(first, block);
  product_leaves(steps, block, copies, "A", by_offset);
  steps.next_row();
  panel& pairs = steps.add(copies.by_mode() ? "logical_product: (block, copies) by mode"
                                            : "logical_product: (A, copies)",
                           logical);
  by_offset(pairs, logical);
  if (op != "logical_product") {
    panel& last = steps.add(op, result);
    by_offset(last, result);
  }
  return steps.done();
}

/// A with the cells that a layout of indices visits, coloured by their number in it.
panel& visit(step_list& steps, std::string const& what, layout const& a, layout const& b,
             std::string caption) {
  parts_by_place order;
  for (i64 i = 0; i < size(b); ++i) order.try_emplace(b(i), cell_owner{i, 0});
  panel& p = steps.add(what, a, std::move(caption));
  for (std::size_t i = 0; i < p.cells.size(); ++i) {
    cell& k = p.cells[i];
    if (k.colour == blank) continue;
    auto const at = order.find(index_of(p, i));
    k.colour = at == order.end() ? pale : static_cast<int>(at->second.thread % colours);
    k.owners.clear();
    if (at == order.end()) continue;
    k.hint += fmt::format(", visited as number {}", at->second.thread);
    k.owners.push_back(at->second);
  }
  return p;
}

void compose_leaves(step_list& steps, layout const& a, tiler const& t, std::string const& name) {
  if (t.keeps()) return;
  if (t.by_mode()) {
    for (int i = 0; i < rank(t); ++i) {
      compose_leaves(steps, mode(linear_part(a), i), mode(t, i),
                     fmt::format("{}, mode {}", name, i));
    }
    return;
  }
  layout const b = as_layout(t);
  for (int k = 0; k < b.shape.n && b.shape.n > 1; ++k) {
    layout const leaf(b.extent(k), b.stride[k]);
    layout const piece = composition(linear_part(a), leaf);
    panel& p = visit(
        steps, fmt::format("{}: cells of leaf {} of B", name, to_string(leaf)), linear_part(a),
        leaf,
        fmt::format("{} o {} = {}", to_string(linear_part(a)), to_string(leaf), to_string(piece)));
    drop_owners(p);  // they are numbers of the leaf, not of B
  }
  visit(steps, name + ": the cells that B visits", linear_part(a), linear_part(b),
        fmt::format("B = {}; numbers are A's offsets, colours the order", to_string(b)));
}

picture composition_steps(std::string_view expression, layout const& a, tiler const& t,
                          layout const& result) {
  step_list steps(std::string(expression), t.by_mode() ? "" : "number");
  compose_leaves(steps, a, t, "A");
  steps.next_row();
  panel& p = steps.add("A o B", result);
  for (std::size_t i = 0; i < p.cells.size() && !t.by_mode(); ++i) {
    if (p.cells[i].colour == blank) continue;
    i64 const number = index_of(p, i);
    p.cells[i].owners = {{number, 0}};
    p.cells[i].colour = static_cast<int>(number % colours);
  }
  return steps.done();
}

picture complement_steps(std::string_view expression, layout const& l, layout const& rest) {
  step_list steps(std::string(expression), "shift");
  layout const both = make_layout(l, rest);
  parts_by_place const shifts = parts_of_pair(both);
  i64 const reach = cosize(both);
  panel& first = steps.add("L", l);
  colour_by(first, shifts, "shift", [&](std::size_t i) { return l(index_of(first, i)); });
  panel& all = steps.add("offsets, coloured by the shift of L that reaches them", layout(reach, 1),
                         fmt::format("L shifted by {}", to_string(rest)));
  colour_by(all, shifts, "shift", [&](std::size_t i) { return index_of(all, i); });
  panel& pair = steps.add("(L, complement)", both);
  colour_by(pair, shifts, "shift", [&](std::size_t i) { return both(index_of(pair, i)); });
  return steps.done();
}

}  // namespace

picture steps_picture(std::string_view expression) {
  answer const result = evaluate(expression);
  expression_parts const parts = parts_of(expression);
  bool const two = parts.args.size() == 2 && result.function.has_value();
  if (parts.op.empty() && result.function && result.function->swizzled()) {
    return swizzle_picture(*result.function);
  }
  if (two && parts.op.ends_with("_divide")) {
    return divide_steps(expression, parts.op, layout_of_text(parts.args[0]),
                        tiler_of(parts.args[1]), *result.function);
  }
  if (two && parts.op.ends_with("_product")) {
    return product_steps(expression, parts.op, layout_of_text(parts.args[0]),
                         tiler_of(parts.args[1]), *result.function);
  }
  if (two && parts.op == "composition") {
    return composition_steps(expression, layout_of_text(parts.args[0]), tiler_of(parts.args[1]),
                             *result.function);
  }
  if (parts.op == "complement" && !parts.args.empty() && result.function) {
    return complement_steps(expression, layout_of_text(parts.args[0]), *result.function);
  }
  refuse("TW0175", "expression for --steps", std::string(expression),
         "a divide, a product, composition, complement, or a swizzled layout",
         "`tilewright layout --ops` lists the operations");
}

}  // namespace tw
