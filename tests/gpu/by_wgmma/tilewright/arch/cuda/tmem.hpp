// SPDX-License-Identifier: Apache-2.0
// tmem.hpp  The names of arch/cuda/tmem.hpp for a Hopper GPU, which has no tensor memory: global
//           memory takes its place. In the include path before the library's headers
//           (tests/gpu/umma_by_wgmma.cu), so that Blackwell kernels compile for sm_90a unchanged.
//
// One CTA multiplies by itself. The warpgroup of umma.hpp beside this file works off a queue: what
// the kernel's threads issue asynchronously on Blackwell, it executes in the order of issue.
#pragma once

#include "tilewright/arch/cuda/identity.hpp"
#include "tilewright/arch/cuda/mbarrier.hpp"
#include "tilewright/arch/cuda/target.hpp"
#include "tilewright/arch/tensor_memory.hpp"

namespace tw {

namespace by_wgmma {

inline constexpr int most_ctas = 132, lanes = 128, columns = 512;

/// Neighbouring lanes of a column lie side by side: a load of a column is coalesced.
static __device__ std::uint32_t tensor_memory[most_ctas][columns][lanes];

TW_DEVICE std::uint32_t* cell(std::uint32_t address) {
  return &tensor_memory[cluster_id()][address & 0xFFFFU][address >> 16];
}

/// A multiply, or a commit to `done`.
struct operation {
  std::uint32_t d, idesc;
  bool accumulate;
  std::uint64_t a, b;  // umma_desc
  mbarrier* done;
};
/// Operations from `taken` to `issued`; one thread issues, and one warpgroup takes. 1024 bytes, so
/// that the kernel's own shared memory keeps its alignment.
struct alignas(1024) operation_queue {
  static constexpr unsigned length = 16;
  operation of[length];
  unsigned volatile issued, taken;
};
static_assert(sizeof(operation_queue) == 1024);

TW_DEVICE operation_queue& queue() {
  __shared__ operation_queue q;
  return q;
}
TW_DEVICE void clear_queue() {
  queue().issued = 0;
  queue().taken = 0;
}
TW_DEVICE void issue(operation const& op) {
  operation_queue& q = queue();
  unsigned const i = q.issued;
  while (i - q.taken >= operation_queue::length) {
  }
  q.of[i % operation_queue::length] = op;
  __threadfence_block();
  q.issued = i + 1;
}

}  // namespace by_wgmma

template <int Ctas = 1>
TW_DEVICE void tmem_alloc(std::uint32_t* address, int) {
  static_assert(Ctas == 1, "a Hopper GPU has no CTA pairs");
  if (lane_id() == 0) *address = 0;
}
template <int Ctas = 1>
TW_DEVICE void tmem_dealloc(std::uint32_t, int) {}
template <int Ctas = 1>
TW_DEVICE void tmem_relinquish() {}

template <tmem_shape S, int Count, int Split = 0>
TW_DEVICE tmem_words<S, Count> tmem_load(std::uint32_t address) {
  tmem_words<S, Count> v;
  TW_UNROLL
  for (int r = 0; r < tmem_registers(S, Count); ++r) {
    tmem_cell const at = tmem_cell_of(S, lane_id(), r, Split);
    v.r[r] = __ldcg(by_wgmma::cell(tmem_at(address, at.lane, at.column)));
  }
  return v;
}
template <tmem_shape S, int Count, int Split = 0>
TW_DEVICE void tmem_store(std::uint32_t address, tmem_words<S, Count> const& v) {
  TW_UNROLL
  for (int r = 0; r < tmem_registers(S, Count); ++r) {
    tmem_cell const at = tmem_cell_of(S, lane_id(), r, Split);
    __stcg(by_wgmma::cell(tmem_at(address, at.lane, at.column)), v.r[r]);
  }
}
template <int... N>
TW_DEVICE void tmem_wait_load(b32<N>&...) {}
TW_DEVICE void tmem_wait_store() { __threadfence(); }
TW_DEVICE void tcgen05_fence_before() { __threadfence(); }
TW_DEVICE void tcgen05_fence_after() {}

}  // namespace tw
