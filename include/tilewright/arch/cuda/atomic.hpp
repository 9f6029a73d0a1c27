// SPDX-License-Identifier: Apache-2.0
// atomic.hpp  Atomic operations on a word of global memory, of shared memory or, through dsmem(),
//             of a peer's.
//
// The order is mem_order::acq_rel and the scope gpu unless they are given, as in
// atomic_max<mem_order::relaxed, scope::cta>(&s.largest, x): what only counts within a CTA is
// cheaper so. A reduction (red_) returns nothing and is relaxed unless mem_order::release is given.
// The value has the type of the word: nothing converts but an integer to one that is not narrower.
#pragma once

#include <cstdint>

#include "tilewright/arch/atomic_operand.hpp"
#include "tilewright/arch/cuda/global.hpp"
#include "tilewright/arch/types.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

namespace detail {

struct op_add {
  static constexpr char value[] = "add";
};
struct op_exch {
  static constexpr char value[] = "exch";
};
struct op_min {
  static constexpr char value[] = "min";
};
struct op_max {
  static constexpr char value[] = "max";
};
struct op_and {
  static constexpr char value[] = "and";
};
struct op_or {
  static constexpr char value[] = "or";
};
struct op_xor {
  static constexpr char value[] = "xor";
};

/// The type in an instruction's name: of an addition (signed as unsigned), a comparison, bits.
template <class T>
struct sum_text {
  static constexpr char value[] = "u32";
};
template <class T>
requires(std::is_integral_v<T> && sizeof(T) == 8) struct sum_text<T> {
  static constexpr char value[] = "u64";
};
template <>
struct sum_text<float> {
  static constexpr char value[] = "f32";
};
template <>
struct sum_text<double> {
  static constexpr char value[] = "f64";
};
template <>
struct sum_text<f16x2> {
  static constexpr char value[] = "noftz.f16x2";
};
template <>
struct sum_text<bf16x2> {
  static constexpr char value[] = "noftz.bf16x2";
};
template <bool Signed, int Bytes>
struct order_of_text;
template <>
struct order_of_text<true, 4> {
  static constexpr char value[] = "s32";
};
template <>
struct order_of_text<false, 4> {
  static constexpr char value[] = "u32";
};
template <>
struct order_of_text<true, 8> {
  static constexpr char value[] = "s64";
};
template <>
struct order_of_text<false, 8> {
  static constexpr char value[] = "u64";
};
template <class T>
using compared_text = order_of_text<std::is_signed_v<T>, sizeof(T)>;
template <int Bytes>
struct bits_text {
  static constexpr char value[] = "b32";
};
template <>
struct bits_text<8> {
  static constexpr char value[] = "b64";
};

template <class Op, class Type, mem_order O, scope S, class T>
TW_DEVICE T atom(T* p, T value) {
  auto const v = bits_of_word(value);
  decltype(bits_of_word(value)) old;
  with_space(p, [&](auto space, std::uint64_t at) {
    if constexpr (sizeof(T) == 4)
      asm volatile("atom.%1.%2%3.%4.%5 %0, [%6], %7;"
                   : "=r"(old)
                   : "C"(order_text<O>::value), "C"(scope_text<S>::value),
                     "C"(decltype(space)::value), "C"(Op::value), "C"(Type::value), "l"(at), "r"(v)
                   : "memory");
    else
      asm volatile("atom.%1.%2%3.%4.%5 %0, [%6], %7;"
                   : "=l"(old)
                   : "C"(order_text<O>::value), "C"(scope_text<S>::value),
                     "C"(decltype(space)::value), "C"(Op::value), "C"(Type::value), "l"(at), "l"(v)
                   : "memory");
  });
  return word_of_bits<T>(old);
}

template <class Op, class Type, mem_order O, scope S, class T>
TW_DEVICE void red(T* p, T value) {
  static_assert(O == mem_order::relaxed || O == mem_order::release,
                "[TW0264] a reduction is relaxed or releases: it reads nothing that could acquire");
  auto const v = bits_of_word(value);
  with_space(p, [&](auto space, std::uint64_t at) {
    if constexpr (sizeof(T) == 4)
      asm volatile("red.%0.%1%2.%3.%4 [%5], %6;" ::"C"(order_text<O>::value),
                   "C"(scope_text<S>::value), "C"(decltype(space)::value), "C"(Op::value),
                   "C"(Type::value), "l"(at), "r"(v)
                   : "memory");
    else
      asm volatile("red.%0.%1%2.%3.%4 [%5], %6;" ::"C"(order_text<O>::value),
                   "C"(scope_text<S>::value), "C"(decltype(space)::value), "C"(Op::value),
                   "C"(Type::value), "l"(at), "l"(v)
                   : "memory");
  });
}

}  // namespace detail

