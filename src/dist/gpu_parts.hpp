// SPDX-License-Identifier: Apache-2.0
// gpu_parts.hpp  Streams, events and pinned memory of a group, and errors of CUDA as refusals.
#pragma once

#include <cuda_runtime_api.h>

#include <new>

#include "tilewright/base/check.hpp"

namespace tw::dist {

/// Throws `rejected` TW0506, or TW0507 for memory.
inline void must(cudaError_t e, char const* what) {
  if (e == cudaSuccess) return;
  cudaGetLastError();  // a failed call must not be reported again by the next check
  throw rejected({e == cudaErrorMemoryAllocation ? "TW0507" : "TW0506", what, cudaGetErrorString(e),
                  "success", ""});
}

/// Pinned host memory that kernels write.
template <class T>
class pinned {
 public:
  pinned() {
    void* p = nullptr;
    must(cudaHostAlloc(&p, sizeof(T), cudaHostAllocPortable | cudaHostAllocMapped),
         "pinned memory of a group");
    at_ = new (p) T{};
  }
  ~pinned() { static_cast<void>(cudaFreeHost(at_)); }
  pinned(pinned const&) = delete;
  pinned& operator=(pinned const&) = delete;
  T& operator*() const { return *at_; }
  T* operator->() const { return at_; }
  T* get() const { return at_; }

 private:
  T* at_;
};

class stream {
 public:
  stream() {
    int low = 0, high = 0;
    must(cudaDeviceGetStreamPriorityRange(&low, &high), "priorities of streams");
    must(cudaStreamCreateWithPriority(&at_, cudaStreamNonBlocking, high), "stream of a group");
  }
  ~stream() { static_cast<void>(cudaStreamDestroy(at_)); }
  stream(stream const&) = delete;
  stream& operator=(stream const&) = delete;
  operator cudaStream_t() const { return at_; }

 private:
  cudaStream_t at_ = nullptr;
};

class event {
 public:
  event() { must(cudaEventCreateWithFlags(&at_, cudaEventDisableTiming), "event of a group"); }
  ~event() { static_cast<void>(cudaEventDestroy(at_)); }
  event(event const&) = delete;
  event& operator=(event const&) = delete;
  operator cudaEvent_t() const { return at_; }

 private:
  cudaEvent_t at_ = nullptr;
};

}  // namespace tw::dist
