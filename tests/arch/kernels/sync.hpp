// SPDX-License-Identifier: Apache-2.0
// sync.hpp  Kernels of barriers: named, of the cluster, and mbarriers near and far.
#pragma once

#include "tilewright/arch/select.hpp"

namespace tw::test {

/// Warps 0-3 write, warps 4-7 read, in rounds: `full` says that the words are there, `empty` that
/// they were read. Each side arrives at one barrier and waits at the other.
struct named_barrier_kernel {
  struct params {
    std::uint32_t* out;  // (rounds, 128)
    int rounds;
  };
  struct smem {
    std::uint32_t word[128];
  };
  static constexpr int threads = 256, cluster = 1, smem_bytes = sizeof(smem);
  static constexpr int full = 1, empty = 2;

  TW_DEVICE static std::uint32_t value(int round, int i) {
    return static_cast<std::uint32_t>(1000 * round + i);
  }

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const t = thread_id() % 128;
    if (warpgroup_id() == 0) {
      for (int r = 0; r < p.rounds; ++r) {
        if (r > 0) named_barrier_sync(empty, 256);
        s.word[t] = value(r, t);
        named_barrier_arrive(full, 256);
      }
    } else {
      for (int r = 0; r < p.rounds; ++r) {
        named_barrier_sync(full, 256);
        p.out[128 * r + t] = s.word[127 - t];
        if (r + 1 < p.rounds) named_barrier_arrive(empty, 256);
      }
    }
  }
};

/// Threads write words and read each other's, in rounds that two barriers separate: each thread
/// waits for the phase of its token. Thread 0 also announces a TMA-like write of 4 bytes, which it
/// makes by store_async. The first CTA's results leave by streaming stores.
struct token_kernel {
  struct params {
    std::uint32_t* out;  // (rounds, threads, 2): two copies of the word read
    int rounds;
  };
  static constexpr int threads = 64, cluster = 2;  // store_async needs clusters
  struct smem {
    std::uint32_t word[threads], sent;
    mbarrier written, read;
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const t = thread_id();
    if (t == 0) {
      s.written.init(threads);
      s.read.init(threads);
      fence_mbarrier_init();
    }
    cta_sync();
    for (int r = 0; r < p.rounds; ++r) {
      s.word[t] = static_cast<std::uint32_t>(100 * r + t);
      if (t == 0) {
        mbarrier_token const token = s.written.arrive_expect_tx_token(4);
        store_async(&s.sent, static_cast<std::uint32_t>(r), s.written, cluster_rank());
        s.written.wait_token(token);
      } else {
        s.written.wait_token(s.written.arrive_token());
      }
      struct alignas(8) two {
        std::uint32_t read, sent;
      };
      auto* const to = reinterpret_cast<two*>(p.out) + threads * r + t;
      if (cluster_rank() == 0) store_streaming(to, two{s.word[threads - 1 - t], s.sent});
      s.read.wait_token(s.read.arrive_token());
    }
  }
};

/// Each CTA reads its neighbour's word and writes another into it, with cluster barriers between.
template <int Ctas>
struct cluster_kernel {
  struct params {
    std::uint32_t* out;  // two words per thread: read from the neighbour, written by the other one
  };
  static constexpr int threads = 64, cluster = Ctas;
  struct smem {
    std::uint32_t own[threads], given[threads];
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const t = thread_id(), next = (cluster_rank() + 1) % Ctas;
    s.own[t] = static_cast<std::uint32_t>(100 * cta_id() + t);
    cluster_arrive();
    cluster_wait();
    std::uint32_t const seen = *dsmem(&s.own[t], next);
    *dsmem(&s.given[t], next) = static_cast<std::uint32_t>(10000 + 100 * cta_id() + t);
    cluster_sync();
    std::uint32_t* const out = p.out + 2 * (cta_id() * threads + t);
    out[0] = seen;
    out[1] = s.given[t];
    cluster_arrive_relaxed();  // nothing to order: the peers have what they need
    cluster_wait();
  }
};

/// How a CTA arrives at a barrier of another CTA.
enum class remote_arrive { release_cluster, unqualified, relaxed };

