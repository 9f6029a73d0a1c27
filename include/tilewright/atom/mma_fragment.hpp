// SPDX-License-Identifier: Apache-2.0
// mma_fragment.hpp  Which thread of an MMA atom holds which element: thread-value layouts.
//
// layout_a(atom)(t, v) is the place of element v of thread t in the column-major M x K tile of A;
// layout_b in N x K, layout_c in M x N. One rule makes all layouts of mma.sync and of operands of
// wgmma in registers. V elements lie in one register (32 bits, or one f64):
//
//     an operand of R rows:  lane = (4, 8)     the 4 lanes of a quad follow each other along k, V
//                                              elements each; the 8 quads are rows 0 to 7
//                            value = (V, R/8, K/(4 V))   elements of a register, rows 8 apart, k
//     C of M rows:           lane = (4, 8)     quads are rows, lanes of a quad hold 2 columns each
//                            value = (2, M/8)            2 columns, rows 8 apart
//     wgmma, 64 rows:        the 4 warps hold 16 rows each; C goes on with (.., N/8) column blocks
//
//     layout_c(m64n8k16) == ((4,8,4),(2,2,1)):((128,1,16),(64,8,512))
//     row = 16 (t / 32) + t % 32 / 4 + 8 (v / 2 % 2)      column = 2 (t % 4) + v % 2 + 8 (v / 4)
//
// Operands in shared memory belong to no thread: every thread has the whole tile (stride 0).
// tcgen05: a "thread" is a CTA; two CTAs hold half of M of A and C and half of N of B each.
// Source:   PTX ISA, the sections that mma_table.hpp names
// Law:      each layout covers its tile exactly, each element once per copy
// Example:  tests/atom/mma_fragment_test.cpp
#pragma once

#include "tilewright/atom/mma_rules.hpp"  // first: compilers show this path in every refusal

#include "tilewright/atom/mma_table.hpp"
#include "tilewright/layout/value.hpp"

