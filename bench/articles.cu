// SPDX-License-Identifier: Apache-2.0
// articles.cu  Two kernels of the ladder as an article measured them: rung 5 with one consumer,
//              whose sums are spilled, and the cycles of a load, a multiply and a store of rung 3.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "ladder/03_larger_tiles.hpp"
#include "ladder/05_two_consumers.hpp"
#include "tilewright/arch/cuda/launch.hpp"

namespace {

using namespace ladder;

bool failed(cudaError_t e, char const* what) {
  if (e != cudaSuccess) std::printf("%s: %s\n", what, cudaGetErrorString(e));
  return e != cudaSuccess;
}

/// Numbers from -1 to 1.
__global__ void fill(bf16* x, long count, unsigned seed) {
  for (long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<long>(gridDim.x) * blockDim.x) {
    unsigned h = static_cast<unsigned>(i) * 2654435761U + seed;
    h ^= h >> 15, h *= 0x2C1B3C6DU, h ^= h >> 12;
    x[i] = to_bf16((static_cast<int>(h & 0xFF) - 128) / 128.0F);
  }
}
__global__ void count_differing(bf16 const* x, bf16 const* y, long count,
                                unsigned long long* found) {
  for (long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<long>(gridDim.x) * blockDim.x)
    if (to_float(x[i]) != to_float(y[i])) atomicAdd(found, 1ULL);
}

/// Cycles of thread 0 of a CTA: of all waits for a load, all multiplies, and the store.
struct cycles {
  unsigned long long load, multiply, store;
};

/// Rung 3 with a clock.
struct timed_03 : rung_03<> {
  struct params : rung_03<>::params {
    cycles* of_cta;
  };
  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const m = cta_id() / (p.n / bn), n = cta_id() % (p.n / bn);
    if (thread_id() == 0) {
      s.ab_landed.init(threads);
      fence_mbarrier_init();
    }
    cta_sync();
    auto const sA = make_tensor<a_tile>(make_smem_ptr<1024>(s.a));
    auto const sB = make_tensor<b_tile>(make_smem_ptr<1024>(s.b));
    accumulators<mma, bm, bn> sums;
    set_to_zero(sums);
    cycles spent{};
    for (int k = 0; k < p.k / bk; ++k) {
      auto const begin = sm_clock();
      s.ab_landed.wait(thread_id() == 0 ? load(p, s, m, n, k) : s.ab_landed.arrive());
      auto const landed = sm_clock();
      fence(sums);
      gemm<mma>(sA, sB, sums, true);
      wgmma_commit();
      wait(sums);
      auto const multiplied = sm_clock();
      cta_sync();
      spent.load += landed - begin;
      spent.multiply += multiplied - landed;
    }
    auto const begin = sm_clock();
    store(p, sums, m, n);
    cta_sync();
    spent.store = sm_clock() - begin;
    if (thread_id() == 0) p.of_cta[cta_id()] = spent;
  }
};

/// The median of seven times of eight launches.
template <class Kernel>
bool measure(char const* name, bf16* a, bf16* b, bf16* d, int n) {
  problem const x{a, b, d, n, n, n, n, n, n, 132, target::gpu};
  typename Kernel::params const p = Kernel::params_of(x);
  cudaEvent_t begin{}, end{};
  cudaEventCreate(&begin), cudaEventCreate(&end);
  std::vector<float> ms;
  for (int round = 0; round < 8; ++round) {
    cudaEventRecord(begin);
    for (int i = 0; i < 8; ++i)
      if (failed(tw::launch<Kernel>(Kernel::ctas(x), p, nullptr), name)) return false;
    cudaEventRecord(end);
    if (failed(cudaDeviceSynchronize(), name)) return false;
    float of_eight = 0;
    cudaEventElapsedTime(&of_eight, begin, end);
    if (round > 0) ms.push_back(of_eight / 8);
  }
  std::sort(ms.begin(), ms.end());
  double const flop = 2.0 * n * n * n;
  std::printf("%-36s %5d  median %8.1f us  %6.1f TFLOP/s (%.1f to %.1f)\n", name, n, 1e3 * ms[3],
              flop / ms[3] * 1e-9, flop / ms[6] * 1e-9, flop / ms[0] * 1e-9);
  return true;
}

/// Medians over the CTAs, of one that runs alone and of all.
bool measure_cycles(bf16* a, bf16* b, bf16* d, int n) {
  problem const x{a, b, d, n, n, n, n, n, n, 132, target::gpu};
  timed_03::params p;
  static_cast<rung_03<>::params&>(p) = rung_03<>::params_of(x);
  int const all = rung_03<>::ctas(x), blocks = n / rung_03<>::bk;
  if (failed(cudaMallocManaged(&p.of_cta, all * sizeof(cycles)), "cycles")) return false;
  for (int const ctas : {1, 132, all}) {
    for (int again = 0; again < 2; ++again)
      if (failed(tw::launch<timed_03>(ctas, p, nullptr), "timed_03")) return false;
    if (failed(cudaDeviceSynchronize(), "timed_03")) return false;
    std::vector<unsigned long long> load, multiply, store;
    for (int i = 0; i < ctas; ++i) {
      load.push_back(p.of_cta[i].load / blocks);
      multiply.push_back(p.of_cta[i].multiply / blocks);
      store.push_back(p.of_cta[i].store);
    }
    for (auto* list : {&load, &multiply, &store}) std::sort(list->begin(), list->end());
    std::printf("rung 3, %5d, %5d CTAs: cycles of a load %llu, a multiply %llu, the store %llu\n",
                n, ctas, load[ctas / 2], multiply[ctas / 2], store[ctas / 2]);
  }
  cudaFree(p.of_cta);
  return true;
}

}  // namespace

int main() {
  cudaDeviceProp props;
  if (failed(cudaGetDeviceProperties(&props, 0), "GPU")) return 1;
  std::printf("%s, %d SMs\n", props.name, props.multiProcessorCount);
  long const count = 8192L * 8192;
  bf16 *a = nullptr, *b = nullptr, *d = nullptr, *other = nullptr;
  unsigned long long* found = nullptr;
  for (bf16** p : {&a, &b, &d, &other})
    if (failed(cudaMalloc(p, 2 * count), "memory")) return 1;
  if (failed(cudaMallocManaged(&found, 8), "memory")) return 1;
  fill<<<1024, 256>>>(a, count, 1);
  fill<<<1024, 256>>>(b, count, 2);
  constexpr config one{.consumers = 1, .set_registers = false}, same{.set_registers = false};
  for (int const n : {4096, 8192}) {
    *found = 0;
    if (!measure<rung_05<one>>("one consumer, spilled", a, b, d, n) ||
        !measure<rung_05<same>>("two consumers, without setmaxnreg", a, b, other, n))
      return 1;
    count_differing<<<1024, 256>>>(d, other, static_cast<long>(n) * n, found);
    if (failed(cudaDeviceSynchronize(), "compare")) return 1;
    std::printf("elements that differ: %llu\n", *found);
    if (!measure<rung_05<>>("two consumers", a, b, other, n) || !measure_cycles(a, b, d, n))
      return 1;
  }
}
