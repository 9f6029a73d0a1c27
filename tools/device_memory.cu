// SPDX-License-Identifier: Apache-2.0
// device_memory.cu  cudaMalloc, strided copies, events; each failure is a rejection.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <memory>

#include "tools/device_memory.hpp"

namespace tw {
namespace {

void must(cudaError_t e, char const* what) {
  if (e == cudaSuccess) return;
  cudaGetLastError();  // a failed call must not be reported again by the next check
  bool const memory = e == cudaErrorMemoryAllocation;
  throw rejected({memory ? "TW0507" : "TW0506", what, cudaGetErrorString(e), "success", ""});
}

/// Rows of memory: what is contiguous, how often it comes.
struct lines {
  std::size_t bytes, pitch_bytes, count;
};

lines lines_of(matrix_view const& m) {
  bool const by_rows = m.ord == order::row_major;
  auto const inner = static_cast<std::size_t>(by_rows ? m.cols : m.rows);
  std::size_t const line_bytes = inner * static_cast<std::size_t>(size_bytes(m.type));
  return {line_bytes, (line_bytes + 15) / 16 * 16,
          static_cast<std::size_t>(by_rows ? m.rows : m.cols)};
}

struct event_release {
  void operator()(cudaEvent_t e) const { cudaEventDestroy(e); }
};
using event = std::unique_ptr<CUevent_st, event_release>;

event make_event() {
  cudaEvent_t e = nullptr;
  must(cudaEventCreate(&e), "a GPU event");
  return event(e);
}

}  // namespace

bool built_with_cuda() { return true; }

bytes free_device_memory() {
  std::size_t available = 0, total = 0;
  must(cudaMemGetInfo(&available, &total), "size of the GPU memory");
  return {static_cast<std::int64_t>(available)};
}

bytes device_size(matrix_view const& host) {
  lines const l = lines_of(host);
  return {static_cast<std::int64_t>(l.pitch_bytes * l.count)};
}

device_matrix::device_matrix(matrix_view const& host) : host_(host), desc_(host.desc()) {
  lines const l = lines_of(host);
  desc_.pitch_elems = static_cast<std::int64_t>(l.pitch_bytes) / size_bytes(host.type);
  must(cudaMalloc(&data_, l.pitch_bytes * l.count), "memory for a matrix on the GPU");
}

device_matrix::~device_matrix() { cudaFree(data_); }

void device_matrix::upload() {
  lines const l = lines_of(host_);
  must(cudaMemcpy2D(data_, l.pitch_bytes, host_.data, l.bytes, l.bytes, l.count,
                    cudaMemcpyHostToDevice),
       "copy to the GPU");
}

void device_matrix::download(std::byte* to) const {
  lines const l = lines_of(host_);
  must(cudaMemcpy2D(to, l.bytes, data_, l.pitch_bytes, l.bytes, l.count, cudaMemcpyDeviceToHost),
       "copy from the GPU");
}

device_time time_on_device(std::function<void(cudaStream_t)> const& work) {
  event const start = make_event(), stop = make_event();
  auto const seconds_of = [&](int runs) {
    must(cudaEventRecord(start.get(), nullptr), "start of the GPU clock");
    for (int i = 0; i < runs; ++i) work(nullptr);
    must(cudaEventRecord(stop.get(), nullptr), "stop of the GPU clock");
    must(cudaEventSynchronize(stop.get()), "the product on the GPU");
    float milliseconds = 0;
    must(cudaEventElapsedTime(&milliseconds, start.get(), stop.get()), "the GPU clock");
    return static_cast<double>(milliseconds) * 1e-3 / runs;
  };
  double const warm_up = seconds_of(1);
  int const runs = static_cast<int>(std::clamp(0.02 / std::max(warm_up, 1e-9), 1.0, 20.0));
  return {seconds_of(runs), runs};
}

}  // namespace tw
