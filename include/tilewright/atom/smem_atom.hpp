// SPDX-License-Identifier: Apache-2.0
// smem_atom.hpp  Shared-memory atoms: the blocks that TMA writes and tensor cores read, K- and
// MN-major.
//
// A row of an atom is a span of its contiguous mode: 16 bytes without swizzle, 32, 64 or 128 bytes
// with one. Eight rows make the atom; (8 rows, span) K-major, (span, 8 rows) MN-major. The swizzle
// exchanges the 16-byte chunks of a row by xor with the row's number, so that eight rows of one
// chunk use different banks. 128 bytes with chunks of 32 (tcgen05, MN-major, 32-bit elements) has
// four rows.
//
//     smem_atom(K, 128 B, 16 bits)  == Sw<3,3,3> o 0 o (8,64):(64,1)
//     smem_atom(MN, 32 B, 16 bits)  == Sw<1,3,3> o 0 o (16,8):(1,16)
//
// In bytes the swizzles are Sw<1,4,3>, Sw<2,4,3>, Sw<3,4,3> and Sw<2,5,2>; the layouts here count
// in elements, so their base is less by log2(bytes of an element), or more below a byte.
// Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory Layout", "Shared Memory
// Matrix Layout" (tcgen05), "Swizzling Modes".
// Needs:    elements of 2^k bits up to 128 [TW0235]
// Law:      an atom permutes [0, size)
// Example:  tile_to_shape(smem_atom(operand_major::k, smem_swizzle::b128, 16), (128,64), (0,1))
//           tests/atom/smem_atom_test.cpp
#pragma once

#include "tilewright/atom/copy_rules.hpp"  // first: compilers show this path in every refusal

#include <initializer_list>

#include "tilewright/arch/types.hpp"
#include "tilewright/layout/layout.hpp"

namespace tw {

/// How the rows of a shared-memory atom are swizzled: none (16-byte rows, "interleaved"), spans of
/// 32, 64, 128 bytes in chunks of 16, and 128 bytes in chunks of 32.
enum class smem_swizzle : std::uint8_t { none, b32, b64, b128, b128_base32 };

/// Bytes of a row of the atom.
TW_HD constexpr int span_bytes(smem_swizzle s) {
  return s == smem_swizzle::none  ? 16
         : s == smem_swizzle::b32 ? 32
         : s == smem_swizzle::b64 ? 64
                                  : 128;
}
/// Rows of the atom.
TW_HD constexpr int rows_of(smem_swizzle s) { return s == smem_swizzle::b128_base32 ? 4 : 8; }

/// The swizzle of byte addresses.
TW_HD constexpr swizzle byte_swizzle(smem_swizzle s) {
  switch (s) {
    case smem_swizzle::none: return {};
    case smem_swizzle::b32: return {1, 4, 3};
    case smem_swizzle::b64: return {2, 4, 3};
    case smem_swizzle::b128: return {3, 4, 3};
    case smem_swizzle::b128_base32: return {2, 5, 2};
  }
  return {};
}

/// The name that tensor maps and descriptors have for it.
TW_HD constexpr swizzle_mode mode_of(smem_swizzle s) {
  return s == smem_swizzle::b128          ? swizzle_mode::b128
         : s == smem_swizzle::b64         ? swizzle_mode::b64
         : s == smem_swizzle::b32         ? swizzle_mode::b32
         : s == smem_swizzle::b128_base32 ? swizzle_mode::b128_base32
                                          : swizzle_mode::none;
}
TW_HD constexpr smem_swizzle smem_swizzle_of(swizzle_mode s) {
  return s == swizzle_mode::b128          ? smem_swizzle::b128
         : s == swizzle_mode::b64         ? smem_swizzle::b64
         : s == swizzle_mode::b32         ? smem_swizzle::b32
         : s == swizzle_mode::b128_base32 ? smem_swizzle::b128_base32
                                          : smem_swizzle::none;
}

namespace detail {

/// log2 of the bits of an element.
TW_HD constexpr int log2_bits(i64 bits) {
  if (bits < 1 || bits > 128 || (bits & (bits - 1)) != 0) refuse_smem_bits(bits, 128);
  int k = 0;
  while ((i64{1} << k) < bits) ++k;
  return k;
}

}  // namespace detail

/// A swizzle of byte addresses as one of offsets in elements, and back.
TW_HD constexpr swizzle from_bytes(swizzle s, i64 bits) {
  if (is_identity(s)) return {};
  int const base = s.base + 3 - detail::log2_bits(bits);
  if (base < 0) refuse_smem_bits(bits, i64{1} << (s.base + 3));
  return make_swizzle(s.bits, base, s.shift);
}
TW_HD constexpr swizzle to_bytes(swizzle s, i64 bits) {
  if (is_identity(s)) return {};
  int const base = s.base - 3 + detail::log2_bits(bits);
  if (base < 0) refuse_operand_swizzle(100 * s.bits + 10 * s.base + s.shift, 143);
  return make_swizzle(s.bits, base, s.shift);
}

/// Which of the modes a layout's swizzle is [TW0237].
TW_HD constexpr smem_swizzle smem_swizzle_of(layout const& l, i64 bits) {
  swizzle const s = to_bytes(l.sw, bits);
  for (smem_swizzle const m : {smem_swizzle::none, smem_swizzle::b32, smem_swizzle::b64,
                               smem_swizzle::b128, smem_swizzle::b128_base32}) {
    if (s == byte_swizzle(m)) return m;
  }
  refuse_operand_swizzle(100 * s.bits + 10 * s.base + s.shift, 100 * s.bits + 43);
  return smem_swizzle::none;
}

/// Elements in a row of the atom.
TW_HD constexpr i64 span_elems(smem_swizzle s, i64 bits) {
  detail::log2_bits(bits);
  return span_bytes(s) * 8 / bits;
}

/// The atom in elements of `bits` bits; offset 0 lies at a multiple of its pattern (8 spans).
TW_HD constexpr layout smem_atom(operand_major major, smem_swizzle s, i64 bits) {
  i64 const span = span_elems(s, bits);
  i64 const rows = rows_of(s);
  layout const block = major == operand_major::k ? make_layout(layout(rows, span), layout(span, 1))
                                                 : make_layout(layout(span, 1), layout(rows, span));
  return swizzled(from_bytes(byte_swizzle(s), bits), block);
}

}  // namespace tw
