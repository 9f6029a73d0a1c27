// SPDX-License-Identifier: Apache-2.0
// wait.hpp  A launch that waits for the flags of other ranks, between two GEMMs of a stream. It
//           ends without a trap when the group breaks: the GEMMs after it then compute with old
//           data, and the next call reports why.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/ranks/arena.hpp"

namespace tw {

/// Waits of one warp: a lane for each rank.
struct rank_wait {
  ranks_view const& at;
  std::uint32_t from;  // bit r: wait for rank r
  rank_flag flag;
  rank_act act;
  std::int64_t first_row, rows;
  std::uint64_t mine;          // this rank's flag of the call
  std::uint64_t const* flags;  // of rank r: flags[r * stride]
  int stride;
  bool compares = true;  // the digests of the ranks

  /// A wait for flags of a kind.
  TW_DEVICE static rank_wait of(ranks_view const& at, std::uint32_t from, rank_flag flag,
                                rank_act act, std::int64_t first_row, std::int64_t rows,
                                std::uint64_t mine) {
    constexpr int words = sizeof(arena_word) / sizeof(std::uint64_t);
    return {at,        from, flag, act,
            first_row, rows, mine, &at.heads[at.rank]->flags[static_cast<int>(flag)][0].value,
            words};
  }

  /// Returns when the flags are there: true, or the group is broken: false. What the ranks released
  /// before their flags is visible to the caller's thread, and to launches after this one.
  TW_DEVICE bool run() const {
    int const lane = thread_id();
    gpu_arena_head const& own = *at.heads[at.rank];
    bool const waits = lane < at.ranks && (from >> lane & 1) != 0;
    arena_word const* const begun = own.flags[static_cast<int>(rank_flag::begun)];
    failure_record const& failure = own.failures[lane / arena_ranks][lane % arena_ranks];
    std::uint64_t const start = global_timer_ns();
    while (true) {
      rank_failure found = rank_failure::none;
      std::uint64_t seen = 0, now = 0;
      bool arrived = true;
      if (waits) {
        bool const has_left = load_acquire<scope::sys>(&own.left[lane].value) != 0;
        seen = load_acquire<scope::sys>(&flags[lane * stride]);
        arrived = seen != 0 && epoch_reached(epoch_of(seen), epoch_of(mine));
        now = global_timer_ns();
        if (compares &&
            (other_problem(seen, mine) ||
             (!arrived && other_problem(load_acquire<scope::sys>(&begun[lane].value), mine))))
          found = rank_failure::other_problem;
        else if (!arrived && has_left)
          found = rank_failure::left;
        else if (!arrived && now - start > at.timeout_ns)
          found = rank_failure::late;
      }
      std::uint32_t const finders = ballot(found != rank_failure::none);
      if (finders != 0) {
        if (lane == lowest(finders)) publish(found, lane, seen, now - start);
        return false;
      }
      if (vote_all(arrived)) return true;
      bool const broken = load_acquire<scope::sys>(&failure.whole) != 0;
      std::uint32_t const breakers = ballot(broken);
      if (breakers != 0) {
        if (lane == lowest(breakers)) copy(*at.report, failure);
        return false;
      }
      backoff();
    }
  }

 private:
  TW_DEVICE static bool other_problem(std::uint64_t flag, std::uint64_t mine) {
    return epoch_of(flag) == epoch_of(mine) && flag != mine && flag != 0;
  }
  TW_DEVICE static int lowest(std::uint32_t bits) {
    int i = 0;
    while ((bits >> i & 1) == 0) ++i;
    return i;
  }

  /// Writes the failure to all arenas and to the host.
  TW_DEVICE void publish(rank_failure why, int of, std::uint64_t seen,
                         std::uint64_t waited_ns) const {
    failure_record r = {};
    r.why = why, r.by = static_cast<std::uint32_t>(at.rank), r.of = static_cast<std::uint32_t>(of);
    r.flag = flag, r.act = act;
    r.epoch = epoch_of(mine), r.seen_epoch = epoch_of(seen), r.seen = seen != 0 ? 1 : 0;
    r.first_row = first_row, r.rows = rows, r.waited_ns = waited_ns;
    if (why == rank_failure::other_problem) {
      gpu_arena_head const* const heads[2] = {at.heads[at.rank], at.heads[of]};
      for (int i = 0; i < 2; ++i)
        if (heads[i] != nullptr) r.text[i] = heads[i]->text[r.epoch % 2];
    }
    for (int rank = 0; rank < at.ranks; ++rank)
      if (at.heads[rank] != nullptr) copy(at.heads[rank]->failures[0][at.rank], r);
    copy(*at.report, r);
  }

  /// The first record stays.
  TW_DEVICE static void copy(failure_record& to, failure_record const& from) {
    if (load_acquire<scope::sys>(&to.whole) != 0) return;
    to.why = from.why, to.by = from.by, to.of = from.of, to.flag = from.flag, to.act = from.act;
    to.epoch = from.epoch, to.seen_epoch = from.seen_epoch, to.seen = from.seen;
    to.first_row = from.first_row, to.rows = from.rows, to.waited_ns = from.waited_ns;
    for (int i = 0; i < 2; ++i) to.text[i] = from.text[i];
    store_release<scope::sys>(&to.whole, std::uint64_t{1});
  }
};

struct wait_for_ranks_params {
  ranks_view at;
  std::uint32_t from;  // bit r: rank r
  rank_flag flag;
  rank_act act;
  std::int64_t first_row, rows;
};

struct wait_for_ranks_kernel {
  using params = wait_for_ranks_params;
  static constexpr int threads = 32, cluster = 1, smem_bytes = 0;

  TW_DEVICE static void run(params const& p) {
    rank_wait::of(p.at, p.from, p.flag, p.act, p.first_row, p.rows,
                  p.at.heads[p.at.rank]->outgoing.value)
        .run();
  }
};

}  // namespace tw
