// SPDX-License-Identifier: Apache-2.0
// lab.nocuda.cpp  Without CUDA there is no device to measure: opening a lab says so.
#include "tools/command/bench/lab.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw::bench {

std::unique_ptr<gemm_lab> open_gemm_lab(measure_options const&) { throw rejected(gpu().why_not); }

ceiling_report measure_ceilings(ceiling_options const&) { throw rejected(gpu().why_not); }

}  // namespace tw::bench
