// SPDX-License-Identifier: Apache-2.0
// gemm.hpp  The Ampere GEMM: D = alpha * A * B + beta * C, or a fused epilogue, with cp.async,
//           ldmatrix and mma.sync. A CTA computes tiles of D one after another; all its warps load
//           and multiply. One source: nvcc compiles it for sm_80 and later GPUs, g++ for the
//           emulator.
//
//           Its parts: tiles and atoms (tiles.hpp), copies to shared memory (loads.hpp), the main
//           loop (mainloop.hpp) and the epilogue (epilogue.hpp).
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/sm80/epilogue.hpp"
#include "tilewright/kernel/sm80/mainloop.hpp"
#include "tilewright/pipeline/stage_profile.hpp"

namespace tw {

/// The kernel, with or without a record of its stages (pipeline/stage_profile.hpp).
template <sm80_config C, class Profile>
struct gemm_sm80_kernel {
  using mainloop = sm80_mainloop<C>;
  using store = sm80_epilogue<C>;
  using params = typename Profile::template params<sm80_params>;
  static constexpr int threads = C.threads();
  static constexpr int cluster = 1;
  static constexpr int warpgroups = (threads + warpgroup_threads - 1) / warpgroup_threads;

  union operands_or_results {
    typename mainloop::smem stages;
    typename store::smem staging;
  };
  struct smem {
    operands_or_results of;
    [[no_unique_address]] typename Profile::template smem<warpgroups> profile;
  };
  static constexpr int smem_bytes = sizeof(smem);
  static_assert(C.stages >= 2 && smem_bytes <= sm80_max_smem_bytes,
                "[TW0226] two stages or more, in the 163 KiB of shared memory of sm_80");

  TW_DEVICE static sm80_gates gates_of(params const& p) {
    return {p.epilogue.fused.gate_step, p.epilogue.fused.up_offset};
  }

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const role = thread_id() / warpgroup_threads;
    Profile::start(p, s.profile, role);
    for (int i = cta_id(); i < p.walk.order.tiles(); i += cta_count()) {
      tile_place const t = p.walk.place(i);
      int const row = t.m * C.tile_m, col = t.n * C.d_cols();
      typename mainloop::loads_a a(p.a, {p.m, p.k}, row, t.batch);
      typename mainloop::loads_b b(p.b, {p.n, p.k}, col, t.batch, gates_of(p));
      typename mainloop::sums acc;
      mainloop::template run<Profile>(s.of.stages, a, b, p.k_tiles, acc, s.profile);
      Profile::store_begins(s.profile, role);
      store::store(p, s.of.staging, {row, col, t.batch}, acc);
      Profile::store_ends(s.profile, role);
      if (i + cta_count() < p.walk.order.tiles()) cta_sync();  // the staging buffers were read
    }
    Profile::finish(p, s.profile, role);
  }
};

template <sm80_config C>
struct gemm_sm80 : gemm_sm80_kernel<C, no_profile> {};

}  // namespace tw
