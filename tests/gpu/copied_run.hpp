// SPDX-License-Identifier: Apache-2.0
// copied_run.hpp  A GEMM of operands in host memory on a GPU: copies there and back.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/gpu/device_copy.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/problem/operand.hpp"

namespace tw::test {

/// Operands on the GPU, at addresses with the alignment that they have on the host, results between
/// bytes of 0xA5.
class copied_operands {
 public:
  copied_operands(gemm_problem const& p, gemm_operands const& host) : host_(host), there_(host) {
    for (operand_desc const& x : operands_of(p)) {
      void const* const from = address(host, x.is);
      if (from == nullptr || x.bytes() == 0) continue;
      auto const odd = reinterpret_cast<std::uintptr_t>(from) % 256;
      part one{const_cast<void*>(from), nullptr, static_cast<std::size_t>(x.bytes()), guard + odd,
               x.written};
      must(cudaMalloc(&one.memory, one.bytes + 2 * guard + 256));
      must(cudaMemset(one.memory, guard_byte, one.bytes + 2 * guard + 256));
      must(cudaMemcpy(one.data(), from, one.bytes, cudaMemcpyHostToDevice));
      set_address(there_, x.is, one.data());
      parts_.push_back(one);
    }
    if (host.group_status != nullptr) {
      must(cudaMalloc(&status_, sizeof(std::uint32_t)));
      must(cudaMemset(status_, 0, sizeof(std::uint32_t)));
      there_.group_status = static_cast<std::uint32_t*>(status_);
    }
    must(cudaMalloc(&space_, room));
    must(cudaMemset(space_, 0, room));
    there_.workspace = space_, there_.workspace_bytes = room;
  }
  ~copied_operands() {
    for (part const& x : parts_) static_cast<void>(cudaFree(x.memory));
    static_cast<void>(cudaFree(status_));
    static_cast<void>(cudaFree(space_));
  }
  copied_operands(copied_operands const&) = delete;
  copied_operands& operator=(copied_operands const&) = delete;

  gemm_operands const& there() const { return there_; }

  /// Results from the host again.
  void refill() const {
    for (part const& x : parts_)
      if (x.written) must(cudaMemcpy(x.data(), x.host, x.bytes, cudaMemcpyHostToDevice));
  }

  /// Results and the status to the host. False if a byte next to a result was written.
  bool fetch() const {
    bool clean = true;
    for (part const& x : parts_) {
      if (!x.written) continue;
      must(cudaMemcpy(x.host, x.data(), x.bytes, cudaMemcpyDeviceToHost));
      std::vector<unsigned char> all(x.bytes + 2 * guard + 256);
      must(cudaMemcpy(all.data(), x.memory, all.size(), cudaMemcpyDeviceToHost));
      for (std::size_t i = 0; i < all.size(); ++i)
        if ((i < x.begin || i >= x.begin + x.bytes) && all[i] != guard_byte) clean = false;
    }
    if (status_ != nullptr)
      must(cudaMemcpy(host_.group_status, status_, sizeof(std::uint32_t), cudaMemcpyDeviceToHost));
    return clean;
  }

 private:
  static constexpr std::size_t guard = 4096;
  static constexpr int guard_byte = 0xA5;
  static constexpr std::int64_t room = std::int64_t{8} << 20;
  struct part {
    void* host;
    void* memory;
    std::size_t bytes, begin;
    bool written;
    std::byte* data() const { return static_cast<std::byte*>(memory) + begin; }
  };
  gemm_operands host_, there_;
  std::vector<part> parts_;
  void *status_ = nullptr, *space_ = nullptr;
};

/// Runs a plan of `p` on copies of the operands, and copies the results back. False if a byte
/// next to a result was written.
inline bool run_copied(gemm_plan const& plan, gemm_problem const& p, gemm_operands const& host) {
  copied_operands const o(p, host);
  gemm(plan, o.there(), nullptr);
  if (cudaError_t const e = cudaDeviceSynchronize(); e != cudaSuccess) {  // no later call works
    std::fprintf(stderr, "%s of %lldx%lldx%lld: %s\n", plan.kernel.c_str(),
                 static_cast<long long>(p.m), static_cast<long long>(p.n),
                 static_cast<long long>(p.k), cudaGetErrorString(e));
    std::_Exit(1);
  }
  return o.fetch();
}

}  // namespace tw::test
