// SPDX-License-Identifier: Apache-2.0
// tma.hpp  Kernels of the bulk tensor copies: one box, and shared memory as bytes.
#pragma once

#include "tilewright/arch/select.hpp"

namespace tw::test {

constexpr int box_capacity = 32 * 1024;
constexpr int box_margin = 1024;  // checked after the box: nothing may write there
constexpr std::uint32_t untouched = 0xA5A5A5A5U;

struct tma_smem {
  alignas(1024) std::uint32_t box[(box_capacity + box_margin) / 4];
  mbarrier landed;
};

template <int R>
struct tma_params {
  tensor_map map;
  tma_coord<R> at;
  int bytes;            // that the barrier is credited with
  int room;             // of the box in shared memory, a multiple of 16
  std::uint32_t* smem;  // load: receives the room and the margin; store: what the room holds
  int policy;           // for L2; 0: none, 1: evict first, 2: evict normally
};

TW_DEVICE l2_policy policy_of(int number) {
  return number == 1 ? evict_first_policy() : evict_normal_policy();
}

/// Loads a box and shows shared memory.
template <int R>
struct tma_load_box {
  using params = tma_params<R>;
  static constexpr int threads = 128, cluster = 1, smem_bytes = sizeof(tma_smem);

  TW_DEVICE static void run(params const& p) {
    tma_smem& s = dynamic_smem<tma_smem>();
    for (int i = thread_id(); i < (box_capacity + box_margin) / 4; i += threads)
      s.box[i] = untouched;
    fence_proxy_async();
    if (thread_id() == 0) {
      tma_prefetch_map(p.map);
      s.landed.init(1);
      fence_mbarrier_init();
    }
    cta_sync();
    if (thread_id() == 0) {
      s.landed.arrive_expect_tx(p.bytes);
      if (p.policy == 0)
        tma_load(s.box, p.map, s.landed, p.at);
      else
        tma_load_hinted(s.box, p.map, s.landed, p.at, policy_of(p.policy));
    }
    s.landed.wait(0);
    for (int i = thread_id(); i < (p.room + box_margin) / 4; i += threads) p.smem[i] = s.box[i];
  }
};

/// Writes shared memory and stores it as a box, or adds it.
template <int R, bool Add>
struct tma_store_box {
  using params = tma_params<R>;
  static constexpr int threads = 128, cluster = 1, smem_bytes = sizeof(tma_smem);

  TW_DEVICE static void run(params const& p) {
    tma_smem& s = dynamic_smem<tma_smem>();
    for (int i = thread_id(); i < p.room / 4; i += threads) s.box[i] = p.smem[i];
    fence_proxy_async();
    cta_sync();
    if (thread_id() == 0) {
      if constexpr (Add)
        tma_reduce_add(p.map, s.box, p.at);
      else if (p.policy != 0)
        tma_store_hinted(p.map, s.box, p.at, policy_of(p.policy));
      else
        tma_store(p.map, s.box, p.at);
      tma_store_commit();
      tma_store_wait<0>();
    }
  }
};

/// Two boxes of `bytes` through one buffer each: the second store is issued while the first may
/// still read, and the first buffer is rewritten after tma_store_wait_read<1>.
struct tma_store_three {
  struct params {
    tensor_map map;
    int bytes, step;      // step: distance of the boxes along dimension 0
    std::uint32_t* smem;  // three boxes
  };
  static constexpr int threads = 128, cluster = 1;
  struct smem {
    alignas(1024) std::uint32_t box[2][2048];
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    for (int j = 0; j < 3; ++j) {
      if (thread_id() == 0) tma_store_wait_read<1>();
      cta_sync();
      for (int i = thread_id(); i < p.bytes / 4; i += threads)
        s.box[j % 2][i] = p.smem[j * p.bytes / 4 + i];
      fence_proxy_async();
      cta_sync();
      if (thread_id() == 0) {
        tma_store(p.map, s.box[j % 2], tma_coord{j * p.step, 0});
        tma_store_commit();
      }
    }
    if (thread_id() == 0) tma_store_wait<0>();
  }
};

/// CTA r of a cluster loads box r of a row of boxes into slot r of the CTAs in mask[r].
template <int Ctas>
struct tma_multicast_boxes {
  struct params {
    tensor_map map;
    int bytes, step;  // step: distance of the boxes along dimension 0
    std::uint16_t mask[Ctas];
    std::uint32_t* smem;  // receives all slots of all CTAs
  };
  static constexpr int slot_words = 1024;
  struct smem {
    alignas(1024) std::uint32_t slot[Ctas][slot_words];
    mbarrier landed;
  };
  static constexpr int threads = 128, cluster = Ctas, smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    std::uint32_t* const words = &s.slot[0][0];
    for (int i = thread_id(); i < Ctas * slot_words; i += threads) words[i] = untouched;
    fence_proxy_async();
    if (thread_id() == 0) {
      s.landed.init(1);
      fence_mbarrier_init();
    }
    cluster_sync();
    int const rank = cluster_rank();
    int boxes = 0;  // that come to this CTA
    for (int r = 0; r < Ctas; ++r) boxes += p.mask[r] >> rank & 1;
    if (thread_id() == 0) {
      s.landed.arrive_expect_tx(boxes * p.bytes);
      if (p.mask[rank] != 0)
        tma_load_multicast(s.slot[rank], p.map, s.landed, tma_coord{rank * p.step, 0},
                           p.mask[rank]);
    }
    s.landed.wait(0);
    std::uint32_t* const out = p.smem + cta_id() * Ctas * slot_words;
    for (int i = thread_id(); i < Ctas * slot_words; i += threads) out[i] = words[i];
    cluster_sync();
  }
};

}  // namespace tw::test
