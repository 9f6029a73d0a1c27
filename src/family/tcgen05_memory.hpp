// SPDX-License-Identifier: Apache-2.0
// tcgen05_memory.hpp  The contents of tensor memory in the Blackwell kernels, for reports.
#pragma once

#include "tilewright/family/kernel_memory.hpp"
#include "tilewright/kernel/sm100/block_scaled_config.hpp"
#include "tilewright/kernel/sm100/config.hpp"

namespace tw {

kernel_memory memory_of(sm100_config const& c);
kernel_memory memory_of(block_scaled_config const& c);

}  // namespace tw
