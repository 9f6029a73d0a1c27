// SPDX-License-Identifier: Apache-2.0
// arena.hpp  The head of a rank's arena on a GPU: flags that peers write, and the words of the
//            rank's current call. A new arena holds zeros.
//
// A flag is epoch << 32 | digest: the number of a call, which only grows (compared modulo 2^32),
// and a digest of its problem, never 0. The epoch lives in device memory, so that a CUDA graph may
// contain calls. Each word has one writer at a time.
#pragma once

#include <cstdint>

#include "tilewright/base/hd.hpp"

namespace tw {

inline constexpr int arena_ranks = 16;
/// CTAs of a launch that exchanges (exchange.hpp), at most. They wait for peers: the GEMMs of other
/// groups on the GPU need SMs.
inline constexpr int exchange_ctas = 32;

/// Rows of A. If a rank's rows begin at a multiple of this, no TMA load of A in a kernel with a
/// gate (kernel/sm90/gate.hpp) has rows of two ranks: its rows divide this number.
inline constexpr int gate_row_step = 256;

/// A word that another rank writes, in a separate cache line.
struct alignas(64) arena_word {
  std::uint64_t value;
};

/// Flags: rows of a shard or partial results are there; results of the sum are there; the rank has
/// begun the call.
enum class rank_flag : std::uint32_t { sent, results, begun };
inline constexpr int rank_flags = 3;

/// The act before which a rank waits.
enum class rank_act : std::uint32_t { begin, gemm, sum, result };

/// Who waits: a launch of one warp before later launches, CTAs of an exchange, or a GEMM with a
/// gate before the loads of a tile.
enum class rank_waiter : std::uint32_t { launch, exchange, gate };

/// A wait: its kind, and the act that comes after it.
struct wait_place {
  rank_act act;
  std::int64_t first_row, rows;
  rank_waiter in = rank_waiter::launch;
  int part = 0, parts = 0;      // of an exchange: the CTA of `parts`
  int first_col = 0, cols = 0;  // of a tile; no columns: the GEMM waits before it ends
};

/// refused: another rank has refused the call before it sent anything.
enum class rank_failure : std::uint32_t { none, late, other_problem, left, stopped, refused };

/// Words that a person reads, zero at the end, as words that a kernel copies.
inline constexpr int call_text_words = 31, call_text_bytes = 8 * call_text_words;
struct call_text {
  std::uint64_t words[call_text_words];
};

/// Why the group is broken. `by`: the rank that found it, `of`: the rank that it waited for.
struct alignas(64) failure_record {
  std::uint64_t whole;  // 1: the other members are there; written last
  rank_failure why;
  std::uint32_t by, of;
  rank_flag flag;
  std::uint32_t epoch, seen_epoch, seen;  // seen: 0 if `of` has begun no call
  wait_place place;
  std::uint64_t waited_ns;
  call_text text[2];  // the problems of `by` and `of`; the reason to stop; the refusal of `of`
};

struct gpu_arena_head {
  // Rank s writes these at index s.
  arena_word flags[rank_flags][arena_ranks];
  arena_word left[arena_ranks];                      // 1: the rank has destroyed its group
  arena_word refusals[arena_ranks];                  // refusals_word() after its last refusal
  std::uint64_t pushed[arena_ranks][exchange_ctas];  // flags of the CTAs of its exchange
  failure_record failures[2][arena_ranks];           // of its kernels; of its host
  // The rank writes these itself.
  arena_word epoch;               // of its last call
  arena_word used;                // 1 + the receive buffer of its last call; 0: no call was made
  arena_word outgoing;            // the flag of the call, which copies take to the peers
  arena_word ended;               // CTAs of an exchange that have ended
  alignas(64) call_text text[2];  // the problem of call i: text[i % 2]
  call_text refusal[2];           // of refusal i of a call: refusal[i % 2]
  std::uint64_t identity[4];  // of from_nccl: a pattern, the rank, the size of a buffer, the epoch
};

/// A group as a kernel sees it. heads[r] is nullptr if this GPU cannot address the arena of rank r.
struct ranks_view {
  gpu_arena_head* heads[arena_ranks];
  int rank, ranks;
  failure_record* report;    // host memory: the first failure
  std::uint64_t timeout_ns;  // of each wait
  /// How many calls the rank has begun, this one among them, and how many it has refused between
  /// the last one and this one.
  std::uint32_t call, refused;
};

/// The report of a rank that refuses a call: how many calls it has begun, and how many it has
/// refused after the last of them.
TW_HD constexpr std::uint64_t refusals_word(std::uint32_t begun, std::uint32_t refused) {
  return std::uint64_t{begun} << 32 | refused;
}
/// Has the rank that wrote `word` refused call `call`, before which this one has refused `refused`?
/// Ranks that refuse equally have equal numbers.
TW_HD constexpr bool has_refused(std::uint64_t word, std::uint32_t call, std::uint32_t refused) {
  return static_cast<std::uint32_t>(word >> 32) + 1 == call &&
         static_cast<std::uint32_t>(word) > refused;
}

/// Does epoch `a` belong to call `b` or to a later one? Modulo 2^32.
TW_HD constexpr bool epoch_reached(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a - b) >= 0;
}
TW_HD constexpr std::uint32_t epoch_of(std::uint64_t flag) {
  return static_cast<std::uint32_t>(flag >> 32);
}

}  // namespace tw
