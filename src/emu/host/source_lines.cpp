// SPDX-License-Identifier: Apache-2.0
// source_lines.cpp  Source lines by libbacktrace.
#include "emu/host/source_lines.hpp"

#include <backtrace.h>

#include <cstdint>

namespace tw::emu {

namespace {

void ignore_error(void*, char const*, int) {}

backtrace_state* state() {
  static backtrace_state* const s = backtrace_create_state(nullptr, 1, ignore_error, nullptr);
  return s;
}

int add_line(void* to, std::uintptr_t, char const* file, int line, char const*) {
  if (file != nullptr) static_cast<std::vector<source_line>*>(to)->push_back({file, line});
  return 0;
}

}  // namespace

std::vector<source_line> source_lines_of(void const* return_address) {
  std::vector<source_line> lines;
  auto const instruction = reinterpret_cast<std::uintptr_t>(return_address) - 1;
  backtrace_pcinfo(state(), instruction, add_line, ignore_error, &lines);
  return lines;
}

variable variable_at(void const* address) {
  struct search {
    std::uintptr_t address;
    variable found;
  } s{reinterpret_cast<std::uintptr_t>(address), {}};
  backtrace_syminfo(
      state(), s.address,
      [](void* to, std::uintptr_t, char const* symbol, std::uintptr_t begin, std::uintptr_t bytes) {
        auto& s = *static_cast<search*>(to);
        if (symbol != nullptr && s.address - begin < bytes)
          s.found = {symbol, static_cast<std::size_t>(s.address - begin)};
      },
      ignore_error, &s);
  return s.found;
}

std::string_view unknown_line_text() {
  return "a place without line information (compile with -g)";
}

}  // namespace tw::emu
