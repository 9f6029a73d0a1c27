// SPDX-License-Identifier: Apache-2.0
// tensor_reports.cpp  Words for hazards in tensor memory.
#include <fmt/format.h>

#include <algorithm>

#include "emu/machine/checker.hpp"
#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"

namespace tw::emu::hazard {

namespace {

constexpr char const* handshake =
    "a handshake of the two CTAs: after the last use of the columns in each of them, before each "
    "tmem_dealloc";

struct remedy_words {
  std::string missing, cause, remedy;
};

/// The waits and barriers that an access of another thread lacks.
remedy_words unordered_words(record const& earlier, bool committed, bool waited, bool late) {
  if (traits(earlier.what).completes == completion::tensor_commit)
    return {committed ? "a wait for the mbarrier to which it was committed"
                      : "umma_commit() after it, to an mbarrier that this thread waits for",
            "tcgen05.mma is asynchronous: only the mbarrier of a commit shows that it is complete",
            "umma_commit(done) after the multiply; done.wait(), then tcgen05_fence_after()"};
  bool const load = earlier.what == access::tmem_load;
  if (!waited)
    return {fmt::format("{}() by its warp, before that warp's arrive",
                        load ? "tmem_wait_load" : "tmem_wait_store"),
            late ? "the warp waits for it, but after its arrive: an arrive covers what is complete "
                   "before it"
                 : fmt::format("{} is asynchronous: it may still be under way",
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
  if (v == tensor_verdict::unordered &&
      traits(earlier.what).completes == completion::tensor_commit &&
      blame_empty_commit(earlier.where, by))
    return;
  component_face const& f = faces_[earlier.who];
  thread const& issuer =
      cluster_->ctas[static_cast<std::size_t>(f.cta)].threads[static_cast<std::size_t>(f.index)];
  std::string const place = tensor_object(owner, at, both);
  if (v != tensor_verdict::needs_after && blame_scope(place, earlier, now, by)) return;
  bool const fence = v != tensor_verdict::unordered;
  bool const two_multiply = now.what == access::umma_write && earlier.what == access::umma_write &&
                            now.origin == earlier.origin && !fence;
  bool const after = v == tensor_verdict::needs_after;
  stamp const waited =
      earlier.what == access::tmem_load ? issuer.tensor.loads_waited : issuer.tensor.stores_waited;
  bool const late = waits_late(issuer, earlier, by);
  bool const two_copy = !fence && issued_by_two(earlier, now, by);
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
  else if (two_copy)
    w = {"an order between the two issuing threads",
         "tcgen05.cp is issued by the thread that multiplies: with cta_group 2 one thread of one "
         "CTA, for both CTAs",
         "tmem_copy in the branch of the multiplies: if (elect_one()) in one warp (of one CTA of a "
         "pair)"};
  else if (now.what == access::tmem_copy_write && earlier.who == by.tensor.ops)
    w = {"umma_commit() or tcgen05_fence_before() between the two, in this thread",
         "a copy does not wait for earlier multiplies and copies of its thread",
         "umma_commit() for the stage that the multiplies have used, before the copy of the next "
         "factors"};
  else
    w = unordered_words(earlier, issuer.tensor_ops && issuer.tensor_ops->committed >= earlier.when,
                        waited >= earlier.when && !late, late);
  if (!fence && now.what == access::umma_write && earlier.what == access::umma_write &&
      now.origin != earlier.origin) {
    w.cause = fmt::format("the accumulators overlap: this one takes {}, the earlier one {}",
                          accumulator_text(now.origin), accumulator_text(earlier.origin));
    w.remedy += "; or columns that do not overlap";
  }
  std::string const begin = fmt::format("{} {}", traits(now.what).now, place);
  std::string const before =
      fmt::format("{} {}", traits(earlier.what).noun, traits(earlier.what).did);
  report(fence                      ? "E0101"
         : two_multiply || two_copy ? "E0109"
                                    : "E0100",
         fence                      ? "missing-tcgen05-fence"
         : two_multiply || two_copy ? "umma-not-elected"
                                    : "tmem-race",
         report_text({
             .what = fence          ? fmt::format("{}, which {}: a barrier orders the two, but no "
                                                           "tcgen05.fence.",
                                                  begin, before)
                     : two_multiply ? fmt::format("Two threads issue multiplies into {}.", place)
                     : two_copy
                         ? fmt::format("Two threads issue the copies and multiplies of {}.", place)
                         : fmt::format("{}, which {}: nothing says that this is complete.", begin,
                                       before),
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
  if (now.what == access::tmem_load && blame_empty_commit({}, by)) return;
  bool const half = now.what == access::tmem_load && in_unused_lanes(owner, at, none);
  report(
      "E0102", "tmem-unwritten",
      report_text({
          .what = fmt::format("{} {}, which nothing has written since it was allocated.",
                              adds ? "tcgen05.mma adds to" : traits(now.what).now, place),
          .now = fmt::format("{} at {}{}", describe(now, false), text_of(now.where),
                             actor_of(now, by)),
          .cause = half ? "a multiply with M = 64 writes 16 of each 32 lanes: 0-15, 32-47, 64-79, "
                          "96-111"
                        : "tensor memory holds anything after its allocation, or the thread that "
                          "writes it comes later and nothing makes this one wait",
          .remedy = half   ? "a load of 16 lanes: tmem_shape::l16x64b, l16x128b or l16x256b; or "
                             "M = 128"
                    : adds ? "accumulate = false in the first multiply of a tile"
                    : now.what == access::umma_scale_read
                        ? "tmem_copy<c32x128b_x4> of the factors, in the same thread before the "
                          "multiply: 4 columns for 128 rows"
                        : "a wait for the commit of the multiplies that write it",
      }),
      now.where, {}, place, &by);
}

bool checker::waits_late(thread const& issuer, record const& op, thread const& by) const {
  if (traits(op.what).completes != completion::tensor_wait) return false;
  warp_state const& w = machine_->sched.warp_of(issuer);
  for (thread const* x = w.first; x < w.first + w.threads; ++x) {
    tensor_actor::early_arrive const& e =
        op.what == access::tmem_load ? x->tensor.early_loads : x->tensor.early_stores;
    if (op.when <= e.waited || op.when > e.begun) continue;
    if (e.own == x->tensor.arrived || by.actor.known->happened(thread_component(*x)) >= e.own)
      return true;
  }
  return false;
}

bool checker::issued_by_two(record const& earlier, record const& now, thread const& by) const {
  auto const issued = [](record const& r) {
    return traits(r.what).completes == completion::tensor_commit;
  };
  if (!issued(earlier) || !issued(now) || earlier.who == now.who) return false;
  if (earlier.what != access::tmem_copy_write && now.what != access::tmem_copy_write) return false;
  return faces_[earlier.who].cta != by.cluster_rank || earlier.where == now.where;
}

bool checker::in_unused_lanes(cta_state const& owner, touched at, std::uint64_t none) const {
  std::uint32_t const cell =
      at.block * 64 + static_cast<std::uint32_t>(none != 0 ? __builtin_ctzll(none) : 0);
  if (cell / tmem_columns % 2 == 0) return false;  // the first 16 of 32 lanes
  std::uint32_t const below = cell - tmem_columns;
  bool multiplied = false;
  tensor_->cells[static_cast<std::size_t>(owner.rank)].each_earlier(
      {below / 64, std::uint64_t{1} << below % 64}, false, [&](record const& r) {
        multiplied = multiplied || r.what == access::umma_write;
        return true;
      });
  return multiplied;
}

std::string checker::accumulator_text(std::uint16_t tag) const {
  auto const& [d, shape] = tensor_->tags[tag];
  int const n = 8 * static_cast<int>(shape >> 17 & 0x3F),
            m = 16 * static_cast<int>(shape >> 24 & 0x1F);
  bool const halves = (shape & 3U) == 2 && m == 128;  // N is in two parts of the lanes
  int const first = static_cast<int>(d & 0xFFFF);
  return fmt::format("columns {}-{} (M = {}, N = {})", first, first + (halves ? n / 2 : n) - 1, m,
                     n);
}

bool checker::blame_empty_commit(site multiply, thread const& by) {
  for (tensor_memory_order::empty_commit const& e : tensor_->empty_commits) {
    if (e.by->tensor_ops->begun != 0 || by.actor.known->happened(e.phases) == 0) continue;
    report(
        "E0111", "commit-nothing",
        report_text({
            .what =
                fmt::format("A commit to {} by a thread that has issued no multiply.", e.object),
            .now = fmt::format("commit at {} by {}", text_of(e.where), tw::emu::name_of(*e.by)),
            .earlier = multiply.line == 0
                           ? ""
                           : fmt::format("multiply of another thread at {}", text_of(multiply)),
            .cause = "a commit covers the operations that the same thread has issued: the arrive "
                     "comes at once, and says nothing about those of others",
            .remedy = "multiplies and their commit in the same thread, under one elect_one()",
        }),
        e.where, multiply, e.object, e.by);
    return true;
  }
  return false;
}

bool checker::blame_scope(std::string const& place, record const& earlier, record const& now,
                          thread const& by) {
  auto const concerned = [](record const& r) {
    completion const c = traits(r.what).completes;
    return c == completion::tensor_commit || c == completion::tensor_wait ||
           c == completion::copy_group || r.what == access::tmem_free;
  };
  if (!concerned(earlier) && !concerned(now)) return false;
  auto const note =
      std::find_if(scope_notes_.rbegin(), scope_notes_.rend(), [&](scope_note const& n) {
        return by.actor.known->happened(n.phases) >= n.phase &&
               ((n.own != 0 && n.sender == earlier.who && n.own >= earlier.when) ||
                n.known->happened(earlier.who) >= earlier.when);
      });
  if (note == scope_notes_.rend()) return false;
  report("E0116", "scope-too-narrow",
         report_text({
             .what = fmt::format("{} {}, which {} {}: between CTAs, a signal of CTA scope orders "
                                 "nothing.",
                                 traits(now.what).now, place, traits(earlier.what).noun,
                                 traits(earlier.what).did),
             .now = fmt::format("{} at {}{}", describe(now, false), text_of(now.where),
                                actor_of(now, by)),
             .earlier = fmt::format("{} at {}", describe(earlier, true), text_of(earlier.where)),
             .missing = fmt::format("cluster scope in the {} at {}", note->wait ? "wait" : "arrive",
                                    text_of(note->where)),
             .cause = note->wait ? "the arrive came from another CTA; a wait of CTA scope takes in "
                                   "releases of the same CTA alone"
                                 : "an arrive of CTA scope counts at another CTA's barrier, and "
                                   "orders nothing there",
             .remedy = "arrive_remote<scope::cluster>() after the earlier access, and "
                       "wait<scope::cluster>() before this one",
         }),
         now.where, earlier.where, place, &by);
  return true;
}

void checker::report_pair_freed_early(cta_state const& peer, record const& allocated,
                                      record const& freed, thread const& by) {
  int const cta = peer.threads.front().cta;
  report("E0115", "pair-dealloc-without-peer",
         report_text({
             .what =
                 fmt::format("A pair's tcgen05.dealloc may come before CTA {} has allocated.", cta),
             .now = fmt::format("{} at {} by {}", describe(freed, false), text_of(freed.where),
                                tw::emu::name_of(by)),
             .earlier = allocated.where.line == 0
                            ? ""
                            : fmt::format("tmem_alloc at {} by {}", text_of(allocated.where),
                                          name_of(allocated.who)),
             .missing = handshake,
             .cause = "a pair allocates and gives back together: what one CTA does needs the other "
                      "one's state",
             .remedy = "cluster_sync() before tmem_dealloc<2>()",
         }),
         freed.where, allocated.where, fmt::format("tensor memory of CTA {}", cta), &by);
}

void checker::report_pair_freed(std::string const& place, record const& use, record const& freed,
                                thread const& by) {
  bool const after = by.cluster_rank != faces_[freed.who].cta;  // the use came later
  record const& now = after ? use : freed;
  record const& earlier = after ? freed : use;
  report("E0115", "pair-dealloc-without-peer",
         report_text({
             .what = after ? fmt::format("{} {}, which the peer CTA has given back for the pair.",
                                         traits(use.what).now, place)
                           : fmt::format("A pair's tcgen05.dealloc gives back {}, which the peer "
                                         "CTA may still use.",
                                         place),
             .now = fmt::format("{} at {} by {}", describe(now, false), text_of(now.where),
                                tw::emu::name_of(by)),
             .earlier = fmt::format("{} at {}", describe(earlier, true), text_of(earlier.where)),
             .missing = handshake,
             .cause = "a pair gives back the columns of both CTAs: one warp of each executes it, "
                      "when neither uses them any more",
             .remedy = "cluster_sync() before tmem_dealloc<2>()",
         }),
         now.where, earlier.where, place, &by);
}

void checker::pair_started(thread& t, cta_state& peer, site where) {
  begin_tensor();
  auto const first = static_cast<component>(peer.rank * threads_);
  for (component c = first; c < first + static_cast<component>(threads_); ++c)
    if (t.actor.known->happened(c) != 0) return;
  report(
      "E0110", "pair-peer-gone",
      report_text({
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
