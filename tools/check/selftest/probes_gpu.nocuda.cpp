// SPDX-License-Identifier: Apache-2.0
// probes_gpu.nocuda.cpp  A build without CUDA has no probes for a GPU.
#include "tools/check/selftest/selftest.hpp"

namespace tw::selftest {

std::string run_probe_on_gpu(int, std::vector<std::uint32_t>&) { return "built without CUDA"; }

}  // namespace tw::selftest
