// SPDX-License-Identifier: Apache-2.0
// memory.cu  Loops of loads that hit one level, and chains of pointers through one level.
#include "tools/command/bench/memory.hpp"

#include <algorithm>

#include "tilewright/base/hd.hpp"
#include "tools/measure/gpu/buffer.hpp"
#include "tools/measure/gpu/check.hpp"
#include "tools/measure/statistics.hpp"

namespace tw::bench {
namespace {

constexpr int threads = 1024, ctas_per_sm = 2, unroll = 8;
constexpr std::int64_t smem_words = 2048;                  // of 16 bytes: 32 KiB of a CTA
constexpr std::int64_t l1_words = 1024;                    // 16 KiB, the same for all CTAs
constexpr std::int64_t l2_bytes = std::int64_t{16} << 20;  // of 50 MB, which two halves share
constexpr std::int64_t line_bytes = 128;
constexpr std::int64_t l1_lines = 128, l2_lines = 16384;    // of the chains: 16 KiB, 2 MiB
constexpr std::int64_t dram_lines = std::int64_t{1} << 22;  // 512 MiB
constexpr std::int64_t dram_step = 65;                      // lines from one load to the next
constexpr int dram_loads = 4096;
constexpr std::size_t flush_bytes = std::size_t{256} << 20;

// The loads are volatile: the compiler neither moves nor removes them. In shared memory the
// instruction is volatile too: otherwise ptxas merges loads of one address, and an H100 seems to
// read 504 bytes per clock and SM instead of at most 128.
__device__ uint4 load_shared(unsigned address) {
  uint4 v;
  asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(address));
  return v;
}
template <bool L1>
__device__ uint4 load_global(uint4 const* p) {
  uint4 v;
  if constexpr (L1)
    asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p));
  else
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p));
  return v;
}

/// The thread's i-th word of those at `base`.
__device__ unsigned word_at(unsigned base, unsigned i) {
  return base + 16 * ((threadIdx.x + i * threads) % static_cast<unsigned>(smem_words));
}

__device__ unsigned mixed(uint4 v) { return v.x ^ v.y ^ v.z ^ v.w; }

/// Reads `count` words of 16 bytes `rounds` times unroll times with each thread.
__global__ void __launch_bounds__(threads) read_shared(int rounds, unsigned* sink) {
  __shared__ uint4 words[smem_words];
  for (int i = threadIdx.x; i < smem_words; i += threads) words[i] = make_uint4(i, 1, 2, 3);
  __syncthreads();
  auto const base = static_cast<unsigned>(__cvta_generic_to_shared(words));
  unsigned sum = 0;
  for (int r = 0; r < rounds; ++r) {
    uint4 v[unroll];
    TW_UNROLL
    for (int i = 0; i < unroll; ++i) v[i] = load_shared(word_at(base, i));
    TW_UNROLL
    for (int i = 0; i < unroll; ++i) sum ^= mixed(v[i]);
  }
  if (sum == 0x5EED5EEDU) *sink = sum;
}

/// Every CTA reads all `count` words, a power of two; CTAs begin at different places.
template <bool L1>
__global__ void __launch_bounds__(threads)
    read_global(uint4 const* data, std::int64_t count, int rounds, unsigned* sink) {
  std::int64_t at = threadIdx.x + (L1 ? 0 : static_cast<std::int64_t>(blockIdx.x) * 7919 * threads);
  unsigned sum = 0;
  for (int r = 0; r < rounds; ++r) {
    uint4 v[unroll];
    TW_UNROLL
    for (int i = 0; i < unroll; ++i)
      v[i] = load_global<L1>(data + ((at + i * threads) & (count - 1)));
    at += unroll * threads;
    TW_UNROLL
    for (int i = 0; i < unroll; ++i) sum ^= mixed(v[i]);
  }
  if (sum == 0x5EED5EEDU) *sink = sum;
}

/// The first word of each line holds the address of the line `step` further on.
__global__ void make_chain(char* base, std::int64_t lines, std::int64_t step) {
  std::int64_t const all = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < lines; i += all)
    *reinterpret_cast<char**>(base + i * line_bytes) = base + (i + step) % lines * line_bytes;
}

