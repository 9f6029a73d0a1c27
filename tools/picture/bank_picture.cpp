// SPDX-License-Identifier: Apache-2.0
// bank_picture.cpp  Report of one step, as a tile and as wavefronts by banks.
#include "tools/picture/bank_picture.hpp"

#include <fmt/format.h>

#include "tilewright/atom/call.hpp"
#include "tools/io/refuse.hpp"
#include "tools/picture/layout_picture.hpp"

namespace tw {
namespace {

access_kind kind_of(std::string_view name) {
  if (auto const k = access_named(name)) return *k;
  std::string all;
  for (std::string const& n : access_names()) all += (all.empty() ? "" : ", ") + n;
  refuse("TW0626", "access of --banks", std::string(name), "one of " + all);
}

/// Cells of the tile: thread and bank if it is touched; hovering shows the bank of any.
panel tile_of_banks(layout const& tile, int bits, layout const& map, i64 step, i64 elems) {
  panel p = flat_panel({.res = to_string(tile), .function = tile, .origin = {}},
                       "tile " + to_string(tile));
  bool const by_column = p.row_labels.empty() && p.rows > 1;
  for (std::size_t i = 0; i < p.cells.size(); ++i) {
    cell& k = p.cells[i];
    if (k.colour == blank) continue;
    i64 const at = static_cast<i64>(i);
    i64 const index = by_column ? at / p.columns + at % p.columns * p.rows : at;
    int const bank = bank_of(tile(index) * bits / 8);
    k.text.clear();
    k.hint += fmt::format(", bank {}", bank);
    k.colour = pale;
    k.owners.clear();
  }
  i64 const begin = mode(map, 2)(step);
  for (i64 t = 0; t < size(mode(map, 0)) && t < 32; ++t) {
    for (i64 e = 0; e < elems; ++e) {
      i64 const index = begin + mode(map, 0)(t) + mode(map, 1)(e);
      cell& k = by_column ? p.at(index % p.rows, index / p.rows)
                          : p.cells[static_cast<std::size_t>(index)];
      int const bank = bank_of(tile(index) * bits / 8);
      k.colour = bank / 4;
      k.text = fmt::format("T{}\nb{}", t, bank);
      k.hint += fmt::format(", thread {}", t);
      k.owners.push_back({t, e});
    }
  }
  return p;
}

/// One row per wavefront, one column per bank.
panel wavefront_panel(bank_report const& r, int ideal_of_group) {
  panel p = make_panel("wavefronts of this access, by bank", r.wavefronts, bank_count);
  int first_of_group[32] = {};  // wavefront where a group begins
  for (int t = 31; t >= 0; --t) {
    if (r.thread[t].group >= 0) first_of_group[r.thread[t].group] = r.wavefronts;
  }
  for (bank_use const& u : r.thread) {
    if (u.group < 0) continue;
    int& first = first_of_group[u.group];
    first = u.wavefront < first ? u.wavefront : first;
  }
  for (int t = 0; t < 32; ++t) {
    bank_use const& u = r.thread[t];
    for (int b = 0; u.bank >= 0 && b < u.banks; ++b) {
      cell& k = p.at(u.wavefront, u.bank + b);
      k.owners.push_back({t, b});
      bool const surplus = u.wavefront - first_of_group[u.group] >= ideal_of_group;
      k.colour = surplus ? warning : (u.bank + b) / 4;
      k.text = k.text.empty() ? fmt::format("T{}", t) : k.text + "+";
      k.hint = fmt::format("wavefront {}, bank {}, group {}:", u.wavefront, u.bank + b, u.group);
    }
  }
  for (cell& k : p.cells) {
    for (cell_owner const& o : k.owners) k.hint += fmt::format(" T{}", o.thread);
  }
  p.row_name = "wavefront";
  p.column_name = "bank";
  p.column_blocks = {4};
  return p;
}

}  // namespace

picture bank_picture(std::string_view access, layout const& tile, int bits) {
  access_kind const kind = kind_of(access);
  layout const map = natural_map(kind, tile, bits);
  bank_totals const totals = count_banks(kind, tile, bits, map);
  bank_report const r = count_banks(access_of(kind, tile, bits, map, totals.worst));
  picture p;
  p.title = fmt::format("{} on {}", name_of(kind), to_string(tile));
  p.owner_name = "thread";
  p.captions.push_back(fmt::format("elements of {} bits; step {} of {}: {} wavefronts, at best {}",
                                   bits, totals.worst, totals.steps, r.wavefronts, r.ideal));
  p.captions.push_back(
      fmt::format("the whole tile: {} wavefronts, at best {}", totals.wavefronts, totals.ideal));
  if (totals.wavefronts > totals.ideal) {
    bank_proposal const better = propose(kind, tile, bits, map, false);
    if (better.swizzle) {
      p.captions.push_back("without conflicts: " + to_string(better.swizzle->tile));
    } else if (better.padding) {
      p.captions.push_back("without conflicts: " + to_string(better.padding->tile));
    } else {
      p.captions.push_back(better.why);
    }
  }
  i64 const elems = size(mode(map, 1));
  p.panels = {wavefront_panel(r, r.groups > 0 ? (r.ideal + r.groups - 1) / r.groups : 1),
              tile_of_banks(tile, bits, map, totals.worst, elems)};
  p.panels[1].place_row = 1;
  for (int k = 0; k < colours; ++k) {
    p.legend.push_back({k, fmt::format("{}{}-{}", k == 0 ? "banks " : "", 4 * k, 4 * k + 3)});
  }
  p.legend.push_back({pale, "not touched in this step"});
  p.legend.push_back({warning, "a wavefront that a conflict costs"});
  return p;
}

}  // namespace tw
