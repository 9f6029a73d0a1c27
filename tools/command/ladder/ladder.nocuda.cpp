// SPDX-License-Identifier: Apache-2.0
// ladder.nocuda.cpp  Without CUDA there is no device on which the rungs could be timed.
#include "tools/command/ladder/ladder.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw::bench {

ladder_report measure_ladder(ladder_options const&) { throw rejected(gpu().why_not); }

}  // namespace tw::bench
