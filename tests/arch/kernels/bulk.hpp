// SPDX-License-Identifier: Apache-2.0
// bulk.hpp  Kernels of the bulk copies without a tensor map, and of what tensor maps share with
//           them: reductions and prefetches.
#pragma once

#include "tests/arch/kernels/tma.hpp"
#include "tilewright/arch/select.hpp"

namespace tw::test {

/// A CTA brings `bytes` bytes to shared memory and sends them on to another place in reverse
/// order of words.
struct bulk_round_kernel {
  struct params {
    std::uint8_t const* in;  // (CTAs, bytes)
    std::uint8_t* out;
    int bytes;
  };
  static constexpr int threads = 64, cluster = 1, room = 8192;
  struct smem {
    alignas(16) std::uint32_t in[room / 4];
    alignas(16) std::uint32_t out[room / 4];
    mbarrier landed;
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    std::uint8_t const* const from = p.in + cta_id() * p.bytes;
    if (thread_id() == 0) {
      s.landed.init(1);
      fence_mbarrier_init();
      bulk_prefetch(from, p.bytes);
      prefetch_l2(from);
    }
    cta_sync();
    if (thread_id() == 0) {
      s.landed.arrive_expect_tx(p.bytes);
      bulk_load(s.in, from, p.bytes, s.landed);
    }
    s.landed.wait(0);
    int const words = p.bytes / 4;
    for (int i = thread_id(); i < words; i += threads) s.out[i] = s.in[words - 1 - i];
    fence_proxy_async();
    cta_sync();
    if (thread_id() == 0) {
      bulk_store(p.out + cta_id() * p.bytes, s.out, p.bytes);
      tma_store_commit();
      tma_store_wait<0>();
    }
  }
};

/// CTA r of a cluster of 4 multicasts its part to the CTAs of mask[r], then sends what it got in
/// slot r to its right neighbour's `passed`.
struct bulk_cluster_kernel {
  static constexpr int threads = 64, cluster = 4, words = 64;
  struct params {
    std::uint32_t const* in;  // (CTAs, words)
    std::uint16_t mask[cluster];
    std::uint32_t* slots;   // (CTAs, cluster, words)
    std::uint32_t* passed;  // (CTAs, words)
  };
  struct smem {
    alignas(16) std::uint32_t slot[cluster][words];
    alignas(16) std::uint32_t mine[words], passed[words];
    mbarrier landed, arrived;
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const rank = cluster_rank(), t = thread_id();
    for (int r = 0; r < cluster; ++r) s.slot[r][t] = untouched;
    s.mine[t] = static_cast<std::uint32_t>(1000 * cta_id() + t);
    fence_proxy_async();
    if (t == 0) {
      s.landed.init(1);
      s.arrived.init(1);
      fence_mbarrier_init();
    }
    cluster_sync();
    int parts = 0;  // that come to this CTA
    for (int r = 0; r < cluster; ++r) parts += p.mask[r] >> rank & 1;
    if (t == 0) {
      s.landed.arrive_expect_tx(parts * words * 4);
      s.arrived.arrive_expect_tx(words * 4);
      if (p.mask[rank] != 0)
        bulk_load_multicast(s.slot[rank], p.in + cta_id() * words, words * 4, s.landed,
                            p.mask[rank]);
      bulk_copy_to_peer(s.passed, s.mine, words * 4, s.arrived, (rank + 1) % cluster);
    }
    s.landed.wait(0);
    s.arrived.wait<scope::cluster>(0);
    for (int r = 0; r < cluster; ++r) p.slots[(cta_id() * cluster + r) * words + t] = s.slot[r][t];
    p.passed[cta_id() * words + t] = s.passed[t];
    cluster_sync();
  }
};

/// Each CTA combines its elements with those of every CTA of the cluster, itself among them, all at
/// the same time.
template <reduce_op Op, class T>
struct bulk_reduce_to_peer_kernel {
  static constexpr int threads = 64, cluster = 4, count = 64;
  struct params {
    T const* in;  // (CTAs, count)
    T* out;       // (CTAs, count)
  };
  struct smem {
    alignas(16) T part[count], all[count];
    mbarrier landed;
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const t = thread_id(), at = cta_id() * count + t;
    s.part[t] = p.in[at];
    s.all[t] = p.out[at];
    fence_proxy_async();
    if (t == 0) {
      s.landed.init(1);
      fence_mbarrier_init();
    }
    cluster_sync();
    if (t == 0) {
      s.landed.arrive_expect_tx(cluster * static_cast<int>(sizeof(s.part)));
      for (int cta = 0; cta < cluster; ++cta)
        bulk_reduce_to_peer<Op>(s.all, s.part, count, s.landed, cta);
    }
    s.landed.wait(0);
    p.out[at] = s.all[t];
    cluster_sync();
  }
};

/// Each CTA combines its elements with those of one array.
template <reduce_op Op, class T>
struct bulk_reduce_kernel {
  static constexpr int threads = 64, cluster = 1, count = 64;
  struct params {
    T const* in;  // (CTAs, count)
    T* out;       // (count)
  };
  struct smem {
    alignas(16) T part[count];
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    s.part[thread_id()] = p.in[cta_id() * count + thread_id()];
    fence_proxy_async();
    cta_sync();
    if (thread_id() == 0) {
      bulk_reduce<Op>(p.out, s.part, count);
      tma_store_commit();
      tma_store_wait<0>();
    }
  }
};

/// A reduction by a tensor map of (8, 16) elements, boxes of (8, 8).
template <reduce_op Op, class T>
struct tma_reduce_kernel {
  static constexpr int threads = 64, cluster = 1, count = 64;
  struct params {
    tensor_map map;
    T const* in;  // (CTAs, count)
  };
  struct smem {
    alignas(128) T part[count];
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    s.part[thread_id()] = p.in[cta_id() * count + thread_id()];
    fence_proxy_async();
    cta_sync();
    if (thread_id() != 0) return;
    tma_coord<2> const at{0, 8 * (cta_id() % 2)};
    tma_prefetch(p.map, at);
    tma_reduce<Op>(p.map, s.part, at);
    tma_store_commit();
    tma_store_wait<0>();
  }
};

/// Arrivals that each of four arrives found missing, one after another.
struct pending_count_kernel {
  struct params {
    int* out;  // 4
  };
  static constexpr int threads = 32, cluster = 1;
  struct smem {
    mbarrier b;
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() != 0) return;
    s.b.init(4);
    for (int i = 0; i < 4; ++i) p.out[i] = mbarrier::pending_count(s.b.arrive_token());
    s.b.wait(0);
  }
};

}  // namespace tw::test
