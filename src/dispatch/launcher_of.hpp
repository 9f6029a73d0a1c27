// SPDX-License-Identifier: Apache-2.0
// launcher_of.hpp  The launcher of a plan's kernel, for both backends.
#pragma once

#include <span>

#include "tilewright/base/check.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw {

/// TW0505.
rejection kernel_not_built(gemm_plan const& plan);

/// Throws `rejected` TW0505 where this build lacks the kernel, or none has the index.
template <class Launcher>
Launcher launcher_of(std::span<Launcher const> launchers, int index, gemm_plan const& plan) {
  Launcher const found = index < 0 ? nullptr : launchers[static_cast<std::size_t>(index)];
  if (found == nullptr) throw rejected(kernel_not_built(plan));
  return found;
}

}  // namespace tw
