// SPDX-License-Identifier: Apache-2.0
// launcher_of.hpp  The launcher of a plan's kernel, for both backends.
#pragma once

#include <span>

#include "tilewright/base/check.hpp"
#include "tilewright/family/plan.hpp"

namespace tw {

/// TW0505.
rejection kernel_not_built(gemm_plan const& plan);

/// By the plan's kernel. Throws `rejected` TW0505 where this build lacks the kernel, or none has
/// the index.
template <class Launcher>
Launcher launcher_of(std::span<Launcher const> launchers, gemm_plan const& plan) {
  auto const index = static_cast<std::size_t>(plan.instance);
  Launcher const found = index < launchers.size() ? launchers[index] : nullptr;
  if (found == nullptr) throw rejected(kernel_not_built(plan));
  return found;
}

}  // namespace tw
