// SPDX-License-Identifier: Apache-2.0
// plan_meter.nocuda.cpp  A build without CUDA refuses to open a meter.
#include "tools/measure/plan_meter.hpp"

namespace tw::bench {

std::unique_ptr<plan_meter> open_plan_meter() { throw rejected(gpu().why_not); }

}  // namespace tw::bench
