// SPDX-License-Identifier: Apache-2.0
// atomics.cpp  Atomic loads, stores and operations on global and shared memory, and thread fences.
#include <algorithm>
#include <bit>
#include <cmath>

#include "emu/machine/machine.hpp"
#include "tilewright/base/convert.hpp"

namespace tw::emu {

namespace {

using tw::detail::atomic_type;

hazard::checker* check() { return current_thread().block->cluster->check.get(); }

/// A word that an atomic access may address: aligned, in bounds, in global memory or in the shared
/// memory of a live CTA of the cluster.
struct word {
  void* at;
  int bytes;
  address_space::smem_place smem;  // owner null: global memory

  word(void const* p, int size, bool writes, char const* what, site where)
      : at(const_cast<void*>(p)),
        bytes(size) {
    address_space& memory = machine::current().memory;
    memory.require_aligned(p, size, "an atomic access", where);
    smem = memory.place_of(p, static_cast<std::size_t>(size), where);
    if (smem.owner == nullptr) {
      memory.require_shared_by_threads(p, what, where);
      memory.check_bounds(p, static_cast<std::size_t>(size), what, where);
    } else if (writes) {
      memory.check_no_mbarrier(*smem.owner, smem.offset, static_cast<std::size_t>(size), what,
                               where);
    }
  }

  /// A write is noted before its value is there, so who reads the value finds what was released.
  void note(bool reads, bool writes, mem_order o, scope s, site where) const {
    hazard::checker* const c = check();
    if (c == nullptr) return;
    hazard::atomic_access const a{.reads = reads, .writes = writes, .order = o, .reach = s};
    if (smem.owner == nullptr)
      c->atomic(current_thread(), reinterpret_cast<std::uintptr_t>(at),
                static_cast<std::size_t>(bytes), a, where);
    else
      c->shared_atomic(current_thread(), *smem.owner, smem.offset,
                       static_cast<std::uint32_t>(bytes), a, where);
  }

