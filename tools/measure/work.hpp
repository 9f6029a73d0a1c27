// SPDX-License-Identifier: Apache-2.0
// work.hpp  From the work of a launch and its time to rates.
#pragma once

#include "tools/measure/statistics.hpp"

namespace tw::bench {

/// Work of one launch, for rates. flop_per_cycle: the device's dense 16-bit peak per clock cycle.
struct work {
  double flop = 0;
  double bytes = 0;
  double flop_per_cycle = not_measured;
};

inline double tflops(work const& w, double us) { return w.flop / us * 1e-6; }
inline double gb_per_s(work const& w, double us) { return w.bytes / us * 1e-3; }

/// Share of the tensor cores' peak at the clock that was measured.
inline double utilisation(work const& w, double us, double sm_mhz) {
  return w.flop / (us * sm_mhz * w.flop_per_cycle);
}
inline double joule_per_tflop(work const& w, double us, double power_w) {
  return power_w * us * 1e6 / w.flop;
}

}  // namespace tw::bench
