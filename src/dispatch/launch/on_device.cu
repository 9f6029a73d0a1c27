// SPDX-License-Identifier: Apache-2.0
// on_device.cu  The current context by the driver, whose functions the runtime finds.
#include "dispatch/launch/on_device.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string>

#include "tilewright/arch/cuda/driver_function.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw {
namespace {

/// Functions of the driver; nullptr without one.
struct driver_contexts {
  CUresult (*get)(CUcontext*);
  CUresult (*set)(CUcontext);
};

driver_contexts const& contexts() {
  static driver_contexts const found{
      detail::driver_function<CUresult (*)(CUcontext*)>("cuCtxGetCurrent"),
      detail::driver_function<CUresult (*)(CUcontext)>("cuCtxSetCurrent")};
  return found;
}

}  // namespace

on_device::on_device(int ordinal) {
  driver_contexts const& driver = contexts();
  if (driver.get == nullptr || driver.set == nullptr) {
    if (gpu_info const& here = gpu(); !here.usable) throw rejected(here.why_not);
    throw rejected({"TW0502", "GPU driver", "one without cuCtxSetCurrent", "a driver for CUDA 13",
                    "update the driver"});
  }
  CUcontext before = nullptr;
  if (driver.get(&before) != CUDA_SUCCESS) before = nullptr;  // not initialised: none is current
  before_ = before;
  cudaError_t const e = cudaSetDevice(ordinal);
  if (e != cudaSuccess) {
    cudaGetLastError();
    driver.set(before);
    throw rejected({"TW0503", "CUDA device " + std::to_string(ordinal), cudaGetErrorString(e),
                    "a device that is there", "check CUDA_VISIBLE_DEVICES"});
  }
  changed_ = true;
}

on_device::~on_device() {
  if (changed_) contexts().set(static_cast<CUcontext>(before_));
}

}  // namespace tw
