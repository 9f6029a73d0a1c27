// SPDX-License-Identifier: Apache-2.0
// moe.hpp  Launches around the GEMMs of experts, as both backends start them.
#pragma once

#include "tilewright/dispatch/moe.hpp"
#include "tilewright/kernel/moe/params.hpp"

namespace tw {

enum class moe_launch { sort, gather, combine };

/// Throws `rejected`: TW0497, TW0408, TW0409.
void check_moe(moe_launch which, moe_problem const& p, moe_operands const& o);
moe_sort_params sort_params_of(moe_problem const& p, moe_operands const& o);
moe_rows_params gather_params_of(moe_problem const& p, moe_operands const& o);
moe_rows_params combine_params_of(moe_problem const& p, moe_operands const& o);

}  // namespace tw
