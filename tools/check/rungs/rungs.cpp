// SPDX-License-Identifier: Apache-2.0
// rungs.cpp  The list of all rungs, and of the faults that can be planted in them.
#include "tools/check/rungs/rungs.hpp"

#include <algorithm>

namespace ladder {

std::vector<rung> const& rungs() {
  static std::vector<rung> const all = [] {
    std::vector<rung> list;
    for (auto const& part : {first_rungs(), middle_rungs(), last_rungs()})
      list.insert(list.end(), part.begin(), part.end());
    return list;
  }();
  return all;
}

rung rung_of(planted_bug const& b) {
  std::vector<rung> const list = b.side.empty() ? rungs() : breakable_side_rungs();
  return *std::ranges::find_if(
      list, [&](rung const& r) { return b.side.empty() ? r.number == b.rung : r.name == b.side; });
}

std::span<planted_bug const> bugs() {
  static constexpr planted_bug list[] = {
      {bug::one_step_more, 1, "one-step-more", "the loop over K takes one step more", "E0052"},
      {bug::no_wgmma_wait, 2, "no-wgmma-wait", "no wgmma_wait before the tiles are loaded again",
       "E0027"},
      {bug::bytes_of_a_alone, 3, "bytes-of-a-alone",
       "expect_tx counts the bytes of A, not those of B", "E0015"},
      {.which = bug::prefetch_first,
       .rung = 3,
       .name = "prefetch-first",
       .change = "a stage is loaded before the multiply that may still read it",
       .code = "E0027",
       .side = "side_prefetch_first"},
      {.which = bug::warps_apart,
       .rung = 3,
       .name = "warps-apart",
       .change = "the same loop, and no barrier keeps the warps in one turn",
       .code = "E0035",
       .side = "side_prefetch_first"},
      {bug::never_free, 4, "never-free", "the consumers never report that a stage is free",
       "E0001"},
      {bug::too_many_registers, 5, "too-many-registers",
       "the consumers request 248 registers, not 240", "E0008"},
      {bug::ring_restarts,
       6,
       "ring-restarts",
       "the consumers begin each tile at stage 0",
       "E0001",
       {512, 512, 384}},
      {bug::no_wgmma_fence, 6, "no-wgmma-fence", "no wgmma_fence before the wgmmas of a K block",
       "E0031"},
      {bug::phase_never_flips, 7, "phase-never-flips",
       "the consumers wait for parity 0 in each turn of the ring", "E0001"},
      {bug::no_exit_barrier, 8, "no-exit-barrier", "no cluster_sync at the end", "E0036"},
      {bug::mask_of_one, 8, "mask-of-one", "each CTA multicasts its part of B to itself alone",
       "E0001"},
      {bug::no_bounds,
       8,
       "no-bounds",
       "elements outside of D are stored",
       "E0052",
       {500, 500, 128}},
      {bug::adds_to_nothing, 9, "adds-to-nothing",
       "the first wgmma of a tile adds to registers that nothing has set", "E0054"},
      {bug::no_proxy_fence, 10, "no-proxy-fence",
       "no fence_proxy_async between stmatrix and the TMA store", "E0025"},
      {bug::staging_reused, 10, "staging-reused",
       "a tile is staged before TMA has read the one before it", "E0028"},
      {bug::odd_square,
       11,
       "odd-square",
       "the Hilbert curve goes through squares of 3 x 3",
       "E0043",
       {1024, 1024, 128}},
  };
  return list;
}

}  // namespace ladder
