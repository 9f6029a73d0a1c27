// SPDX-License-Identifier: Apache-2.0
// umma_idesc.hpp  The 32-bit instruction descriptor of tcgen05.mma as named fields.
//
//     bits   umma_idesc (.kind::f16, tf32, f8f6f4, i8)   umma_scaled_idesc (.kind::mx*)
//     0-1    sparsity selector                           reserved
//     2      sparse                                      sparse
//     3      saturate (i8)                               reserved
//     4-5    D: f16 0, f32 1, s32 2                      which scale factor of B
//     7-9    A's format                                  A's format
//     10-12  B's format                                  B's format
//     13 14  negate A, negate B                          the same
//     15 16  A, B are MN-major                           the same
//     17-22  N / 8                                       N / 8
//     23     reserved                                    scale format: ue4m3 0, ue8m0 1
//     24-28  M / 16                                      M / 16 (bits 27-28: M / 128)
//     29-30  -                                           which scale factor of A
//     30-31  largest shift of B in .ws                   31: K is 96 instead of 64
//
// Formats: f16 0, bf16 1; tf32 2; e4m3 0, e5m2 1, e2m3 3, e3m2 4, e2m1 5; u8 0, s8 1; in
// .kind::mxf4 e2m1 is 1.
// Source:   PTX ISA, "Instruction Descriptor"
// Law:      unpack_idesc(d.bits()) == d
// Needs:    N a multiple of 8 up to 256, M of 16 up to 256, small fields [TW0219]; a tcgen05 atom
//           [TW0211]
// Example:  tests/atom/mma_sm100_test.cpp
#pragma once

#include <cstdint>

#include "tilewright/atom/mma_rules.hpp"  // first: compilers show this path in every refusal

#include "tilewright/arch/tensor_memory.hpp"
#include "tilewright/atom/mma_table.hpp"

namespace tw {

namespace detail {

/// value in a field of `size` bits from bit `at`.
TW_HD constexpr std::uint32_t idesc_field(int value, int at, int size) {
  int const most = (1 << size) - 1;
  if (value < 0 || value > most) refuse_idesc_field(value, most);
  return static_cast<std::uint32_t>(value) << at;
}
TW_HD constexpr int idesc_value(std::uint32_t bits, int at, int size) {
  return static_cast<int>((bits >> at) & ((std::uint32_t{1} << size) - 1));
}
/// extent / unit, which must be whole.
TW_HD constexpr int idesc_units(int extent, int unit, int most) {
  if (extent < 0 || extent > most || extent % unit != 0) refuse_idesc_field(extent, most);
  return extent / unit;
}

}  // namespace detail

/// The code of a format of A or B.
TW_HD constexpr int idesc_format(mma_type t) {
  switch (t) {
    case mma_type::f16: return 0;
    case mma_type::bf16: return 1;
    case mma_type::tf32: return 2;
    case mma_type::e4m3: return 0;
    case mma_type::e5m2: return 1;
    case mma_type::e2m3: return 3;
    case mma_type::e3m2: return 4;
    case mma_type::e2m1: return 5;
    case mma_type::u8: return 0;
    case mma_type::s8: return 1;
    default: refuse_idesc_field(static_cast<int>(t), 0); return 0;
  }
}

/// The code of an element type in a multiply of this kind.
TW_HD constexpr int idesc_format(umma_kind kind, elem e) {
  return kind >= umma_kind::mxf4 ? 1 : idesc_format(mma_type_of(e));
}
/// The kind that multiplies operands of a type without scale factors.
TW_HD constexpr umma_kind umma_kind_of(elem ab) {
  return size_bits(ab) <= 8 ? umma_kind::f8f6f4
         : ab == elem::tf32 ? umma_kind::tf32
                            : umma_kind::f16;
}

struct umma_idesc {
  int sparse_selector = 0;
  bool sparse = false;
  bool saturate = false;
  int d_format = 1;  // f16 0, f32 1, s32 2
  int a_format = 0, b_format = 0;
  bool negate_a = false, negate_b = false;
  operand_major a_major = operand_major::k, b_major = operand_major::k;
  int n = 0, m = 0;   // of the whole instruction, also where two CTAs execute it
  int max_shift = 0;  // .ws: 0 none, 1 to 3: 8, 16, 32

