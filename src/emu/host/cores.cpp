// SPDX-License-Identifier: Apache-2.0
// cores.cpp  Counts the cores that the kernel lets this process use.
#include "tilewright/arch/emu/cores.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace tw::emu {

int usable_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  // It fails if the machine has more cores than the set has room for.
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace tw::emu
