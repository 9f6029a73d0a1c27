// SPDX-License-Identifier: Apache-2.0
// launch_gpu.cu  Runs a product on the GPU.
#include <cuda_runtime_api.h>

#include <atomic>
#include <map>
#include <mutex>

#include "dispatch/gemv.hpp"
#include "dispatch/gpu_condition.hpp"
#include "dispatch/params.hpp"
#include "dispatch/plan_cache.hpp"
#include "dispatch/repitch.hpp"
#include "registry/gemv.hpp"
#include "registry/registry.hpp"

namespace tw {

namespace {

void must(cudaError_t e, char const* what) {
  if (e == cudaSuccess) return;
  cudaGetLastError();  // a failed call must not be reported again by the caller's next check
  throw rejected({e == cudaErrorMemoryAllocation ? "TW0507" : "TW0506", what, cudaGetErrorString(e),
                  "success", ""});
}

gpu_info look(int device) {
  gpu_info i;
  gpu_facts f;
  cudaDeviceProp prop{};
  cudaError_t e = cudaGetDeviceCount(&f.devices);
  if (cudaDriverGetVersion(&f.driver_version) != cudaSuccess) f.driver_version = 0;
  f.driver_too_old = e == cudaErrorInsufficientDriver;
  if (e == cudaSuccess && f.devices > 0) e = cudaGetDeviceProperties(&prop, device);
  if (e != cudaSuccess) f.error = cudaGetErrorString(e);
  cudaGetLastError();  // looking must not leave an error behind
  f.name = prop.name;
  f.compute_capability = prop.major * 10 + prop.minor;
  if (auto why = why_unusable(f)) i.why_not = *why;
  i.usable = i.why_not.code.empty();
  i.name = prop.name;
  i.sms = prop.multiProcessorCount;
  i.compute_capability = f.compute_capability;
  i.memory_bytes = static_cast<std::int64_t>(prop.totalGlobalMem);
  if (f.driver_version != 0) i.driver = version_text(f.driver_version);
  return i;
}

/// The current device and its SMs; asked once per device.
struct device_and_sms {
  int device = 0, sms = 0;
};
device_and_sms current_device() {
  constexpr int known = 64;
  static std::atomic<int> sms_of[known];
  device_and_sms d;
  must(cudaGetDevice(&d.device), "current device");
  if (d.device < known) d.sms = sms_of[d.device].load(std::memory_order_relaxed);
  if (d.sms != 0) return d;
  must(cudaDeviceGetAttribute(&d.sms, cudaDevAttrMultiProcessorCount, d.device), "number of SMs");
  if (d.device < known) sms_of[d.device].store(d.sms, std::memory_order_relaxed);
  return d;
}

template <class Config>
auto kernel_of(Config const& c, gemm_plan const& plan) {
  auto const launcher = registry::find_gpu(c);
  if (launcher == nullptr)
    throw rejected({"TW0505", "kernel", plan.kernel, "a kernel of the registry",
                    "the plan names what is not compiled in"});
  return launcher;
}

}  // namespace

gpu_info const& gpu() {
  static std::mutex mutex;
  static std::map<int, gpu_info> seen;  // by device; its elements stay where they are
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) cudaGetLastError();  // look() says what is wrong
  std::scoped_lock const lock(mutex);
  auto const at = seen.find(device);
  return at != seen.end() ? at->second : seen.emplace(device, look(device)).first->second;
}

void gemm(gemm_plan const& plan, gemm_operands const& given, cudaStream_t stream,
          launch_options const& how) {
  if (gpu_info const& here = gpu(); !here.usable) throw rejected(here.why_not);
  bool const early = how.pdl.value_or(plan.starts_early);
  if (plan.gemv) {
    auto const launcher = kernel_of(*plan.gemv, plan);
    launch_form const form = form_of(plan, given);
    gemv_params const params = make_gemv_params(plan, form.problem, form.operands);
    must(static_cast<cudaError_t>(launcher(plan.clusters, params, stream, early)), "kernel launch");
    return;
  }
  auto const launcher = kernel_of(plan.config, plan);
  launch_form const form = form_of(plan, given);
  gemm_params const params = make_params(plan, form.problem, form.operands, target::gpu);
  if (form.copied())
    must(repitch_operands(form.copies, stream, early),
         "launch that copies operands to a padded pitch");
  bool const pdl = early || form.copied();  // copies come before it, and follow what came before
  must(static_cast<cudaError_t>(
           launcher(plan.clusters * plan.config.cluster(), params, stream, pdl)),
       "kernel launch");
}

void gemm(gemm_problem const& p, gemm_operands const& o, cudaStream_t stream,
          launch_options const& how) {
  if (gpu_info const& here = gpu(); !here.usable) throw rejected(here.why_not);
  device_and_sms const d = current_device();
  gemm(*cached_plan(p, o, d.sms, d.device), o, stream, how);
}

}  // namespace tw
