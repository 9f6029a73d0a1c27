// SPDX-License-Identifier: Apache-2.0
// family_choice.hpp  The option --family: plans by the kernels of one family alone.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "tilewright/dispatch/gemm.hpp"

namespace tw {

/// Adds the option, which names a family or is empty: all of them.
void add_family_option(CLI::App& verb, std::string& family);

/// Adds the option --arch, which names an architecture, "sm100", or is empty.
void add_arch_option(CLI::App& verb, std::string& arch);

/// The id of the described device that stands for an architecture in the emulator; where that is
/// empty, the one that the kernels of the family are for; and where that is empty, the H200.
std::string_view device_of(std::string_view arch, std::string const& family);

/// Throws `rejected` TW0504 where the GPU does not have the architecture.
void check_arch(std::string_view arch, int compute_capability);

/// The plans of the family, in the order of plan_candidates(); all if it is empty. Throws
/// `rejected` TW0441 if no kernel of the family computes the GEMM on the device, and TW0505
/// where this build lacks those that do.
std::vector<gemm_plan> plans_of_family(gemm_problem const& p, gemm_operands const& o,
                                       device const& dev, std::string const& family,
                                       kernel_set kernels = kernel_set::built);

/// The best plan of the family; that of plan_gemm() if it is empty.
gemm_plan plan_of_family(gemm_problem const& p, gemm_operands const& o, device const& dev,
                         std::string const& family);

}  // namespace tw
