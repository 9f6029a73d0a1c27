// SPDX-License-Identifier: Apache-2.0
// wgmma_kind.hpp  Which combinations of types, majors and N wgmma has: the rules of both backends.
//
//   A, B                       sums        K    N                             majors
//   bf16                       f32         16   8, 16, 24, ..., 256           any
//   f16                        f32, f16    16   the same                      any
//   tf32                       f32         8    the same                      K-major
//   e4m3, e5m2 in any pairing  f32, f16    32   the same                      K-major
//   s8, u8 in any pairing      s32         32   8, 16, 24, 32, 48, ..., 256   K-major
//
// Source: PTX ISA, "wgmma.mma_async", Matrix Shape and Matrix Data-types
// Law:    the wgmma rows of atom/mma_table.hpp have the same combinations (tests/atom)
#pragma once

#include <cstdint>

#include "tilewright/arch/types.hpp"
#include "tilewright/base/elem.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

/// The sums of an integer wgmma beyond 32 bits: they wrap around, or stay at the smallest or
/// largest value (.satfinite).
enum class integer_overflow : std::uint8_t { wrap, saturate };

/// True if wgmma multiplies elements of types a and b into sums of type `sums`.
TW_HD constexpr bool has_wgmma(elem a, elem b, elem sums) {
  if (is_8_bit_integer(a) && is_8_bit_integer(b)) return holds_integer_sums(sums);
  if ((is_fp8(a) && is_fp8(b)) || (a == elem::f16 && b == elem::f16))
    return holds_float_sums(sums) || holds_half_sums(sums);
  return a == b && (a == elem::bf16 || a == elem::tf32) && holds_float_sums(sums);
}

/// True if wgmma with sums of this type has this N.
TW_HD constexpr bool has_wgmma_n(elem sums, int n) {
  bool const fits = n % 8 == 0 && n >= 8 && n <= 256;
  return fits && (!holds_integer_sums(sums) || n <= 32 || n % 16 == 0);
}

/// One kind of wgmma: types, orders of the operands, N.
struct wgmma_form {
  elem a_type, b_type, sums;
  integer_overflow overflow;
  operand_major a_major, b_major;
  int n;

  bool operator==(wgmma_form const&) const = default;
  TW_HD constexpr int k() const { return traits_of(a_type).mma_k(); }
};

namespace detail {

/// Refuses a wgmma that does not exist; the compiler prints the types, majors and sums.
template <elem A, elem B, elem Sums>
struct wgmma_types {
  static_assert(
      has_wgmma(A, B, Sums),
      "[TW0225] wgmma multiplies bf16, f16, tf32, e4m3 or e5m2, s8 or u8, with sums in an "
      "accumulator of float (or of f16 for f16, e4m3 and e5m2; of std::int32_t for s8 and "
      "u8)");
  static constexpr bool exists = has_wgmma(A, B, Sums);
};
template <elem Type, operand_major Major>
struct wgmma_major {
  static_assert(Major == operand_major::k || !traits_of(Type).k_major_only,
                "[TW0224] wgmma reads operands of 8 and of 32 bits K-major only: transpose the "
                "operand on its way to shared memory, or before");
  static constexpr bool exists = Major == operand_major::k || !traits_of(Type).k_major_only;
};

/// A register of an accumulator of T: one float32 or int32, or two f16 in neighbouring columns.
template <class T>
struct accumulator_register;
template <>
struct accumulator_register<float> {
  using type = float;
  static constexpr int values = 1;
};
template <>
struct accumulator_register<std::int32_t> {
  using type = std::int32_t;
  static constexpr int values = 1;
};
template <>
struct accumulator_register<f16> {
  using type = std::uint32_t;
  static constexpr int values = 2;
};

}  // namespace detail

}  // namespace tw
