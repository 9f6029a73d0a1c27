// SPDX-License-Identifier: Apache-2.0
// copy_atom.hpp  One copy instruction: which thread moves which bits, as layouts.
//
//     src(thread, value)    the bits that a thread gives, as places in what is copied
//     dst(thread, value)    the bits that a thread receives
//     ref(thread, value)    the side that a tile of registers (or tensor memory) is described by
//
// The three have the same codomain: bit b on one side is bit b on the other. So the copy is
// dst o src^-1, and a thread's registers after an ldmatrix are what dst says of the rows whose
// addresses src says. A stride 0 along the threads: they name the same memory, or give no address.
// Ensures:  in_values(a, w) counts in elements of w bits
// Needs:    elements that one thread moves whole [TW0230]
// Example:  in_values(copy_atom_named("copy.sm75.ldmatrix.x4"), 16).dst == (32,(2,4)):(2,(1,64))
//           tests/atom/copy_table_test.cpp
#pragma once

#include "tilewright/atom/copy_rules.hpp"
#include "tilewright/layout/layout.hpp"

namespace tw {

/// Which instruction moves the data, for atom/execute.hpp.
struct copy_instruction {
  int row = -1;  // of copy_rows in copy_table.hpp
  i64 n = 0;     // matrices, repetitions or bits
};

struct copy_atom {
  layout thr_id{1, 0};  // logical thread -> thread of the instruction
  layout src, dst, ref;
  i64 element_bits = 1;  // what the layouts count in
  copy_instruction by;

  TW_HD constexpr i64 threads() const { return size(mode(ref, 0)); }
  /// Values that one thread holds on the reference side.
  TW_HD constexpr i64 values() const { return size(mode(ref, 1)); }

  /// Equal layouts: several instructions move the same bits.
  TW_HD constexpr bool operator==(copy_atom const& o) const {
    return thr_id == o.thr_id && src == o.src && dst == o.dst && ref == o.ref &&
           element_bits == o.element_bits;
  }
};

namespace detail {

/// One layout of an atom, from bits to elements: no element may be shared by threads or cut short.
/// The copy of one element at a time, (1,1):(0,0), is as wide as the element.
TW_HD constexpr layout in_elements(layout const& bits_layout, i64 bits) {
  i64 const thread_bits = size(mode(bits_layout, 1));
  if (size(bits_layout) == 1) return bits_layout;
  i64 run = thread_bits;  // consecutive bits of one thread: sides cover their bits
  for (int i = 0; i < bits_layout.shape.n; ++i) {
    i64 const d = bits_layout.stride[i].v;
    if (d > 1) run = gcd(run, d);
  }
  if (bits < 1 || run % bits != 0) refuse_split_value(bits, run);
  return upcast(bits_layout, bits);
}

}  // namespace detail

/// The atom counted in elements of `bits` bits; an atom in bits is given.
TW_HD constexpr copy_atom in_values(copy_atom a, i64 bits) {
  a.src = detail::in_elements(a.src, bits);
  a.dst = detail::in_elements(a.dst, bits);
  a.ref = detail::in_elements(a.ref, bits);
  a.element_bits = bits;
  return a;
}

}  // namespace tw
