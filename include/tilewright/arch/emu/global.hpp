// SPDX-License-Identifier: Apache-2.0
// global.hpp  Flags in global or shared memory, and fences (emulated). PTX ISA, "ld", "st",
//             "membar / fence".
#pragma once

#include "tilewright/arch/emu/engine.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

template <scope S = scope::gpu, class T>
TW_DEVICE T load_relaxed(T const* p, emu::site where = emu::site::here()) {
  detail::check_atomic_word<T>();
  return detail::word_of_bits<T>(emu::atomic_load(p, sizeof(T), mem_order::relaxed, S, where));
}
template <scope S = scope::gpu, class T>
TW_DEVICE T load_acquire(T const* p, emu::site where = emu::site::here()) {
  detail::check_atomic_word<T>();
  return detail::word_of_bits<T>(emu::atomic_load(p, sizeof(T), mem_order::acquire, S, where));
}
template <scope S = scope::gpu, class T, class U>
TW_DEVICE void store_relaxed(T* p, U value, emu::site where = emu::site::here()) {
  detail::check_atomic_word<T>();
  emu::atomic_store(p, detail::bits_of_word(detail::atomic_value<T>(value)), sizeof(T),
                    mem_order::relaxed, S, where);
}
template <scope S = scope::gpu, class T, class U>
TW_DEVICE void store_release(T* p, U value, emu::site where = emu::site::here()) {
  detail::check_atomic_word<T>();
  emu::atomic_store(p, detail::bits_of_word(detail::atomic_value<T>(value)), sizeof(T),
                    mem_order::release, S, where);
}
template <scope S = scope::gpu>
TW_DEVICE void fence_acq_rel(emu::site where = emu::site::here()) {
  emu::fence_acq_rel(S, where);
}
template <scope S = scope::gpu>
TW_DEVICE void fence_sc(emu::site where = emu::site::here()) {
  emu::fence_sc(S, where);
}

}  // namespace tw
