// SPDX-License-Identifier: Apache-2.0
// request.cpp  Shapes and schedules as words of the command line.
#include "tools/check/hazards/request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "tools/check/mutants/mutants.hpp"
#include "tools/io/refuse.hpp"
#include "tools/io/shell_word.hpp"

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

std::string replay_options(request const& r, std::string const& kernel, run_key const& k) {
  request const usual;
  std::string text = shell_word(r.target);
  auto const add = [&text](bool given, std::string const& words) {
    if (given) text += " " + words;
  };
  add(!r.bug.empty(), "--bug " + shell_word(r.bug));
  add(r.invariant, "--invariant");
  add(!r.family.empty(), "--family " + shell_word(r.family));
  add(true, "--kernel " + shell_word(kernel));
  add(r.proxy_on_path, "--proxy-on-path");
  add(!r.provenance, "--no-provenance");
  add(r.bank_conflicts, "--bank-conflicts");
  add(r.tensor_fences != usual.tensor_fences, "--tensor-fences acquire");
  add(r.sms != usual.sms, fmt::format("--sms {}", r.sms));
  add(r.live_clusters != usual.live_clusters, fmt::format("--live-clusters {}", r.live_clusters));
  add(r.time_limit_seconds != usual.time_limit_seconds,
      fmt::format("--timeout {}", r.time_limit_seconds));
  // `check gemm` draws a shape from the seed, if none is given.
  bool const drawn = r.target == "gemm" && r.shapes.empty();
  add(!k.shape.empty() && !drawn, fmt::format("--shape {}", fmt::join(k.shape, ",")));
  return text + fmt::format(" --schedule {} --first-seed {} --seeds 1", word_of(k.family), k.seed);
}

}  // namespace tw::hazards
