// SPDX-License-Identifier: Apache-2.0
// memory.hpp  Rates and latencies of the levels of memory: shared memory, also of another CTA
// (DSMEM), L1, L2, DRAM.
#pragma once

#include <vector>

#include "tools/command/bench/lab.hpp"
#include "tools/measure/gpu/device.hpp"

namespace tw::bench {

/// One row per level. Rates are reads of 16 bytes a thread on all SMs, the median of `rounds`;
/// latencies are those of one thread whose loads depend on each other, in clocks of its SM.
/// `dram_gb_per_s` was measured with the other ceilings.
std::vector<memory_row> measure_memory(measured_device& device, int rounds, double dram_gb_per_s);

}  // namespace tw::bench
