// SPDX-License-Identifier: Apache-2.0
// site.hpp  Where in the kernel's source an operation stands. Costs nothing on the GPU: only the
//           emulator's functions take it, as a defaulted argument.
#pragma once

namespace tw::emu {

struct site {
  char const* file = "";
  int line = 0;

  static constexpr site here(char const* f = __builtin_FILE(), int l = __builtin_LINE()) {
    return {f, l};
  }
  bool operator==(site const&) const = default;
};

}  // namespace tw::emu
