// SPDX-License-Identifier: Apache-2.0
// copy_probe.hpp  Which lanes and columns of tensor memory tcgen05.cp writes.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tools/check/selftest/probe_operand.hpp"

namespace tw::selftest {

/// Word lane * 64 + column: the cells that a copy may write, `untouched` where it writes none. In
/// shared memory rows of 16 bytes follow one another, room for 8 of them or more; the second 16
/// bytes of all rows follow the first ones.
template <tmem_copy_shape S, tmem_unpack U = tmem_unpack::none>
struct copy_probe {
  using params = probe_params;
  static constexpr tmem_copy_shape shape = S;
  static constexpr tmem_unpack unpack = U;
  static constexpr int rows = tmem_copy_rows(S) < 8 ? 8 : tmem_copy_rows(S);
  static constexpr int chunks = tmem_copy_chunks(S);
  static constexpr std::uint32_t untouched = 0x5A5A5A5A;
  static constexpr int written = 4 * chunks, columns = 32;
  struct smem {
    alignas(1024) std::uint32_t in[rows * chunks * 4];
    mbarrier done;
    std::uint32_t tensor_at;
  };
  static constexpr int threads = 128, cluster = 1, smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    for (int w = thread_id(); w < rows * chunks * 4; w += threads) s.in[w] = source_word(w);
    begin_multiply<columns>(s);
    std::uint32_t const own = tmem_at(s.tensor_at, 32 * warp_id(), 0);
    tmem_words<tmem_shape::l32x32b, written> before;
    TW_UNROLL
    for (int c = 0; c < written; ++c) before.r[c] = untouched;
    tmem_store<tmem_shape::l32x32b, written>(own, before);
    tmem_wait_store();
    tcgen05_fence_before();
    cta_sync();
    tcgen05_fence_after();
    if (warp_id() == 0 && elect_one()) {
      tmem_copy<S, 1, U>(s.tensor_at,
                         make_umma_desc(smem_addr(s.in), 16 * rows, 128, swizzle_mode::none));
      umma_commit(s.done);
    }
    warp_sync();
    s.done.wait(0);
    tcgen05_fence_after();
    auto v = tmem_load<tmem_shape::l32x32b, written>(own);
    tmem_wait_load(v);
    tcgen05_fence_before();
    TW_UNROLL
    for (int c = 0; c < written; ++c) p.out[thread_id() * 64 + c] = v.r[c];
    cta_sync();
    if (warp_id() == 0) tmem_dealloc(s.tensor_at, columns);
  }

  TW_HD static constexpr std::uint32_t source_word(int w) {
    return static_cast<std::uint32_t>(w) * 0x9E3779B1U + 0x7F4A7C15U;
  }
};

}  // namespace tw::selftest
