// SPDX-License-Identifier: Apache-2.0
// explain_alternatives.cpp  Alternatives: one key changed at a time, each evaluated.
#include <fmt/format.h>

#include <algorithm>

#include "atom/explain_parts.hpp"

namespace tw {
namespace detail {
namespace {

struct search {
  combination const& asked;
  std::vector<alternative> found;

  bool known(combination const& c) const { return c == asked; }

  void consider(std::string change, combination const& c) {
    bool const twice =
        std::ranges::any_of(found, [&](alternative const& a) { return a.change == change; });
    if (!known(c) && !twice) found.push_back({std::move(change), decide(c)});
  }

  /// The largest N of the instruction that works.
  void largest_n(combination c, bool say_groups) {
    for (int n = 256; n >= 8; n -= 8) {
      c.mma_n = n;
      if (known(c)) continue;
      decision d = decide(c);
      if (!d.works) continue;
      std::string change = fmt::format("mma=m64n{}k{}", n, c.mma_k);
      if (say_groups) change += fmt::format(" warpgroups={}x{}", c.groups_m, c.groups_n);
      found.push_back({std::move(change), std::move(d)});
      return;
    }
  }
};

}  // namespace

std::vector<alternative> alternatives_of(combination const& asked) {
  search s{asked, {}};
  for (smem_swizzle const m : detail::swizzles) {
    combination c = asked;
    c.smem = m;
    c.smem_text.clear();
    s.consider("smem=" + word_of(m), c);
  }
  int const all = asked.groups_m * asked.groups_n;
  for (int m = all; m >= 1; --m) {
    if (all % m != 0) continue;
    combination c = asked;
    c.groups_m = m;
    c.groups_n = all / m;
    c.by_turns = false;
    s.consider(fmt::format("warpgroups={}x{}", m, all / m), c);
  }
  if (asked.groups_n > 1 && !asked.by_turns) {
    combination c = asked;
    c.by_turns = true;
    s.consider("turns=8", c);
  }
  s.largest_n(asked, false);
  for (int groups = 1; groups <= 4; ++groups) {
    combination c = asked;
    c.groups_m = groups;
    c.groups_n = 1;
    c.by_turns = false;
    if (c.groups_m != asked.groups_m || c.groups_n != asked.groups_n) s.largest_n(c, true);
  }
  int const bits = size_bits(asked.type);
  bool const rows = asked.contiguous == operand_major::mn;
  for (int const width : {2 * bits, bits}) {
    combination c = asked;
    c.copy = {copy_kind::store, width, 1, false};
    if (rows && width != bits) continue;  // pairs lie along N
    s.consider("copy=" + name(c.copy), c);
  }
  for (int const count : {4, 2, 1}) {
    combination c = asked;
    c.copy = {copy_kind::stmatrix, 128, count, rows};
    if (bits == 16) s.consider("copy=" + name(c.copy), c);
  }
  return s.found;
}

}  // namespace detail

explanation explain(combination const& c) {
  if (c.operand != 'D') return detail::explain_operand(c);
  explanation e;
  e.asked = c;
  if (!c.smem && c.smem_text.empty()) {
    for (smem_swizzle const m : detail::swizzles) {
      e.asked.smem = m;
      e.result = decide(e.asked);
      if (e.result.works) break;
    }
    e.notes.push_back(fmt::format("smem={} is the widest that works", word_of(*e.asked.smem)));
  } else {
    e.result = decide(c);
  }
  if (!e.result.works) e.geometry = detail::geometry_of(e.asked, e.result);
  e.alternatives = detail::alternatives_of(e.asked);
  // Where only the partition is missing, addresses can still be computed one by one.
  if (detail::only_partition_missing(e.result)) {
    decision d;
    d.works = true;
    d.tile = e.result.tile;
    d.cost = detail::cost_of(e.asked, d.tile, detail::map_of(e.asked));
    d.cost.measured = detail::measured_registers(e.asked, detail::addressing::coordinates);
    e.alternatives.push_back({"no partition", d});
  }
  if (std::string const note = detail::measured_note(e.asked); !note.empty()) {
    e.notes.push_back(note);
  }
  return e;
}

}  // namespace tw
