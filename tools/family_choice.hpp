// SPDX-License-Identifier: Apache-2.0
// family_choice.hpp  The option --family: plans by the kernels of one family alone.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "tilewright/dispatch/gemm.hpp"

namespace tw {

/// Adds the option, which names a family or is empty: all of them.
void add_family_option(CLI::App& verb, std::string& family);

/// The plans of the family, in their order; all where it is empty. Throws `rejected` TW0441 where
/// none of them is the family's.
std::vector<gemm_plan> of_family(std::vector<gemm_plan> plans, std::string const& family);

/// The best plan of the family; that of plan_gemm() where it is empty.
gemm_plan plan_of_family(gemm_problem const& p, gemm_operands const& o, device const& dev,
                         std::string const& family);

}  // namespace tw
