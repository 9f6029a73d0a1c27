// SPDX-License-Identifier: Apache-2.0
// launches.hpp  Kernels of identity, elect, register budgets and dependent launches.
#pragma once

#include "tilewright/arch/select.hpp"

namespace tw::test {

/// Each thread says who it is.
struct identity_kernel {
  struct params {
    int* out;  // `words` per thread
  };
  static constexpr int threads = 160, cluster = 2, words = 12;
  struct smem {
    alignas(1024) std::uint32_t first;
    std::uint32_t second;
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const who[words] = {thread_id(),
                            lane_id(),
                            warp_id(),
                            warpgroup_id(),
                            cluster_rank(),
                            cluster_id(),
                            cluster_count(),
                            cta_id(),
                            cta_count(),
                            thread_count(),
                            static_cast<int>(smem_addr(&s.first) % 1024),
                            static_cast<int>(smem_addr(&s.second) - smem_addr(&s.first))};
    for (int i = 0; i < words; ++i) p.out[words * (cta_id() * threads + thread_id()) + i] = who[i];
  }
};

/// Each thread of a grid of three dimensions says where it is.
struct grid_kernel {
  struct params {
    int* out;  // `words` per thread
  };
  static constexpr extents3 thread_extents{8, 4, 2};
  static constexpr int threads = 64, cluster = 2, smem_bytes = 0, words = 14;

  TW_DEVICE static void run(params const& p) {
    extents3 const cta = cta_index(), grid = grid_extents(), t = thread_index<grid_kernel>();
    int const who[words] = {
        cta.x, cta.y, cta.z,    grid.x,         grid.y,       grid.z,      t.x,
        t.y,   t.z,   cta_id(), cluster_rank(), cluster_id(), cta_count(), cluster_count()};
    int const number = cta.x + grid.x * (cta.y + grid.y * cta.z);
    for (int i = 0; i < words; ++i) p.out[words * (number * threads + thread_id()) + i] = who[i];
  }
};

/// In each warp one lane is elected; a second call elects the same one.
struct elect_kernel {
  struct params {
    int* out;
  };
  static constexpr int threads = 128, cluster = 1, smem_bytes = 0;

  TW_DEVICE static void run(params const& p) {
    bool const once = elect_one();
    warp_sync();
    bool const again = elect_one();
    p.out[thread_id()] = once + 2 * again;
  }
};

/// The register budgets of a GEMM: one warpgroup gives up what two others take.
struct registers_kernel {
  struct params {
    int* out;
  };
  static constexpr int threads = 384, cluster = 1, smem_bytes = 0;

  TW_DEVICE static void run(params const& p) {
    if (warpgroup_id() == 0) {
      set_max_regs_dec<40>();
      p.out[thread_id()] = thread_id();
    } else {
      set_max_regs_inc<232>();
      p.out[thread_id()] = 2 * thread_id();
    }
  }
};

/// Lets its successor start at once, then writes for a while.
struct predecessor_kernel {
  struct params {
    int* out;
    int count;
  };
  static constexpr int threads = 128, cluster = 1, smem_bytes = 0;

  TW_DEVICE static void run(params const& p) {
    grid_dependents_launch();
    for (int i = cta_id() * threads + thread_id(); i < p.count; i += cta_count() * threads)
      p.out[i] = 3 * i + 1;
  }
};

/// Waits for its predecessor, then reads what it wrote, back to front.
struct successor_kernel {
  struct params {
    int const* in;
    int* out;
    int count;
  };
  static constexpr int threads = 128, cluster = 1, smem_bytes = 0;

  TW_DEVICE static void run(params const& p) {
    grid_dependency_wait();
    for (int i = cta_id() * threads + thread_id(); i < p.count; i += cta_count() * threads)
      p.out[i] = p.in[p.count - 1 - i];
  }
};

}  // namespace tw::test
