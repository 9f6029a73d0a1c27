// SPDX-License-Identifier: Apache-2.0
// device.cu  Queries the CUDA runtime and NVML about the current device.
#include "tools/measure/gpu/device.hpp"

#include "tools/measure/gpu/check.hpp"

namespace tw::bench {
namespace {

std::string cuda_version(int v) {
  return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10);
}

}  // namespace

measured_device::measured_device() {
  int device = 0, driver = 0, runtime = 0;
  cudaDeviceProp properties{};
  char bus[32] = {};
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  check(cudaDeviceGetPCIBusId(bus, sizeof bus, device), "cudaDeviceGetPCIBusId");
  meter_ = nvml::open(bus);
  facts_.card = properties.name;
  facts_.cuda_driver = cuda_version(driver);
  facts_.cuda_runtime = cuda_version(runtime);
  facts_.sms = properties.multiProcessorCount;
  facts_.memory_gb = static_cast<double>(properties.totalGlobalMem) * 1e-9;
  if (meter_ != nullptr) {
    facts_.driver = meter_->driver();
    facts_.power_limit_w = meter_->power_limit_w();
    facts_.max_sm_mhz = meter_->max_sm_mhz();
  }
  watch_ = std::make_unique<stopwatch>(facts_.sms, meter_.get());
}

}  // namespace tw::bench
