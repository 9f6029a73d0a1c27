// SPDX-License-Identifier: Apache-2.0
// ring.hpp  A position in the ring of operand buffers: which stage, and the parity of its phase.
#pragma once

#include <cstdint>

#include "tilewright/base/hd.hpp"

namespace tw {

/// Walks stages 0 .. Stages-1 again and again; `phase` flips at each turn. A reader waits for
/// `phase`, a writer for `phase ^ 1` (the turn before), which passes at once in the first turn.
template <int Stages>
struct ring {
  int stage = 0;
  std::uint32_t phase = 0;

  TW_HD constexpr void next() {
    if (++stage == Stages) {
      stage = 0;
      phase ^= 1U;
    }
  }
  /// Steps stages ahead: the position after `Steps` calls of next().
  template <int Steps>
  TW_HD constexpr void next() {
    static_assert(Steps <= Stages);
    stage += Steps;
    if (stage >= Stages) {
      stage -= Stages;
      phase ^= 1U;
    }
  }
  /// As `steps` calls of next (steps >= 0): past what another reader takes.
  TW_HD constexpr void skip(int steps) {
    unsigned const to = static_cast<unsigned>(stage) + static_cast<unsigned>(steps);
    stage = static_cast<int>(to % Stages);
    phase ^= to / Stages & 1U;
  }
};

}  // namespace tw
