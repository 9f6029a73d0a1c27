// SPDX-License-Identifier: Apache-2.0
// explain_operand.cpp  A and B on sm80: cp.async fills the tile, ldmatrix reads it.
//
// A matrix of ldmatrix is 8 rows of 16 bytes (PTX ISA, "ldmatrix"): rows of the tile where k is
// contiguous, else 8 values of k, read with .trans. cp.async writes 4, 8 or 16 bytes of a thread
// (PTX ISA, "cp.async"); consecutive threads follow the contiguous mode.
#include <fmt/format.h>

#include "atom/explain_parts.hpp"
#include "tilewright/atom/call.hpp"
#include "tilewright/layout/banks.hpp"

namespace tw::detail {
namespace {

/// The element in row `major` (not contiguous), position `minor` (contiguous).
i64 place(combination const& c, layout const& tile, i64 major, i64 minor) {
  return c.contiguous == operand_major::k ? tile(major, minor) : tile(minor, major);
}

i64 length(combination const& c) {  // of the contiguous mode
  return c.contiguous == operand_major::k ? c.columns : c.rows;
}
i64 lines_of(combination const& c) { return c.rows * c.columns / length(c); }

void add(warp_access& a, int lane, i64 byte) {
  a.address[lane] = byte;
  a.active |= 1U << lane;
}

access_figures count(combination const& c, std::string name, layout const& tile) {
  int const bits = size_bits(c.type);
  i64 const chunk = c.copy.bits / bits, per_line = length(c) / chunk;
  access_figures f{.layout_name = std::move(name)};
  for (i64 first = 0, n = lines_of(c) * per_line; first < n; first += 32) {
    warp_access a;
    a.bytes = c.copy.bits / 8;
    a.rule = bank_rule::store;
    for (i64 t = first; t < first + 32 && t < n; ++t) {
      i64 const at = place(c, tile, t / per_line, t % per_line * chunk);
      add(a, static_cast<int>(t - first), at * bits / 8);
    }
    bank_report const r = count_banks(a);
    f.copy_wavefronts += r.wavefronts;
    f.copy_ideal += r.ideal;
  }
  i64 const row = 128 / bits;  // elements in 16 bytes
  for (i64 line = 0; line < lines_of(c); line += 8) {
    for (i64 at = 0; at < length(c); at += row) {
      warp_access a;
      a.bytes = 16;
      a.rule = bank_rule::rows;
      for (int i = 0; i < 8; ++i) add(a, i, place(c, tile, line + i, at) * bits / 8);
      bank_report const r = count_banks(a);
      f.read_wavefronts += r.wavefronts;
      f.read_ideal += r.ideal;
    }
  }
  f.bytes = cosize(tile) * bits / 8;
  return f;
}

/// 16 bytes of ldmatrix and the bytes of one cp.async lie together and aligned.
void check_access(combination const& c, layout const& tile) {
  int const bits = size_bits(c.type);
  layout const along = coalesce(linear_part(mode(tile, c.contiguous == operand_major::k ? 1 : 0)));
  i64 const together = along.stride[0] == num{1} ? max_alignment(tile) : 1;
  i64 const need = 128 / bits;
  if (together % need != 0) {
    refuse("TW0257", "elements that lie together, aligned", fmt::format("{}", together),
           fmt::format("{}, a row of ldmatrix{}", need,
                       c.copy.bits == 128 ? " and a copy of cp.async" : ""));
  }
}

void check_shape(combination const& c) {
  int const bits = size_bits(c.type);
  i64 const k_step = 256 / bits;
  if (c.columns % k_step != 0) {
    refuse("TW0258", "K of the tile", fmt::format("{}", c.columns),
           fmt::format("a multiple of {}, the k of mma.sync for {}", k_step, name(c.type)));
  }
  if (c.rows % 8 != 0) {
    refuse("TW0258", c.operand == 'A' ? "M of the tile" : "N of the tile",
           fmt::format("{}", c.rows), "a multiple of 8, the rows of a matrix of ldmatrix");
  }
  if (c.contiguous == operand_major::mn && bits != 16) {
    refuse("TW0259", "elements of a transposed ldmatrix", fmt::format("{} bits", bits), "16 bits",
           "make k contiguous (major=k), or load single elements with ld.shared");
  }
}

decision decide_operand(combination const& c) {
  decision d;
  try {
    check_shape(c);
    d.tile = tile_in_memory(c);
    check_access(c, d.tile);
    d.works = true;
  } catch (rejected const& r) {
    d.why = r.why();
  }
  return d;
}

/// Rows of the tile one below the other, `pitch` elements apart, without a swizzle.
layout rows_apart(combination const& c, i64 pitch) {
  layout const line(length(c), 1), lines(lines_of(c), pitch);
  return c.contiguous == operand_major::k ? make_layout(lines, line) : make_layout(line, lines);
}

void add_rules(explanation& e, layout const& atom) {
  combination const& c = e.asked;
  bool const k_major = c.contiguous == operand_major::k;
  int const bits = size_bits(c.type);
  i64 const chunk = c.copy.bits / bits;
  char const* const mine = k_major ? "k" : c.operand == 'A' ? "m" : "n";
  e.geometry.push_back("atom       " + to_string(atom));
  add_wrapped(e.geometry, "tile       " + to_string(e.result.tile), "           ");
  e.geometry.push_back(
      fmt::format("8          lines: a matrix of ldmatrix{} is 8 of them, 16 bytes of each",
                  k_major ? "" : ".trans"));
  i64 const span = span_elems(*c.smem, bits);
  e.geometry.push_back(
      fmt::format("{:<10} {} of {} in a line: {} bytes of the 128 that the banks "
                  "hold{}",
                  span, name(c.type), mine, span * bits / 8, k_major ? " (SizeK)" : ""));
  e.geometry.push_back(
      fmt::format("{:<10} {} in {}: pointer and leading dimension in global memory are multiples "
                  "of it (alignment)",
                  chunk, name(c.type), name(c.copy)));
  if (c.operand == 'A') {
    e.geometry.push_back(k_major ? "row-major A: k is contiguous"
                                 : "column-major A: m is contiguous");
  } else {
    e.geometry.push_back(k_major ? "column-major B: k is contiguous, the atom of a row-major A"
                                 : "row-major B: n is contiguous, the atom of a column-major A");
    e.geometry.emplace_back("(B counts as N x K, so its majors mirror those of A)");
  }
}

void add_alternatives(explanation& e) {
  combination const& c = e.asked;
  for (smem_swizzle const s : swizzles) {
    combination other = c;
    other.smem = s;
    other.smem_text.clear();
    decision const d = decide_operand(other);
    if (d.works) {
      e.accesses.push_back(count(other, word_of(s), d.tile));
    } else {
      e.alternatives.push_back({"smem=" + word_of(s), d});
    }
  }
  e.accesses.push_back(count(c, "rows without swizzle", rows_apart(c, length(c))));
  i64 const padding = 128 / size_bits(c.type);
  e.accesses.push_back(
      count(c, fmt::format("rows, {} more apart", padding), rows_apart(c, length(c) + padding)));
  if (!c.smem && e.result.works) {
    e.accesses.push_back(count(c, "as given", e.result.tile));
  }
}

}  // namespace

explanation explain_operand(combination const& asked) {
  explanation e;
  e.asked = asked;
  combination& c = e.asked;
  bool const choose = !c.smem && c.smem_text.empty();
  for (smem_swizzle const s : swizzles) {
    if (choose) c.smem = s;
    e.result = decide_operand(c);
    if (!choose || e.result.works) break;
  }
  if (c.smem && e.result.works) {
    add_rules(e, smem_atom(c.contiguous, *c.smem, size_bits(c.type)));
  } else if (e.result.works) {
    add_wrapped(e.geometry, "tile       " + to_string(e.result.tile), "           ");
  } else {
    add_wrapped(e.geometry, to_string(*e.result.why));
  }
  try {
    check_shape(c);
    add_alternatives(e);
  } catch (rejected const&) {  // no layout helps; the reason is in the geometry
  }
  if (choose && e.result.works) {
    e.notes.push_back(fmt::format("smem={} is the widest that works", word_of(*c.smem)));
  }
  return e;
}

std::string operand_text(explanation const& e) {
  std::string text = to_words(e.asked) + "\n\n";
  text += e.result.works
              ? fmt::format("yes: {} writes it and ldmatrix reads it\n", name(e.asked.copy))
              : fmt::format("no ({})\n", e.result.why->code);
  for (std::string const& line : e.geometry) text += "  " + line + "\n";
  if (!e.accesses.empty()) {
    text += fmt::format("\n  {:<24} {:>18} {:>18} {:>8}\n", "wavefronts / ideal",
                        name(e.asked.copy), "ldmatrix", "bytes");
  }
  for (access_figures const& f : e.accesses) {
    text += fmt::format("  {:<24} {:>10}/{:<7} {:>10}/{:<7} {:>8}\n", f.layout_name,
                        f.copy_wavefronts, f.copy_ideal, f.read_wavefronts, f.read_ideal, f.bytes);
  }
  if (!e.alternatives.empty()) text += "\n  does not work\n";
  for (alternative const& a : e.alternatives) {
    rejection const& r = *a.result.why;
    std::vector<std::string> lines;
    add_wrapped(
        lines,
        fmt::format("  {:<24} {}: {}: got {}, need {}", a.change, r.code, r.what, r.got, r.need),
        "                           ");
    for (std::string const& line : lines) text += line + "\n";
  }
  for (std::string const& note : e.notes) text += note + "\n";
  return text;
}

}  // namespace tw::detail
