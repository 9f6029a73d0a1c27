// SPDX-License-Identifier: Apache-2.0
// address.hpp  From run-time coordinates to addresses: what a kernel's address arithmetic becomes.
//
// The layout is a constant. Every fixed mode is coalesced; divisors, strides and swizzle masks
// become immediates. A tensor without swizzle moves its pointer. A swizzled one keeps its pointer
// and an offset beside it:
//
//     own bits   no two leaves share an offset bit (leaves whose stride is a multiple of the
//                swizzle's block are free). Then s(a + b) == s(a) ^ s(b), and only the bits that
//                the swizzle changes need a xor: they are the offset, in bytes, together with all
//                bits of the leaves they belong to; other leaves move the pointer, and those that
//                the swizzle reads are xored, shifted, into the offset. An unrolled step costs one
//                xor or nothing.
//     carries    otherwise the offset is kept as a plain sum, and swizzled at each use.
//
// Arithmetic is unsigned 32-bit where the layout is static and its offsets fit; products with
// run-time strides have 64 bits.
// Law:      the address of t(c...) is &t.data[0] + L(c...)         tests/tensor/tensor_test.cpp
#pragma once

#include "tilewright/layout/offset.hpp"
#include "tilewright/layout/slice.hpp"
#include "tilewright/tensor/coordinate.hpp"
#include "tilewright/tensor/space.hpp"

namespace tw::detail {

/// Leaves whose stride is not of this space's kind: basis strides count coordinates.
TW_HD constexpr int strange_strides(layout const& l, space s) {
  bool const counts = s.where == memory::coordinates || s.where == memory::tensor_memory;
  int strange = 0;
  for (int i = 0; i < l.shape.n; ++i) {
    if (l.stride[i].v != 0 && is_basis(l.stride[i]) != counts) ++strange;
  }
  return strange;
}

TW_HD constexpr i64 lowest_bit(i64 a) { return a & -a; }

/// The bits that the multiples 0 .. n-1 of a stride d >= 0 may set.
TW_HD constexpr i64 bits_of_leaf(i64 n, i64 d) {
  if (n <= 1 || d == 0) return 0;
  i64 most = times(n - 1, d);
  i64 bit = 1;
  while (bit <= most / 2) bit *= 2;
  return 2 * bit - lowest_bit(d);
}

/// Offset bits that the swizzle of l reads or changes; 0 without one.
TW_HD constexpr i64 touched_bits(layout const& l) {
  return l.swizzled() ? l.sw.y_mask() | l.sw.z_mask() : 0;
}

/// Leaves of a static l that set bits which its swizzle reads or changes.
TW_HD constexpr int leaves_touched(layout const& l) {
  int count = 0;
  for (int i = 0; i < l.shape.n; ++i) {
    if ((bits_of_leaf(l.extent(i), l.stride[i].v) & touched_bits(l)) != 0) ++count;
  }
  return count;
}

/// Leaves of l that share a bit with another one or its offset below the end of the swizzle's
/// block; all of them where an extent or stride is not a number >= 0.
TW_HD constexpr int overlapping_leaves(layout const& l) {
  i64 const touched = touched_bits(l);
  i64 used = l.offset;
  int overlapping = 0;
  for (int i = 0; i < l.shape.n; ++i) {
    if (is_argument(l.shape.leaf[i]) || l.stride[i].unit != unit_none || l.stride[i].v < 0) {
      return l.shape.n;
    }
    i64 const mine = bits_of_leaf(l.extent(i), l.stride[i].v);
    if (mine == 0 || lowest_bit(mine) > touched) continue;
    if ((mine & used) != 0) ++overlapping;
    used |= mine;
  }
  return overlapping;
}

/// The swizzle of l is applied step by step, in a tensor of elements of `bytes` bytes.
TW_HD constexpr bool owns_bits(layout const& l, space s, int bytes) {
  return l.swizzled() && !s.carries && (bytes & (bytes - 1)) == 0 && overlapping_leaves(l) == 0;
}

/// The bits of x that s reads, where it changes others.
TW_HD constexpr std::uint32_t moved_down(swizzle s, std::uint32_t x) {
  std::uint32_t const y = x & static_cast<std::uint32_t>(s.y_mask());
  return s.shift >= 0 ? y >> s.shift : y << -s.shift;
}

/// Which leaves a sum is about: of one basis path; with `touched`, those that share it or not.
struct pick {
  std::uint32_t path = unit_none;
  i64 touched = 0;
  bool meets = false;

