// SPDX-License-Identifier: Apache-2.0
// begin_call.hpp  The first launch of a call of a group: it counts the call and sends its flag
//                 `begun` to all ranks.
#pragma once

#include "tilewright/kernel/ranks/wait.hpp"

namespace tw {

struct begin_call_params {
  ranks_view at;
  std::uint32_t digest;  // of the problem; not 0
  std::uint32_t buffer;  // the receive buffer of the call: 0 or 1
  /// 1: the launch waits until all ranks have begun this call. The launch also waits if the last
  /// call had the same buffer: a rank that has begun this call has read the last call's buffer.
  std::uint32_t wait;
  call_text text;  // the problem
};

struct begin_call_kernel {
  using params = begin_call_params;
  static constexpr int threads = 32, cluster = 1, smem_bytes = 0;

  TW_DEVICE static void run(params const& p) {
    int const lane = thread_id();
    gpu_arena_head& own = *p.at.heads[p.at.rank];
    auto const epoch = static_cast<std::uint32_t>(own.epoch.value) + 1;
    bool const again = own.used.value == p.buffer + 1;
    std::uint64_t const flag = std::uint64_t{epoch} << 32 | p.digest;
    cta_sync();  // all have read the words of the last call
    for (int i = lane; i < call_text_words; i += threads)
      own.text[epoch % 2].words[i] = p.text.words[i];
    if (lane == 0) {
      own.epoch.value = epoch;
      own.used.value = p.buffer + 1;
      own.outgoing.value = flag;
    }
    cta_sync();
    bool const other = lane < p.at.ranks && lane != p.at.rank;
    if (other && p.at.heads[lane] != nullptr)
      store_release<scope::sys>(
          &p.at.heads[lane]->flags[static_cast<int>(rank_flag::begun)][p.at.rank].value, flag);
    if (p.wait == 0 && !again) return;
    std::uint32_t const others = ballot(other && p.at.heads[lane] != nullptr);
    rank_wait::of(p.at, others, rank_flag::begun, {rank_act::begin, 0, 0}, flag).run();
  }
};

}  // namespace tw
