// SPDX-License-Identifier: Apache-2.0
// cores.hpp  How many threads the emulator can keep busy.
#pragma once

namespace tw::emu {

/// Cores that this process may run on, at least 1: fewer than the machine has under `taskset` or in
/// a container that is bound to some of them.
int usable_cores();

}  // namespace tw::emu
