// SPDX-License-Identifier: Apache-2.0
// reports.cpp  Words for hazards: both accesses, the object, what is not known, cause and remedy.
#include <fmt/format.h>

#include <algorithm>

#include "emu/machine/checker.hpp"
#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"

namespace tw::emu::hazard {

std::string checker::object(cta_state const& owner, std::uint32_t offset) const {
  return object_name(grid_, owner, offset);
}

std::string checker::name_of(component c) const {
  component_face const& f = faces_[c];
  if (f.what == component_face::kind::predecessor) return "the predecessor";
  cta_state const& cta = cluster_->ctas[static_cast<std::size_t>(f.cta)];
  auto const index = static_cast<std::size_t>(f.index);
  if (f.what == component_face::kind::mbarrier)
    return object(cta, static_cast<std::uint32_t>(f.index));
  if (f.what == component_face::kind::warpgroup) return warpgroup_name(cta.threads[128 * index]);
  if (f.what == component_face::kind::tensor_loads || f.what == component_face::kind::tensor_stores)
    return fmt::format("warp {} of CTA {}", index / 32, cta.threads.front().cta);
  return tw::emu::name_of(cta.threads[index]);
}

std::string checker::describe(record const& r, bool with_thread) const {
  access_traits const& kind = traits(r.what);
  std::string const who = name_of(r.who);
  switch (kind.completes) {
    case completion::program_order: break;
    case completion::mbarrier_phase: {
      std::string text =
          fmt::format("{} that completes phase {} of {}", kind.did_by, r.when - 1, who);
      thread const* const issuer = r.origin != 0 ? origins_[r.origin].by : nullptr;
      if (with_thread && issuer != nullptr)
        text += ", issued by " + tw::emu::name_of(*issuer) + ",";
      return text;
    }
    case completion::bulk_group:
      return fmt::format("{}, bulk group {} of {}", kind.did_by, r.when - 1, who);
    case completion::wgmma_group:
    case completion::copy_group:
      return fmt::format("{}, group {} of {}", kind.did_by, r.when - 1, who);
    case completion::tensor_commit:
      return with_thread ? fmt::format("{}, number {} of {},", kind.did_by, r.when - 1, who)
                         : std::string(kind.did_by);
    case completion::tensor_wait: break;
  }
  return with_thread ? fmt::format("{} by {}", kind.did_by, who) : std::string(kind.did_by);
}

std::string checker::actor_of(record const& r, thread const& by) const {
  if (!traits(r.what).names_actor) return "";  // the group's owner says it
  return (lands_on_mbarrier(r.what) ? ", issued by " : " by ") + tw::emu::name_of(by);
}

void checker::report(char const* code, char const* kind, std::string text, site where, site earlier,
                     std::string object, thread const* by, std::int64_t phase) {
  diagnosis d;
  d.code = code;
  d.kind = kind;
  d.text = std::move(text);
  d.where = where;
  d.earlier = earlier;
  d.object = std::move(object);
  if (by != nullptr) {
    d.cta = by->cta;
    d.thread = by->id;
    d.role = by->role;
  }
  d.phase = phase;
  machine_->reports.report(std::move(d));
}

namespace {

struct race_words {
  char const* code;
  char const* kind;
  std::string what, cause, remedy;
};

/// whose: " of thread 3" if the earlier access is one thread's.
race_words words_for(std::string const& place, record const& earlier, std::string const& whose,
                     record const& now, bool unfenced) {
  std::string const begin = fmt::format("{} {}", traits(now.what).now, place);
  std::string const before =
      fmt::format("{}{} {}", traits(earlier.what).noun, whose, traits(earlier.what).did);
  if (unfenced)
    return {
        "E0025", "missing-proxy-fence",
        fmt::format("{}, which {}: a barrier orders the two, but no proxy fence.", begin, before),
        "loads, stores and matrix instructions (generic proxy) and TMA, wgmma and tcgen05 (async "
        "proxy) reach shared memory by different paths; a barrier does not order those",
        earlier.what == access::cp_async_write
            ? "fence_proxy_async() by a thread that has waited for the copy, before it arrives"
            : "fence_proxy_async() by the earlier thread, after its access and before its arrive"};
  if (lands_on_mbarrier(earlier.what) && now.what != earlier.what)
    return {"E0026", "read-before-tma-arrival",
            fmt::format("{} before the {} is known to have landed.", begin,
                        earlier.what == access::tma_write      ? "TMA load that fills it"
                        : earlier.what == access::answer_write ? "answer to launch_cancel"
                        : earlier.what == access::peer_write   ? "bulk copy that fills it"
                                                               : "bulk reduction that changes it"),
            "the copy may still be under way",
            "wait() on that barrier for that phase, before this access"};
  if (earlier.what == access::async_write)
    return {"E0051", "used-before-store-async-lands",
            fmt::format("{} before the store_async to it is known to have landed.", begin),
            "the store may still be under way, or the wait for it had CTA scope",
            "wait<scope::cluster>() on the barrier that counts it, before this access"};
  if (earlier.what == access::cp_async_write)
    return {"E0045", "read-before-cp-async-wait",
            fmt::format("{} before the cp.async that fills it is known to have landed.", begin),
            "the copy may still be under way: its thread has not waited for that group, or no "
            "barrier follows its wait",
            "cp_async_wait<N>() by each thread that copied, then cta_sync(), before this access"};
  if (earlier.what == access::wgmma_read)
    return {"E0027", "stage-overwritten-while-wgmma-reads",
            fmt::format("{} while wgmma may still be reading it.", begin),
            "nothing signals the writer that the multiply has finished reading",
            "wgmma_wait in the multiplying warpgroup, then an arrive that the writer waits for"};
  if (earlier.what == access::umma_read || earlier.what == access::tmem_copy_read)
    return {"E0112", "stage-overwritten-while-umma-reads",
            fmt::format("{} while {} may still be reading it.", begin, traits(earlier.what).noun),
            earlier.what == access::umma_read
                ? "nothing signals the writer that the multiply has finished reading"
                : "nothing signals the writer that the copy has finished reading",
            "umma_commit() after it, to an mbarrier that the writer waits for"};
  if (earlier.what == access::tma_store_read)
    return {"E0028", "overwrite-while-tma-store-reads",
            fmt::format("{} while a TMA store may still be reading it.", begin),
            "nothing signals the writer that the store has finished reading its source",
            "tma_store_wait_read by the thread that stored, then a barrier with the writers"};
  return {"E0024", "smem-race",
          fmt::format("{}, which {}: no barrier orders the two.", begin, before),
          "they may come in either order, or at once (an arrive with relaxed order carries none)",
          "a barrier between them: the first one arrives after it, the second one waits before"};
}

}  // namespace

copy_arrival const* checker::arrival_of(record const& earlier) const {
  component_face const& f = faces_[earlier.who];
  if (f.what != component_face::kind::copies) return nullptr;
  thread const& issuer =
      cluster_->ctas[static_cast<std::size_t>(f.cta)].threads[static_cast<std::size_t>(f.index)];
  // Runs that a group covers, too, are waited for by the group.
  for (std::uint32_t const run : issuer.runs_of)
    if (run >= earlier.when) return nullptr;
  for (copy_arrival const& a : issuer.copy_arrivals)
    if (a.until >= earlier.when) return &a;
  return nullptr;
}

narrow_arrive const* checker::narrow_arrive_of(record const& earlier, thread const& by) const {
  component_face const& f = faces_[earlier.who];
  if (f.what != component_face::kind::thread || f.cta == by.cluster_rank) return nullptr;
  thread const& t =
      cluster_->ctas[static_cast<std::size_t>(f.cta)].threads[static_cast<std::size_t>(f.index)];
  return t.narrow.where.line != 0 && t.narrow.when >= earlier.when ? &t.narrow : nullptr;
}

char const* checker::missing_commit(record const& earlier) const {
  component_face const& f = faces_[earlier.who];
  if (f.what != component_face::kind::stores && f.what != component_face::kind::copies)
    return nullptr;
  thread const& issuer =
      cluster_->ctas[static_cast<std::size_t>(f.cta)].threads[static_cast<std::size_t>(f.index)];
  bool const store = f.what == component_face::kind::stores;
  std::uint32_t const committed = store                    ? issuer.bulk_committed
                                  : issuer.runs_of.empty() ? 0
                                                           : issuer.runs_of.back();
  if (earlier.when <= committed) return nullptr;
  return store ? "tma_store_commit()" : "cp_async_commit()";
}

void checker::report_conflict(cta_state const& owner, std::uint32_t offset, record const& earlier,
                              record const& now, thread const& by, verdict v) {
  if (v == verdict::unordered && blame_stale_wait(owner, earlier, by)) return;
  if (v == verdict::unordered && traits(earlier.what).completes == completion::tensor_commit &&
      blame_empty_commit(earlier.where, by))
    return;
  std::string const place = object(owner, offset);
  if (v == verdict::unordered && blame_scope(place, earlier, now, by)) return;
  component_face const& f = faces_[earlier.who];
  race_words w =
      words_for(place, earlier,
                f.what == component_face::kind::thread ? fmt::format(" of thread {}", f.index) : "",
                now, v == verdict::unfenced);
  if (traits(earlier.what).atomic && traits(now.what).atomic) {
    w.cause = narrow_atomic_cause;
    w.remedy = narrow_atomic_remedy;
  }
  stamp const known = by.actor.known->happened(earlier.who);
  std::string missing;
  if (v == verdict::unfenced) {
    missing = "a proxy fence between the earlier access and its thread's next arrive";
  } else if (committed_late_) {
    thread const& committing = *machine_->sched.running();
    missing = fmt::format(
        "wgmma_commit() after this wgmma, before the arrive that lets others "
        "write there: the first one that covers it is at {}",
        text_of(committing.commit_site));
    w.cause =
        "a wait counts committed groups alone: this wgmma was not complete when its operand "
        "was written again";
    w.remedy = "wgmma_commit() after the wgmma of a stage, wgmma_wait for them, then the arrive";
  } else {
    switch (traits(earlier.what).completes) {
      case completion::mbarrier_phase:
        missing = fmt::format("a wait{} for phase {} of {}",
                              earlier.what == access::async_write ? " of cluster scope" : "",
                              earlier.when - 1, name_of(earlier.who));
        if (lands_on_mbarrier(earlier.what))
          missing += known == 0
                         ? "; the thread has seen none end"
                         : fmt::format("; the thread has seen the end of phase {}", known - 1);
        break;
      case completion::wgmma_group:
      case completion::bulk_group:
      case completion::copy_group:
        if (copy_arrival const* const a = arrival_of(earlier)) {
          std::string const bar = object_name(grid_, a->at->offset);
          missing = fmt::format("a wait for the phase of {} that counts this copy", bar);
          w.cause = fmt::format(
              "the copy completes at {} (cp_async_mbarrier_arrive{} at {}), whose init() at {} "
              "counts {} arrivals{}",
              bar, a->counted ? "" : "_noinc", text_of(a->where), text_of(a->at->made_at),
              a->at->count,
              a->at->phase > 0 ? ": a phase has ended before the copies of all threads" : "");
          w.remedy = a->counted
                         ? "a wait for that phase by this thread, before this access"
                         : "init() with one arrival for each thread that copies, and a wait by "
                           "this thread for that phase";
          break;
        }
        if (char const* const commit = missing_commit(earlier)) {
          missing = fmt::format("{} after it: the group was never committed, so no wait covers it",
                                commit);
          w.cause = "a wait counts committed groups alone";
          w.remedy = fmt::format("{} by the thread that issued it, before its wait", commit);
          break;
        }
        missing = std::string("a wait for that group; ") +
                  (known == 0 ? "the thread has waited for no group"
                              : fmt::format("the thread has waited for group {}", known - 1));
        break;
      case completion::tensor_commit:
        missing = "a wait for an mbarrier to which the multiply's thread has committed it";
        break;
      case completion::tensor_wait:
      case completion::program_order:
        missing = "a barrier that leads from the earlier access to this one";
        if (narrow_arrive const* const a = narrow_arrive_of(earlier, by)) {
          w.cause = fmt::format(
              "the arrive at the other CTA's barrier, at {}, has {}: it counts, "
              "but orders no memory access between CTAs (E0014)",
              text_of(a->where), a->order);
          w.remedy = "arrive_remote<scope::cluster>(), and wait<scope::cluster>() on that barrier";
        }
    }
  }
  auto const of_phase = [](record const& r) {
    return traits(r.what).completes == completion::mbarrier_phase;
  };
  bool const phased = of_phase(earlier) || of_phase(now);
  report(w.code, w.kind,
         report_text({
             .what = w.what,
             .now = fmt::format("{} at {}{}", describe(now, false), text_of(now.where),
                                actor_of(now, by)),
             .earlier = fmt::format("{} at {}", describe(earlier, true), text_of(earlier.where)),
             .missing = missing,
             .cause = w.cause,
             .remedy = w.remedy,
         }),
         now.where, earlier.where, place, &by,
         phased ? static_cast<std::int64_t>(of_phase(earlier) ? earlier.when : now.when) - 1 : -1);
}

void checker::report_unwritten(cta_state const& owner, std::uint32_t offset, record const& now,
                               thread const& by, std::optional<std::uint32_t> operand) {
  if (!grid_.plain_accesses_seen) return;  // a plain store may have written there unseen
  std::string const place = object(owner, offset);
  auto const member = [&](std::uint32_t at) {
    std::string const name = object_name(grid_, at);
    return name.substr(0, name.find('+'));
  };
  bool const left = operand && member(*operand) != member(offset);
  report("E0029", "uninitialised-read",
         report_text({
             .what = fmt::format("{} {}, which nothing has written since the CTA began.",
                                 traits(now.what).now, place),
             .now = fmt::format("{} at {}{}", describe(now, false), text_of(now.where),
                                actor_of(now, by)),
             .cause = left ? fmt::format("the operand begins in {}: its descriptor's leading or "
                                         "stride offset is too large, or the bytes were not filled",
                                         object_name(grid_, *operand))
                           : "no store and no copy has filled these bytes, or the thread that does "
                             "comes later and nothing makes this one wait for it",
             .remedy = left ? "the offsets of the tile that was loaded, in bytes"
                            : "write first, then a barrier between the writers and this read",
         }),
         now.where, {}, place, &by);
}

bool checker::blame_any_stale_wait(thread const& by) {
  for (mbarrier_state const& b : by.block->mbarriers)
    for (mbarrier_face::repeated_wait const& w : b.face.repeated)
      if (w.thread == static_cast<std::uint32_t>(by.id)) {
        report_stale_phase(by, b, w.where);
        return true;
      }
  return false;
}

bool checker::blame_stale_wait(cta_state const& owner, record const& earlier, thread const& by) {
  component_face const& f = faces_[earlier.who];
  for (mbarrier_state const& b : by.block->mbarriers) {
    auto const w = std::ranges::find(b.face.repeated, static_cast<std::uint32_t>(by.id),
                                     &mbarrier_face::repeated_wait::thread);
    if (w == b.face.repeated.end()) continue;
    bool const same_barrier = f.what == component_face::kind::mbarrier &&
                              owner.rank == by.cluster_rank && b.face.phases == earlier.who;
    if (!same_barrier && !has_newer_phase(b, by.id)) continue;
    report_stale_phase(by, b, w->where);
    return true;
  }
  return false;
}

void checker::report_stale_phase(thread const& t, mbarrier_state const& b, site where) {
  std::string const place = object(*t.block, b.offset);
  std::uint32_t const seen = b.face.seen[static_cast<std::size_t>(t.id)] & ~(1U << 31);
  std::string const why =
      seen <= 1
          ? std::string(" for the second time, before its first phase has ended.")
          : fmt::format(": it is for phase {}, whose end the thread has seen before.", seen - 2);
  report("E0034", "stale-phase",
         report_text({
             .what = fmt::format("A wait on {} passes at once{}", place, why),
             .now = fmt::format("wait for parity {} at {} by {}", seen & 1U, text_of(where),
                                tw::emu::name_of(t)),
             .barrier = barrier_text(grid_, *t.block, b),
             .cause = "the barrier has a newer phase, which the thread does not wait for: most "
                      "often the parity was not flipped when the ring wrapped round",
             .remedy = "phase ^= 1 each time the stage index returns to 0",
         }),
         where, b.made_at, place, &t, static_cast<std::int64_t>(seen) - 2);
}

void checker::report_init(thread const& t, cta_state const& owner, mbarrier_state const& b,
                          bool unfenced, site where) {
  std::string const place = object(owner, b.offset);
  report(
      "E0033", "mbarrier-init-not-visible",
      report_text({
          .what = fmt::format("{} is used {}.", place,
                              unfenced ? "by TMA or by a peer CTA, for which its init() need not "
                                         "be visible"
                                       : "by a thread for which its init() need not have "
                                         "happened yet"),
          .now = fmt::format("use at {} by {}", text_of(where), tw::emu::name_of(t)),
          .earlier = fmt::format("init at {} by {}", text_of(b.made_at), name_of(b.face.maker)),
          .missing = unfenced ? "fence_mbarrier_init() after the init"
                              : "a barrier between the init and this use",
          .cause = unfenced ? "an init reaches the async proxy and peer CTAs through that fence "
                              "alone"
                            : "the thread may come here before the init has run",
          .remedy = unfenced ? "fence_mbarrier_init() by the thread that ran init(), then the "
                               "barrier that all wait for"
                             : "cta_sync() after init(), or cluster_sync() where peers use it",
      }),
      where, b.made_at, place, &t, b.phase);
}

void checker::report_early_exit(thread const& t, remote_access const& r) {
  using kind = remote_access::kind;
  std::string const at = object_name(grid_, r.offset);
  bool const source = r.what == kind::copy_to_peer;
  bool const of_phase = r.what == kind::copy || r.what == kind::store_async || source;
  bool const own = (r.what == kind::copy && r.by_cta == t.cta) || source;
  bool const load = r.written == access::tma_write;
  std::string const what =
      r.what == kind::copy && load  ? fmt::format("a {}TMA load of {}", own ? "" : "multicast ", at)
      : r.what == kind::copy        ? fmt::format("{} that writes {}", traits(r.written).noun, at)
      : source                      ? fmt::format("a copy of {} to a peer", at)
      : r.what == kind::plain       ? "an ordinary access of " + at
      : r.what == kind::atomic      ? "an atomic operation on " + at
      : r.what == kind::store_async ? "a store_async to " + at
      : r.what == kind::multiply    ? "a tcgen05.mma that reads " + at
                                    : "an arrive on " + at;
  bool const pair = r.what == kind::multiply;
  component_face const& f = faces_[r.who];
  site const relaxed = f.what != component_face::kind::thread
                           ? site{}
                           : cluster_->ctas[static_cast<std::size_t>(f.cta)]
                                 .threads[static_cast<std::size_t>(f.index)]
                                 .cluster_arrive_relaxed;
  report(
      pair ? "E0110" : "E0036", pair ? "pair-peer-gone" : "cta-exit-before-remote-access",
      report_text({
          .what = own ? fmt::format("CTA {} may end while {} is still in flight.", t.cta, what)
                      : fmt::format("CTA {} may end before {} in its shared memory comes from "
                                    "a peer.",
                                    t.cta, what),
          .now = fmt::format("end of CTA {}, whose last thread is {}", t.cta, tw::emu::name_of(t)),
          .earlier = fmt::format("{} at {}, {} {}", what, text_of(r.where),
                                 of_phase ? "which completes a phase of" : "by", name_of(r.who)),
          .missing = source     ? fmt::format("a step by which CTA {} sees that phase {} of {} is "
                                                  "over: the copy has then read its source",
                                              t.cta, r.when - 1, name_of(r.who))
                     : of_phase ? fmt::format("a wait in CTA {} for phase {} of {}", t.cta,
                                              r.when - 1, name_of(r.who))
                     : relaxed.line != 0
                         ? fmt::format("a release in the cluster_arrive_relaxed() at {}: a relaxed "
                                       "arrive orders no access before it",
                                       text_of(relaxed))
                         : fmt::format("a step by which CTA {} sees that this access has "
                                       "happened",
                                       t.cta),
          .cause = "the memory of a CTA is given away when it ends",
          .remedy = source     ? "cluster_sync() as the last act of the kernel, after the peer has "
                                 "waited for that phase"
                    : own      ? "wait() on that barrier for that phase before the kernel ends"
                    : of_phase ? "each CTA that bytes are sent to waits on its own barrier for "
                                 "that phase before it ends; cluster_sync() does not wait for "
                                 "copies"
                    : relaxed.line != 0
                        ? "cluster_arrive() in its place, then cluster_wait(); or cluster_sync()"
                        : "cluster_sync() as the last act of the kernel, in all threads",
      }),
      r.where, {}, object(*t.block, r.offset), &t);
}

void checker::report_origin(char const* code, char const* kind, std::string const& what,
                            std::string const& cause, std::string const& remedy,
                            cta_state const& owner, record const& written, std::uint32_t offset,
                            thread const& by, record const& now) {
  std::string const place = object(owner, offset);
  site const where = now.where;
  report(code, kind,
         report_text({
             .what = fmt::format("{} {} {}", traits(now.what).now, place, what),
             .now = fmt::format(
                 "{} at {} by {}", traits(now.what).noun, text_of(where),
                 now.what == access::wgmma_read ? warpgroup_name(by) : tw::emu::name_of(by)),
             .earlier = fmt::format("{} at {}", describe(written, true), text_of(written.where)),
             .cause = cause,
             .remedy = remedy,
         }),
         where, written.where, place, &by);
}

void checker::report_k_mismatch(thread const& by, int const (&k_a)[2], int const (&k_b)[2],
                                std::uint32_t address_a, std::uint32_t address_b,
                                record const& now) {
  std::string const a = object(*by.block, address_a - smem_base);
  std::string const b = object_name(grid_, address_b - smem_base);
  site const where = now.where;
  char const* const noun = traits(now.what).noun;
  report("E0039", "operand-k-mismatch",
         report_text({
             .what = fmt::format("{} multiplies A from k = {} with B from k = {}.", noun, k_a[1],
                                 k_b[1]),
             .now = fmt::format(
                 "{} at {} by {}; A is {}, B is {}", noun, text_of(where),
                 now.what == access::wgmma_read ? warpgroup_name(by) : tw::emu::name_of(by), a, b),
             .earlier = fmt::format("A was loaded at {}, B at {}",
                                    text_of(origins_[static_cast<std::size_t>(k_a[0])].where),
                                    text_of(origins_[static_cast<std::size_t>(k_b[0])].where)),
             .cause = "the coordinates of those loads differ in k: a mix-up of stages, or swapped "
                      "coordinates",
             .remedy = "load A and B of one stage with the same k; the first coordinate is the "
                       "contiguous one",
         }),
         where, origins_[static_cast<std::size_t>(k_a[0])].where, a, &by);
}

}  // namespace tw::emu::hazard
