// SPDX-License-Identifier: Apache-2.0
// reduce.cpp  Element by element, under a lock for each 128 bytes.
#include "emu/elements/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <type_traits>

#include "base/fork_safe.hpp"
#include "tilewright/base/convert.hpp"

namespace tw::emu {

namespace {

using tw::detail::reduce_type;

/// Reductions of the same 128 bytes exclude each other.
fork_safe_mutex& lock_of(std::byte const* p) {
  static fork_safe_mutex locks[256];
  return locks[reinterpret_cast<std::uintptr_t>(p) / 128 % 256];
}

template <class T>
T combined_integers(reduce_op op, T old, T x) {
  using bits = std::make_unsigned_t<T>;
  auto const a = static_cast<bits>(old), b = static_cast<bits>(x);
  switch (op) {
    case reduce_op::add: return static_cast<T>(a + b);
    case reduce_op::min: return std::min(old, x);
    case reduce_op::max: return std::max(old, x);
    case reduce_op::inc: return static_cast<T>(a >= b ? bits{0} : a + 1);
    case reduce_op::dec: return static_cast<T>(a == 0 || a > b ? b : a - 1);
    case reduce_op::bit_and: return static_cast<T>(a & b);
    case reduce_op::bit_or: return static_cast<T>(a | b);
    case reduce_op::bit_xor: return static_cast<T>(a ^ b);
  }
  return old;
}

template <class T>
T combined_halves(reduce_op op, T old, T x) {
  float const a = to_float(old), b = to_float(x);
  if (op == reduce_op::add) return from_float<T>(a + b);
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? x : old;
  bool const old_first = a < b || (a == b && std::signbit(a));
  return old_first == (op == reduce_op::min) ? old : x;
}

/// A NaN sum is the canonical one, as on a GPU (from_float sees to that in the narrow types).
float sum_of(float x, float y) {
  float const sum = x + y;
  return sum == sum ? sum : __builtin_bit_cast(float, 0x7FFFFFFFU);
}

template <class T>
T combined(reduce_op op, T old, T x) {
  if constexpr (std::is_integral_v<T>)
    return combined_integers(op, old, x);
  else if constexpr (std::is_same_v<T, float>)
    return sum_of(old, x);
  else if constexpr (std::is_same_v<T, double>)
    return old + x;
  else
    return combined_halves(op, old, x);
}

template <class T>
void each(reduce_op op, std::byte* to, std::byte const* values, std::ptrdiff_t bytes) {
  for (std::ptrdiff_t i = 0; i < bytes; i += sizeof(T)) {
    T old, value;
    std::memcpy(&old, to + i, sizeof(T));
    std::memcpy(&value, values + i, sizeof(T));
    old = combined(op, old, value);
    std::memcpy(to + i, &old, sizeof(T));
  }
}

void locked(reduce_op op, reduce_type type, std::byte* to, std::byte const* values,
            std::ptrdiff_t bytes) {
  std::scoped_lock const hold(lock_of(to));
  switch (type) {
    case reduce_type::u32: return each<std::uint32_t>(op, to, values, bytes);
    case reduce_type::s32: return each<std::int32_t>(op, to, values, bytes);
    case reduce_type::u64: return each<std::uint64_t>(op, to, values, bytes);
    case reduce_type::s64: return each<std::int64_t>(op, to, values, bytes);
    case reduce_type::f32: return each<float>(op, to, values, bytes);
    case reduce_type::f64: return each<double>(op, to, values, bytes);
    case reduce_type::f16: return each<f16>(op, to, values, bytes);
    case reduce_type::bf16: return each<bf16>(op, to, values, bytes);
    case reduce_type::other: return;
  }
}

}  // namespace

reduce_type reduce_type_of(elem e) {
  return with_elem(e,
                   [](auto t) { return tw::detail::reduce_type_of<typename decltype(t)::type>(); });
}

void reduce_elements(reduce_op op, reduce_type type, std::byte* to, std::byte const* values,
                     std::ptrdiff_t bytes) {
  while (bytes > 0) {
    std::ptrdiff_t const left =
        128 - static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(to) % 128);
    std::ptrdiff_t const part = std::min(left, bytes);
    locked(op, type, to, values, part);
    to += part, values += part, bytes -= part;
  }
}

}  // namespace tw::emu
