// SPDX-License-Identifier: Apache-2.0
// wait.hpp  Waits for the flags of other ranks: of a warp, in a launch between two GEMMs of a
//           stream, or of one thread inside of a GEMM (gate.hpp). A wait ends without a trap when
//           the group breaks: GEMMs then compute with old data, and the next call reports why.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/ranks/arena.hpp"

namespace tw {

/// A wait for ranks, of a warp (run) or of one thread (run_alone).
struct rank_wait {
  ranks_view const& at;
  std::uint32_t from;  // bit r: wait for rank r
  rank_flag flag;
  wait_place place;
  std::uint64_t mine;          // this rank's flag of the call
  std::uint64_t const* flags;  // of rank r: flags[r * stride]
  int stride;
  bool compares = true;  // the digests of the ranks

  /// A wait for flags of a kind.
  TW_DEVICE static rank_wait of(ranks_view const& at, std::uint32_t from, rank_flag flag,
                                wait_place const& place, std::uint64_t mine) {
    constexpr int words = sizeof(arena_word) / sizeof(std::uint64_t);
    return {at,    from, flag,
            place, mine, &at.heads[at.rank]->flags[static_cast<int>(flag)][0].value,
            words};
  }

  /// Of a warp, a lane for each rank. Returns when the flags are there: true, or the group is
  /// broken: false. What the ranks released before their flags is visible to the caller's thread,
  /// and to launches after this one.
  TW_DEVICE bool run() const {
    int const lane = thread_id();
    bool const waits = lane < at.ranks && (from >> lane & 1) != 0;
    failure_record const& failure = failure_of(lane);
    std::uint64_t const start = global_timer_ns();
    while (true) {
      sight const x = waits ? look(lane, start) : sight{};
      std::uint32_t const finders = ballot(x.found != rank_failure::none);
      if (finders != 0) {
        if (lane == lowest(finders)) publish(x, lane);
        return false;
      }
      if (vote_all(x.arrived)) return true;
      bool const broken = load_acquire<scope::sys>(&failure.whole) != 0;
      std::uint32_t const breakers = ballot(broken);
      if (breakers != 0) {
        if (lane == lowest(breakers)) copy(*at.report, failure);
        return false;
      }
      backoff();
    }
  }

  /// As run(), of the calling thread, for rank r alone.
  TW_DEVICE bool run_alone(int r) const {
    std::uint64_t const start = global_timer_ns();
    for (int spins = 0;; ++spins) {
      sight const x = look(r, start);
      if (x.found != rank_failure::none) {
        publish(x, r);
        return false;
      }
      if (x.arrived) return true;
      failure_record const& failure = failure_of(spins % (2 * arena_ranks));
      if (load_acquire<scope::sys>(&failure.whole) != 0) {
        copy(*at.report, failure);
        return false;
      }
      backoff();
    }
  }

 private:
  /// The state of a rank, as a thread sees it.
  struct sight {
    rank_failure found = rank_failure::none;
    bool arrived = true;
    std::uint64_t seen = 0, waited_ns = 0;
  };
  TW_DEVICE sight look(int r, std::uint64_t start) const {
    gpu_arena_head const& own = *at.heads[at.rank];
    sight x;
    bool const has_left = load_acquire<scope::sys>(&own.left[r].value) != 0;
    x.seen = load_acquire<scope::sys>(&flags[r * stride]);
    x.arrived = x.seen != 0 && epoch_reached(epoch_of(x.seen), epoch_of(mine));
    x.waited_ns = global_timer_ns() - start;
    std::uint64_t const refusals = load_acquire<scope::sys>(&own.refusals[r].value);
    std::uint64_t const* const begun = &own.flags[static_cast<int>(rank_flag::begun)][r].value;
    if (compares && (other_problem(x.seen, mine) ||
                     (!x.arrived && other_problem(load_acquire<scope::sys>(begun), mine))))
      x.found = rank_failure::other_problem;
    else if (has_refused(refusals, at.call, at.refused))
      x.found = rank_failure::refused;
    else if (!x.arrived && has_left)
      x.found = rank_failure::left;
    else if (!x.arrived && x.waited_ns > at.timeout_ns)
      x.found = rank_failure::late;
    return x;
  }

  TW_DEVICE failure_record const& failure_of(int i) const {
    return at.heads[at.rank]->failures[i / arena_ranks][i % arena_ranks];
  }
  TW_DEVICE static bool other_problem(std::uint64_t flag, std::uint64_t mine) {
    return epoch_of(flag) == epoch_of(mine) && flag != mine && flag != 0;
  }
  TW_DEVICE static int lowest(std::uint32_t bits) {
    int i = 0;
    while ((bits >> i & 1) == 0) ++i;
    return i;
  }

  /// Writes the failure to all arenas and to the host.
  TW_DEVICE void publish(sight const& x, int of) const {
    for (int rank = 0; rank < at.ranks; ++rank)
      if (at.heads[rank] != nullptr) put(at.heads[rank]->failures[0][at.rank], x, of);
    put(*at.report, x, of);
  }
  TW_DEVICE void put(failure_record& to, sight const& x, int of) const {
    if (load_acquire<scope::sys>(&to.whole) != 0) return;
    to.why = x.found, to.by = static_cast<std::uint32_t>(at.rank);
    to.of = static_cast<std::uint32_t>(of), to.flag = flag, to.place = place;
    to.epoch = epoch_of(mine), to.seen_epoch = epoch_of(x.seen), to.seen = x.seen != 0 ? 1 : 0;
    to.waited_ns = x.waited_ns;
    if (x.found == rank_failure::refused && at.heads[of] != nullptr)
      to.text[0] = at.heads[of]->refusal[(at.refused + 1) % 2];
    if (x.found == rank_failure::other_problem) {
      gpu_arena_head const* const heads[2] = {at.heads[at.rank], at.heads[of]};
      for (int i = 0; i < 2; ++i)
        if (heads[i] != nullptr) to.text[i] = heads[i]->text[to.epoch % 2];
    }
    store_release<scope::sys>(&to.whole, std::uint64_t{1});
  }

  /// The first record stays.
  TW_DEVICE static void copy(failure_record& to, failure_record const& from) {
    if (load_acquire<scope::sys>(&to.whole) != 0) return;
    to.why = from.why, to.by = from.by, to.of = from.of, to.flag = from.flag;
    to.epoch = from.epoch, to.seen_epoch = from.seen_epoch, to.seen = from.seen;
    to.place = from.place, to.waited_ns = from.waited_ns;
    for (int i = 0; i < 2; ++i) to.text[i] = from.text[i];
    store_release<scope::sys>(&to.whole, std::uint64_t{1});
  }
};

struct wait_for_ranks_params {
  ranks_view at;
  std::uint32_t from;  // bit r: rank r
  rank_flag flag;
  wait_place before;
};

struct wait_for_ranks_kernel {
  using params = wait_for_ranks_params;
  static constexpr int threads = 32, cluster = 1, smem_bytes = 0;

  TW_DEVICE static void run(params const& p) {
    rank_wait::of(p.at, p.from, p.flag, p.before, p.at.heads[p.at.rank]->outgoing.value).run();
  }
};

}  // namespace tw
