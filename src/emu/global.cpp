// SPDX-License-Identifier: Apache-2.0
// global.cpp  Flags and counters in global memory, their fences, and cp.async.
#include <fmt/format.h>

#include <cstring>

#include "emu/machine.hpp"
#include "emu/words.hpp"

namespace tw::emu {

namespace {

thread& me() { return *machine::current().running(); }
hazard::checker* check() { return me().block->cluster->check.get(); }

/// A write is noted before its value is there, so who reads the value finds what was released.
void note(void const* p, int bytes, bool reads, bool writes, mem_order o, scope s, site where) {
  machine::current().require_aligned(p, bytes, "an atomic access", where);
  if (hazard::checker* c = check())
    c->atomic(me(), reinterpret_cast<std::uintptr_t>(p), static_cast<std::size_t>(bytes), reads,
              writes, o, s, where);
  if (writes) machine::current().progressed();
}

}  // namespace

void machine::require_aligned(void const* p, int bytes, char const* what, site where) {
  if (reinterpret_cast<std::uintptr_t>(p) % static_cast<std::uintptr_t>(bytes) != 0)
    stop("E0047", "access-alignment",
         told({
             .what = fmt::format("The address of {} of {} bytes is no multiple of {}.", what, bytes,
                                 bytes),
             .now = fmt::format("access at {} by {}", text_of(where), name_of(*running_)),
             .cause = fmt::format(
                 "the address lies {} bytes past one",
                 reinterpret_cast<std::uintptr_t>(p) % static_cast<std::uintptr_t>(bytes)),
             .remedy = "align both addresses to the size, or copy fewer bytes at once",
         }),
         where);
}

std::uint64_t atomic_load(void const* p, int bytes, mem_order o, scope s, site where) {
  engine_call const inside;
  machine::current().require_aligned(p, bytes, "an atomic access", where);
  std::uint64_t const value =
      bytes == 4 ? __atomic_load_n(static_cast<std::uint32_t const*>(p), __ATOMIC_ACQUIRE)
                 : __atomic_load_n(static_cast<std::uint64_t const*>(p), __ATOMIC_ACQUIRE);
  note(p, bytes, true, false, o, s, where);
  return value;
}

void atomic_store(void* p, std::uint64_t value, int bytes, mem_order o, scope s, site where) {
  engine_call const inside;
  note(p, bytes, false, true, o, s, where);
  if (bytes == 4)
    __atomic_store_n(static_cast<std::uint32_t*>(p), static_cast<std::uint32_t>(value),
                     __ATOMIC_RELEASE);
  else
    __atomic_store_n(static_cast<std::uint64_t*>(p), value, __ATOMIC_RELEASE);
}

std::uint64_t atomic_add(void* p, std::uint64_t value, int bytes, mem_order o, scope s,
                         site where) {
  engine_call const inside;
  note(p, bytes, true, true, o, s, where);
  std::uint64_t const old =
      bytes == 4 ? __atomic_fetch_add(static_cast<std::uint32_t*>(p),
                                      static_cast<std::uint32_t>(value), __ATOMIC_ACQ_REL)
                 : __atomic_fetch_add(static_cast<std::uint64_t*>(p), value, __ATOMIC_ACQ_REL);
  // Another OS thread may have added between the note and the addition.
  if (!machine::current().alone()) note(p, bytes, true, false, o, s, where);
  return old;
}

void fence_acq_rel(scope s, site) {
  engine_call const inside;
  if (hazard::checker* c = check()) c->global_fence(me(), s);
}

void fence_proxy_async_global(site) {
  engine_call const inside;
  if (hazard::checker* c = check()) c->global_proxy_fence(me());
}

void grid_dependency_wait(site) {
  engine_call const inside;
  if (hazard::checker* c = check()) c->predecessor_done(me());
}

void machine::copy(void* to, void const* from, int bytes, site where) {
  thread& t = *running_;
  require_aligned(to, bytes, "a cp.async", where);
  require_aligned(from, bytes, "a cp.async", where);
  std::uint32_t const offset = offset_in_smem(*t.block, to, static_cast<std::size_t>(bytes), where);
  if (hazard::checker* c = check())
    c->copy(t, offset, reinterpret_cast<std::uintptr_t>(from), static_cast<std::uint32_t>(bytes),
            where);
  if (options_.policy == async_policy::eager) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return;
  }
  std::memset(to, 0xFF, static_cast<std::size_t>(bytes));
  t.copies_open.push_back(
      {static_cast<std::byte*>(to), static_cast<std::byte const*>(from), bytes});
}

void machine::commit_copies() {
  thread& t = *running_;
  ++t.copies_committed;
  t.copies.push_back(std::move(t.copies_open));
  t.copies_open.clear();
  if (options_.policy == async_policy::eager)
    land_copies(t);
  else
    pending_copies_.push_back(&t);
}

void machine::land_copies(thread& t) {
  ++progress_;
  for (thread::piece const& p : t.copies.front())
    std::memcpy(p.to, p.from, static_cast<std::size_t>(p.bytes));
  t.copies.pop_front();
  ++t.copies_done;
  if (t.waiting == wait_kind::copy_group && t.copies_done >= t.wait_value) wake(&t);
}

void cp_async(void* smem, void const* global, int bytes, site where) {
  engine_call const inside;
  machine::current().copy(smem, global, bytes, where);
}

void cp_async_commit(site) {
  engine_call const inside;
  machine::current().commit_copies();
}

void cp_async_wait(int pending, site where) {
  engine_call const inside;
  thread& t = me();
  if (t.copies_committed <= static_cast<std::uint32_t>(pending)) return;
  std::uint32_t const needed = t.copies_committed - static_cast<std::uint32_t>(pending);
  if (t.copies_done < needed) machine::current().block(wait_kind::copy_group, &t, needed, where);
  if (hazard::checker* c = check()) c->waited_for_copies(t, needed);
}

}  // namespace tw::emu
