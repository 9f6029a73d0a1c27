// SPDX-License-Identifier: Apache-2.0
// emulator_intercepted.cpp  Compiled with -fsanitize=thread (cmake/tools.cmake).
#include "bench/emulator_intercepted.hpp"

#include "tilewright/kernel/gemm_sm90.hpp"

namespace tw::bench {

void launch_intercepted(int ctas, gemm_params const& p, emu::options const& o) {
  launch<gemm_sm90<intercepted_config>>(ctas, p, o);
}

bool accesses_are_intercepted() { return plain_accesses_seen; }

}  // namespace tw::bench
