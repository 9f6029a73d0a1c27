// SPDX-License-Identifier: Apache-2.0
// explain_text.cpp  An explanation as lines of text.
#include <fmt/format.h>

#include "atom/explain_parts.hpp"
#include "tilewright/atom/call.hpp"

namespace tw {
namespace detail {
namespace {

std::string row(std::string_view change, combination_cost const& k) {
  std::string const boxes = k.boxes > 0 ? std::to_string(k.boxes) : "-";
  std::string const measured = k.measured ? std::to_string(*k.measured) : "-";
  return fmt::format("  {:<31} {:>6} {:>6}/{:<6} {:>6} {:>7} {:>8.1f} {:>8} {:>8}\n", change,
                     k.copies, k.wavefronts, k.ideal, boxes, k.wgmmas,
                     static_cast<double>(k.operand_bytes) / 1024,
                     fmt::format("{}+{}", k.sums, k.addresses), measured);
}

std::string heading(std::string_view first) {
  return fmt::format("  {:<31} {:>6} {:>13} {:>6} {:>7} {:>8} {:>8} {:>8}\n", first, "copies",
                     "wavefronts   ", "boxes", "wgmmas", "KiB", "sums+at", "measured");
}

std::string sums_text(explanation const& e) {
  combination const& c = e.asked;
  std::string text = to_words(c) + "\n\n";
  i64 const step_n = i64{c.mma_n} * c.groups_n, step_m = i64{64} * c.groups_m;
  std::string const memory =
      c.smem ? fmt::format("blocks of {} {}s ({})", span_elems(*c.smem, size_bits(c.type)),
                           c.contiguous == operand_major::k ? "column" : "row", word_of(*c.smem))
             : "this layout";
  text += e.result.works ? fmt::format("yes: {} writes the tile in {}\n", name(c.copy), memory)
          : only_partition_missing(e.result)
              ? fmt::format("no: {} cannot be partitioned over {} ({})\n", name(c.copy), memory,
                            e.result.why->code)
              : fmt::format("no ({})\n", e.result.why->code);
  text +=
      fmt::format("tile {} x {} {}: {} warpgroup{} as {} x {}, {} x {} at a time\n", c.rows,
                  c.columns, name(c.type), c.groups_m * c.groups_n,
                  c.groups_m * c.groups_n == 1 ? "" : "s", c.groups_m, c.groups_n, step_m, step_n);
  for (std::string const& line : e.geometry) text += "  " + line + "\n";
  if (e.result.works) {
    std::vector<std::string> lines;
    add_wrapped(lines, "memory     " + to_string(e.result.tile), "           ");
    add_wrapped(lines, "partition  " + to_string(*e.result.partition), "           ");
    for (std::string const& line : lines) text += "  " + line + "\n";
  }
  text += "\n" + heading(e.result.works ? "cost" : "works instead");
  if (e.result.works) text += row("as given", e.result.cost);
  std::string refused;
  for (alternative const& a : e.alternatives) {
    if (a.result.works) {
      text += row(a.change, a.result.cost);
      continue;
    }
    rejection const& r = *a.result.why;
    std::vector<std::string> lines;
    add_wrapped(lines,
                a.result.why == e.result.why
                    ? fmt::format("  {:<31} {}, as above", a.change, r.code)
                    : fmt::format("  {:<31} {}: {}: got {}, need {}", a.change, r.code, r.what,
                                  r.got, r.need),
                std::string(34, ' '));
    for (std::string const& line : lines) refused += line + "\n";
  }
  if (!refused.empty()) text += "\n  does not work either\n" + refused;
  text +=
      "\n"
      "copies: instructions of a thread for the tile; wavefronts: of all warps / without bank\n"
      "conflicts; boxes: TMA stores; wgmmas and KiB of operands read: for each k step;\n"
      "sums+at: registers of a thread for sums and for addresses; measured: with nvcc 13.0,\n"
      "whole kernel, no bound on threads (tests/golden/registers.cu)\n";
  std::vector<std::string> notes;
  for (std::string const& note : e.notes) add_wrapped(notes, note);
  for (std::string const& line : notes) text += line + "\n";
  return text;
}

}  // namespace
}  // namespace detail

std::string to_text(explanation const& e) {
  return e.asked.operand == 'D' ? detail::sums_text(e) : detail::operand_text(e);
}

}  // namespace tw