  TW_HD constexpr bool takes(num n, num d) const {
    if (d.v == 0 || basis_path(d) != path) return false;
    if (touched == 0) return true;
    return ((bits_of_leaf(n.v, d.v) & touched) != 0) == meets;
  }
};

/// digit * stride of one leaf.
template <num Stride, class Sum, class I>
TW_HD constexpr Sum leaf_term(I digit, i64 const* args) {
  if constexpr (!is_argument(Stride)) {
    return static_cast<Sum>(digit) * static_cast<Sum>(Stride.v);
  } else if constexpr (sizeof(I) == 4) {  // a sign extension as that of an int ld
    return static_cast<Sum>(static_cast<std::int32_t>(digit)) * leaf_value<Stride>(args);
  } else {
    return static_cast<Sum>(digit) * leaf_value<Stride>(args);
  }
}

/// Leaves Leaf, Leaf + 1, ... of a coalesced mode, applied to an index of it.
template <layout Mode, int Leaf, pick P, class Sum, class I>
TW_HD constexpr Sum mode_sum(I index, i64 const* args) {
  constexpr num extent = Mode.shape.leaf[Leaf];
  constexpr num stride = Mode.stride[Leaf];
  constexpr bool last = Leaf + 1 == Mode.shape.n;
  Sum sum = 0;
  if constexpr (last) {
    if constexpr (P.takes(extent, stride)) sum = leaf_term<stride, Sum>(index, args);
  } else {
    I const n = static_cast<I>(leaf_value<extent>(args));
    if constexpr (P.takes(extent, stride)) sum = leaf_term<stride, Sum>(index % n, args);
    sum += mode_sum<Mode, Leaf + 1, P, Sum>(index / n, args);
  }
  return sum;
}

/// The mode of l, coalesced, that leaf j of the mask stands for.
TW_HD constexpr layout fixed_mode(layout const& l, tree const& mask, int j) {
  matching const m = match(mask, l.shape);
  if (!m.ok) refuse_profile(mask.n, l.shape.n);
  return coalesce(matched_mode(linear_part(l), mask, m, j));
}

/// The picked leaves of all fixed modes.
template <layout L, tree Mask, pick P, class Sum, int J = 0, class List>
TW_HD constexpr Sum fixed_sum(List const& at, i64 const* args) {
  if constexpr (J == Mask.n) {
    return 0;
  } else if constexpr (is_any(Mask.leaf[J])) {
    return fixed_sum<L, Mask, P, Sum, J + 1>(at, args);
  } else {
    Sum const here = mode_sum<fixed_mode(L, Mask, J), 0, P, Sum>(at.v[J], args);
    return here + fixed_sum<L, Mask, P, Sum, J + 1>(at, args);
  }
}

/// Offsets need more than unsigned 32 bits, or a sign.
TW_HD constexpr bool needs_64_bits(layout const& l) {
  i64 last = l.offset;
  for (int i = 0; i < l.shape.n; ++i) {
    bool const known = !is_argument(l.shape.leaf[i]) && !is_argument(l.stride[i]);
    if (!known || l.stride[i].v < 0) return true;
    last = plus(last, times(l.shape.leaf[i].v - 1, l.stride[i].v));
  }
  return last > 0xFFFFFFFF;
}

template <layout L>
using sum_type = typename choose_type<needs_64_bits(L), std::uint32_t, i64>::type;

/// Bytes to which the first element of t(mask) is known to be aligned: every fixed mode may have
/// moved it by any multiple of its strides.
TW_HD constexpr int alignment_after(layout const& l, tree const& mask, int align_bytes, int bytes) {
  matching const m = match(mask, l.shape);
  if (!m.ok) refuse_profile(mask.n, l.shape.n);
  i64 bits = align_bytes;
  i64 const grain = l.swizzled() ? i64{1} << l.sw.base : 0;  // what the swizzle keeps together
  for (int j = 0; j < mask.n; ++j) {
    for (int i = m.at[j]; i < m.at[j + 1] && !is_any(mask.leaf[j]); ++i) {
      if (l.is_unit(i) || l.stride[i].v == 0) continue;
      bits |= times(l.stride[i].v | grain, bytes);
    }
  }
  bits |= times(l.offset | (l.offset != 0 ? grain : 0), bytes);
  return static_cast<int>(lowest_bit(bits));
}

}  // namespace tw::detail
