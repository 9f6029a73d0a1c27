// SPDX-License-Identifier: Apache-2.0
// run_on_gpu.cu  The kernel with a record on the GPU, and the library's without, whose D must have
//                the same bits.
#include <cuda_runtime.h>

#include "family/bind.hpp"
#include "tools/command/stages/plan.hpp"
#include "tools/measure/gpu/buffer.hpp"
#include "tools/measure/gpu/check.hpp"
#include "tools/measure/gpu/data.hpp"

namespace tw::stages {
namespace {

using bench::check;
using bench::device_buffer;

template <class T>
std::vector<T> to_host(device_buffer const& from) {
  std::vector<T> host(from.bytes() / sizeof(T));
  check(cudaMemcpy(host.data(), from.data(), from.bytes(), cudaMemcpyDeviceToHost), "copy to host");
  return host;
}

}  // namespace

run run_on_gpu(request const& r) {
  device const& dev = gpu_device();
  auto const bytes = [](std::int64_t elems) { return static_cast<std::size_t>(2 * elems); };
  device_buffer const a(bytes(r.m * r.k)), b(bytes(r.n * r.k)), d(bytes(r.m * r.n));
  device_buffer const plain(d.bytes());
  bench::fill(a.data(), r.m * r.k, elem::bf16, bench::data_kind::normal, 1, nullptr);
  bench::fill(b.data(), r.n * r.k, elem::bf16, bench::data_kind::normal, 2, nullptr);
  gemm_operands o;
  o.a = a.data(), o.b = b.data(), o.d = d.data();
  gemm_plan const plan = plan_of(r, o, dev);
  launch_form const form = form_of(plan, o);
  int const ctas = plan.family->tiles(plan).ctas;
  int const roles = static_cast<int>(r.kernel->roles.size());
  auto const slots = static_cast<std::size_t>(ctas * roles);
  device_buffer const events(slots * log_capacity * sizeof(stage_event));
  device_buffer const counts(slots * sizeof(std::int32_t));
  stage_log const log{reinterpret_cast<stage_event*>(events.data()),
                      reinterpret_cast<std::int32_t*>(counts.data()), log_capacity};
  for (int i = 0; i < 2; ++i)  // the second finds the code in the caches
    check(static_cast<cudaError_t>(plan.family->launch_gpu_profiled(plan, form, log, nullptr)),
          "launch of the kernel with a record");
  check(cudaDeviceSynchronize(), "kernel with a record");
  run result{
      r.kernel,    dev.name,
      plan.kernel, r.m,
      r.n,         r.k,
      true,        records_of(to_host<stage_event>(events), to_host<std::int32_t>(counts), roles),
      {}};
  if (!plan.built) return result;
  gemm_operands other = o;
  other.d = plain.data();
  gemm(plan, other, nullptr);
  check(cudaDeviceSynchronize(), "kernel without a record");
  result.correct = to_host<std::uint16_t>(d) == to_host<std::uint16_t>(plain);
  return result;
}

}  // namespace tw::stages
