// SPDX-License-Identifier: Apache-2.0
// kernels.cpp  The list of kernels with a record, and the search in it.
#include "tools/command/stages/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tw::stages {

std::span<recorded_kernel const> recorded_kernels() {
  static std::vector<recorded_kernel> const all = [] {
    std::vector<recorded_kernel> list;
    for (auto* const of_family : {&recorded_sm90, &recorded_sm80, &recorded_sm100})
      for (recorded_kernel& k : of_family()) list.push_back(std::move(k));
    return list;
  }();
  return all;
}

recorded_kernel const* find_recorded(std::string_view family, std::string_view tile) {
  auto const all = recorded_kernels();
  auto const found = std::ranges::find_if(all, [&](recorded_kernel const& k) {
    return k.family == family && (tile.empty() || k.tile == tile);
  });
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> math_warpgroups(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(fmt::format("math warpgroup {}", i));
  return names;
}

}  // namespace tw::stages
