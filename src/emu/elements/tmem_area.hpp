// SPDX-License-Identifier: Apache-2.0
// tmem_area.hpp  A rectangle of tensor memory.
#pragma once

namespace tw::emu {

/// Lanes in steps of 16, columns of 32 bits.
struct tmem_area {
  int lane, lanes, column, columns;
};

}  // namespace tw::emu
