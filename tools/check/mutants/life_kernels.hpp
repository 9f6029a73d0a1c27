// SPDX-License-Identifier: Apache-2.0
// life_kernels.hpp  Objects in memory that begin and end while a kernel runs: a tensor map that is
//                   written again for each matrix, and mbarriers whose memory holds data between
//                   two lives. And ways to break them.
#pragma once

#include "tilewright/arch/select.hpp"

namespace tw::mutants {

enum class life_mutation : int {
  none,
  // rewritten_map
  rewritten_in_flight,
  not_acquired_again,
  acquired_before_write,
  released_before_write,
  // two_lives
  inval_while_others_wait,
  inval_in_flight,
  data_over_barrier,
  data_unordered,
  init_again,
  used_after_inval,
};

struct life_params {
  tensor_map like;  // of a matrix of 8 rows of 64 16-bit elements at any address
  tensor_map* map;  // one, in global memory
  std::uint16_t const* in;
  std::uint16_t* out;
  life_mutation broken;
};

/// One map serves all matrices: it gets the next address when the copy before it has landed.
struct rewritten_map {
  static constexpr int elems = 8 * 64, matrices = 6;
  struct smem {
    alignas(128) std::uint16_t box[2][elems];
    mbarrier landed[2];
  };
  using params = life_params;
  static constexpr int threads = 32, cluster = 1, smem_bytes = sizeof(smem);

  TW_DEVICE static void wait(smem& s, int i) {
    s.landed[i % 2].wait(static_cast<std::uint32_t>(i / 2 % 2));
  }
  TW_DEVICE static void next(smem& s, params const& p, int i) {
    using enum life_mutation;
    if (i > 0 && p.broken != rewritten_in_flight) wait(s, i - 1);
    if (p.broken == acquired_before_write) tensor_map_acquire(*p.map);
    if (p.broken == released_before_write) tensor_map_release();
    tensor_map_set_address(*p.map, p.in + i * elems);
    if (p.broken != released_before_write) tensor_map_release();
    bool const again = i == 0 || p.broken != not_acquired_again;
    if (again && p.broken != acquired_before_write) tensor_map_acquire(*p.map);
    s.landed[i % 2].arrive_expect_tx(elems * 2);
    tma_load(s.box[i % 2], *p.map, s.landed[i % 2], tma_coord<2>{{0, 0}});
  }
  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) {
      s.landed[0].init(1);
      s.landed[1].init(1);
      fence_mbarrier_init();
      *p.map = p.like;
    }
    cta_sync();
    for (int i = 0; i <= matrices; ++i) {
      if (i < matrices && thread_id() == 0) next(s, p, i);
      if (i == 0) continue;
      wait(s, i - 1);
      for (int e = thread_id(); e < elems; e += threads)
        p.out[(i - 1) * elems + e] = s.box[(i - 1) % 2][e];
      fence_proxy_async();
      cta_sync();
    }
  }
};

/// A barrier counts a copy, ends, its memory holds a number, and it begins again.
struct two_lives {
  static constexpr int elems = 512;
  struct smem {
    alignas(16) std::uint16_t part[elems];
    mbarrier landed;
  };
  using params = life_params;
  static constexpr int threads = 64, cluster = 1, smem_bytes = sizeof(smem);

  TW_DEVICE static void begin(smem& s) {
    if (thread_id() == 0) {
      s.landed.init(1);
      fence_mbarrier_init();
    }
    cta_sync();
  }
  TW_DEVICE static void copy(smem& s, params const& p, int half, bool waits) {
    if (thread_id() == 0) {
      s.landed.arrive_expect_tx(elems * 2);
      bulk_load(s.part, p.in + half * elems, elems * 2, s.landed);
    }
    if (waits) s.landed.wait(0);
  }
  TW_DEVICE static void run(params const& p) {
    using enum life_mutation;
    smem& s = dynamic_smem<smem>();
    int const t = thread_id();
    begin(s);
    copy(s, p, 0, p.broken != inval_in_flight);
    if (p.broken != inval_while_others_wait) cta_sync();
    bool const ends = p.broken != data_over_barrier && p.broken != init_again;
    if (t == 0 && ends) s.landed.inval();
    if (p.broken != data_unordered) cta_sync();
    if (t == 1 && p.broken != init_again) s.landed.word = 77;
    cta_sync();
    for (int i = t; i < elems; i += threads) p.out[i] = s.part[i];
    fence_proxy_async();
    cta_sync();
    if (p.broken != used_after_inval) begin(s);
    copy(s, p, 1, true);
    for (int i = t; i < elems; i += threads) p.out[elems + i] = s.part[i];
  }
};

}  // namespace tw::mutants