/// Follows a chain; clocks of the last `loads` of `warm_up` + `loads`.
template <bool L1>
__global__ void follow_global(char* base, int warm_up, int loads, long long* clocks, char** sink) {
  char* at = base;
  long long begin = 0;
  for (int i = -warm_up; i < loads; ++i) {
    if (i == 0) begin = clock64();
    if constexpr (L1)
      asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at)::"memory");
    else
      asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at)::"memory");
  }
  *sink = at;  // its value is needed before the clock is read again
  *clocks = clock64() - begin;
}

__global__ void follow_shared(int loads, long long* clocks, unsigned* sink) {
  __shared__ unsigned chain[256];
  auto const base = static_cast<unsigned>(__cvta_generic_to_shared(chain));
  for (int i = 0; i < 256; ++i) chain[i] = base + 4 * ((i + 33) % 256);
  __syncthreads();
  unsigned at = base;
  long long const begin = clock64();
  for (int i = 0; i < loads; ++i) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at)::"memory");
  *sink = at;
  *clocks = clock64() - begin;
}

// ---- the shared memory of the other CTA of a pair: distributed shared memory ----

__device__ void pair_sync() {
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

/// The address of `own` in the other CTA of the pair.
__device__ unsigned in_the_other(unsigned own) {
  unsigned rank, address;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(own), "r"(rank ^ 1));
  return address;
}

/// As read_shared, of the other CTA's words.
__global__ void __cluster_dims__(2) __launch_bounds__(threads)
    read_pair(int rounds, unsigned* sink) {
  __shared__ uint4 words[smem_words];
  for (int i = threadIdx.x; i < smem_words; i += threads) words[i] = make_uint4(i, 1, 2, 3);
  pair_sync();
  unsigned const base = in_the_other(static_cast<unsigned>(__cvta_generic_to_shared(words)));
  unsigned sum = 0;
  for (int r = 0; r < rounds; ++r) {
    uint4 v[unroll];
    TW_UNROLL
    for (int i = 0; i < unroll; ++i)
      asm volatile("ld.volatile.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(v[i].x), "=r"(v[i].y), "=r"(v[i].z), "=r"(v[i].w)
                   : "r"(word_at(base, i)));
    TW_UNROLL
    for (int i = 0; i < unroll; ++i) sum ^= mixed(v[i]);
  }
  if (sum == 0x5EED5EEDU) *sink = sum;
  pair_sync();  // the other CTA may still read
}

/// As follow_shared: CTA 0 follows a chain that lies in CTA 1.
__global__ void __cluster_dims__(2) follow_pair(int loads, long long* clocks, unsigned* sink) {
  __shared__ unsigned chain[256];
  auto const own = static_cast<unsigned>(__cvta_generic_to_shared(chain));
  // Addresses of a CTA's own words as the other one needs them: of rank 1, seen from anywhere.
  unsigned base;
  asm volatile("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(base) : "r"(own));
  for (int i = 0; i < 256; ++i) chain[i] = base + 4 * ((i + 33) % 256);
  pair_sync();
  if (blockIdx.x == 0) {
    unsigned at = base;
    long long const begin = clock64();
    for (int i = 0; i < loads; ++i)
      asm volatile("ld.shared::cluster.u32 %0, [%0];" : "+r"(at)::"memory");
    *sink = at;
    *clocks = clock64() - begin;
  }
  pair_sync();
}

/// Counters and sinks of the kernels.
struct scratch {
  device_buffer memory{256};
  long long* clocks() const { return reinterpret_cast<long long*>(memory.data()); }
  template <class T>
  T* sink() const {
    return reinterpret_cast<T*>(memory.data() + 128);
  }
  double read_clocks(int loads) const {
    long long value = 0;
    check(cudaMemcpy(&value, memory.data(), sizeof value, cudaMemcpyDeviceToHost), "clocks");
    return static_cast<double>(value) / loads;
  }
};

class meter {
 public:
  meter(measured_device& device, int rounds) : device_(device), rounds_(rounds) {}

  /// GB/s and bytes per clock of an SM of a kernel whose threads each load unroll words a round.
  template <class Launch>
  void rate(memory_row& row, int kernel_rounds, Launch const& launch) {
    double const bytes = 16.0 * unroll * kernel_rounds * threads * ctas();
    std::vector<double> gb_per_s, of_clock;
    for (int i = -1; i < rounds_; ++i) {
      sample const s = device_.watch().from_idle(1e-3, [&](cudaStream_t stream) {
        launch(stream);
        check(cudaGetLastError(), "launch of a read");
      });
      if (i < 0) continue;  // caches are cold
      gb_per_s.push_back(bytes / s.us * 1e-3);
      of_clock.push_back(bytes / (s.us * s.sm_mhz * device_.facts().sms));
    }
    row.gb_per_s = median(gb_per_s);
    row.bytes_per_clock_sm = median(of_clock);
  }

  /// Clocks of a load.
  template <class Launch>
  double latency(scratch const& s, int loads, Launch const& launch) {
    std::vector<double> clocks;
    for (int i = 0; i < rounds_; ++i) {
      launch(device_.watch().stream());
      check(cudaGetLastError(), "launch of a chain");
      device_.watch().wait();
      clocks.push_back(s.read_clocks(loads));
    }
    return median(clocks);
  }
  int ctas() const { return device_.facts().sms * ctas_per_sm; }

 private:
  measured_device& device_;
  int rounds_;
};

}  // namespace

