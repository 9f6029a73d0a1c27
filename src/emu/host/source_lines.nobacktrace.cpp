// SPDX-License-Identifier: Apache-2.0
// source_lines.nobacktrace.cpp  Source lines in a build without libbacktrace: none is known.
#include "emu/host/source_lines.hpp"

namespace tw::emu {

std::vector<source_line> source_lines_of(void const*) { return {}; }

variable variable_at(void const*) { return {}; }

std::string_view unknown_line_text() {
  return "a place whose line is unknown (this build of Tilewright found no libbacktrace)";
}

}  // namespace tw::emu