/// Every CTA writes a word into every CTA and arrives there; each waits for all. Only with
/// release_cluster and a wait of cluster scope are the words promised.
template <remote_arrive How>
struct remote_arrive_kernel {
  struct params {
    std::uint32_t* out;  // (rounds, CTAs, 4)
    int rounds;
  };
  static constexpr int threads = 32, cluster = 4;
  struct smem {
    mbarrier arrived;
    std::uint32_t word[2][cluster];
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const lane = lane_id(), rank = cluster_rank();
    if (thread_id() == 0) {
      s.arrived.init(cluster);
      fence_mbarrier_init();
    }
    cluster_sync();
    for (int r = 0; r < p.rounds; ++r) {
      if (lane < cluster) {
        if constexpr (How == remote_arrive::release_cluster) {
          *dsmem(&s.word[r % 2][rank], lane) =
              static_cast<std::uint32_t>(100 * r + 10 * rank + lane);
          s.arrived.template arrive_remote<scope::cluster>(lane);
        } else if constexpr (How == remote_arrive::unqualified) {
          s.arrived.template arrive_remote<scope::cta>(lane);
        } else {
          s.arrived.arrive_remote_relaxed(lane);
        }
      }
      s.arrived.template wait<scope::cluster>(static_cast<std::uint32_t>(r % 2));
      std::uint32_t const word =
          lane < cluster && How == remote_arrive::release_cluster ? s.word[r % 2][lane] : 0;
      if (lane < cluster) p.out[4 * (cta_count() * r + cta_id()) + lane] = 1 + word;
      cluster_sync();
    }
  }
};

/// Every CTA stores 16 bytes per thread into every CTA; the barrier there counts them.
struct store_async_kernel {
  struct params {
    std::uint32_t* out;  // (rounds, CTAs, cluster, threads): the sum of a store's words
    int rounds;
  };
  struct alignas(16) words {
    std::uint32_t w[4];
  };
  static constexpr int threads = 64, cluster = 4;
  struct smem {
    words part[cluster][threads];
    mbarrier landed;
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const t = thread_id(), rank = cluster_rank();
    if (t == 0) {
      s.landed.init(1);
      fence_mbarrier_init();
    }
    cluster_sync();
    for (int r = 0; r < p.rounds; ++r) {
      if (t == 0) s.landed.arrive_expect_tx(cluster * threads * 16);
      auto const x = static_cast<std::uint32_t>(10000 * r + 1000 * rank + t);
      for (int to = 0; to < cluster; ++to)
        store_async(&s.part[rank][t], words{{x, 100, 10, static_cast<std::uint32_t>(to)}}, s.landed,
                    to);
      s.landed.wait<scope::cluster>(static_cast<std::uint32_t>(r % 2));
      for (int from = 0; from < cluster; ++from) {
        words const got = s.part[from][threads - 1 - t];
        p.out[((cta_count() * r + cta_id()) * cluster + from) * threads + t] =
            got.w[0] + got.w[1] + got.w[2] + got.w[3];
      }
      cluster_sync();
    }
  }
};

/// One thread walks a barrier through its phases and notes what try_wait says.
template <scope S>
struct try_wait_kernel {
  struct params {
    std::uint32_t* out;  // answers in order
  };
  struct smem {
    mbarrier bar;
  };
  static constexpr int threads = 32, cluster = 1, smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    mbarrier& bar = dynamic_smem<smem>().bar;
    if (thread_id() != 0) return;
    bar.init(2);
    fence_mbarrier_init();
    p.out[0] = bar.template try_wait<S>(1);  // the phase before the first counts as complete
    p.out[1] = bar.template try_wait<S>(0);
    bar.arrive();
    p.out[2] = bar.template try_wait<S>(0);  // one of two
    bar.arrive();
    bar.template wait<S>(0);
    p.out[3] = bar.template try_wait<S>(0);
    p.out[4] = bar.template try_wait<S>(1);  // the second phase is open
    bar.expect_tx(0);
    bar.arrive_expect_tx(0);
    bar.arrive();
    bar.template wait<S>(1);
    p.out[5] = bar.template try_wait<S>(1);
    p.out[6] = bar.template try_wait<S>(0);
  }
};

/// expect_tx by one thread and the arrival by another, before and after the copy was issued.
struct expect_tx_kernel {
  struct params {
    tensor_map map;  // 128 floats, boxes of 32
    std::uint32_t* out;
  };
  struct smem {
    alignas(128) std::uint32_t box[4][32];
    mbarrier landed;
  };
  static constexpr int threads = 64, cluster = 1, smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) {
      s.landed.init(2);
      fence_mbarrier_init();
    }
    cta_sync();
    if (thread_id() == 0) {
      s.landed.expect_tx(3 * 128);  // three boxes, then one more with the arrival
      for (int i = 0; i < 3; ++i) tma_load(s.box[i], p.map, s.landed, tma_coord{32 * i});
      s.landed.arrive_expect_tx(128);
      tma_load(s.box[3], p.map, s.landed, tma_coord{96});
    }
    if (thread_id() == 32) s.landed.arrive();
    s.landed.wait(0);
    for (int i = thread_id(); i < 128; i += threads) p.out[i] = s.box[i / 32][i % 32];
  }
};

}  // namespace tw::test