  std::uint64_t load() const {
    return bytes == 4 ? __atomic_load_n(static_cast<std::uint32_t*>(at), __ATOMIC_ACQUIRE)
                      : __atomic_load_n(static_cast<std::uint64_t*>(at), __ATOMIC_ACQUIRE);
  }
  void store(std::uint64_t value) const {
    if (bytes == 4)
      __atomic_store_n(static_cast<std::uint32_t*>(at), static_cast<std::uint32_t>(value),
                       __ATOMIC_RELEASE);
    else
      __atomic_store_n(static_cast<std::uint64_t*>(at), value, __ATOMIC_RELEASE);
  }
  /// expected becomes what is there.
  bool compare_exchange(std::uint64_t& expected, std::uint64_t value) const {
    if (bytes == 8)
      return __atomic_compare_exchange_n(static_cast<std::uint64_t*>(at), &expected, value, false,
                                         __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    auto narrow = static_cast<std::uint32_t>(expected);
    bool const done = __atomic_compare_exchange_n(static_cast<std::uint32_t*>(at), &narrow,
                                                  static_cast<std::uint32_t>(value), false,
                                                  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    expected = narrow;
    return done;
  }
};

/// PTX ISA, "atom": atom.add.f32 flushes subnormals in global memory, not in shared memory.
float flushed(float x, bool global) {
  return global && std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x;
}

std::uint32_t add_halves(std::uint32_t a, std::uint32_t b, bool bf) {
  std::uint32_t sum = 0;
  for (int i = 0; i < 32; i += 16) {
    auto const x = static_cast<std::uint16_t>(a >> i), y = static_cast<std::uint16_t>(b >> i);
    // Rounding twice, to float first, is right: float has more than twice their digits.
    std::uint32_t const one = bf ? to_bf16(to_float(bf16{x}) + to_float(bf16{y})).bits
                                 : to_f16(to_float(f16{x}) + to_float(f16{y})).bits;
    sum |= one << i;
  }
  return sum;
}

std::uint64_t added(std::uint64_t a, std::uint64_t b, atomic_type type, bool global) {
  auto const low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  switch (type) {
    case atomic_type::f32: {
      float const x = flushed(std::bit_cast<float>(low(a)), global);
      float const y = flushed(std::bit_cast<float>(low(b)), global);
      return std::bit_cast<std::uint32_t>(flushed(x + y, global));
    }
    case atomic_type::f64:
      return std::bit_cast<std::uint64_t>(std::bit_cast<double>(a) + std::bit_cast<double>(b));
    case atomic_type::f16x2: return add_halves(low(a), low(b), false);
    case atomic_type::bf16x2: return add_halves(low(a), low(b), true);
    default: return a + b;
  }
}

bool less(std::uint64_t a, std::uint64_t b, atomic_type type) {
  switch (type) {
    case atomic_type::s32: return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b);
    case atomic_type::s64: return static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
    default: return a < b;
  }
}

std::uint64_t result_of(atomic_op op, atomic_type type, std::uint64_t old, std::uint64_t value,
                        bool global) {
  switch (op) {
    case atomic_op::add: return added(old, value, type, global);
    case atomic_op::min: return less(value, old, type) ? value : old;
    case atomic_op::max: return less(old, value, type) ? value : old;
    case atomic_op::bit_and: return old & value;
    case atomic_op::bit_or: return old | value;
    case atomic_op::bit_xor: return old ^ value;
    case atomic_op::exchange:
    case atomic_op::compare_exchange: break;
  }
  return value;
}

/// Repeated reads of one word are a poll: other threads run.
void note_poll(void const* p, site where) {
  constexpr int max_in_a_row = 4;
  machine::current().memory.note_load(current_thread().atomic_load, p, max_in_a_row, where);
}

}  // namespace

std::uint64_t atomic_load(void const* p, int bytes, mem_order o, scope s, site where) {
  engine_call const inside;
  word const w(p, bytes, false, "An atomic load", where);
  note_poll(p, where);
  std::uint64_t const value = w.load();
  w.note(true, false, o, s, where);
  return value;
}

void atomic_store(void* p, std::uint64_t value, int bytes, mem_order o, scope s, site where) {
  engine_call const inside;
  word const w(p, bytes, true, "An atomic operation", where);
  w.note(false, true, o, s, where);
  machine::current().sched.progressed();
  w.store(value);
}

std::uint64_t atomic(void* p, atomic_op op, atomic_type type, int bytes, std::uint64_t value,
                     std::uint64_t compare, mem_order o, scope s, site where) {
  engine_call const inside;
  word const w(p, bytes, true, "An atomic operation", where);
  note_poll(p, where);
  scheduler& sched = machine::current().sched;
  std::uint64_t old = w.load();
  bool const conditional = op == atomic_op::compare_exchange;
  if (conditional && old != compare) {  // PTX ISA, "atom": then nothing is written
    w.note(true, false, o, s, where);
    return old;
  }
  w.note(true, true, o, s, where);
  std::uint64_t next = result_of(op, type, old, value, w.smem.owner == nullptr);
  while (!w.compare_exchange(old, next)) {
    if (conditional && old != compare) break;
    next = result_of(op, type, old, value, w.smem.owner == nullptr);
  }
  if (next != old) sched.progressed();
  // Another OS thread may have written between the note and the operation.
  if (w.smem.owner == nullptr && !sched.alone()) w.note(true, false, o, s, where);
  return old;
}

void fence_acq_rel(scope s, site) {
  engine_call const inside;
  if (hazard::checker* c = check()) c->thread_fence(current_thread(), s, false);
}

void fence_sc(scope s, site) {
  engine_call const inside;
  if (hazard::checker* c = check()) c->thread_fence(current_thread(), s, true);
}

}  // namespace tw::emu
