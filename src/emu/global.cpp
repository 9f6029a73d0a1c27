// SPDX-License-Identifier: Apache-2.0
// global.cpp  Proxy fences of global memory, and cp.async.
#include <fmt/format.h>

#include <cstring>

#include "emu/machine.hpp"
#include "emu/words.hpp"

namespace tw::emu {

namespace {

thread& me() { return *machine::current().sched.running(); }
hazard::checker* check() { return me().block->cluster->check.get(); }

}  // namespace

void fence_proxy_async_global(site) {
  engine_call const inside;
  if (hazard::checker* c = check()) c->global_proxy_fence(me());
}

void grid_dependency_wait(site) {
  engine_call const inside;
  if (hazard::checker* c = check()) c->predecessor_done(me());
}

void async_engine::copy(void* to, void const* from, int bytes, site where) {
  thread& t = *m_.sched.running();
  m_.memory.require_global(from, "The source of a cp.async", where);
  m_.memory.require_aligned(to, bytes, "a cp.async", where);
  m_.memory.check_bounds(from, static_cast<std::size_t>(bytes), "A cp.async", where);
  m_.memory.require_aligned(from, bytes, "a cp.async", where);
  std::uint32_t const offset =
      m_.memory.offset_in_smem(*t.block, to, static_cast<std::size_t>(bytes), where);
  if (hazard::checker* c = check())
    c->copy(t, offset, reinterpret_cast<std::uintptr_t>(from), static_cast<std::uint32_t>(bytes),
            where);
  if (m_.options_.policy == async_policy::eager) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return;
  }
  std::memset(to, 0xFF, static_cast<std::size_t>(bytes));
  t.copies_open.push_back(
      {static_cast<std::byte*>(to), static_cast<std::byte const*>(from), bytes});
}

void async_engine::commit_copies() {
  thread& t = *m_.sched.running();
  ++t.copies_committed;
  t.copies.push_back(std::move(t.copies_open));
  t.copies_open.clear();
  if (m_.options_.policy == async_policy::eager)
    land_copies(t);
  else
    pending_copies_.push_back(&t);
}

void async_engine::land_copies(thread& t) {
  m_.sched.progressed();
  for (thread::piece const& p : t.copies.front())
    std::memcpy(p.to, p.from, static_cast<std::size_t>(p.bytes));
  t.copies.pop_front();
  ++t.copies_done;
  if (t.waiting == wait_kind::copy_group && t.copies_done >= t.wait_value) m_.sched.wake(&t);
}

void cp_async(void* smem, void const* global, int bytes, site where) {
  engine_call const inside;
  machine::current().async.copy(smem, global, bytes, where);
}

void cp_async_commit(site) {
  engine_call const inside;
  machine::current().async.commit_copies();
}

void cp_async_wait(int pending, site where) {
  engine_call const inside;
  thread& t = me();
  if (t.copies_committed <= static_cast<std::uint32_t>(pending)) return;
  std::uint32_t const needed = t.copies_committed - static_cast<std::uint32_t>(pending);
  if (t.copies_done < needed)
    machine::current().sched.block(wait_kind::copy_group, &t, needed, where);
  if (hazard::checker* c = check()) c->waited_for_copies(t, needed);
}

}  // namespace tw::emu
