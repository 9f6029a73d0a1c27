// SPDX-License-Identifier: Apache-2.0
// source_lines.hpp  The source lines of a machine address, from the program's debug information.
//
// source_lines.cpp reads it with libbacktrace, which comes with g++; if that library is not
// found, source_lines.nobacktrace.cpp gives no line (cmake/backtrace.cmake).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tw::emu {

/// A line of a source file.
struct source_line {
  std::string file;
  int line = 0;
};

/// The lines of the instruction before a return address: the innermost inlined function first, then
/// its callers up to the function that was compiled. Empty if nothing is known.
std::vector<source_line> source_lines_of(void const* return_address);

/// A variable of the program by its symbol.
struct variable {
  std::string symbol;  // as the linker has it; empty: none covers the address
  std::size_t offset = 0;
};
/// The variable with static storage in which an address lies.
variable variable_at(void const* address);

/// The text of a report if no line is known, and the remedy.
std::string_view unknown_line_text();

/// How a report names a source file: from `folder` (with a slash at its end), or by its last three
/// parts. A compiler that was given relative paths, as ccache does with base_dir, writes
/// ../include/FILE into the line tables; the report names include/FILE, like a build in the
/// project's folder.
std::string path_in_reports(std::string_view path, std::string_view folder);

}  // namespace tw::emu
