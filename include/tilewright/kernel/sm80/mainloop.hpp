// SPDX-License-Identifier: Apache-2.0
// mainloop.hpp  The main loop of the Ampere GEMM: a ring of stages that cp.async fills, ldmatrix
//               one step ahead of mma.sync.
#pragma once

#include <type_traits>

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/atom/execute.hpp"
#include "tilewright/kernel/sm80/loads.hpp"
#include "tilewright/pipeline/wait_profile.hpp"

namespace tw {

/// The ring of operand tiles in shared memory.
template <int Stages, int BytesA, int BytesB>
struct sm80_stages {
  alignas(swizzle_pattern_bytes) std::byte a[Stages][BytesA];  // (tile_m, tile_k) each
  alignas(swizzle_pattern_bytes) std::byte b[Stages][BytesB];  // (tile_n, tile_k) each
};

template <sm80_config C>
inline constexpr tiled_mma sm80_multiply = sm80_mma(C);
template <sm80_config C>
inline constexpr tiled_copy sm80_read_a =
    make_tiled_copy_a(in_values(sm80_ldmatrix(C.a_major()), 16), sm80_multiply<C>);
template <sm80_config C>
inline constexpr tiled_copy sm80_read_b =
    make_tiled_copy_b(in_values(sm80_ldmatrix(C.b_major()), 16), sm80_multiply<C>);

template <sm80_config C>
struct sm80_mainloop {
  using element = storage_of<C.ab>;
  using loads_a = sm80_loads<C, C.a_major(), C.tile_m>;
  using loads_b = sm80_loads<C, C.b_major(), C.tile_n, C.gated()>;

  static constexpr int m = C.warp_m() / 16, n = C.warp_n() / 8;
  static constexpr int steps = C.tile_k / C.mma_k;
  static_assert(!C.f16_sums || C.ab == elem::f16, "[TW0226] f16 sums are those of f16 operands");
  static_assert(steps % 2 == 0, "[TW0226] the fragments of two steps take turns");

  /// Sums (value, m, n) of a thread: those of rows 16 i and up of its warp's block are (_, i, _).
  using sum = std::conditional_t<C.f16_sums, f16, float>;
  using sums = fragment<sum, make_layout_left(make_shape(4, m, n))>;

  using smem = sm80_stages<C.stages, loads_a::bytes, loads_b::bytes>;

  /// acc = the sum over all of K. Afterwards no copy is under way, and shared memory is free.
  /// `record` is the profile's.
  template <class Profile, class Record>
  TW_DEVICE static void run(smem& s, loads_a& a, loads_b& b, int k_tiles, sums& acc,
                            Record& record) {
    TW_UNROLL
    for (int i = 0; i < C.stages - 1; ++i) {
      if (i < k_tiles) issue(s, a, b, i);
      cp_async_commit();  // an empty group keeps the count
    }
    clear(acc);
    fragment_a fa[2];
    fragment_b fb[2];
    int read = 0, write = C.stages - 1;  // stages
    wait_for_next<Profile>(record);
    load(s, 0, 0, fa[0], fb[0]);
    TW_NO_UNROLL
    for (int t = 0; t < k_tiles; ++t) {
      unrolled<steps>([&](auto step) {
        constexpr int now = step % 2, next = (step + 1) % 2;
        if constexpr (step + 1 == steps) {
          wait_for_next<Profile>(record);  // and all warps have read this stage
          read = read + 1 == C.stages ? 0 : read + 1;
        }
        if (step + 1 < steps || t + 1 < k_tiles)
          load(s, read, (step + 1) % steps, fa[next], fb[next]);
        if constexpr (step == 0) {
          if (t + C.stages - 1 < k_tiles) issue(s, a, b, write);
          cp_async_commit();
          write = write + 1 == C.stages ? 0 : write + 1;
        }
        gemm<sm80_multiply<C>>(fa[now], fb[now], acc);
      });
    }
  }

 private:
  using fragment_a = fragment<element, make_layout_left(make_shape(C.mma_k / 2, m, 1))>;
  using fragment_b = fragment<element, make_layout_left(make_shape(C.mma_k / 4, n, 1))>;

  TW_DEVICE static void issue(smem& s, loads_a& a, loads_b& b, int stage) {
    a.issue(s.a[stage]);
    b.issue(s.b[stage]);
  }

  /// Waits until the next stage has landed and is visible to all threads.
  template <class Profile, class Record>
  TW_DEVICE static void wait_for_next(Record& record) {
    int const role = thread_id() / warpgroup_threads;
    recorded_wait<Profile>::begins(record, role);
    cp_async_wait<C.stages - 2>();
    cta_sync();
    recorded_wait<Profile>::ends(record, role);
  }

  /// Fragments of a step along K.
  TW_DEVICE static void load(smem& s, int stage, int step, fragment_a& a, fragment_b& b) {
    auto const part = [](auto const& t) { return t; };
    auto const ta = make_tensor<loads_a::tile>(
        make_smem_ptr<1024>(reinterpret_cast<element*>(s.a[stage])));  // (tile_m, tile_k)
    auto const tb = make_tensor<loads_b::tile>(
        make_smem_ptr<1024>(reinterpret_cast<element*>(s.b[stage])));  // (tile_n, tile_k)
    copy<sm80_read_a<C>>(part(partition_s<sm80_read_a<C>>(ta, thread_id())(_, _, step)), a);
    copy<sm80_read_b<C>>(part(partition_s<sm80_read_b<C>>(tb, thread_id())(_, _, step)), b);
  }
};

}  // namespace tw
