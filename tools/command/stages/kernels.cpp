// SPDX-License-Identifier: Apache-2.0
// kernels.cpp  The list of kernels with a record, and the search in it.
#include "tools/command/stages/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tw::stages {

std::span<recorded_kernel const> recorded_kernels() {
  static std::vector<recorded_kernel> const all = [] {
    std::vector<recorded_kernel> list;
    for (gemm_family const* f : families())
      for (profiled_kernel const& k : f->profiled())
        list.push_back({k, f, std::string(f->id()), fmt::format("{}x{}", k.tile.m, k.tile.n)});
    std::ranges::stable_partition(list, &recorded_kernel::on_gpu);
    return list;
  }();
  return all;
}

recorded_kernel const* find_recorded(std::string_view family, std::string_view tile) {
  auto const all = recorded_kernels();
  auto const found = std::ranges::find_if(all, [&](recorded_kernel const& k) {
    return k.family == family && (tile.empty() || k.word == tile);
  });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace tw::stages
