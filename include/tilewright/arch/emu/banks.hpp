// SPDX-License-Identifier: Apache-2.0
// banks.hpp  Shared-memory wavefronts of one instruction of a kernel.
#pragma once

#include <cstdint>

#include "tilewright/arch/emu/site.hpp"

namespace tw::emu {

enum class bank_access : std::uint8_t { load, store, ldmatrix, stmatrix, cp_async };

/// Of one instruction, over a run. A wavefront is one pass through the banks; `ideal` of them
/// would do if the requested words were spread evenly (tilewright/layout/banks.hpp).
struct bank_traffic {
  site where = {};
  bank_access what = bank_access::load;
  std::int64_t executions = 0;  // by a warp
  std::int64_t wavefronts = 0, ideal = 0;
};

}  // namespace tw::emu
