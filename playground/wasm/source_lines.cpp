// SPDX-License-Identifier: Apache-2.0
// source_lines.cpp  Places of ordinary accesses, instead of src/emu/host/source_lines.cpp. A module
//                   lacks return addresses: wasm/places.py passes to each call of the emulator's
//                   hooks the address of a text, "file:line" for each frame, the innermost first,
//                   with a line feed after each.
#include "emu/host/source_lines.hpp"

#include <charconv>

namespace tw::emu {

std::vector<source_line> source_lines_of(void const* place) {
  std::vector<source_line> lines;
  std::string_view text = place == nullptr ? "" : static_cast<char const*>(place);
  while (!text.empty()) {
    std::size_t const end = text.find('\n');
    std::string_view const frame = text.substr(0, end);
    std::size_t const colon = frame.rfind(':');
    int line = 0;
    std::from_chars(frame.data() + colon + 1, frame.data() + frame.size(), line);
    lines.push_back({std::string(frame.substr(0, colon)), line});
    text.remove_prefix(end + 1);
  }
  return lines;
}

variable variable_at(void const*) { return {}; }

std::string_view unknown_line_text() {
  return "a place without line information (compile with -g)";
}

}  // namespace tw::emu
