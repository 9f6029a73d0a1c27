// SPDX-License-Identifier: Apache-2.0
// write_timeline.cpp  Recording -> timeline -> files.
#include "tools/trace/write_timeline.hpp"

#include <fmt/format.h>

#include <fstream>
#include <span>
#include <string_view>

#include "tools/io/output_file.hpp"
#include "tools/io/refuse.hpp"

namespace tw {
namespace {

void write(std::string const& path, std::string const& text) {
  output_file file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

/// A file that exists is replaced only if it looks like one of these: a name that is meant for
/// another option costs no data.
void check_replaceable(std::string const& path, char const* option, char const* first_characters) {
  std::ifstream in(path);
  char first = 0;
  if (path.empty() || !in.get(first) ||
      std::string_view(first_characters).find(first) != std::string_view::npos)
    return;
  refuse("TW0612", fmt::format("output {} of {}", path, option), "a file of another kind",
         "a new name, or an earlier file of this option");
}

}  // namespace

void check_timeline_files(timeline_files const& files) {
  for (std::string const& path : {files.chrome, files.svg})
    if (!path.empty()) check_writable(path);
  check_replaceable(files.chrome, "--trace", "[{");
  check_replaceable(files.svg, "--timeline", "<");
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
