// SPDX-License-Identifier: Apache-2.0
// request.cpp  Shapes and schedules as words of the command line.
#include "tools/hazards/request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "tools/io/refuse.hpp"
#include "tools/mutants/mutants.hpp"

namespace tw::hazards {

namespace {
/// "random warps" is --schedule random-warps.
std::string word_of(int family) {
  std::string name(mutants::schedule_name(family));
  std::ranges::replace(name, ' ', '-');
  return name;
}
}  // namespace

shape parse_shape(std::string const& text, std::size_t extents, std::string const& names,
                  std::int64_t min_extent) {
  shape s;
  bool good = true;
  for (char const* at = text.data(); good;) {
    char const* const end = text.data() + text.size();
    std::int64_t value = 0;
    auto const [next, error] = std::from_chars(at, end, value);
    good = error == std::errc() && value >= min_extent && value <= 1 << 20;
    s.push_back(value);
    if (next == end) break;
    good = good && *next == ',';
    at = next + 1;
  }
  if (!good || s.size() != extents)
    refuse("TW0635", "--shape", text,
           fmt::format("{} numbers from {} to 1048576 with commas between: {}", extents, min_extent,
                       names));
  return s;
}

std::vector<int> families_of(request const& r) {
  std::vector<int> families;
  std::string words;
  for (int f = 0; f < mutants::schedule_families; ++f) {
    words += (f == 0 ? "" : ", ") + word_of(f);
    if (r.schedule.empty() || r.schedule == word_of(f)) families.push_back(f);
  }
  if (families.empty()) refuse("TW0636", "--schedule", r.schedule, "one of " + words);
  return families;
}

std::string replay_options(run_key const& k) {
  std::string const shape =  // none where the run draws its own
      k.shape.empty() ? "" : fmt::format("--shape {} ", fmt::join(k.shape, ","));
  return fmt::format("{}--schedule {} --first-seed {} --seeds 1", shape, word_of(k.family), k.seed);
}

}  // namespace tw::hazards
