// SPDX-License-Identifier: Apache-2.0
// hazard_kernels.hpp  Kernels around a small body, and what a run of one shows.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/arch/select.hpp"

namespace tw::test {

struct hazard_smem {
  alignas(1024) std::uint64_t a[2][1024];  // boxes of 64 x 64 bf16
  alignas(1024) std::uint64_t b[2][1024];
  alignas(1024) float x[1024];
  mbarrier full[2], empty[2];
  std::uint32_t tensor_at;
  launch_response answer;
};

/// `inner`: 128 x 64 bf16 in boxes of 64 x 64 with the 128-byte swizzle.
struct hazard_params {
  tensor_map inner;
};

/// Body{}.operator()<Broken>(smem, params) for each of `Threads` threads.
template <class Body, bool Broken, int Threads, int Cluster>
struct hazard_kernel {
  using params = hazard_params;
  using smem = hazard_smem;
  static constexpr int threads = Threads, cluster = Cluster, smem_bytes = sizeof(smem);
  static void run(params const& p) {
    enter_role("test");
    Body{}.template operator()<Broken>(dynamic_smem<smem>(), p);
  }
};

/// full[i] and empty[i] of one arrival, known to everybody.
inline void make_barriers(hazard_smem& s) {
  if (thread_id() == 0) {
    for (int i = 0; i < 2; ++i) {
      s.full[i].init(1);
      s.empty[i].init(1);
    }
    fence_mbarrier_init();
  }
  cluster_sync();
}
/// Thread 0 loads the box of columns from `column` on; full[bar] counts its bytes.
inline void load(hazard_smem& s, hazard_params const& p, void* to, int column, int bar = 0,
                 emu::site where = emu::site::here()) {
  if (thread_id() != 0) return;
  s.full[bar].arrive_expect_tx(8192);
  tma_load(to, p.inner, s.full[bar], tma_coord{column, 0}, where);
}
inline smem_desc operand(void const* tile, std::uint32_t stride = 1024,
                         swizzle_mode mode = swizzle_mode::b128) {
  return make_smem_desc(smem_addr(tile), 16, stride, mode);
}
inline void multiply(accumulator<64>& acc, smem_desc a, smem_desc b,
                     emu::site where = emu::site::here()) {
  wgmma<elem::bf16, operand_major::k, operand_major::k>(acc, a, b, false, where);
}

inline emu::options scheduled(int schedule) {
  emu::options o;
  o.policy = schedule == 0   ? emu::async_policy::eager
             : schedule == 1 ? emu::async_policy::lazy
                             : emu::async_policy::random;
  o.seed = static_cast<std::uint64_t>(7 + schedule);
  o.os_threads = 1;
  return o;
}

/// Each diagnosis as it is printed: at most 12 lines of at most 100 columns.
void expect_readable(emu::report const& r);

template <bool Broken, int Threads = 128, int Cluster = 1, class Body>
emu::report run_body(Body, emu::options const& o) {
  std::vector<std::uint16_t> memory(128 * 64);  // malloc aligns to 16 bytes, as TMA needs
  tensor_map_desc d;
  d.base = memory.data();
  d.dim[0] = 128;
  d.dim[1] = 64;
  d.stride_bytes[0] = 256;
  d.box[0] = d.box[1] = 64;
  d.swizzle = swizzle_mode::b128;
  hazard_params const p{make_tensor_map(d, target::emu)};
  return emu::run<hazard_kernel<Body, Broken, Threads, Cluster>, plain_accesses_seen>({}, Cluster,
                                                                                      p, o);
}

}  // namespace tw::test
