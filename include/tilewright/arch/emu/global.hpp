// SPDX-License-Identifier: Apache-2.0
// global.hpp  Flags and counters in global memory (emulated). PTX ISA, "ld", "st", "atom", "red",
//             "membar / fence".
#pragma once

#include <type_traits>

#include "tilewright/arch/emu/engine.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

template <scope S = scope::gpu, class T>
TW_DEVICE T load_relaxed(T const* p, emu::site where = emu::site::here()) {
  return static_cast<T>(emu::atomic_load(p, sizeof(T), mem_order::relaxed, S, where));
}
template <scope S = scope::gpu, class T>
TW_DEVICE T load_acquire(T const* p, emu::site where = emu::site::here()) {
  return static_cast<T>(emu::atomic_load(p, sizeof(T), mem_order::acquire, S, where));
}
template <scope S = scope::gpu, class T>
TW_DEVICE void store_relaxed(T* p, std::type_identity_t<T> value,
                             emu::site where = emu::site::here()) {
  emu::atomic_store(p, static_cast<std::uint64_t>(value), sizeof(T), mem_order::relaxed, S, where);
}
template <scope S = scope::gpu, class T>
TW_DEVICE void store_release(T* p, std::type_identity_t<T> value,
                             emu::site where = emu::site::here()) {
  emu::atomic_store(p, static_cast<std::uint64_t>(value), sizeof(T), mem_order::release, S, where);
}
template <mem_order O = mem_order::acq_rel, scope S = scope::gpu, class T>
TW_DEVICE T atomic_add(T* p, std::type_identity_t<T> value, emu::site where = emu::site::here()) {
  return static_cast<T>(
      emu::atomic_add(p, static_cast<std::uint64_t>(value), sizeof(T), O, S, where));
}
template <scope S = scope::gpu, class T>
TW_DEVICE void red_add_release(T* p, std::type_identity_t<T> value,
                               emu::site where = emu::site::here()) {
  emu::atomic_add(p, static_cast<std::uint64_t>(value), sizeof(T), mem_order::release, S, where);
}
template <scope S = scope::gpu>
TW_DEVICE void fence_acq_rel(emu::site where = emu::site::here()) {
  emu::fence_acq_rel(S, where);
}

}  // namespace tw
