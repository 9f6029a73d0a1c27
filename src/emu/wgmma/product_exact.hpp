// SPDX-License-Identifier: Apache-2.0
// product_exact.hpp  One step of wgmma with the bits of a tensor core, element by element.
#pragma once

#include "emu/wgmma/product_operands.hpp"

namespace tw::emu {

/// D (64 x n words, as run_wgmma_group has it) = A * B, + D if the step accumulates.
void run_exact_step(void* d, wgmma_form const& form, wgmma_step_data const& step, memory smem_of_a,
                    memory smem_of_b);

}  // namespace tw::emu
