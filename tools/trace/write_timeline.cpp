// SPDX-License-Identifier: Apache-2.0
// write_timeline.cpp  Recording -> timeline -> files.
#include "tools/trace/write_timeline.hpp"

#include <fmt/format.h>

#include <span>

#include "tools/io/output_file.hpp"
#include "tools/io/refuse.hpp"

namespace tw {
namespace {

void write(std::string const& path, std::string const& text) {
  output_file file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

}  // namespace

void check_timeline_files(timeline_files const& files) {
  check_replaceable(files.chrome, "--trace", "[{");
  check_replaceable(files.svg, "--timeline", "<");
  if (!files.chrome.empty() && !files.svg.empty() && same_file(files.chrome, files.svg))
    refuse("TW0612", fmt::format("output {} of --timeline", files.svg), "the file of --trace",
           "a separate file");
}

std::string write_timeline(emu::trace const& recorded, timeline_files const& files) {
  emu::timeline const t = emu::timeline_of(recorded);
  std::string said;
  if (!files.chrome.empty()) {
    write(files.chrome, chrome_trace(t));
    said += fmt::format("trace    {}: {} rows, {} slices, {} cycles of the model ({})\n",
                        files.chrome, t.rows.size(), t.slices.size(), t.cycles, t.run);
  }
  if (!files.svg.empty()) {
    write(files.svg, timeline_svg(t));
    said += fmt::format("timeline {}: the first {} of {} cycles of the model ({})\n", files.svg,
                        default_end(t), t.cycles, t.run);
  }
  if (!t.cut_off.empty()) said += fmt::format("note     {}\n", t.cut_off);
  return said;
}

}  // namespace tw
