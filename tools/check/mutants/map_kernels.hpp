// SPDX-License-Identifier: Apache-2.0
// map_kernels.hpp  Two launches: one writes a tensor map for each matrix of an array of addresses,
//                  the next copies the matrices through them. And ways to break it.
#pragma once

#include "tilewright/arch/select.hpp"

namespace tw::mutants {

enum class map_mutation : int { none, no_release, no_acquire, other_map_acquired, odd_address };

struct map_params {
  tensor_map like;  // of a matrix of 8 rows of 64 16-bit elements at any address
  tensor_map* maps;
  void const* const* addresses;
  std::uint16_t* copies;
  map_mutation broken;
};

/// A thread for each matrix.
struct write_maps {
  using params = map_params;
  static constexpr int threads = 32, cluster = 1, smem_bytes = 0;
  TW_DEVICE static void run(params const& p) {
    int const i = thread_id();
    p.maps[i] = p.like;
    int const shift = p.broken == map_mutation::odd_address ? 2 : 0;
    tensor_map_set_address(p.maps[i], static_cast<std::byte const*>(p.addresses[i]) + shift);
    if (p.broken != map_mutation::no_release) tensor_map_release();
  }
};

/// A CTA for each matrix.
struct use_maps {
  static constexpr int elems = 8 * 64;
  struct smem {
    alignas(128) std::uint16_t box[elems];
    mbarrier landed;
  };
  using params = map_params;
  static constexpr int threads = 32, cluster = 1, smem_bytes = sizeof(smem);
  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) {
      s.landed.init(1);
      fence_mbarrier_init();
      if (p.broken == map_mutation::other_map_acquired)
        tensor_map_acquire(p.maps[(cta_id() + 1) % cta_count()]);
      else if (p.broken != map_mutation::no_acquire)
        tensor_map_acquire(p.maps[cta_id()]);
      s.landed.arrive_expect_tx(sizeof s.box);
      tma_load(s.box, p.maps[cta_id()], s.landed, tma_coord<2>{{0, 0}});
    }
    cta_sync();
    s.landed.wait(0);
    for (int i = thread_id(); i < elems; i += threads) p.copies[cta_id() * elems + i] = s.box[i];
  }
};

}  // namespace tw::mutants