/// Adds; returns the old value. PTX ISA, "atom": .add; float, f16x2 and bf16x2 round to nearest
/// even.
template <mem_order O = mem_order::acq_rel, scope S = scope::gpu, class T, class U>
TW_DEVICE T atomic_add(T* p, U value) {
  detail::check_atomic_sum<T>();
  return detail::atom<detail::op_add, detail::sum_text<T>, O, S>(p, detail::atomic_value<T>(value));
}
/// Adds, without a result. PTX ISA, "red": .add.
template <mem_order O = mem_order::relaxed, scope S = scope::gpu, class T, class U>
TW_DEVICE void red_add(T* p, U value) {
  detail::check_atomic_sum<T>();
  detail::red<detail::op_add, detail::sum_text<T>, O, S>(p, detail::atomic_value<T>(value));
}
/// Keeps the smaller one; returns the old value. PTX ISA, "atom": .min.
template <mem_order O = mem_order::acq_rel, scope S = scope::gpu, class T, class U>
TW_DEVICE T atomic_min(T* p, U value) {
  detail::check_atomic_integer<T>();
  return detail::atom<detail::op_min, detail::compared_text<T>, O, S>(
      p, detail::atomic_value<T>(value));
}
/// Keeps the smaller one, without a result. PTX ISA, "red": .min.
template <mem_order O = mem_order::relaxed, scope S = scope::gpu, class T, class U>
TW_DEVICE void red_min(T* p, U value) {
  detail::check_atomic_integer<T>();
  detail::red<detail::op_min, detail::compared_text<T>, O, S>(p, detail::atomic_value<T>(value));
}
/// Keeps the larger one; returns the old value. PTX ISA, "atom": .max.
template <mem_order O = mem_order::acq_rel, scope S = scope::gpu, class T, class U>
TW_DEVICE T atomic_max(T* p, U value) {
  detail::check_atomic_integer<T>();
  return detail::atom<detail::op_max, detail::compared_text<T>, O, S>(
      p, detail::atomic_value<T>(value));
}
/// Keeps the larger one, without a result. PTX ISA, "red": .max.
template <mem_order O = mem_order::relaxed, scope S = scope::gpu, class T, class U>
TW_DEVICE void red_max(T* p, U value) {
  detail::check_atomic_integer<T>();
  detail::red<detail::op_max, detail::compared_text<T>, O, S>(p, detail::atomic_value<T>(value));
}
/// Bit by bit; returns the old value. PTX ISA, "atom": .and.
template <mem_order O = mem_order::acq_rel, scope S = scope::gpu, class T, class U>
TW_DEVICE T atomic_and(T* p, U value) {
  detail::check_atomic_integer<T>();
  return detail::atom<detail::op_and, detail::bits_text<sizeof(T)>, O, S>(
      p, detail::atomic_value<T>(value));
}
/// Bitwise and, without a result. PTX ISA, "red": .and.
template <mem_order O = mem_order::relaxed, scope S = scope::gpu, class T, class U>
TW_DEVICE void red_and(T* p, U value) {
  detail::check_atomic_integer<T>();
  detail::red<detail::op_and, detail::bits_text<sizeof(T)>, O, S>(p,
                                                                  detail::atomic_value<T>(value));
}
/// Bit by bit; returns the old value. PTX ISA, "atom": .or.
template <mem_order O = mem_order::acq_rel, scope S = scope::gpu, class T, class U>
TW_DEVICE T atomic_or(T* p, U value) {
  detail::check_atomic_integer<T>();
  return detail::atom<detail::op_or, detail::bits_text<sizeof(T)>, O, S>(
      p, detail::atomic_value<T>(value));
}
/// Bitwise or, without a result. PTX ISA, "red": .or.
template <mem_order O = mem_order::relaxed, scope S = scope::gpu, class T, class U>
TW_DEVICE void red_or(T* p, U value) {
  detail::check_atomic_integer<T>();
  detail::red<detail::op_or, detail::bits_text<sizeof(T)>, O, S>(p, detail::atomic_value<T>(value));
}
/// Adds, and orders as store_release does. PTX ISA, "red": .add.
template <scope S = scope::gpu, class T, class U>
TW_DEVICE void red_add_release(T* p, U value) {
  red_add<mem_order::release, S>(p, value);
}

