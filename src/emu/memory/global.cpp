// SPDX-License-Identifier: Apache-2.0
// global.cpp  Proxy fences of global memory, and cp.async.
#include <fmt/format.h>

#include <cstring>

#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"

namespace tw::emu {

namespace {

hazard::checker* current_checker() { return current_thread().block->cluster->check.get(); }

}  // namespace

void fence_proxy_async_global(site) {
  engine_call const inside;
  if (hazard::checker* c = current_checker()) c->global_proxy_fence(current_thread());
}

void grid_dependency_wait(site) {
  engine_call const inside;
  if (hazard::checker* c = current_checker()) c->predecessor_done(current_thread());
}

void async_engine::copy(thread::piece const& p, site where) {
  thread& t = *m_.sched.running();
  auto const [to, from, bytes, valid] = p;
  if (valid < 0 || valid > bytes)
    m_.reports.stop(
        "E0082", "cp-async-valid-bytes",
        report_text({
            .what = fmt::format("A cp.async of {} bytes states that {} of them are valid.", bytes,
                                valid),
            .now = fmt::format("cp.async at {} by {}", text_of(where), name_of(t)),
            .cause = "zeros fill what lies between the valid bytes and the size",
            .remedy = fmt::format("0 to {} valid bytes: the row's end minus the copy's begin, "
                                  "clamped to that range",
                                  bytes),
        }),
        where);
  if (valid > 0) m_.memory.require_global(from, "The source of a cp.async", where);
  m_.memory.require_aligned(to, bytes, "a cp.async", where);
  if (valid > 0) m_.memory.check_bounds(from, static_cast<std::size_t>(valid), "A cp.async", where);
  m_.memory.require_aligned(from, bytes, "a cp.async", where);
  std::uint32_t const offset =
      m_.memory.offset_in_smem(*t.block, to, static_cast<std::size_t>(bytes), where);
  m_.memory.check_no_mbarrier(*t.block, offset, static_cast<std::size_t>(bytes), "A cp.async",
                              where);
  if (hazard::checker* c = current_checker())
    c->copy(t, offset, reinterpret_cast<std::uintptr_t>(from), static_cast<std::uint32_t>(bytes),
            static_cast<std::uint32_t>(valid), where);
  if (m_.banks_)
    m_.banks_->plain(t, m_.sched.warp_of(t), offset, static_cast<std::uint32_t>(bytes),
                     bank_access::cp_async, where);
  if (m_.options_.policy == async_policy::eager) {
    land(p);
    return;
  }
  std::memset(to, 0xFF, static_cast<std::size_t>(bytes));
  t.copies_open.push_back(p);
}

void async_engine::land(thread::piece const& p) {
  auto const valid = static_cast<std::size_t>(p.valid);
  if (valid > 0) std::memcpy(p.to, p.from, valid);
  std::memset(p.to + valid, 0, static_cast<std::size_t>(p.bytes) - valid);
}

void async_engine::commit_copies() {
  thread& t = *m_.sched.running();
  ++t.copies_committed;
  t.runs_of.push_back(t.copies_begun);
  close_copies(t, nullptr, {});
}

void async_engine::arrive_after_copies(mbarrier_state& b, bool counted, site where) {
  thread& t = *m_.sched.running();
  if (hazard::checker* c = current_checker()) {
    c->use(t, *t.block, b, false, where);
    c->counts(t, b, "an arrive of cp.async", where);
  }
  if (counted) ++b.pending;
  constexpr std::size_t kept = 64;
  if (t.copy_arrivals.size() == kept) t.copy_arrivals.erase(t.copy_arrivals.begin());
  t.copy_arrivals.push_back({t.copies_begun, &b, counted, where});
  close_copies(t, &b, where);
}

void async_engine::close_copies(thread& t, mbarrier_state* arrives_at, site where) {
  t.copies.push_back({std::move(t.copies_open), t.copies_begun++, arrives_at, where});
  t.copies_open.clear();
  if (m_.options_.policy == async_policy::eager)
    land_copies(t);
  else
    pending_copies_.push_back(&t);
}

void async_engine::land_copies(thread& t) {
  m_.sched.progressed();
  thread::copy_step const step = std::move(t.copies.front());
  t.copies.erase(t.copies.begin());
  for (thread::piece const& p : step.pieces) land(p);
  if (step.arrives_at != nullptr) {
    m_.barrier.copies_arrived(t, *step.arrives_at, step.until, step.where);
    return;
  }
  ++t.copies_done;
  if (t.waiting == wait_kind::copy_group && t.copies_done >= t.wait_value) m_.sched.wake(&t);
}

void cp_async(void* smem, void const* global, int bytes, int valid, site where) {
  engine_call const inside;
  machine::current().async.copy(
      {static_cast<std::byte*>(smem), static_cast<std::byte const*>(global), bytes, valid}, where);
}

void cp_async_mbarrier_arrive(void* bar, bool counted, site where) {
  engine_call const inside;
  machine& m = machine::current();
  m.async.arrive_after_copies(m.barrier.at(*current_thread().block, bar, where), counted, where);
}

void cp_async_commit(site) {
  engine_call const inside;
  machine::current().async.commit_copies();
}

void cp_async_wait(int pending, site where) {
  engine_call const inside;
  thread& t = current_thread();
  if (t.copies_committed <= static_cast<std::uint32_t>(pending)) return;
  std::uint32_t const needed = t.copies_committed - static_cast<std::uint32_t>(pending);
  if (t.copies_done < needed)
    machine::current().sched.block(wait_kind::copy_group, &t, needed, where);
  if (hazard::checker* c = current_checker()) c->waited_for_copies(t, needed);
}

}  // namespace tw::emu
