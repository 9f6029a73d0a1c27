// SPDX-License-Identifier: Apache-2.0
// kernel_set.hpp  Which of the library's kernels this build has.
#pragma once

#include <string_view>

namespace tw {

/// Kernels that a planner may choose from: those of this build, or all of the library.
enum class kernel_set { built, all };

/// The CMake option TW_KERNELS: "full", or "representative", a few dozen kernels that together run
/// every path of the code. `built` of `all` kernels are in this build.
struct kernel_set_facts {
  std::string_view name;
  int built = 0, all = 0;
};
kernel_set_facts kernels_of_this_build();

}  // namespace tw