/// Writes; returns the old value. T: any type of 4 or 8 bytes. PTX ISA, "atom": .exch.
template <mem_order O = mem_order::acq_rel, scope S = scope::gpu, class T, class U>
TW_DEVICE T atomic_exch(T* p, U value) {
  detail::check_atomic_word<T>();
  return detail::atom<detail::op_exch, detail::bits_text<sizeof(T)>, O, S>(
      p, detail::atomic_value<T>(value));
}
/// Writes `value` where the word has the bits of `expected`; returns the old value. T: any type of
/// 4 or 8 bytes. PTX ISA, "atom": .cas.
template <mem_order O = mem_order::acq_rel, scope S = scope::gpu, class T, class U, class V>
TW_DEVICE T atomic_cas(T* p, U expected, V value) {
  detail::check_atomic_word<T>();
  auto const e = detail::bits_of_word(detail::atomic_value<T>(expected));
  auto const v = detail::bits_of_word(detail::atomic_value<T>(value));
  decltype(detail::bits_of_word(T{})) old;
  detail::with_space(p, [&](auto space, std::uint64_t at) {
    if constexpr (sizeof(T) == 4)
      asm volatile("atom.%1.%2%3.cas.b32 %0, [%4], %5, %6;"
                   : "=r"(old)
                   : "C"(detail::order_text<O>::value), "C"(detail::scope_text<S>::value),
                     "C"(decltype(space)::value), "l"(at), "r"(e), "r"(v)
                   : "memory");
    else
      asm volatile("atom.%1.%2%3.cas.b64 %0, [%4], %5, %6;"
                   : "=l"(old)
                   : "C"(detail::order_text<O>::value), "C"(detail::scope_text<S>::value),
                     "C"(decltype(space)::value), "l"(at), "l"(e), "l"(v)
                   : "memory");
  });
  return detail::word_of_bits<T>(old);
}

namespace detail {

/// The memory of a peer: neither global memory nor this CTA's shared memory.
TW_DEVICE bool is_of_peer(void const* p) { return !__isGlobal(p) && !__isShared(p); }

/// For 64 bits of a peer's shared memory: there nvcc 13.0 compiles .xor.b64 to code that loses
/// updates on an H100 (tests/gpu/instructions.cu).
template <mem_order O, scope S, class T>
TW_DEVICE T xor_by_cas(T* p, T value) {
  T old = load_relaxed<S>(p);
  for (;;) {
    T const seen = atomic_cas<O, S>(p, old, static_cast<T>(old ^ value));
    if (seen == old) return seen;
    old = seen;
  }
}

}  // namespace detail

/// Bit by bit; returns the old value. PTX ISA, "atom": .xor.
template <mem_order O = mem_order::acq_rel, scope S = scope::gpu, class T, class U>
TW_DEVICE T atomic_xor(T* p, U value) {
  detail::check_atomic_integer<T>();
  T const v = detail::atomic_value<T>(value);
  if constexpr (sizeof(T) == 8)
    if (detail::is_of_peer(p)) return detail::xor_by_cas<O, S>(p, v);
  return detail::atom<detail::op_xor, detail::bits_text<sizeof(T)>, O, S>(p, v);
}
/// Bitwise exclusive or, without a result. PTX ISA, "red": .xor.
template <mem_order O = mem_order::relaxed, scope S = scope::gpu, class T, class U>
TW_DEVICE void red_xor(T* p, U value) {
  detail::check_atomic_integer<T>();
  T const v = detail::atomic_value<T>(value);
  if constexpr (sizeof(T) == 8)
    if (detail::is_of_peer(p)) {
      detail::xor_by_cas<O, S>(p, v);
      return;
    }
  detail::red<detail::op_xor, detail::bits_text<sizeof(T)>, O, S>(p, v);
}

}  // namespace tw
