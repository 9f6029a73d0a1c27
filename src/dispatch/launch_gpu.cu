// SPDX-License-Identifier: Apache-2.0
// launch_gpu.cu  Runs a product on the GPU.
#include <cuda_runtime_api.h>

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

struct device_here {
  int device;
  gpu_info const& info;
};
/// The current device; looked at once.
device_here here() {
  static std::mutex mutex;
  static std::map<int, gpu_info> seen;  // by device; its elements stay where they are
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) cudaGetLastError();  // look() says what is wrong
  std::scoped_lock const lock(mutex);
  auto at = seen.find(device);
  if (at == seen.end()) at = seen.emplace(device, look(device)).first;
  return {device, at->second};
}
device_here usable_here() {
  device_here const h = here();
  if (!h.info.usable) throw rejected(h.info.why_not);
  return h;
}

template <class Config>
auto kernel_of(Config const& c, gemm_plan const& plan) {
  auto const launcher = registry::find_gpu(c);
  if (launcher == nullptr)
    throw rejected({"TW0505", "kernel", plan.kernel, "a kernel of the registry",
                    "the plan names what is not compiled in"});
  return launcher;
}

void launch(gemm_plan const& plan, gemm_operands const& given, cudaStream_t stream,
            launch_options const& how) {
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

}  // namespace

gpu_info const& gpu() { return here().info; }

void gemm(gemm_plan const& plan, gemm_operands const& o, cudaStream_t stream,
          launch_options const& how) {
  usable_here();
  launch(plan, o, stream, how);
}

void gemm(gemm_problem const& p, gemm_operands const& o, cudaStream_t stream,
          launch_options const& how) {
  device_here const h = usable_here();
  launch(*cached_plan(p, o, h.info.sms, h.device), o, stream, how);
}

}  // namespace tw