namespace tw {

namespace detail {

/// A mode under construction: leaves of extent 1 are left out.
struct mode_builder {
  layout leaves;
  TW_HD constexpr void add(i64 n, i64 d) {
    if (n > 1) append(leaves, n, num{d});
  }
  /// One leaf stands alone, several in parentheses, none is 1:0.
  TW_HD constexpr layout close() const { return close_piece(leaves); }
};

/// The tuple (n0, n1, n2):(d0, d1, d2), extents of 1 included.
TW_HD constexpr layout three(i64 n0, i64 d0, i64 n1, i64 d1, i64 n2, i64 d2) {
  return make_layout(make_tree(n0, n1, n2), make_tree(d0, d1, d2));
}

/// Elements of a format in one register.
TW_HD constexpr int per_register(mma_atom const& atom, mma_type t) {
  if (atom.arch == mma_arch::sm120 && atom.k == 32) return 4;  // 8-bit containers
  return size_bits(t) >= 32 ? 1 : 32 / size_bits(t);
}

/// A or B of `rows` rows in the registers of a warp, or of the four warps of a warpgroup.
TW_HD constexpr layout operand_fragment(mma_atom const& atom, mma_type type, int rows) {
  int const v = per_register(atom, type);
  int const warps = rows == 64 ? 4 : 1;
  mode_builder value;
  value.add(v, rows);
  value.add(rows / warps / 8, 8);
  value.add(atom.k / (4 * v), i64{4} * v * rows);
  layout values = value.close();
  if (size_bits(type) == 4 && values.shape.is_leaf()) wrap(values);  // one register is a tuple
  if (warps == 4) return make_layout(three(4, i64{v} * rows, 8, 1, 4, 16), values);
  return make_layout(make_layout(layout(4, i64{v} * rows), layout(8, 1)), values);
}

/// C of mma.sync with 8 columns.
TW_HD constexpr layout warp_accumulator(int m) {
  mode_builder value;
  value.add(2, m);
  value.add(m / 8, 8);
  return make_layout(make_layout(layout(4, i64{2} * m), layout(8, 1)), value.close());
}

/// mma.m8n8k4 of sm70: an operand whose k (or not) is contiguous in a thread's registers.
TW_HD constexpr layout quad_pair_operand(operand_major major) {
  if (major == operand_major::k) return make_layout(layout(8, 1), layout(4, 8));
  return make_layout(make_layout(layout(4, 8), layout(2, 4)), layout(4, 1));
}

/// An operand that belongs to no thread: all of `threads` see rows x k.
TW_HD constexpr layout shared_operand(int threads, int rows, int k) {
  return make_layout(layout(threads, i64{0}), make_layout(layout(rows, 1), layout(k, rows)));
}

/// tcgen05: `rows` divided among the CTAs.
TW_HD constexpr layout cta_operand(int ctas, int rows, int k) {
  int const own = rows / ctas;
  return make_layout(layout(ctas, ctas == 1 ? i64{0} : i64{own}),
                     make_layout(layout(own, 1), layout(k, rows)));
}

/// dp4a, dp2a, fma: one thread has all.
TW_HD constexpr layout one_thread(int k) {
  return make_layout(layout(1, i64{0}), layout(k, k == 1 ? i64{0} : i64{1}));
}

TW_HD constexpr layout operand_layout(mma_atom const& atom, bool is_a) {
  int const rows = is_a ? atom.m : atom.n;
  mma_type const type = is_a ? atom.a : atom.b;
  switch (atom.arch) {
    case mma_arch::fma:
    case mma_arch::sm61: return one_thread(atom.k);
    case mma_arch::sm70: return quad_pair_operand(is_a ? atom.a_major : atom.b_major);
    case mma_arch::sm100: return cta_operand(atom.ctas, rows, atom.k);
    default: break;
  }
  if (is_wgmma(atom) && (!is_a || atom.a_from == mma_source::shared)) {
    return shared_operand(128, rows, atom.k);
  }
  return operand_fragment(atom, type, rows);
}

}  // namespace detail

/// Index of a value of the atom's threads -> thread of the warp, warpgroup or cluster pair.
TW_HD constexpr layout thr_id(mma_atom const& atom) {
  switch (atom.arch) {
    case mma_arch::fma:
    case mma_arch::sm61: return {1, i64{0}};
    case mma_arch::sm70: return make_layout(layout(4, 1), layout(2, 16));  // lanes 0-3, 16-19
    case mma_arch::sm100: return {atom.ctas, atom.ctas == 1 ? i64{0} : i64{1}};
    default: return {is_wgmma(atom) ? 128 : 32, i64{1}};
  }
}

/// (M, N, K)
TW_HD constexpr tree shape_mnk(mma_atom const& atom) { return make_shape(atom.m, atom.n, atom.k); }

/// (thread, value) -> column-major M x K tile.
TW_HD constexpr layout layout_a(mma_atom const& atom) { return detail::operand_layout(atom, true); }

/// (thread, value) -> column-major N x K tile.
TW_HD constexpr layout layout_b(mma_atom const& atom) {
  return detail::operand_layout(atom, false);
}

/// (thread, value) -> column-major M x N tile, of C and of D.
TW_HD constexpr layout layout_c(mma_atom const& atom) {
  switch (atom.arch) {
    case mma_arch::fma:
    case mma_arch::sm61: return make_layout(layout(1, i64{0}), layout(1, i64{0}));
    case mma_arch::sm70:
      if (atom.d == mma_type::f16) return make_layout(layout(8, 1), layout(8, 8));
      return make_layout(detail::three(2, 1, 2, 16, 2, 4), detail::three(2, 8, 2, 2, 2, 32));
    case mma_arch::sm100: return detail::cta_operand(atom.ctas, atom.m, atom.n);
    default: break;
  }
  if (!is_wgmma(atom)) return detail::warp_accumulator(atom.m);
  return make_layout(detail::three(4, 128, 8, 1, 4, 16),
                     detail::three(2, 64, 2, 8, atom.n / 8, 512));
}

TW_HD constexpr layout tv_layout(mma_atom const& atom, mma_operand which) {
  return which == mma_operand::a   ? layout_a(atom)
         : which == mma_operand::b ? layout_b(atom)
                                   : layout_c(atom);
}

/// Block-scaled mma.sync: (thread, k) -> column-major M x K tile of A's factors, one entry per
/// element of A: the factor of an element is that of its block of scale_block along k. Lanes 0 and
/// 1 of a quad hold rows 0-7 and 8-15, lanes 2 and 3 copies [TW0213 for other atoms].
TW_HD constexpr layout layout_sfa(mma_atom const& atom) {
  if (atom.arch != mma_arch::sm120 || atom.scale_block == 0) refuse_mma_operand(3, 3);
  return make_layout(detail::three(2, 8, 2, 0, 8, 1), layout(atom.k, 16));
}

/// Layout of B's factors, N x K: all lanes of a quad hold their column's.
TW_HD constexpr layout layout_sfb(mma_atom const& atom) {
  if (atom.arch != mma_arch::sm120 || atom.scale_block == 0) refuse_mma_operand(4, 3);
  return make_layout(make_layout(layout(4, i64{0}), layout(8, 1)), layout(atom.k, 8));
}

}  // namespace tw
