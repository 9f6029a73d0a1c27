// SPDX-License-Identifier: Apache-2.0
// tensor_reports.cpp  Words for hazards in tensor memory.
#include <fmt/format.h>

#include "emu/hazard/checker.hpp"
#include "emu/machine.hpp"
#include "emu/words.hpp"

namespace tw::emu::hazard {

namespace {

struct remedy_words {
  std::string missing, cause, remedy;
};

/// The waits and barriers that an access of another thread lacks.
remedy_words unordered_words(record const& earlier, bool committed, bool waited) {
  if (traits(earlier.what).completes == completion::tensor_commit)
    return {committed ? "a wait for the mbarrier to which it was committed"
                      : "umma_commit() after it, to an mbarrier that this thread waits for",
            "tcgen05.mma is asynchronous: only the mbarrier of a commit shows that it is complete",
            "umma_commit(done) after the multiply; done.wait(), then tcgen05_fence_after()"};
  bool const load = earlier.what == access::tmem_load;
  if (!waited)
    return {fmt::format("{}() by its warp, before that warp's arrive",
                        load ? "tmem_wait_load" : "tmem_wait_store"),
            fmt::format("{} is asynchronous: it may still be under way",
                        load ? "tcgen05.ld" : "tcgen05.st"),
            fmt::format("{}, then tcgen05_fence_before() and the arrive that this thread waits for",
                        load ? "tmem_wait_load(registers)" : "tmem_wait_store()")};
  return {"a barrier that leads from the earlier access to this one",
          "they may come in either order, or at once",
          "tcgen05_fence_before() and an arrive by the earlier warp; a wait and "
          "tcgen05_fence_after() before this access"};
}

}  // namespace

std::string checker::tensor_object(cta_state const& owner, touched at, std::uint64_t cells) {
  int const cell = static_cast<int>(at.block) * 64 + (cells != 0 ? __builtin_ctzll(cells) : 0);
  int const lane = cell / tmem_columns * lanes_of_cell;
  return fmt::format("tensor memory of CTA {}, lanes {}-{}, column {}", owner.threads.front().cta,
                     lane, lane + lanes_of_cell - 1, cell % tmem_columns);
}

void checker::report_tensor(cta_state const& owner, touched at, std::uint64_t both,
                            record const& earlier, record const& now, thread const& by,
                            tensor_verdict v) {
  if (v == tensor_verdict::unordered && blame_stale_wait(*by.block, earlier, by)) return;
  component_face const& f = faces_[earlier.who];
  thread const& issuer =
      cluster_->ctas[static_cast<std::size_t>(f.cta)].threads[static_cast<std::size_t>(f.index)];
  std::string const place = tensor_object(owner, at, both);
  bool const fence = v != tensor_verdict::unordered;
  bool const two_multiply = now.what == access::umma_write && earlier.what == access::umma_write &&
                            now.origin == earlier.origin && !fence;
  bool const after = v == tensor_verdict::needs_after;
  stamp const waited =
      earlier.what == access::tmem_load ? issuer.tensor.loads_waited : issuer.tensor.stores_waited;
  remedy_words w;
  if (fence)
    w = {after ? "tcgen05_fence_after() in this thread, after its wait"
               : "tcgen05_fence_before() in the earlier thread, before its arrive",
         "a barrier orders tcgen05 operations of two threads only together with tcgen05.fence on "
         "both sides",
         after ? "tcgen05_fence_after() after the wait, before the next tcgen05 operation"
               : "tcgen05_fence_before() after the wait for the operation, before the arrive"};
  else if (two_multiply)
    w = {"an order between the two issuing threads",
         "tcgen05.mma is issued by one thread: of a warp, or of the pair with cta_group 2",
         "if (elect_one()) around the multiplies, in one warp (of one CTA of a pair)"};
  else if (now.what == access::tmem_copy_write && earlier.who == by.tensor.ops)
    w = {"umma_commit() or tcgen05_fence_before() between the two, in this thread",
         "a copy does not wait for earlier multiplies and copies of its thread",
         "umma_commit() for the stage that the multiplies have used, before the copy of the next "
         "factors"};
  else
    w = unordered_words(earlier, issuer.tensor_ops && issuer.tensor_ops->committed >= earlier.when,
                        waited >= earlier.when);
  std::string const begin = fmt::format("{} {}", traits(now.what).now, place);
  std::string const before =
      fmt::format("{} {}", traits(earlier.what).noun, traits(earlier.what).did);
  report(
      fence          ? "E0101"
      : two_multiply ? "E0109"
                     : "E0100",
      fence          ? "missing-tcgen05-fence"
      : two_multiply ? "umma-not-elected"
                     : "tmem-race",
      told({
          .what = fence          ? fmt::format("{}, which {}: a barrier orders the two, but no "
                                                        "tcgen05.fence.",
                                               begin, before)
                  : two_multiply ? fmt::format("Two threads issue multiplies into {}.", place)
                                 : fmt::format("{}, which {}: nothing says that this is complete.",
                                               begin, before),
          .now = fmt::format("{} at {}{}", describe(now, false), text_of(now.where),
                             actor_of(now, by)),
          .earlier = fmt::format("{} at {}", describe(earlier, true), text_of(earlier.where)),
          .missing = w.missing,
          .cause = w.cause,
          .remedy = w.remedy,
      }),
      now.where, earlier.where, place, &by);
}

void checker::report_tensor_unwritten(cta_state const& owner, touched at, std::uint64_t none,
                                      record const& now, thread const& by) {
  std::string const place = tensor_object(owner, at, none);
  bool const adds = now.what == access::umma_write;
  report(
      "E0102", "tmem-unwritten",
      told({
          .what = fmt::format("{} {}, which nothing has written since it was allocated.",
                              adds ? "tcgen05.mma adds to" : traits(now.what).now, place),
          .now = fmt::format("{} at {}{}", describe(now, false), text_of(now.where),
                             actor_of(now, by)),
          .cause = "tensor memory holds anything after its allocation, or the thread that writes "
                   "it comes later and nothing makes this one wait",
          .remedy = adds ? "accumulate = false in the first multiply of a tile"
                    : now.what == access::umma_scale_read
                        ? "tmem_copy<c32x128b_x4> of the factors, in the same thread before the "
                          "multiply: 4 columns for 128 rows"
                        : "a wait for the commit of the multiplies that write it",
      }),
      now.where, {}, place, &by);
}

void checker::pair_started(thread& t, cta_state& peer, site where) {
  begin_tensor();
  auto const first = static_cast<component>(peer.rank * threads_);
  for (component c = first; c < first + static_cast<component>(threads_); ++c)
    if (t.actor.known->happened(c) != 0) return;
  report(
      "E0110", "pair-peer-gone",
      told({
          .what = fmt::format("CTA {} allocates tensor memory for its pair before it has seen that "
                              "CTA {} runs.",
                              t.cta, peer.threads.front().cta),
          .now = fmt::format("tmem_alloc at {} by {}", text_of(where), tw::emu::name_of(t)),
          .missing = "a cluster barrier between the kernel's begin and the allocation",
          .cause = "the instruction writes the peer's state, which must exist",
          .remedy = "cluster_sync() before tmem_alloc<2>()",
      }),
      where, {}, fmt::format("tensor memory of CTA {}", peer.threads.front().cta), &t);
}

}  // namespace tw::emu::hazard
