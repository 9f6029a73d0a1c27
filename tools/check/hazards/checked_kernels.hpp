// SPDX-License-Identifier: Apache-2.0
// checked_kernels.hpp  The kernels of the library that a check runs, and the loop over them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tilewright/family/family.hpp"
#include "tools/check/hazards/finding.hpp"
#include "tools/check/hazards/request.hpp"

namespace tw::hazards {

/// A kernel under test.
struct checked_kernel {
  gemm_family const* family;
  int kernel;
  std::string name;
};

/// Run number `run` of a kernel; given shapes are used in turn.
using checked_run = std::function<void(int run, run_key const& key, kernel_result& result)>;

/// Runs the kernels that the request names, of this build, on all cores; `begin` makes the runs of
/// one of them. Throws `rejected` TW0634 if no kernel has such a name.
std::vector<kernel_result> run_kernels(
    request const& r,
    std::function<checked_run(checked_kernel const&, std::vector<shape> const&)> const& begin);

}  // namespace tw::hazards
