// SPDX-License-Identifier: Apache-2.0
// swizzle.hpp  Sw<bits, base, shift>: an involution on offsets that spreads columns over banks.
//
//     offset bits   ... Y Y Y ... Z Z Z b b b b        Sw<3,4,3>: base 4, bits 3, shift 3
//                       |         ^
//                       +-- xor --+                    Z ^= Y; nothing else changes
//
// `base` low bits stay (what must stay contiguous), `bits` bits at base (Z) are xored with the
// `bits` bits `shift` places higher (Y). With a negative shift the higher bits are xored with the
// lower ones. The shared-memory swizzles of TMA and wgmma are, in bytes, Sw<3,4,3> (128 B),
// Sw<2,4,3> (64 B) and Sw<1,4,3> (32 B); counted in 2-byte elements their base is 3.
// Needs:    bits, base >= 0, |shift| >= bits, base + bits + |shift| <= 62 [TW0115]
// Ensures:  s(s(x)) == x; s permutes every aligned block of 2^(base + bits + |shift|) offsets
// Example:  tests/layout/swizzle_test.cpp
#pragma once

#include "tilewright/layout/num.hpp"

namespace tw {

struct swizzle {
  int bits = 0, base = 0, shift = 0;

  /// Offset bits that are read.
  TW_HD constexpr i64 y_mask() const {
    return ((i64{1} << bits) - 1) << (base + (shift > 0 ? shift : 0));
  }
  /// Offset bits that change.
  TW_HD constexpr i64 z_mask() const {
    return ((i64{1} << bits) - 1) << (base - (shift < 0 ? shift : 0));
  }

  /// The swizzled offset, in the arithmetic of its argument.
  template <class I>
  TW_HD constexpr I operator()(I x) const {
    I const y = x & static_cast<I>(y_mask());
    return x ^ (shift >= 0 ? y >> shift : y << -shift);
  }

  bool operator==(swizzle const&) const = default;
};

/// No bit changes.
TW_HD constexpr bool is_identity(swizzle s) { return s.bits == 0; }

/// s is its own inverse.
TW_HD constexpr swizzle inverse(swizzle s) { return s; }

/// Checked swizzle.
TW_HD constexpr swizzle make_swizzle(int bits, int base, int shift) {
  int const distance = shift < 0 ? -shift : shift;
  if (bits < 0 || base < 0) refuse_swizzle(bits < base ? bits : base, 0);
  if (distance < bits) refuse_swizzle(distance, bits);
  if (bits > 62 || base > 62 || distance > 62 || base + bits + distance > 62) {
    refuse_swizzle(i64{base} + bits + distance, 62);
  }
  return {bits, base, shift};
}

/// The swizzle that reads the bits y and changes the bits z: two runs of equally many ones.
TW_HD constexpr swizzle make_swizzle_of_masks(i64 y, i64 z) {
  struct run {
    int low = 0, length = 0;
  };
  auto const run_of = [](i64 m) {
    run r;
    if (m <= 0) refuse_swizzle(m, 1);
    while (((m >> r.low) & 1) == 0) ++r.low;
    while (((m >> (r.low + r.length)) & 1) != 0) ++r.length;
    if (m >> (r.low + r.length) != 0) refuse_swizzle(m, 1);
    return r;
  };
  if (y == 0 && z == 0) return {};
  run const ry = run_of(y);
  run const rz = run_of(z);
  if (ry.length != rz.length) refuse_swizzle(ry.length, rz.length);
  return make_swizzle(ry.length, ry.low < rz.low ? ry.low : rz.low, ry.low - rz.low);
}

/// One swizzle that does both: a(b(x)) for every x. They must read bits at the same distance.
TW_HD constexpr swizzle compose(swizzle a, swizzle b) {
  if (is_identity(a)) return b;
  if (is_identity(b)) return a;
  if (a.shift != b.shift) refuse_swizzle(a.shift, b.shift);
  i64 const reads = a.y_mask() | b.y_mask();
  i64 const changes = a.z_mask() | b.z_mask();
  if ((reads & changes) != 0) refuse_swizzle(reads, changes);  // one reads what the other wrote
  return make_swizzle_of_masks(a.y_mask() ^ b.y_mask(), a.z_mask() ^ b.z_mask());
}

}  // namespace tw
