// SPDX-License-Identifier: Apache-2.0
// argument.hpp  Leaves that are known at run time: v * ceil(argument k / divisor), as values.
//
//     $0        argument 0                      arg(0)
//     128$2     128 times argument 2            times(arg(2), 128)
//     8$0/128   8 times ceil(argument 0 / 128)  times(ceil_div(arg(0), 128), 8)
//
// The unit of such a leaf holds bit 31, k in bits 27 to 30 and the divisor in bits 0 to 26. The
// algebra computes with it as long as the answer is right for every value of the argument, and
// refuses otherwise. Two leaves are equal if they are written alike; that two arguments have the
// same value is not known.
// Needs:    16 arguments, divisors below 2^27 [TW0134]; an argument that an extent uses is >= 1
//           (bound() checks it); one that only strides use may be any number
// Ensures:  value_of(times(a, b), v) == value_of(a, v) * value_of(b, v), or a refusal [TW0130]
// Example:  tests/layout/argument_test.cpp
#pragma once

#include "tilewright/layout/num.hpp"

namespace tw {

inline constexpr std::uint32_t unit_argument = 1U << 31;
inline constexpr int max_arguments = 16;
inline constexpr i64 max_divisor = (i64{1} << 27) - 1;

/// Values of the first K run-time arguments, as a kernel takes them.
template <int K>
struct arguments {
  i64 v[K == 0 ? 1 : K];
};

/// A number known at run time, its argument and its divisor.
TW_HD constexpr bool is_argument(num a) { return (a.unit & unit_argument) != 0; }
TW_HD constexpr int argument_index(num a) { return static_cast<int>((a.unit >> 27) & 15U); }
TW_HD constexpr i64 argument_divisor(num a) {
  return static_cast<i64>(a.unit & static_cast<std::uint32_t>(max_divisor));
}

/// ceil(argument k / divisor).
TW_HD constexpr num arg(int k, i64 divisor = 1) {
  if (k < 0 || k >= max_arguments) refuse_argument_number(k, max_arguments - 1);
  if (divisor < 1 || divisor > max_divisor) refuse_argument_number(divisor, max_divisor);
  return {1, unit_argument | (static_cast<std::uint32_t>(k) << 27) |
                 static_cast<std::uint32_t>(divisor)};
}

/// The basis path of a stride; 0 for numbers and run-time values.
TW_HD constexpr std::uint32_t basis_path(num a) { return is_basis(a) ? a.unit : unit_none; }

/// The number a; refuses a run-time value.
TW_HD constexpr i64 number(num a) {
  if (is_argument(a)) refuse_argument(argument_index(a), a.v);
  return a.v;
}

/// The number a stride is; refuses basis strides and run-time values.
TW_HD constexpr i64 plain_stride(num a) {
  if (is_basis(a)) refuse_stride(a.v, 1);
  return number(a);
}

/// The value of a number or a run-time leaf.
TW_HD constexpr i64 value_of(num a, i64 const* args) {
  if (!is_argument(a)) return a.v;
  i64 const x = args[argument_index(a)];
  i64 const d = argument_divisor(a);
  return times(a.v, x / d + (x % d > 0 ? 1 : 0));
}

/// The smallest value that an extent can have: arguments of extents are at least 1.
TW_HD constexpr i64 least(num a) { return a.v; }

/// times(a, b) has an answer.
TW_HD constexpr bool can_multiply(num a, num b) {
  return a.unit == unit_none || b.unit == unit_none;
}
/// a * b, where one of them is a number.
TW_HD constexpr num times(num a, num b) {
  if (!can_multiply(a, b)) {
    refuse_argument_product(is_argument(a) ? argument_index(a) : -1,
                            is_argument(b) ? argument_index(b) : -1);
  }
  return b.unit == unit_none ? times(a, b.v) : times(b, a.v);
}

/// a / b, where that is known to be exact whatever the arguments are.
struct quotient {
  bool exact = false;
  num value;
};
TW_HD constexpr quotient divided(num a, num b) {
  if (b.v == 0 || (b.unit != unit_none && b.unit != a.unit) || a.v % b.v != 0) return {};
  num const q{a.v / b.v, b.unit == unit_none ? a.unit : unit_none};
  return {true, q.v == 0 ? num{} : q};
}

/// ceil(a / n) for n >= 1.
TW_HD constexpr num ceil_div(num a, i64 n) {
  if (!is_argument(a)) return num{ceil_div(a.v, n), a.unit};
  if (a.v % n == 0) return {a.v / n, a.unit};
  if (n % a.v != 0) refuse_argument_division(a.v, n);
  return arg(argument_index(a), times(argument_divisor(a), n / a.v));
}
/// ceil(a / b) for b >= 1, both extents: arguments are at least 1.
TW_HD constexpr num ceil_div(num a, num b) {
  if (b.unit == unit_none) return ceil_div(a, b.v);
  if (quotient const q = divided(a, b); q.exact) return q.value;
  if (a.unit == b.unit) return num{ceil_div(a.v, b.v)};
  if (!is_argument(a) && a.v <= least(b)) return num{1};
  refuse_argument(argument_index(b), b.v);
  return {};
}

}  // namespace tw
