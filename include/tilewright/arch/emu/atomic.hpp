// SPDX-License-Identifier: Apache-2.0
// atomic.hpp  Atomic operations (emulated). PTX ISA, "atom", "red".
#pragma once

#include "tilewright/arch/emu/engine.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

namespace emu {

template <mem_order O, scope S, class T>
T atom(atomic_op op, T* p, T value, site where, T compare = {}) {
  return tw::detail::word_of_bits<T>(
      atomic(p, op, tw::detail::atomic_type_of<T>(), static_cast<int>(sizeof(T)),
             tw::detail::bits_of_word(value), tw::detail::bits_of_word(compare), O, S, where));
}
template <mem_order O, scope S, class T>
void red(atomic_op op, T* p, T value, site where) {
  static_assert(O == mem_order::relaxed || O == mem_order::release,
                "[TW0264] a reduction is relaxed or releases: it reads nothing that could acquire");
  atom<O, S>(op, p, value, where);
}

}  // namespace emu

template <mem_order O = mem_order::acq_rel, scope S = scope::gpu, class T, class U>
TW_DEVICE T atomic_add(T* p, U value, emu::site where = emu::site::here()) {
  detail::check_atomic_sum<T>();
  return emu::atom<O, S>(emu::atomic_op::add, p, detail::atomic_value<T>(value), where);
}
template <mem_order O = mem_order::relaxed, scope S = scope::gpu, class T, class U>
TW_DEVICE void red_add(T* p, U value, emu::site where = emu::site::here()) {
  detail::check_atomic_sum<T>();
  emu::red<O, S>(emu::atomic_op::add, p, detail::atomic_value<T>(value), where);
}
template <mem_order O = mem_order::acq_rel, scope S = scope::gpu, class T, class U>
TW_DEVICE T atomic_min(T* p, U value, emu::site where = emu::site::here()) {
  detail::check_atomic_integer<T>();
  return emu::atom<O, S>(emu::atomic_op::min, p, detail::atomic_value<T>(value), where);
}
template <mem_order O = mem_order::relaxed, scope S = scope::gpu, class T, class U>
TW_DEVICE void red_min(T* p, U value, emu::site where = emu::site::here()) {
  detail::check_atomic_integer<T>();
  emu::red<O, S>(emu::atomic_op::min, p, detail::atomic_value<T>(value), where);
}
template <mem_order O = mem_order::acq_rel, scope S = scope::gpu, class T, class U>
TW_DEVICE T atomic_max(T* p, U value, emu::site where = emu::site::here()) {
  detail::check_atomic_integer<T>();
  return emu::atom<O, S>(emu::atomic_op::max, p, detail::atomic_value<T>(value), where);
}
template <mem_order O = mem_order::relaxed, scope S = scope::gpu, class T, class U>
TW_DEVICE void red_max(T* p, U value, emu::site where = emu::site::here()) {
  detail::check_atomic_integer<T>();
  emu::red<O, S>(emu::atomic_op::max, p, detail::atomic_value<T>(value), where);
}
template <mem_order O = mem_order::acq_rel, scope S = scope::gpu, class T, class U>
TW_DEVICE T atomic_and(T* p, U value, emu::site where = emu::site::here()) {
  detail::check_atomic_integer<T>();
  return emu::atom<O, S>(emu::atomic_op::bit_and, p, detail::atomic_value<T>(value), where);
}
template <mem_order O = mem_order::relaxed, scope S = scope::gpu, class T, class U>
TW_DEVICE void red_and(T* p, U value, emu::site where = emu::site::here()) {
  detail::check_atomic_integer<T>();
  emu::red<O, S>(emu::atomic_op::bit_and, p, detail::atomic_value<T>(value), where);
}
template <mem_order O = mem_order::acq_rel, scope S = scope::gpu, class T, class U>
TW_DEVICE T atomic_or(T* p, U value, emu::site where = emu::site::here()) {
  detail::check_atomic_integer<T>();
  return emu::atom<O, S>(emu::atomic_op::bit_or, p, detail::atomic_value<T>(value), where);
}
template <mem_order O = mem_order::relaxed, scope S = scope::gpu, class T, class U>
TW_DEVICE void red_or(T* p, U value, emu::site where = emu::site::here()) {
  detail::check_atomic_integer<T>();
  emu::red<O, S>(emu::atomic_op::bit_or, p, detail::atomic_value<T>(value), where);
}
template <mem_order O = mem_order::acq_rel, scope S = scope::gpu, class T, class U>
TW_DEVICE T atomic_xor(T* p, U value, emu::site where = emu::site::here()) {
  detail::check_atomic_integer<T>();
  return emu::atom<O, S>(emu::atomic_op::bit_xor, p, detail::atomic_value<T>(value), where);
}
template <mem_order O = mem_order::relaxed, scope S = scope::gpu, class T, class U>
TW_DEVICE void red_xor(T* p, U value, emu::site where = emu::site::here()) {
  detail::check_atomic_integer<T>();
  emu::red<O, S>(emu::atomic_op::bit_xor, p, detail::atomic_value<T>(value), where);
}
template <scope S = scope::gpu, class T, class U>
TW_DEVICE void red_add_release(T* p, U value, emu::site where = emu::site::here()) {
  red_add<mem_order::release, S>(p, value, where);
}

template <mem_order O = mem_order::acq_rel, scope S = scope::gpu, class T, class U>
TW_DEVICE T atomic_exch(T* p, U value, emu::site where = emu::site::here()) {
  detail::check_atomic_word<T>();
  return emu::atom<O, S>(emu::atomic_op::exchange, p, detail::atomic_value<T>(value), where);
}
template <mem_order O = mem_order::acq_rel, scope S = scope::gpu, class T, class U, class V>
TW_DEVICE T atomic_cas(T* p, U expected, V value, emu::site where = emu::site::here()) {
  detail::check_atomic_word<T>();
  return emu::atom<O, S>(emu::atomic_op::compare_exchange, p, detail::atomic_value<T>(value), where,
                         detail::atomic_value<T>(expected));
}

}  // namespace tw
