// SPDX-License-Identifier: Apache-2.0
// plugin_check.cpp  Shapes times schedules times seeds.
#include "tools/check/hazards/plugin_check.hpp"

#include <algorithm>

#include "tools/check/hazards/plugin_library.hpp"
#include "tools/io/progress_bar.hpp"
#include "tools/io/refuse.hpp"

namespace tw::hazards {

namespace {

constexpr int default_plugin_seeds = 3;

std::vector<shape> shapes_of(emu::plugin_kernel const& k, request const& r) {
  std::string const names = k.extent_names;
  auto const extents = static_cast<std::size_t>(std::ranges::count(names, ',')) + 1;
  std::vector<shape> shapes;
  for (std::string const& text : r.shapes) shapes.push_back(parse_shape(text, extents, names, 0));
  if (!shapes.empty()) return shapes;
  for (int i = 0; i < k.shapes; ++i)
    shapes.emplace_back(k.shape[i].extent, k.shape[i].extent + extents);
  return shapes;
}

int bug_of(emu::plugin_kernel const& k, std::string const& name) {
  for (int i = 0; i < k.bugs; ++i)
    if (k.bug[i].name == name) return i + 1;
  return 0;
}

/// r.runs runs, or all seeds of all families and shapes.
std::vector<run_key> keys_of(std::vector<shape> const& shapes, request const& r, bool one_family) {
  std::vector<int> families = families_of(r);
  if (one_family) families.resize(1);  // a GPU has no schedules to choose from
  int const seeds = r.runs > 0 ? r.runs : r.seeds > 0 ? r.seeds : default_plugin_seeds;
  std::vector<run_key> keys;
  for (int s = 0; s < seeds; ++s)
    for (shape const& x : shapes)
      for (int const f : families) {
        if (r.runs > 0 && static_cast<int>(keys.size()) == r.runs) return keys;
        keys.push_back({x, f, r.first_seed + static_cast<std::uint64_t>(s)});
      }
  return keys;
}

bool has_reached_time_limit(kernel_result const& r) {
  return std::ranges::any_of(r.findings, [](finding const& f) { return f.code == "E0058"; });
}

/// A timeline is of one run of one kernel in the emulator.
void check_recordable(plugin_library const& library, std::vector<kernel_result> const& before,
                      std::string const& names) {
  if (library.on_gpu())
    refuse("TW0646", "--trace and --timeline", "a plugin for the GPU", "a run in the emulator",
           "the plugin without _gpu runs there");
  if (!before.empty())
    refuse("TW0634", "--trace and --timeline", "several kernels", "one of " + names,
           "--kernel NAME");
}

}  // namespace

std::vector<kernel_result> check_plugin(request const& r) {
  plugin_library const library(r.target, r);
  std::vector<kernel_result> results;
  std::string names, bugs;
  bool bug_found = r.bug.empty();
  progress_bar bar(!r.quiet);
  for (emu::plugin_kernel const& k : library.kernels()) {
    names += (names.empty() ? "" : ", ") + std::string(k.name);
    for (int i = 0; i < k.bugs; ++i)
      bugs += (bugs.empty() ? "" : ", ") + std::string(k.bug[i].name);
    if (std::string(k.name).find(r.kernel) == std::string::npos) continue;
    int const bug = bug_of(k, r.bug);
    bug_found = bug_found || bug != 0;
    if (!r.bug.empty() && bug == 0) continue;
    kernel_result result;
    result.name = k.name;
    auto keys = keys_of(shapes_of(k, r), r, library.on_gpu());
    if (r.record != nullptr) {
      check_recordable(library, results, names);
      keys.resize(1);
    }
    for (run_key const& key : keys) {
      library.run(k, key, bug, r, result);
      if (has_reached_time_limit(result)) {  // as every further run would
        result.left_out = static_cast<int>(keys.size()) - result.runs;
        break;
      }
      bar.update(static_cast<double>(result.runs) / static_cast<double>(keys.size()));
    }
    results.push_back(std::move(result));
  }
  if (!bug_found)
    refuse("TW0634", "--bug", r.bug,
           bugs.empty() ? "no bug: the plugin names none" : "one of " + bugs);
  if (results.empty()) refuse("TW0634", "--kernel", r.kernel, "part of one of " + names);
  return results;
}

}  // namespace tw::hazards
