// SPDX-License-Identifier: Apache-2.0
// reports.cpp  Words for hazards: both accesses, the object, what is not known, cause and remedy.
#include <fmt/format.h>

#include "emu/hazard/checker.hpp"
#include "emu/machine.hpp"

namespace tw::emu::hazard {

std::string checker::object(cta_state const& owner, std::uint32_t offset) const {
  return object_name(grid_, owner, offset);
}

std::string checker::name_of(component c) const {
  component_face const& f = faces_[c];
  std::string const cta =
      grid_.cluster > 1
          ? fmt::format(" of CTA {}",
                        cluster_->ctas[static_cast<std::size_t>(f.cta)].threads.front().cta)
          : "";
  switch (f.what) {
    case component_face::kind::thread:
      return tw::emu::name_of(cluster_->ctas[static_cast<std::size_t>(f.cta)]
                                  .threads[static_cast<std::size_t>(f.index)]);
    case component_face::kind::warpgroup: return fmt::format("warpgroup {}{}", f.index, cta);
    case component_face::kind::mbarrier:
      return object(cluster_->ctas[static_cast<std::size_t>(f.cta)],
                    static_cast<std::uint32_t>(f.index));
    case component_face::kind::predecessor: return "the predecessor";
    case component_face::kind::stores:
    case component_face::kind::writes:
    case component_face::kind::copies:
    case component_face::kind::acquires: return fmt::format("thread {}{}", f.index, cta);
  }
  return "";
}

std::string checker::describe(record const& r) const {
  std::string const who = name_of(r.who);
  switch (r.what) {
    case access::plain_read: return "read by " + who;
    case access::plain_write: return "written by " + who;
    case access::stmatrix: return "written with stmatrix by " + who;
    case access::ldmatrix: return "read with ldmatrix by " + who;
    case access::tma_write:
      return fmt::format("written by a TMA load that completes phase {} of {}", r.when - 1, who);
    case access::tma_store_read:
      return fmt::format("read by a TMA store, bulk group {} of {}", r.when - 1, who);
    case access::cp_async_write:
      return fmt::format("written by cp.async, group {} of {}", r.when - 1, who);
    case access::cp_async_read:
    case access::tma_load_read:
    case access::tma_store_write:
    case access::tma_reduce:
    case access::atomic_read:
    case access::atomic_write: break;  // of global memory: describe_global
    case access::wgmma_read: return fmt::format("read by wgmma, group {} of {}", r.when - 1, who);
  }
  return "";
}

void checker::report(char const* code, char const* kind, std::string text, site where, site earlier,
                     std::string object) {
  diagnosis d;
  d.code = code;
  d.kind = kind;
  d.text = std::move(text);
  d.where = where;
  d.earlier = earlier;
  d.object = std::move(object);
  machine_->report(std::move(d));
}

namespace {

struct words {
  char const* code;
  char const* kind;
  char const* cause;
  char const* remedy;
};

words words_for(record const& earlier, record const& now, bool unfenced) {
  if (unfenced)
    return {"E0025", "missing-proxy-fence",
            "the earlier access went through the generic proxy, this one goes through the async "
            "proxy: a barrier alone does not order them",
            "fence_proxy_async() by the earlier thread, after its access and before its arrive"};
  if (earlier.what == access::tma_write && now.what != access::tma_write)
    return {"E0026", "read-before-tma-arrival",
            "the copy may still be under way: this thread has not waited for that phase",
            "wait() on the barrier with the phase that the copy completes, before this access"};
  if (earlier.what == access::cp_async_write)
    return {"E0045", "read-before-cp-async-wait",
            "the copy may still be under way: its thread has not waited for that group, or no "
            "barrier follows its wait",
            "cp_async_wait<N>() by each thread that copied, then cta_sync(), before this access"};
  if (earlier.what == access::wgmma_read)
    return {"E0027", "stage-overwritten-while-wgmma-reads",
            "nothing says that the multiply has finished reading",
            "wgmma_wait in the multiplying warpgroup, then an arrive that this thread waits for"};
  if (earlier.what == access::tma_store_read)
    return {"E0028", "overwrite-while-tma-store-reads",
            "nothing says that the store has finished reading its source",
            "tma_store_wait_read by the thread that stored, then a barrier with the writers"};
  return {"E0024", "smem-race", "nothing orders the two accesses",
          "a barrier between them: the first one arrives after it, the second one waits before"};
}

}  // namespace

void checker::report_conflict(cta_state const& owner, std::uint32_t offset, record const& earlier,
                              record const& now, thread const& by, verdict v) {
  words const w = words_for(earlier, now, v == verdict::unfenced);
  std::string const place = object(owner, offset);
  stamp const known = by.actor.known->happened(earlier.who);
  std::string missing;
  if (v == verdict::unordered) {
    switch (earlier.what) {
      case access::tma_write:
        missing = known == 0 ? "it has seen no phase of that barrier complete"
                             : fmt::format("it has seen phases up to {}", known - 1);
        break;
      case access::wgmma_read:
      case access::tma_store_read:
      case access::cp_async_write:
        missing = known == 0 ? "it knows of no finished group there"
                             : fmt::format("it knows groups up to {} to be finished", known - 1);
        break;
      default: missing = "no barrier leads from the one to the other";
    }
  } else {
    missing = "they are ordered, but no proxy fence lies between them";
  }
  report(w.code, w.kind,
         fmt::format("{}: {} at {}\n  earlier: {} at {}\n  by: {}; {}\n  cause: {}\n  remedy: {}",
                     place, describe(now), text_of(now.where), describe(earlier),
                     text_of(earlier.where), tw::emu::name_of(by), missing, w.cause, w.remedy),
         now.where, earlier.where, place);
}

void checker::report_unwritten(cta_state const& owner, std::uint32_t offset, record const& now,
                               thread const& by) {
  if (!grid_.plain_accesses_seen) return;  // somebody may have written there unseen
  std::string const place = object(owner, offset);
  report("E0029", "uninitialised-read",
         fmt::format("{}: {} at {}\n  by: {}\n  cause: nothing has written these bytes yet (or "
                     "another thread is still to write them)\n  remedy: write first, then a "
                     "barrier between the writers and this read",
                     place, describe(now), text_of(now.where), tw::emu::name_of(by)),
         now.where, {}, place);
}

void checker::report_stale_phase(thread const& t, mbarrier_state const& b, site where) {
  std::string const place = object(*t.block, b.offset);
  report("E0034", "stale-phase",
         fmt::format("{}: {} waits at {} and passes, but it has seen the end of {} before\n  "
                     "cause: most often the parity was not flipped when the ring wrapped round\n"
                     "  remedy: phase ^= 1 each time the stage index returns to 0",
                     place, tw::emu::name_of(t), text_of(where),
                     b.phase == 0 ? std::string("the phase before the first")
                                  : fmt::format("phase {}", b.phase - 1)),
         where, b.made_at, place);
}

void checker::report_init(thread const& t, cta_state const& owner, mbarrier_state const& b,
                          bool unfenced, site where) {
  std::string const place = object(owner, b.offset);
  report("E0033", "mbarrier-init-not-visible",
         fmt::format("{}: used at {} by {}\n  made at {} by {}\n  cause: {}\n  remedy: {}", place,
                     text_of(where), tw::emu::name_of(t), text_of(b.made_at), name_of(b.face.maker),
                     unfenced ? "no fence_mbarrier_init() makes the init visible to TMA and to "
                                "peer CTAs"
                              : "nothing orders the init before this use",
                     unfenced ? "fence_mbarrier_init() after init(), before the barrier that "
                                "others wait for"
                              : "cta_sync() after init(), or cluster_sync() where peers use it"),
         where, b.made_at, place);
}

void checker::report_early_exit(thread const& t, remote_access const& r) {
  char const* const what = r.what == remote_access::kind::copy    ? "a TMA load"
                           : r.what == remote_access::kind::plain ? "an ordinary load or store"
                                                                  : "an arrive on its mbarrier";
  report("E0036", "cta-exit-before-remote-access",
         fmt::format("CTA {} may exit before {} at {} reaches its shared memory\n  from: {}\n  "
                     "cause: no thread of the CTA knows that this access has happened\n  remedy: "
                     "cluster_sync() as the last act of the kernel",
                     t.cta, what, text_of(r.where), name_of(r.who)),
         r.where, {}, fmt::format("CTA {}", t.cta));
}

void checker::report_origin(char const* code, char const* kind, std::string const& what,
                            std::string const& remedy, record const& written, std::uint32_t offset,
                            thread const& by, site where) {
  std::string const place = object(*by.block, offset);
  report(
      code, kind,
      fmt::format("{}: wgmma at {} by warpgroup {} of CTA {}\n  written: by the TMA load at {}\n"
                  "  cause: {}\n  remedy: {}",
                  place, text_of(where), by.id / 128, by.cta, text_of(written.where), what, remedy),
      where, written.where, place);
}

void checker::report_k_mismatch(thread const& by, int k_a, int k_b, wgmma_call const& call,
                                site where) {
  std::string const place = object(*by.block, call.a.address() - smem_base);
  report(
      "E0039", "operand-k-mismatch",
      fmt::format("{}: wgmma at {} by warpgroup {} of CTA {}\n  A begins at k = {}, B at k = {} "
                  "(coordinates of the TMA loads that wrote them)\n  cause: a stage mix-up, or "
                  "swapped TMA coordinates\n  remedy: load A and B of one stage with the same k; "
                  "the first coordinate is the contiguous one",
                  place, text_of(where), by.id / 128, by.cta, k_a, k_b),
      where, {}, place);
}

}  // namespace tw::emu::hazard
