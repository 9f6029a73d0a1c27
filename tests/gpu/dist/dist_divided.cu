// SPDX-License-Identifier: Apache-2.0
// dist_divided.cu  Virtual ranks in one launch on one GPU: a GEMM with a gate, whose grid is
//                  divided over the ranks, multiplies while copies bring the rows of its ranks. All
//                  CTAs are resident. Exit 0 done, 1 wrong, 77 no Hopper.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "tilewright/arch/cuda/host.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tools/check/mutants/gated_gemm.hpp"

namespace {

using namespace tw;
using product = mutants::gated_product;
using kernel = divided_kernel<mutants::gated_gemm<gate_steps>, product::most_ranks>;

/// Blocks of host memory and their copies on the GPU.
class device_copies {
 public:
  template <class T>
  void add(T* host, std::size_t count) {
    if (count == 0) return;
    void* on_gpu = nullptr;
    host::must(cudaMalloc(&on_gpu, count * sizeof(T)), "memory");
    blocks_[host] = {count * sizeof(T), std::shared_ptr<void>(on_gpu, cudaFree)};
  }
  void upload() const {
    for (auto const& [at, b] : blocks_)
      host::must(cudaMemcpy(b.on_gpu.get(), at, b.bytes, cudaMemcpyDefault), "copy to the GPU");
  }
  void download() const {
    for (auto const& [at, b] : blocks_)
      host::must(cudaMemcpy(const_cast<void*>(at), b.on_gpu.get(), b.bytes, cudaMemcpyDefault),
                 "copy from the GPU");
  }
  /// The address on the GPU of a byte of a block.
  void const* at(void const* host) const {
    auto block = blocks_.upper_bound(host);
    if (block == blocks_.begin()) return host;
    --block;
    auto const offset =
        static_cast<std::byte const*>(host) - static_cast<std::byte const*>(block->first);
    return static_cast<std::byte const*>(block->second.on_gpu.get()) + offset;
  }

 private:
  struct block {
    std::size_t bytes;
    std::shared_ptr<void> on_gpu;
  };
  std::map<void const*, block> blocks_;
};

/// Two calls of all ranks; early: the copies before the launch, so that no gate waits. The number
/// of wrong elements and of failures.
long long check(std::vector<int> const& shards, bool early) {
  product p(shards);
  p.timeout_ns = 5'000'000'000;
  device_copies memory;
  for (auto const& x : p.of) {
    memory.add(&x->head, 1), memory.add(&x->report, 1);
    memory.add(x->own.data(), x->own.size());
    for (auto& r : x->received) memory.add(r.data(), r.size());
    memory.add(x->b.data(), x->b.size()), memory.add(x->d.data(), x->d.size());
  }
  p.moved = [&](void const* host) { return memory.at(host); };
  cudaStream_t gemm = nullptr, copies = nullptr;
  host::must(cudaStreamCreateWithFlags(&gemm, cudaStreamNonBlocking), "stream");
  host::must(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking), "stream");
  long long wrong = 0;
  for (int call = 0; call < 2; ++call) {
    auto const params =
        p.divided<kernel>(call, 0xFFFFFFFFU + static_cast<unsigned>(call), target::gpu);
    memory.upload();
    auto const send = [&] {
      for (int r = 0; r < p.ranks(); ++r)
        for (emu::engine_copy const& c : p.queue_of(r, 0, call).copies)
          host::must(cudaMemcpyAsync(const_cast<void*>(memory.at(c.to)), memory.at(c.from), c.bytes,
                                     cudaMemcpyDeviceToDevice, copies),
                     "copy of a rank");
    };
    if (early) {
      send();
      host::must(cudaStreamSynchronize(copies), "copies");
    }
    host::must(launch<kernel>(product::ctas * p.ranks(), params, gemm), "launch of all ranks");
    if (!early) send();
    host::must(cudaStreamSynchronize(gemm), "GEMM of all ranks");
    host::must(cudaStreamSynchronize(copies), "copies");
    memory.download();
    wrong += p.wrong_elements();
    for (auto const& x : p.of) wrong += x->report.whole != 0 ? 1 : 0;
  }
  cudaStreamDestroy(gemm), cudaStreamDestroy(copies);
  return wrong;
}

}  // namespace

int main() {
  if (!gpu().usable || gpu().compute_capability / 10 != 9) {
    std::printf("no Hopper GPU\n");
    return 77;
  }
  int failures = 0;
  for (auto const& shards :
       {std::vector<int>{101}, {64, 64}, {64, 101}, {70, 0, 122}, {64, 64, 64}, {33, 64, 1, 94}})
    for (bool const early : {true, false})
      for (int round = 0; round < 20; ++round) {
        long long const wrong = check(shards, early);
        if (wrong == 0) continue;
        std::printf("WRONG %zu ranks, copies %s the launch: %lld\n", shards.size(),
                    early ? "before" : "after", wrong);
        ++failures;
        break;
      }
  std::printf(failures == 0 ? "all right\n" : "%d cases are wrong\n", failures);
  return failures == 0 ? 0 : 1;
}
