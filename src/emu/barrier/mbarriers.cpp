// SPDX-License-Identifier: Apache-2.0
// mbarriers.cpp  The state of an mbarrier: its life, arrivals, phases and those who wait.
#include <fmt/format.h>

#include <cstring>

#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"

namespace tw::emu {

namespace {

constexpr std::uint64_t handle_magic = 0x54574D42ULL << 32;  // "TWMB"

}  // namespace

void barriers::report_early_phase(cta_state const& c, mbarrier_state const& b) {
  std::string const place = object_name(m_.grid_, c, b.offset);
  diagnosis d;
  d.code = "E0015";
  d.kind = "expect-tx-too-small";
  d.text = report_text({
      .what = fmt::format("Phase {} of {} ends before its data is there: copies of {} bytes were "
                          "issued for it, and {} were expected.",
                          b.phase, place, b.face.issued, b.expected),
      .barrier = barrier_text(m_.grid_, c, b),
      .cause = "who waits for the phase goes on while copies are still under way",
      .remedy = "expect_tx with the bytes of all boxes that complete on the barrier",
  });
  d.where = b.made_at;
  d.object = place;
  d.phase = b.phase;
  m_.reports.report(std::move(d));
}

void barriers::report_missed_phase(thread const& t, mbarrier_state const& b, std::uint32_t phase,
                                   site where) {
  std::string const place = object_name(m_.grid_, *t.block, b.offset);
  std::string const what =
      fmt::format("A thread waits for phase {} of {}, and phase {} is over too before it runs on.",
                  phase, place, b.phase - 1);
  m_.reports.report(
      {"E0035", "missed-phase",
       report_text({
           .what = what,
           .now = fmt::format("wait at {} by {}", text_of(where), name_of(t)),
           .barrier = barrier_text(m_.grid_, *t.block, b),
           .cause = "the barrier does not depend on this thread: by the parity, it could have "
                    "waited for ever",
           .remedy = "count an arrive of this thread in each phase, or let those who arrive "
                     "wait for it",
       }),
       where, b.made_at, place, 1, t.cta, t.id, t.role, phase});
}

std::uint32_t barriers::offset_of(cta_state& c, void const* word, site where) {
  m_.memory.require_aligned(word, 8, "an mbarrier", where);
  return m_.memory.offset_in_smem(c, word, 8, where);
}

mbarrier_state& barriers::at(cta_state& c, void const* word, site where) {
  std::uint32_t const offset = offset_of(c, word, where);
  std::uint64_t const handle = *static_cast<std::uint64_t const*>(word);
  std::uint64_t const index = handle - handle_magic;
  if (index < c.mbarriers.size() && c.mbarriers[index].offset == offset &&
      !c.is_mbarrier[offset / 8])
    report_use_after_inval(c, c.mbarriers[index], where);
  if (index >= c.mbarriers.size() || c.mbarriers[index].offset != offset)
    m_.reports.stop(
        "E0002", "mbarrier-not-initialised",
        report_text({
            .what = fmt::format("{} is used as an mbarrier, but no init() ran there.",
                                object_name(m_.grid_, c, offset)),
            .now = fmt::format("use at {} by {}", text_of(where), name_of(current_thread())),
            .cause = "init() comes later or never, or its 8 bytes were overwritten",
            .remedy =
                "init() in one thread, fence_mbarrier_init(), then a barrier with all who use "
                "it",
        }),
        where, {object_name(m_.grid_, c, offset)});
  return c.mbarriers[index];
}

void barriers::complete_if_done(cta_state& c, mbarrier_state& b) {
  if (b.pending != 0) return;
  if (b.tx < 0)
    m_.reports.stop(
        "E0015", "expect-tx-too-small",
        report_text({
            .what = fmt::format("All arrivals of phase {} of {} are in, and more bytes have landed "
                                "than were expected: {}, not {}.",
                                b.phase, object_name(m_.grid_, c, b.offset), b.landed, b.expected),
            .barrier = barrier_text(m_.grid_, c, b),
            .cause = "the phase ends before its data is there, or with that of another phase",
            .remedy = "expect_tx with the bytes of all copies and of each store_async that "
                      "complete on the barrier",
        }),
        b.made_at, {object_name(m_.grid_, c, b.offset), b.phase});
  if (b.tx != 0) return;
  if (c.cluster->check && b.face.issued != b.landed) report_early_phase(c, b);
  if (m_.log_) m_.log_->phase_done(c, b);
  ++b.phase;
  ++m_.counts_.phases;
  if (c.cluster->check) c.cluster->check->phase_done(b);
  b.pending = b.count;
  b.expected = b.landed = 0;
  b.came.clear();
  // All waiters of the completed phase pass; no thread can wait for the next one yet.
  m_.sched.wake_all(b.waiters);
}

void barriers::report_use_after_inval(cta_state const& c, mbarrier_state const& b, site where) {
  m_.reports.stop(
      "E0081", "mbarrier-used-after-inval",
      report_text({
          .what = fmt::format("{} is used as an mbarrier after its inval().",
                              object_name(m_.grid_, c, b.offset)),
          .now = fmt::format("use at {} by {}", text_of(where), name_of(current_thread())),
          .earlier = fmt::format("inval at {}", text_of(b.ended_at)),
          .cause = "inval() ended the barrier's life: its memory holds anything",
          .remedy = "inval() after the last use, ordered by a barrier of the threads; or init() "
                    "again first",
      }),
      where, {object_name(m_.grid_, c, b.offset), b.phase, b.ended_at});
}

void barriers::stop_inval_in_use(cta_state const& c, mbarrier_state const& b,
                                 std::string const& cause, site earlier, site where) {
  m_.reports.stop(
      "E0080", "mbarrier-invalidated-in-use",
      report_text({
          .what = fmt::format("inval() of {}, which may still be in use.",
                              object_name(m_.grid_, c, b.offset)),
          .now = fmt::format("inval at {} by {}", text_of(where), name_of(current_thread())),
          .earlier = earlier.line == 0 ? "" : fmt::format("last use at {}", text_of(earlier)),
          .barrier = barrier_text(m_.grid_, c, b),
          .cause = cause,
          .remedy = "a wait for its last phase and a barrier of all who use it, then inval()",
      }),
      where, {object_name(m_.grid_, c, b.offset), b.phase, earlier});
}

void barriers::inval(mbarrier_state& b, site where) {
  thread& t = current_thread();
  cta_state& c = *t.block;
  if (!b.waiters.empty())
    stop_inval_in_use(c, b, fmt::format("{} waits for it", name_of(*b.waiters.front())),
                      b.waiters.front()->wait_site, where);
  if (b.tx != 0)
    stop_inval_in_use(c, b, "copies that it counts have not landed, or were not expected", {},
                      where);
  if (hazard::checker* check = c.cluster->check.get()) {
    if (auto const last = check->unordered_use(t, b))
      stop_inval_in_use(c, b, fmt::format("nothing orders {} before it", last->what), last->where,
                        where);
    check->plain(t, c, b.offset, 8, true, where);  // what others write there must come later
  }
  c.is_mbarrier[b.offset / 8] = false;
  b.ended_at = where;
}

void barriers::store_async(cta_state& c, std::uint32_t offset, void const* value,
                           std::uint32_t bytes, mbarrier_state& b, site where) {
  m_.sched.progressed();
  if (hazard::checker* check = c.cluster->check.get())
    check->store_async(*m_.sched.running(), c, offset, bytes, b, where);
  std::memcpy(c.smem + offset, value, bytes);
  ++m_.counts_.async_stores;
  m_.counts_.async_store_bytes += bytes;
  if (m_.log_) m_.log_->store_async(*m_.sched.running(), c, b);
  b.copiers.add(*m_.sched.running());
  b.tx -= bytes;
  b.landed += bytes;
  complete_if_done(c, b);
}

void barriers::arrives(thread const& t, mbarrier_state& b) {
  b.sources.add(t);
  b.came.add(t);
}

void barriers::arrive(cta_state& c, mbarrier_state& b, int count, arrive_order order, site where) {
  m_.sched.progressed();
  ++m_.counts_.arrives;
  if (&c != m_.sched.running()->block) ++m_.counts_.remote_arrives;
  if (hazard::checker* check = c.cluster->check.get()) {
    check->use(*m_.sched.running(), c, b, false, where);
    check->arrive(*m_.sched.running(), c, b, order != arrive_order::relaxed_cluster,
                  order == arrive_order::release_cluster, where);
  }
  hazard::checker* const known = c.cluster->check.get();
  if (b.pending < count && known != nullptr && known->blame_any_stale_wait(*m_.sched.running()))
    m_.sched.leave_for_good();
  if (b.pending < count)
    m_.reports.stop(
        "E0003", "mbarrier-too-many-arrivals",
        report_text({
            .what = fmt::format("{} gets an arrival too many in phase {}.",
                                object_name(m_.grid_, c, b.offset), b.phase),
            .now = fmt::format("arrive at {} by {}", text_of(where), name_of(current_thread())),
            .barrier = barrier_text(m_.grid_, c, b),
            .cause = fmt::format("init() announced {}; the phase is open only because bytes are "
                                 "still to land",
                                 b.count),
            .remedy = "a wait before this arrive, if it is one of the next phase; else a larger "
                      "count in init()",
        }),
        where, {object_name(m_.grid_, c, b.offset), b.phase, b.made_at});
  if (m_.log_) m_.log_->arrive(*m_.sched.running(), c, b);
  arrives(*m_.sched.running(), b);
  b.pending -= count;
  complete_if_done(c, b);
}

void barriers::copies_arrived(thread& t, mbarrier_state& b, std::uint32_t until, site where) {
  cta_state& c = *t.block;
  m_.reports.landing = true;  // stays so if a report ends the run
  if (b.pending == 0)
    m_.reports.stop(
        "E0003", "mbarrier-too-many-arrivals",
        report_text({
            .what = fmt::format("{} gets an arrival too many in phase {}.",
                                object_name(m_.grid_, c, b.offset), b.phase),
            .now = fmt::format("cp_async_mbarrier_arrive at {} by {}", text_of(where), name_of(t)),
            .barrier = barrier_text(m_.grid_, c, b),
            .cause = fmt::format("init() announced {}; each .noinc arrive is one of them", b.count),
            .remedy = "cp_async_mbarrier_arrive(), which adds itself to the phase; or a larger "
                      "count in init()",
        }),
        where, {object_name(m_.grid_, c, b.offset), b.phase, b.made_at});
  ++m_.counts_.arrives;
  if (hazard::checker* check = c.cluster->check.get()) check->copies_arrived(t, b, until);
  if (m_.log_) m_.log_->arrive(t, c, b);
  arrives(t, b);
  --b.pending;
  complete_if_done(c, b);
  m_.reports.landing = false;
}

mbarrier_state* barriers::find(cta_state& c, void const* word, std::uint32_t offset) const {
  std::uint64_t const index = *static_cast<std::uint64_t const*>(word) - handle_magic;
  return index < c.mbarriers.size() && c.mbarriers[index].offset == offset ? &c.mbarriers[index]
                                                                           : nullptr;
}

void barriers::check_free(cta_state& c, void const* word, std::uint32_t offset, site where) {
  mbarrier_state const* const old = find(c, word, offset);
  if (old == nullptr || !c.is_mbarrier[offset / 8]) return;
  bool const busy = !old->waiters.empty() || old->pending != old->count || old->tx != 0;
  m_.reports.stop(
      "E0056", "mbarrier-initialised-twice",
      report_text({
          .what = fmt::format("init() of {}, which is an mbarrier {}.",
                              object_name(m_.grid_, c, offset),
                              busy ? "whose phase is not complete" : "already"),
          .now = fmt::format("init at {} by {}", text_of(where), name_of(current_thread())),
          .barrier = barrier_text(m_.grid_, c, *old),
          .cause = "init() of memory that holds a valid mbarrier is undefined (PTX ISA, "
                   "\"mbarrier.init\"); who waits for or arrives at the old one is lost",
          .remedy = "init() once, before the first turn; each turn waits with the parity of its "
                    "phase",
      }),
      where, {object_name(m_.grid_, c, offset), old->phase, old->made_at});
}

mbarrier_state& barriers::create(cta_state& c, void* word, std::uint32_t offset, int arrivals,
                                 site where) {
  check_free(c, word, offset, where);
  c.is_mbarrier[offset / 8] = true;
  mbarrier_state b;
  b.offset = offset;
  b.count = b.pending = arrivals;
  b.made_at = where;
  *static_cast<std::uint64_t*>(word) = handle_magic + c.mbarriers.size();
  c.mbarriers.push_back(std::move(b));
  ++m_.counts_.mbarriers;
  return c.mbarriers.back();
}

bool barriers::wait(void* bar, std::uint32_t parity, hazard::wait_order order, bool may_fail,
                    site where) {
  thread& t = *m_.sched.running();
  mbarrier_state& b = at(*t.block, bar, where);
  hazard::checker* const check = t.block->cluster->check.get();
  if (check != nullptr) check->use(t, *t.block, b, false, where);
  if ((b.phase & 1U) == (parity & 1U)) {
    std::uint32_t const phase = b.phase;
    if (m_.log_ && !may_fail) m_.log_->wait(t, b, static_cast<std::int32_t>(phase));
    b.waiters.push_back(&t);
    t.timed_out = false;
    m_.sched.block(may_fail ? wait_kind::mbarrier_try : wait_kind::mbarrier, &b, parity & 1U,
                   where);
    if (t.timed_out) return false;
    if (m_.log_ && may_fail) m_.log_->wait(t, b, static_cast<std::int32_t>(phase));
    if (check != nullptr && b.phase > phase + 1) report_missed_phase(t, b, phase, where);
  } else if (m_.log_) {
    m_.log_->wait(t, b, static_cast<std::int32_t>(b.phase) - 1);
  }
  ++m_.counts_.mbarrier_waits;
  if (check != nullptr) check->passed(t, b, order, may_fail, where);
  return true;
}

}  // namespace tw::emu
