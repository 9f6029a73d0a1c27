// SPDX-License-Identifier: Apache-2.0
// copies.hpp  Kernels of cp.async with its zero fill and its arrives at mbarriers, and of the
//             operations of an mbarrier that few kernels need.
#pragma once

#include "tilewright/arch/select.hpp"

namespace tw::test {

enum class copy_cache { all, l2 };
enum class copy_arrive { noinc, counted };

/// Thread t copies Bytes bytes, of which t % (Bytes + 1) are valid, then whole ones; an mbarrier
/// says when they are there.
template <int Bytes, copy_cache Cache, copy_arrive How>
struct zero_fill_kernel {
  struct params {
    std::uint8_t const* in;  // (threads, Bytes)
    std::uint8_t* out;       // (2, threads, Bytes)
  };
  static constexpr int threads = 64, cluster = 1;
  struct smem {
    alignas(16) std::uint8_t part[2][threads][Bytes];
    mbarrier landed;
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const t = thread_id();
    if (t == 0) {
      s.landed.init(threads);
      fence_mbarrier_init();
    }
    cta_sync();
    std::uint8_t const* const from = p.in + t * Bytes;
    if constexpr (Cache == copy_cache::l2) {
      cp_async_cg(s.part[0][t], from, t % (Bytes + 1));
      cp_async_cg(s.part[1][t], from);
    } else {
      cp_async<Bytes>(s.part[0][t], from, t % (Bytes + 1));
      cp_async<Bytes>(s.part[1][t], from);
    }
    if constexpr (How == copy_arrive::noinc) {
      cp_async_mbarrier_arrive_noinc(s.landed);
    } else {
      cp_async_mbarrier_arrive(s.landed);
      s.landed.arrive();
    }
    s.landed.wait(0);
    int const other = threads - 1 - t;
    for (int half = 0; half < 2; ++half)
      for (int i = 0; i < Bytes; ++i)
        p.out[(half * threads + other) * Bytes + i] = s.part[half][other][i];
  }
};

/// A ring of stages that a warp fills with cp.async and another warp reads.
struct copy_ring_kernel {
  struct params {
    std::uint32_t const* in;  // (steps, 128)
    std::uint32_t* out;
    int steps;
  };
  static constexpr int threads = 64, cluster = 1, stages = 3;
  struct smem {
    alignas(16) std::uint32_t part[stages][128];
    mbarrier full[stages], empty[stages];
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) {
      for (int i = 0; i < stages; ++i) {
        s.full[i].init(32);
        s.empty[i].init(1);
      }
      fence_mbarrier_init();
    }
    cta_sync();
    int const lane = lane_id();
    for (int k = 0; k < p.steps; ++k) {
      int const i = k % stages;
      auto const parity = static_cast<std::uint32_t>(k / stages % 2);
      if (warp_id() == 0) {
        s.empty[i].wait(parity ^ 1U);
        cp_async<16>(&s.part[i][4 * lane], p.in + 128 * k + 4 * lane);
        cp_async_mbarrier_arrive_noinc(s.full[i]);
      } else {
        s.full[i].wait(parity);
        for (int j = 0; j < 4; ++j)
          p.out[128 * k + 32 * j + lane] = s.part[i][127 - (32 * j + lane)];
        warp_sync();
        if (lane == 0) s.empty[i].arrive(1);
      }
    }
  }
};

/// An mbarrier's memory in three lives: a barrier of 64 that two threads complete, data, and a
/// barrier that a thread polls with test_wait.
struct mbarrier_lives_kernel {
  struct params {
    std::uint32_t* out;  // (3, threads)
  };
  static constexpr int threads = 64, cluster = 1;
  struct smem {
    mbarrier bar;
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const t = thread_id();
    if (t == 0) {
      s.bar.init(64);
      fence_mbarrier_init();
    }
    cta_sync();
    if (t % 32 == 0) s.bar.arrive(t == 0 ? 40 : 24);
    s.bar.wait(0);
    p.out[t] = s.bar.test_wait(1);
    cta_sync();
    if (t == 0) {
      s.bar.inval();
      s.bar.word = 77;
    }
    cta_sync();
    p.out[threads + t] = static_cast<std::uint32_t>(s.bar.word);
    cta_sync();
    if (t == 0) {
      s.bar.init(threads);
      fence_mbarrier_init();
    }
    cta_sync();
    s.bar.arrive();
    std::uint32_t done = 0;
    while (!s.bar.test_wait(0)) done = 0;
    done = s.bar.test_wait<scope::cluster>(0);
    p.out[2 * threads + t] = done;
  }
};

/// Each CTA of a pair sets how many bytes the other's barrier expects, and sends them in words
/// of sizeof(T).
template <class T>
struct remote_bytes_kernel {
  struct params {
    T* out;  // (CTAs, threads)
    bool with_arrive;
  };
  static constexpr int threads = 64, cluster = 2;
  struct smem {
    T part[threads];
    mbarrier landed;
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const t = thread_id(), peer = 1 - cluster_rank();
    if (t == 0) {
      s.landed.init(1);
      fence_mbarrier_init();
    }
    cluster_sync();
    constexpr int bytes = threads * static_cast<int>(sizeof(T));
    if (t == 0) {
      if (p.with_arrive) {
        s.landed.arrive_expect_tx_remote(peer, bytes);
      } else {
        s.landed.expect_tx_remote(peer, bytes);
        s.landed.arrive_remote(peer);
      }
    }
    store_async(&s.part[t], static_cast<T>(1000 * cta_id() + t), s.landed, peer);
    s.landed.template wait<scope::cluster>(0);
    p.out[cta_id() * threads + t] = s.part[threads - 1 - t];
    cluster_sync();
  }
};

}  // namespace tw::test
