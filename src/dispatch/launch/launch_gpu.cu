// SPDX-License-Identifier: Apache-2.0
// launch_gpu.cu  Runs a problem on the GPU.
#include <cuda_runtime_api.h>

#include <map>
#include <mutex>
#include <shared_mutex>

#include "dispatch/launch/gpu_condition.hpp"
#include "dispatch/launch/launch_range.hpp"
#include "dispatch/launch/repitch.hpp"
#include "dispatch/plan/check_plan.hpp"
#include "dispatch/plan/gated.hpp"
#include "dispatch/plan/plan_cache.hpp"
#include "dispatch/plan/staged.hpp"
#include "dispatch/quantize/block_quantize.hpp"
#include "family/bind.hpp"
#include "family/no_inner.hpp"
#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/block_result.hpp"

namespace tw {

namespace {

/// A and B where K is 0.
__device__ uint4 gemm_zeros;
static_assert(sizeof(gemm_zeros) == shared_zeros_bytes);

/// e, removed from the runtime's last error if it is one: a failed call must not be reported again
/// by the caller's next check. An error that the caller left stays there if e is success.
cudaError_t taken(cudaError_t e) {
  if (e != cudaSuccess) cudaGetLastError();
  return e;
}

void must(cudaError_t e, char const* what) {
  if (taken(e) == cudaSuccess) return;
  throw rejected({e == cudaErrorMemoryAllocation ? "TW0507" : "TW0506", what, cudaGetErrorString(e),
                  "success", ""});
}

gpu_info look(int ordinal) {
  gpu_info i;
  gpu_facts f;
  cudaDeviceProp prop{};
  cudaError_t e = taken(cudaGetDeviceCount(&f.devices));
  if (taken(cudaDriverGetVersion(&f.driver_version)) != cudaSuccess) f.driver_version = 0;
  f.driver_too_old = e == cudaErrorInsufficientDriver;
  if (e == cudaSuccess && f.devices > 0) e = taken(cudaGetDeviceProperties(&prop, ordinal));
  if (e != cudaSuccess) f.error = cudaGetErrorString(e);
  f.name = prop.name;
  f.compute_capability = prop.major * 10 + prop.minor;
  if (auto why = why_unusable(f)) i.why_not = *why;
  i.usable = i.why_not.code.empty();
  if (i.usable)  // of a part that a build with TW_DEVICE_KERNELS=smoke leaves out
    i.why_not = {"TW0501", "GPU", "a build without the GPU code of the command",
                 "a build with TW_DEVICE_KERNELS empty", "configure and build again"};
  i.name = prop.name;
  i.sms = prop.multiProcessorCount;
  i.compute_capability = f.compute_capability;
  i.memory_bytes = static_cast<std::int64_t>(prop.totalGlobalMem);
  i.l2_bytes = prop.l2CacheSize;
  i.max_smem_bytes_per_cta = static_cast<std::int64_t>(prop.sharedMemPerBlockOptin);
  int khz = 0;
  if (i.usable && taken(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, ordinal)) == cudaSuccess)
    i.max_clock_mhz = khz * 1e-3;
  if (f.driver_version != 0) i.driver = version_text(f.driver_version);
  return i;
}

/// A device that was looked at; its description only if it is usable.
struct seen_device {
  int ordinal = 0;
  gpu_info info;
  device description{};
};

seen_device look_and_describe(int ordinal) {
  seen_device d{ordinal, look(ordinal)};
  if (!d.info.usable) return d;
  gpu_info const& i = d.info;
  d.description = describe({i.name, i.compute_capability, i.sms, i.l2_bytes,
                            i.max_smem_bytes_per_cta, i.max_clock_mhz})
                      .value();  // there is a description of each usable compute capability
  return d;
}

/// The current device (cudaSetDevice); each is looked at once.
seen_device const& current_device() {
  static std::shared_mutex mutex;
  static std::map<int, seen_device> seen;  // by ordinal; its elements stay where they are
  int ordinal = 0;
  static_cast<void>(taken(cudaGetDevice(&ordinal)));  // look() says what is wrong
  {
    std::shared_lock const lock(mutex);
    if (auto const at = seen.find(ordinal); at != seen.end()) return at->second;
  }
  std::unique_lock const lock(mutex);
  auto const at = seen.find(ordinal);
  if (at != seen.end()) return at->second;
  return seen.emplace(ordinal, look_and_describe(ordinal)).first->second;
}

}  // namespace

gpu_info const& gpu() { return current_device().info; }

device const& gpu_device() {
  seen_device const& here = current_device();
  if (!here.info.usable) throw rejected(here.info.why_not);
  return here.description;
}

void gemm(gemm_plan const& plan, gemm_operands const& given, cudaStream_t stream,
          launch_options const& how) {
  if (gpu_info const& here = gpu(); !here.usable) throw rejected(here.why_not);
  check_plan(plan);
  launch_range const range(plan.kernel.c_str());
  void* zeros = nullptr;
  if (plan.problem.k == 0)
    must(cudaGetSymbolAddress(&zeros, gemm_zeros), "address of zeros for K = 0");
  launch_form const form = form_of(plan, given, zeros);
  bool const early = how.pdl.value_or(plan.starts_early);
  if (form.any(form.copies))
    must(repitch_operands(form.copies, stream, early),
         "launch that copies operands to padded lines");
  if (form.any(form.rearranged))
    must(rearrange_operands(form.rearranged, stream, early),
         "launch that copies operands to K-major lines");
  if (form.any(form.factors))
    must(copy_scales(form.factors, stream, early), "launch that copies scales to the order 32x4x4");
  if (form.ordered.to != nullptr)
    must(copy_in_order(form.ordered, stream, early), "launch that copies rows in order");
  // After a copy of operands the GEMM starts early, and sets itself up during the copy. After a
  // copy of rows it takes longer if it does (docs/decisions/0089).
  bool const pdl = form.ordered.to == nullptr && (early || form.copied());
  must(static_cast<cudaError_t>(plan.family->launch_gpu(plan, form, stream, pdl)), "kernel launch");
  if (!plan.stage_d) return;
  for (std::int64_t i = 0; i < plan.problem.batch; ++i) {
    if (is_block_result(plan.problem)) {
      quantize_blocks(block_quantisation_of(plan, given, i), stream);
      continue;
    }
    staged_quantisation const q = quantisation_of(plan, given, i);
    quantize(q.problem, q.operands, stream);
  }
}

void gemm(gemm_problem const& p, gemm_operands const& o, cudaStream_t stream,
          launch_options const& how) {
  if (computes_nothing(p)) return;
  seen_device const& here = current_device();
  if (!here.info.usable) throw rejected(here.info.why_not);
  gemm(*cached_plan(p, o, here.description, here.ordinal), o, stream, how);
}

void gemm(gemm_plan const& plan, gemm_operands const& o, gate_form const& gate,
          cudaStream_t stream) {
  if (gpu_info const& here = gpu(); !here.usable) throw rejected(here.why_not);
  launch_range const range(plan.kernel.c_str());
  must(static_cast<cudaError_t>(
           plan.family->launch_gpu_gated(plan, form_of(plan, o), gate, stream, plan.starts_early)),
       "launch of a GEMM with a gate");
}

}  // namespace tw
