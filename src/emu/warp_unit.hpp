// SPDX-License-Identifier: Apache-2.0
// warp_unit.hpp  Instructions of a whole warp: stmatrix, ldmatrix, shuffles and mma.sync.
#pragma once

#include "emu/state.hpp"

namespace tw::emu {

class machine;

class warp_unit {
 public:
  explicit warp_unit(machine& m) : m_(m) {}

  void matrix_store(void* row, std::uint32_t const* regs, int count, bool transposed, site where);
  void matrix_load(void const* row, std::uint32_t* regs, int count, bool transposed, site where);
  /// Each lane brings `count` words and gets those of all 32.
  void exchange(std::uint32_t const* mine, int count, char const* name, warp_words& all,
                site where);

 private:
  machine& m_;
};

}  // namespace tw::emu
