// SPDX-License-Identifier: Apache-2.0
// device_memory.cu  cudaMalloc, strided copies, events; each failure is a rejection.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <memory>

#include "tools/operand/device_memory.hpp"

namespace tw {
namespace {

void must(cudaError_t e, char const* what) {
  if (e == cudaSuccess) return;
  cudaGetLastError();  // a failed call must not be reported again by the next check
  bool const memory = e == cudaErrorMemoryAllocation;
  throw rejected({memory ? "TW0507" : "TW0506", what, cudaGetErrorString(e), "success", ""});
}

std::size_t count(bytes n) { return static_cast<std::size_t>(n.count); }

/// Copies the lines of `m` between two pitches; at once where CUDA's strided copy can (its pitches
/// are below 2^31 bytes), else one by one.
void copy_lines(void* to, bytes to_pitch, void const* from, bytes from_pitch, matrix_view const& m,
                cudaMemcpyKind kind) {
  constexpr bytes pitch_limit{(std::int64_t{1} << 31) - 1};
  std::size_t const line = count(m.line()), lines = static_cast<std::size_t>(m.lines());
  if (to_pitch == from_pitch) {
    must(cudaMemcpy(to, from, line * lines, kind), "copy between host and GPU");
  } else if (to_pitch < pitch_limit && from_pitch < pitch_limit) {
    must(cudaMemcpy2D(to, count(to_pitch), from, count(from_pitch), line, lines, kind),
         "copy between host and GPU");
  } else {
    for (std::size_t i = 0; i < lines; ++i) {
      must(cudaMemcpy(static_cast<char*>(to) + i * count(to_pitch),
                      static_cast<char const*>(from) + i * count(from_pitch), line, kind),
           "copy between host and GPU");
    }
  }
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

device_workspace::device_workspace(std::int64_t bytes) {
  must(cudaMalloc(&data_, static_cast<std::size_t>(bytes)), "workspace in GPU memory");
  must(cudaMemset(data_, 0, gemm_workspace_zeros), "clearing of the workspace");
}
device_workspace::~device_workspace() { cudaFree(data_); }

device_matrix::device_matrix(matrix_view const& host) : host_(host), desc_(host.desc()) {
  desc_ = host.desc(elements_in(host.type, host.padded_line()).count);
  must(cudaMalloc(&data_, count(host.padded_size())), "memory for a matrix on the GPU");
}

device_matrix::~device_matrix() { cudaFree(data_); }

void device_matrix::upload() {
  copy_lines(data_, host_.padded_line(), host_.data, host_.line(), host_, cudaMemcpyHostToDevice);
}

void device_matrix::download(std::byte* to) const {
  copy_lines(to, host_.line(), data_, host_.padded_line(), host_, cudaMemcpyDeviceToHost);
}

device_stream::device_stream() {
  must(cudaStreamCreateWithFlags(&at_, cudaStreamNonBlocking), "a stream");
}
device_stream::~device_stream() { cudaStreamDestroy(at_); }
void device_stream::synchronize() const { must(cudaStreamSynchronize(at_), "the GEMM on the GPU"); }

device_time time_on_device(std::function<void(cudaStream_t)> const& work) {
  event const start = make_event(), stop = make_event();
  auto const seconds_of = [&](int runs) {
    must(cudaEventRecord(start.get(), nullptr), "start of the GPU clock");
    for (int i = 0; i < runs; ++i) work(nullptr);
    must(cudaEventRecord(stop.get(), nullptr), "stop of the GPU clock");
    must(cudaEventSynchronize(stop.get()), "the GEMM on the GPU");
    float milliseconds = 0;
    must(cudaEventElapsedTime(&milliseconds, start.get(), stop.get()), "the GPU clock");
    return static_cast<double>(milliseconds) * 1e-3 / runs;
  };
  double const warm_up = seconds_of(1);
  int const runs = static_cast<int>(std::clamp(0.02 / std::max(warm_up, 1e-9), 1.0, 20.0));
  return {seconds_of(runs), runs};
}

}  // namespace tw
