// SPDX-License-Identifier: Apache-2.0
// dist_lab.nocuda.cpp  Without CUDA there are no GPUs to measure.
#include "tools/measure/dist_lab.hpp"

#include "tilewright/dispatch/gemm.hpp"

namespace tw::bench {

std::unique_ptr<dist_lab> open_dist_lab(dist_bench_options const&, std::vector<dist_shape> const&) {
  throw rejected(gpu().why_not);
}

}  // namespace tw::bench