std::vector<memory_row> measure_memory(measured_device& device, int rounds, double dram_gb_per_s) {
  meter m(device, rounds);
  scratch const s;
  device_buffer const data(l2_bytes), chain(dram_lines * line_bytes), other(flush_bytes);
  cudaStream_t const stream = device.watch().stream();
  check(cudaMemsetAsync(data.data(), 1, data.bytes(), stream), "cudaMemset");
  auto const* const words = reinterpret_cast<uint4 const*>(data.data());
  auto const new_chain = [&](std::int64_t lines, std::int64_t step) {
    make_chain<<<512, 256, 0, stream>>>(chain.data(), lines, step);
    check(cudaGetLastError(), "launch of make_chain");
    device.watch().wait();
  };
  memory_row smem{"shared memory"}, l1{"L1"}, l2{"L2"}, dram{"DRAM"};
  memory_row pair{"DSMEM"};

  constexpr int many = 4000, fewer = 400;
  m.rate(smem, many, [&](cudaStream_t on) {
    read_shared<<<m.ctas(), threads, 0, on>>>(many, s.sink<unsigned>());
  });
  m.rate(pair, many / 4, [&](cudaStream_t on) {
    read_pair<<<m.ctas(), threads, 0, on>>>(many / 4, s.sink<unsigned>());
  });
  m.rate(l1, many, [&](cudaStream_t on) {
    read_global<true><<<m.ctas(), threads, 0, on>>>(words, l1_words, many, s.sink<unsigned>());
  });
  m.rate(l2, fewer, [&](cudaStream_t on) {
    read_global<false>
        <<<m.ctas(), threads, 0, on>>>(words, l2_bytes / 16, fewer, s.sink<unsigned>());
  });
  dram.gb_per_s = dram_gb_per_s;

  constexpr int loads = 4096;
  smem.latency_clocks = m.latency(s, loads, [&](cudaStream_t on) {
    follow_shared<<<1, 1, 0, on>>>(loads, s.clocks(), s.sink<unsigned>());
  });
  pair.latency_clocks = m.latency(s, loads, [&](cudaStream_t on) {
    follow_pair<<<2, 1, 0, on>>>(loads, s.clocks(), s.sink<unsigned>());
  });
  new_chain(l1_lines, 1);
  l1.latency_clocks = m.latency(s, loads, [&](cudaStream_t on) {
    follow_global<true>
        <<<1, 1, 0, on>>>(chain.data(), l1_lines, loads, s.clocks(), s.sink<char*>());
  });
  new_chain(l2_lines, 1);
  l2.latency_clocks = m.latency(s, loads, [&](cudaStream_t on) {
    follow_global<false>
        <<<1, 1, 0, on>>>(chain.data(), l2_lines, loads, s.clocks(), s.sink<char*>());
  });
  new_chain(dram_lines, dram_step);
  dram.latency_clocks = m.latency(s, dram_loads, [&](cudaStream_t on) {
    check(cudaMemsetAsync(other.data(), 1, other.bytes(), on), "cudaMemset");  // takes all of L2
    follow_global<false><<<1, 1, 0, on>>>(chain.data(), 0, dram_loads, s.clocks(), s.sink<char*>());
  });
  return {smem, pair, l1, l2, dram};
}

}  // namespace tw::bench