  TW_HD constexpr std::uint32_t bits() const {
    using detail::idesc_field;
    return idesc_field(sparse_selector, 0, 2) | idesc_field(sparse, 2, 1) |
           idesc_field(saturate, 3, 1) | idesc_field(d_format, 4, 2) | idesc_field(a_format, 7, 3) |
           idesc_field(b_format, 10, 3) | idesc_field(negate_a, 13, 1) |
           idesc_field(negate_b, 14, 1) | idesc_field(static_cast<int>(a_major), 15, 1) |
           idesc_field(static_cast<int>(b_major), 16, 1) |
           idesc_field(detail::idesc_units(n, 8, 256), 17, 6) |
           idesc_field(detail::idesc_units(m, 16, 256), 24, 5) | idesc_field(max_shift, 30, 2);
  }
  bool operator==(umma_idesc const&) const = default;
};

/// The fields of a descriptor.
TW_HD constexpr umma_idesc unpack_idesc(std::uint32_t bits) {
  using detail::idesc_value;
  return {.sparse_selector = idesc_value(bits, 0, 2),
          .sparse = idesc_value(bits, 2, 1) != 0,
          .saturate = idesc_value(bits, 3, 1) != 0,
          .d_format = idesc_value(bits, 4, 2),
          .a_format = idesc_value(bits, 7, 3),
          .b_format = idesc_value(bits, 10, 3),
          .negate_a = idesc_value(bits, 13, 1) != 0,
          .negate_b = idesc_value(bits, 14, 1) != 0,
          .a_major = static_cast<operand_major>(idesc_value(bits, 15, 1)),
          .b_major = static_cast<operand_major>(idesc_value(bits, 16, 1)),
          .n = 8 * idesc_value(bits, 17, 6),
          .m = 16 * idesc_value(bits, 24, 5),
          .max_shift = idesc_value(bits, 30, 2)};
}

/// The descriptor of a tcgen05 atom without scale factors.
TW_HD constexpr umma_idesc make_umma_idesc(mma_atom const& a) {
  if (!is_tcgen05(a) || a.scale != mma_type::none) refuse_mma_shape(a.n, a.m * 1000 + a.k);
  return {.saturate = a.option == mma_option::saturate,
          .d_format = a.d == mma_type::f16   ? 0
                      : a.d == mma_type::f32 ? 1
                                             : 2,
          .a_format = idesc_format(a.a),
          .b_format = idesc_format(a.b),
          .a_major = a.a_major,
          .b_major = a.b_major,
          .n = a.n,
          .m = a.m};
}

struct umma_scaled_idesc {
  bool sparse = false;
  int b_scale_id = 0, a_scale_id = 0;  // which of the scale factors in a 32-bit cell
  int a_format = 0, b_format = 0;
  bool negate_a = false, negate_b = false;
  operand_major a_major = operand_major::k, b_major = operand_major::k;
  int n = 0, m = 0;
  bool ue8m0 = true;  // scale format; otherwise ue4m3
  bool k96 = false;   // .kind::mxf4: K = 96

  TW_HD constexpr std::uint32_t bits() const {
    using detail::idesc_field;
    return idesc_field(sparse, 2, 1) | idesc_field(b_scale_id, 4, 2) | idesc_field(a_format, 7, 3) |
           idesc_field(b_format, 10, 3) | idesc_field(negate_a, 13, 1) |
           idesc_field(negate_b, 14, 1) | idesc_field(static_cast<int>(a_major), 15, 1) |
           idesc_field(static_cast<int>(b_major), 16, 1) |
           idesc_field(detail::idesc_units(n, 8, 256), 17, 6) | idesc_field(ue8m0, 23, 1) |
           idesc_field(detail::idesc_units(m, 128, 256), 27, 2) | idesc_field(a_scale_id, 29, 2) |
           idesc_field(k96, 31, 1);
  }
  bool operator==(umma_scaled_idesc const&) const = default;
};

/// The descriptor of a block-scaled tcgen05 atom.
TW_HD constexpr umma_scaled_idesc make_umma_scaled_idesc(mma_atom const& a) {
  if (!is_tcgen05(a) || a.scale == mma_type::none) refuse_mma_shape(a.n, a.m * 1000 + a.k);
  bool const mxf4 = a.k == 64;
  return {.a_format = mxf4 ? 1 : idesc_format(a.a),
          .b_format = mxf4 ? 1 : idesc_format(a.b),
          .a_major = a.a_major,
          .b_major = a.b_major,
          .n = a.n,
          .m = a.m,
          .ue8m0 = a.scale == mma_type::ue8m0};
}

}  // namespace tw
