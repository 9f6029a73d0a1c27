// SPDX-License-Identifier: Apache-2.0
// global.hpp  Flags and counters in global memory that order CTAs: split-K and stream-K semaphores.
//
// The writer: writes, cta_sync(), then one thread store_release or red_add_release. The reader: one
// thread polls with load_acquire (and backoff), then cta_sync(). What TMA stored counts as written
// only after tma_store_wait. T: int, unsigned, or a 64-bit integer, aligned to its size.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tilewright/arch/types.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

namespace detail {

// PTX writes scopes and orders into the instruction's name: texts for the "C" constraint of asm
// (CUDA, "Inline PTX Assembly", Constraints).
template <scope S>
struct scope_text;
template <>
struct scope_text<scope::cta> {
  static constexpr char value[] = "cta";
};
template <>
struct scope_text<scope::cluster> {
  static constexpr char value[] = "cluster";
};
template <>
struct scope_text<scope::gpu> {
  static constexpr char value[] = "gpu";
};
template <mem_order O>
struct order_text;
template <>
struct order_text<mem_order::relaxed> {
  static constexpr char value[] = "relaxed";
};
template <>
struct order_text<mem_order::acquire> {
  static constexpr char value[] = "acquire";
};
template <>
struct order_text<mem_order::release> {
  static constexpr char value[] = "release";
};
template <>
struct order_text<mem_order::acq_rel> {
  static constexpr char value[] = "acq_rel";
};

template <class T>
TW_DEVICE std::uint64_t global_address(T const* p) {
  return static_cast<std::uint64_t>(__cvta_generic_to_global(p));
}

template <mem_order O, scope S, class T>
TW_DEVICE T load_word(T const* p) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  if constexpr (sizeof(T) == 4) {
    std::uint32_t v;
    asm volatile("ld.%1.%2.global.u32 %0, [%3];"
                 : "=r"(v)
                 : "C"(order_text<O>::value), "C"(scope_text<S>::value), "l"(global_address(p))
                 : "memory");
    return static_cast<T>(v);
  } else {
    std::uint64_t v;
    asm volatile("ld.%1.%2.global.u64 %0, [%3];"
                 : "=l"(v)
                 : "C"(order_text<O>::value), "C"(scope_text<S>::value), "l"(global_address(p))
                 : "memory");
    return static_cast<T>(v);
  }
}

template <mem_order O, scope S, class T>
TW_DEVICE void store_word(T* p, T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  if constexpr (sizeof(T) == 4)
    asm volatile("st.%0.%1.global.u32 [%2], %3;" ::"C"(order_text<O>::value),
                 "C"(scope_text<S>::value), "l"(global_address(p)),
                 "r"(static_cast<std::uint32_t>(value))
                 : "memory");
  else
    asm volatile("st.%0.%1.global.u64 [%2], %3;" ::"C"(order_text<O>::value),
                 "C"(scope_text<S>::value), "l"(global_address(p)),
                 "l"(static_cast<std::uint64_t>(value))
                 : "memory");
}

}  // namespace detail

/// Reads a word that others write atomically; orders nothing else. PTX ISA, "ld": .relaxed.
template <scope S = scope::gpu, class T>
TW_DEVICE T load_relaxed(T const* p) {
  return detail::load_word<mem_order::relaxed, S>(p);
}
/// Reads a word; what its writer had released is visible after it. PTX ISA, "ld": .acquire.
template <scope S = scope::gpu, class T>
TW_DEVICE T load_acquire(T const* p) {
  return detail::load_word<mem_order::acquire, S>(p);
}
/// Writes a word that others read atomically; orders nothing else. PTX ISA, "st": .relaxed.
template <scope S = scope::gpu, class T>
TW_DEVICE void store_relaxed(T* p, std::type_identity_t<T> value) {
  detail::store_word<mem_order::relaxed, S>(p, value);
}
/// Writes a word after all writes of this thread and those ordered before it (release).
/// PTX ISA, "st": .release.
template <scope S = scope::gpu, class T>
TW_DEVICE void store_release(T* p, std::type_identity_t<T> value) {
  detail::store_word<mem_order::release, S>(p, value);
}

/// Adds and returns the old value. PTX ISA, "atom": .add.
template <mem_order O = mem_order::acq_rel, scope S = scope::gpu, class T>
TW_DEVICE T atomic_add(T* p, std::type_identity_t<T> value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  if constexpr (sizeof(T) == 4) {
    std::uint32_t old;
    asm volatile("atom.%1.%2.global.add.u32 %0, [%3], %4;"
                 : "=r"(old)
                 : "C"(detail::order_text<O>::value), "C"(detail::scope_text<S>::value),
                   "l"(detail::global_address(p)), "r"(static_cast<std::uint32_t>(value))
                 : "memory");
    return static_cast<T>(old);
  } else {
    std::uint64_t old;
    asm volatile("atom.%1.%2.global.add.u64 %0, [%3], %4;"
                 : "=l"(old)
                 : "C"(detail::order_text<O>::value), "C"(detail::scope_text<S>::value),
                   "l"(detail::global_address(p)), "l"(static_cast<std::uint64_t>(value))
                 : "memory");
    return static_cast<T>(old);
  }
}
/// Adds, and orders as store_release does. PTX ISA, "red": .add.
template <scope S = scope::gpu, class T>
TW_DEVICE void red_add_release(T* p, std::type_identity_t<T> value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  if constexpr (sizeof(T) == 4)
    asm volatile("red.release.%0.global.add.u32 [%1], %2;" ::"C"(detail::scope_text<S>::value),
                 "l"(detail::global_address(p)), "r"(static_cast<std::uint32_t>(value))
                 : "memory");
  else
    asm volatile("red.release.%0.global.add.u64 [%1], %2;" ::"C"(detail::scope_text<S>::value),
                 "l"(detail::global_address(p)), "l"(static_cast<std::uint64_t>(value))
                 : "memory");
}

/// Makes a following relaxed store or add release, and a relaxed load before it acquire.
/// PTX ISA, "membar / fence": fence.acq_rel.
template <scope S = scope::gpu>
TW_DEVICE void fence_acq_rel() {
  asm volatile("fence.acq_rel.%0;" ::"C"(detail::scope_text<S>::value) : "memory");
}

}  // namespace tw
