// SPDX-License-Identifier: Apache-2.0
// global.hpp  Flags in global or shared memory that order threads, and fences: the semaphores of
//             split-K and stream-K.
//
// The writer: writes, cta_sync(), then one thread store_release or red_add_release. The reader: one
// thread polls with load_acquire (and backoff), then cta_sync(). What TMA stored counts as written
// only after tma_store_wait. T: 4 or 8 bytes, aligned to its size, of any type: nothing converts.
// The word lies in global memory, in shared memory or, through dsmem(), in a peer's; where the
// compiler cannot tell, the address is looked at.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tilewright/arch/atomic_operand.hpp"
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
template <>
struct scope_text<scope::sys> {
  static constexpr char value[] = "sys";
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

/// State spaces, as an instruction's name has them.
struct in_global {
  static constexpr char value[] = ".global";
};
struct in_shared {
  static constexpr char value[] = ".shared::cta";
};
struct in_generic {  // one of the two, or a peer's shared memory
  static constexpr char value[] = "";
};

/// f(space, address). The two questions cost nothing where the compiler can answer them.
template <class F>
TW_DEVICE void with_space(void const* p, F f) {
  if (__isGlobal(p))
    f(in_global{}, static_cast<std::uint64_t>(__cvta_generic_to_global(p)));
  else if (__isShared(p))
    f(in_shared{}, static_cast<std::uint64_t>(__cvta_generic_to_shared(p)));
  else
    f(in_generic{}, reinterpret_cast<std::uint64_t>(p));
}

template <mem_order O, scope S, class T>
TW_DEVICE T load_word(T const* p) {
  check_atomic_word<T>();
  decltype(bits_of_word(T{})) v;
  with_space(p, [&](auto space, std::uint64_t at) {
    if constexpr (sizeof(T) == 4)
      asm volatile("ld.%1.%2%3.b32 %0, [%4];"
                   : "=r"(v)
                   : "C"(order_text<O>::value), "C"(scope_text<S>::value),
                     "C"(decltype(space)::value), "l"(at)
                   : "memory");
    else
      asm volatile("ld.%1.%2%3.b64 %0, [%4];"
                   : "=l"(v)
                   : "C"(order_text<O>::value), "C"(scope_text<S>::value),
                     "C"(decltype(space)::value), "l"(at)
                   : "memory");
  });
  return word_of_bits<T>(v);
}

template <mem_order O, scope S, class T>
TW_DEVICE void store_word(T* p, T value) {
  check_atomic_word<T>();
  auto const v = bits_of_word(value);
  with_space(p, [&](auto space, std::uint64_t at) {
    if constexpr (sizeof(T) == 4)
      asm volatile("st.%0.%1%2.b32 [%3], %4;" ::"C"(order_text<O>::value),
                   "C"(scope_text<S>::value), "C"(decltype(space)::value), "l"(at), "r"(v)
                   : "memory");
    else
      asm volatile("st.%0.%1%2.b64 [%3], %4;" ::"C"(order_text<O>::value),
                   "C"(scope_text<S>::value), "C"(decltype(space)::value), "l"(at), "l"(v)
                   : "memory");
  });
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
template <scope S = scope::gpu, class T, class U>
TW_DEVICE void store_relaxed(T* p, U value) {
  detail::store_word<mem_order::relaxed, S>(p, detail::atomic_value<T>(value));
}
/// Writes a word after all writes of this thread and those ordered before it (release).
/// PTX ISA, "st": .release.
template <scope S = scope::gpu, class T, class U>
TW_DEVICE void store_release(T* p, U value) {
  detail::store_word<mem_order::release, S>(p, detail::atomic_value<T>(value));
}

/// Makes a following relaxed store or add release, and a relaxed load before it acquire.
/// PTX ISA, "membar / fence": fence.acq_rel.
template <scope S = scope::gpu>
TW_DEVICE void fence_acq_rel() {
  asm volatile("fence.acq_rel.%0;" ::"C"(detail::scope_text<S>::value) : "memory");
}
/// A sequentially consistent fence. All of fence_acq_rel(); in addition this thread's earlier
/// writes are visible at scope S before any later access of this thread, or of a thread that joins
/// it at a barrier. With scope::gpu it is CUDA's __threadfence(). PTX ISA, "membar / fence":
/// fence.sc.
template <scope S = scope::gpu>
TW_DEVICE void fence_sc() {
  asm volatile("fence.sc.%0;" ::"C"(detail::scope_text<S>::value) : "memory");
}

}  // namespace tw
