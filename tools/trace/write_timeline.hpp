// SPDX-License-Identifier: Apache-2.0
// write_timeline.hpp  A timeline as a file: Chrome trace events (opens in Perfetto), or a picture.
#pragma once

#include <string>

#include "tilewright/arch/emu/trace.hpp"

namespace tw {

/// The Chrome trace format's JSON array: one process per CTA, one thread per row, a complete event
/// ("X") per slice, a flow ("s", "f") per arrow. One microsecond of the file is one cycle.
std::string chrome_trace(emu::timeline const& t);

struct timeline_view {
  int most_ctas = 2;            // of the first cluster
  std::int64_t end_cycles = 0;  // where the picture ends; 0: after the first tiles, see default_end
};
/// The end of the first two bursts of stores, as far as it can be drawn legibly.
std::int64_t default_end(emu::timeline const& t);
/// A page-wide SVG of the beginning.
std::string timeline_svg(emu::timeline const& t, timeline_view const& view = {});

/// Where `--trace` and `--timeline` go; empty: nowhere.
struct timeline_files {
  std::string chrome, svg;
  bool any() const { return !chrome.empty() || !svg.empty(); }
};
/// Refuses paths that cannot be written, before the work is done: TW0612.
void check_timeline_files(timeline_files const& files);
/// Writes the requested files; returns one line per file for the reader, with the seed.
std::string write_timeline(emu::trace const& recorded, timeline_files const& files);

}  // namespace tw
