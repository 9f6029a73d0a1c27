// SPDX-License-Identifier: Apache-2.0
// device_copy.hpp  A matrix of the tests on a GPU, at an address with the alignment of the
// original.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/kernel/gemm_cases.hpp"

namespace tw::test {

inline void must(cudaError_t e, char const* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (e == cudaSuccess) return;
  std::printf("%s:%d: %s\n", file, line, cudaGetErrorString(e));
  std::exit(1);
}

/// The bytes of a matrix of the host on the device; fetch() brings those of a result back.
class device_copy {
 public:
  explicit device_copy(matrix& m) : host_(m) {
    if (m.bytes.empty()) return;
    auto const odd = reinterpret_cast<std::uintptr_t>(m.bytes.data()) % 16;
    must(cudaMalloc(&memory_, m.bytes.size() + odd));
    first_ = static_cast<std::byte*>(memory_) + odd;
    must(cudaMemcpy(first_, m.bytes.data(), m.bytes.size(), cudaMemcpyHostToDevice));
    data = first_ + m.offset_bytes;
    if (m.addresses.empty()) return;
    std::vector<void*> there;
    for (void* x : m.addresses)
      there.push_back(first_ + (static_cast<std::byte*>(x) - m.bytes.data()));
    must(cudaMalloc(&addresses, there.size() * sizeof(void*)));
    must(cudaMemcpy(addresses, there.data(), there.size() * sizeof(void*), cudaMemcpyHostToDevice));
  }
  ~device_copy() {
    static_cast<void>(cudaFree(memory_));
    static_cast<void>(cudaFree(addresses));
  }
  device_copy(device_copy const&) = delete;
  device_copy& operator=(device_copy const&) = delete;
  void fetch() const {
    must(cudaMemcpy(host_.bytes.data(), first_, host_.bytes.size(), cudaMemcpyDeviceToHost));
  }

  void* data = nullptr;
  void** addresses = nullptr;  // of a batch by pointers

 private:
  matrix& host_;
  void* memory_ = nullptr;
  std::byte* first_ = nullptr;
};

}  // namespace tw::test
