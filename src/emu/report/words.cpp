// SPDX-License-Identifier: Apache-2.0
// words.cpp  The lines of a diagnosis, and their width.
#include "emu/report/words.hpp"

#include <fmt/format.h>

#include <string_view>

#include "emu/machine/machine.hpp"

namespace tw::emu {

std::string report_text(account const& a) {
  std::string text = a.what;
  auto const add = [&](char const* label, std::string const& words) {
    if (!words.empty()) text += fmt::format("\n  {}: {}", label, words);
  };
  add("now", a.now);
  add("earlier", a.earlier);
  add("barrier", a.barrier);
  add("missing", a.missing);
  add("cause", a.cause);
  add("remedy", a.remedy);
  return text;
}

std::string stack_overflow_text(std::string const& now) {
  return report_text({
      .what = "A thread of the kernel needs more stack than the emulator gives it.",
      .now = now,
      .cause = fmt::format("local arrays or recursion of more than about {} KiB; on a GPU they lie "
                           "in local memory, which is slow",
                           stacks::kernel_bytes / 1024),
      .remedy = "smaller local arrays, shared memory, or a loop instead of the recursion",
  });
}

std::string barrier_text(grid const& g, cta_state const& c, mbarrier_state const& b) {
  std::string text =
      fmt::format("{} (init at {}), phase {}: {} of {} arrivals came", object_name(g, c, b.offset),
                  text_of(b.made_at), b.phase, b.count - b.pending, b.count);
  if (b.expected != 0 || b.landed != 0)
    text += fmt::format(", {} bytes expected, {} landed", b.expected, b.landed);
  return text;
}

std::string to_text(diagnosis const& d, int columns) {
  std::string text = fmt::format("{} {}", d.code, d.kind);
  std::string_view rest = d.text;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    int column = columns;  // full: the line begins anew
    bool first = true;
    while (!line.empty()) {
      line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
      std::string_view const word = line.substr(0, line.find(' '));
      line.remove_prefix(word.size());
      if (word.empty()) break;
      if (column + 1 + static_cast<int>(word.size()) > columns) {
        text += first ? "\n  " : "\n      ";
        column = (first ? 2 : 6) + static_cast<int>(word.size());
        first = false;
      } else {
        text += ' ';
        column += 1 + static_cast<int>(word.size());
      }
      text += word;
    }
  }
  return text;
}

}  // namespace tw::emu
