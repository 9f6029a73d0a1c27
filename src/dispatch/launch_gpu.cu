// SPDX-License-Identifier: Apache-2.0
// launch_gpu.cu  Runs a product on the GPU.
#include <cuda_runtime_api.h>

#include "dispatch/gpu_condition.hpp"
#include "dispatch/normal_form.hpp"
#include "dispatch/params.hpp"
#include "dispatch/repitch.hpp"
#include "registry/registry.hpp"

namespace tw {

namespace {

void must(cudaError_t e, char const* what) {
  if (e == cudaSuccess) return;
  cudaGetLastError();  // a failed call must not be reported again by the caller's next check
  throw rejected({e == cudaErrorMemoryAllocation ? "TW0507" : "TW0506", what, cudaGetErrorString(e),
                  "success", ""});
}

gpu_info look() {
  gpu_info i;
  gpu_facts f;
  int device = 0;
  cudaDeviceProp prop{};
  cudaError_t e = cudaGetDeviceCount(&f.devices);
  if (cudaDriverGetVersion(&f.driver_version) != cudaSuccess) f.driver_version = 0;
  f.driver_too_old = e == cudaErrorInsufficientDriver;
  if (e == cudaSuccess && f.devices > 0) e = cudaGetDevice(&device);
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

/// An operand copied to a pitch that TMA can address, in memory of the stream's pool.
class padded_operand {
 public:
  padded_operand(matrix_desc& m, extents e, std::int64_t batch, void const*& base,
                 cudaStream_t stream)
      : stream_(stream) {
    padded const to = padded_copy(m, e, batch);
    auto const elem_bytes = static_cast<std::size_t>(size_bytes(m.type));
    must(cudaMallocAsync(&memory_, static_cast<std::size_t>(to.bytes), stream),
         "workspace for a padded operand");
    cudaError_t const copied =
        to.matrices > 1 ? repitch(memory_, to, base, m, e, stream)
                        : cudaMemcpy2DAsync(
                              memory_, static_cast<std::size_t>(to.pitch_elems) * elem_bytes, base,
                              static_cast<std::size_t>(m.pitch_elems) * elem_bytes,
                              static_cast<std::size_t>(e.inner) * elem_bytes,
                              static_cast<std::size_t>(e.outer), cudaMemcpyDeviceToDevice, stream);
    if (copied != cudaSuccess) {
      cudaFreeAsync(memory_, stream);
      must(copied, "copy of an operand to a padded pitch");
    }
    m.pitch_elems = to.pitch_elems;
    m.batch_stride_elems = to.batch_stride_elems;
    base = memory_;
  }
  ~padded_operand() { cudaFreeAsync(memory_, stream_); }
  padded_operand(padded_operand const&) = delete;
  padded_operand& operator=(padded_operand const&) = delete;

 private:
  cudaStream_t stream_;
  void* memory_ = nullptr;
};

}  // namespace

gpu_info const& gpu() {
  static gpu_info const info = look();
  return info;
}

void gemm(gemm_plan const& plan, gemm_operands const& given, cudaStream_t stream) {
  if (!gpu().usable) throw rejected(gpu().why_not);
  check_operands(plan.problem, given);
  check_workspace(plan, given);
  registry::gpu_launcher const launcher = registry::find_gpu(plan.config);
  if (launcher == nullptr)
    throw rejected({"TW0505", "kernel", plan.kernel, "a kernel of the registry",
                    "the plan names what is not compiled in"});
  gemm_problem q = plan.normal;
  gemm_operands o = plan.swapped ? transposed(given) : given;
  std::optional<padded_operand> a, b;
  if (plan.repitch_a) a.emplace(q.a, extents_of_a(q), q.batch, o.a, stream);
  if (plan.repitch_b) b.emplace(q.b, extents_of_b(q), q.batch, o.b, stream);
  gemm_params const params = make_params(plan, q, o, target::gpu);
  must(static_cast<cudaError_t>(launcher(plan.clusters * plan.config.cluster(), params, stream)),
       "kernel launch");
}

void gemm(gemm_problem const& p, gemm_operands const& o, cudaStream_t stream) {
  if (!gpu().usable) throw rejected(gpu().why_not);
  gemm(plan_gemm(p, o, gpu().sms), o, stream);
}

}  // namespace tw
