// SPDX-License-Identifier: Apache-2.0
// kernel_set.cpp  Counts the kernels that have a launcher.
#include "tilewright/dispatch/kernel_set.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dispatch/launcher_of.hpp"
#include "family/gemv/launchers.hpp"
#include "family/sm90_gemm/launchers.hpp"

namespace tw {
namespace {

template <class Launcher>
kernel_set_facts count(kernel_set_facts facts, std::span<Launcher const> launchers) {
  auto const missing = std::ranges::count(launchers, nullptr);
  facts.all += static_cast<int>(launchers.size());
  facts.built += static_cast<int>(static_cast<std::ptrdiff_t>(launchers.size()) - missing);
  return facts;
}

}  // namespace

rejection kernel_not_built(gemm_plan const& plan) {
  kernel_set_facts const here = kernels_of_this_build();
  return {"TW0505", "kernel", plan.kernel,
          fmt::format("a kernel of this build: the {} set, {} of {} kernels", here.name, here.built,
                      here.all),
          here.built < here.all ? "configure with -DTW_KERNELS=full, or plan again with this build"
                                : "plan again with this version of the library"};
}

kernel_set_facts kernels_of_this_build() {
  return count(count({TW_KERNEL_SET, 0, 0}, sm90_gemm_family::emu_launchers()),
               gemv_family::emu_launchers());
}

}  // namespace tw
