// SPDX-License-Identifier: Apache-2.0
// reduce_operand.hpp  The types that bulk reductions combine, checked when a kernel is compiled.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tilewright/arch/types.hpp"
#include "tilewright/base/elem.hpp"
#include "tilewright/base/hd.hpp"

namespace tw::detail {

enum class reduce_type : std::uint8_t { u32, s32, u64, s64, f32, f64, f16, bf16, other };

template <class T>
TW_HD constexpr reduce_type reduce_type_of() {
  if constexpr (std::is_same_v<T, float>) return reduce_type::f32;
  if constexpr (std::is_same_v<T, double>) return reduce_type::f64;
  if constexpr (std::is_same_v<T, f16>) return reduce_type::f16;
  if constexpr (std::is_same_v<T, bf16>) return reduce_type::bf16;
  if constexpr (std::is_integral_v<T> && sizeof(T) == 4)
    return std::is_signed_v<T> ? reduce_type::s32 : reduce_type::u32;
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
    return std::is_signed_v<T> ? reduce_type::s64 : reduce_type::u64;
  return reduce_type::other;
}

/// PTX ISA, "cp.reduce.async.bulk", table of operations and types for global memory.
TW_HD constexpr bool can_reduce(reduce_op op, reduce_type t) {
  bool const is_float = t == reduce_type::f32 || t == reduce_type::f64;
  if (t == reduce_type::other) return false;
  switch (op) {
    case reduce_op::add: return true;
    case reduce_op::min:
    case reduce_op::max: return !is_float;
    case reduce_op::inc:
    case reduce_op::dec: return t == reduce_type::u32;
    case reduce_op::bit_and:
    case reduce_op::bit_or:
    case reduce_op::bit_xor: return !is_float && t != reduce_type::f16 && t != reduce_type::bf16;
  }
  return false;
}

template <reduce_op Op, class T>
TW_HD constexpr void check_reduce() {
  static_assert(can_reduce(Op, reduce_type_of<T>()),
                "[TW0278] bulk_reduce adds integers of 4 or 8 bytes, float, double, f16 and bf16; "
                "takes min and max of integers, f16 and bf16; bitwise operations of integers; and "
                "inc and dec of std::uint32_t");
}

/// can_reduce() for the shared memory of a peer.
TW_HD constexpr bool can_reduce_at_peer(reduce_op op, reduce_type t) {
  bool const word = t == reduce_type::u32 || t == reduce_type::s32;
  if (op == reduce_op::add) return word || t == reduce_type::u64 || t == reduce_type::s64;
  if (op == reduce_op::inc || op == reduce_op::dec) return t == reduce_type::u32;
  return word;
}

template <reduce_op Op, class T>
TW_HD constexpr void check_reduce_at_peer() {
  static_assert(can_reduce_at_peer(Op, reduce_type_of<T>()),
                "[TW0278] bulk_reduce_to_peer adds integers of 4 or 8 bytes; takes min, max and "
                "bitwise operations of integers of 4 bytes; and inc and dec of std::uint32_t");
}

}  // namespace tw::detail
