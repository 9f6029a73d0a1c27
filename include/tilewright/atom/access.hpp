// SPDX-License-Identifier: Apache-2.0
// access.hpp  Which bytes of a tile in shared memory each thread of an access touches.
//
// A tile is a layout of one or two modes; elements are counted in its indices (colexicographic).
// A map (thread, element, step) -> index says how a warp walks over it, step by step:
//
//     ld, st            32 threads, bits / element bits elements each. natural_map: the threads go
//                       along the contiguous mode, then along the other one
//     ldmatrix x1 x2 x4 8 threads for each matrix, each naming one row of 16 bytes. natural_map:
//     stmatrix          x4 is 16 rows by 32 bytes, x2 the same by 16 bytes, x1 is 8 rows
//     wgmma             the operand read: core matrices, 8 rows of 16 bytes, read whole
//     tma               a box in shared memory: 16-byte chunks in the order of the box, 8 by 8
//
// A wgmma of 64 x N reads per step along k (32 bytes) 64 / 8 * 2 core matrices of A, if A is not in
// registers, and N / 8 * 2 of B: these are its wavefronts, whatever swizzle the layout has. What a
// swizzle is for is the writer of the tile and every other reader. The load/store unit does not
// carry TMA's traffic; its chunks are modelled, not counted (docs/banks.md).
// Source: PTX ISA, "ldmatrix", "stmatrix", "Asynchronous Warpgroup Level Matrix Shared Memory
// Layout" (core matrices, canonical layouts), "Tensor swizzling modes".
// Needs:    elements of 8 to 64 bits that the access can move [TW0163]; whole accesses [TW0162];
//           each thread's elements contiguous [TW0160] and aligned [TW0161]; for wgmma and tma the
//           forms of the hardware [TW0165] and its swizzles [TW0237]
// Ensures:  the steps of natural_map touch each element of the tile exactly once
// Example:  count_banks(ldmatrix_access(4), "(64,64):(64,1)"_L, 16).wavefronts == 512
//           tests/atom/access_test.cpp
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/atom/access_rules.hpp"
#include "tilewright/atom/copy_rules.hpp"
#include "tilewright/layout/banks.hpp"
#include "tilewright/layout/layout.hpp"

namespace tw {

enum class smem_op : std::uint8_t { ld, st, ldmatrix, stmatrix, wgmma, tma };

/// One kind of instruction. bits: of one thread's access. matrices: of ldmatrix and stmatrix.
struct access_kind {
  smem_op op = smem_op::ld;
  int bits = 32;
  int matrices = 0;
  bool transposed = false;  // other registers, the same addresses

  TW_HD constexpr bool plain() const { return op == smem_op::ld || op == smem_op::st; }
  TW_HD constexpr int threads() const { return plain() ? 32 : matrices > 0 ? 8 * matrices : 8; }
  TW_HD constexpr bank_rule rule() const {
    return !plain() ? bank_rule::rows : op == smem_op::ld ? bank_rule::load : bank_rule::store;
  }

  bool operator==(access_kind const&) const = default;
};

TW_HD constexpr access_kind ld_access(int bits) { return {smem_op::ld, bits}; }
TW_HD constexpr access_kind st_access(int bits) { return {smem_op::st, bits}; }
TW_HD constexpr access_kind ldmatrix_access(int matrices) {
  return {smem_op::ldmatrix, 128, matrices};
}
TW_HD constexpr access_kind stmatrix_access(int matrices) {
  return {smem_op::stmatrix, 128, matrices};
}
inline constexpr access_kind wgmma_access{smem_op::wgmma, 128};
inline constexpr access_kind tma_access{smem_op::tma, 128};

namespace detail {

/// A tile as two modes: along memory, and across it. Strides count in indices of the tile.
struct tile_walk {
  i64 along, across;  // extents
  i64 along_step, across_step;
};

/// Smallest stride of a mode; extents of 1 do not count.
TW_HD constexpr i64 smallest_stride(layout const& m) {
  i64 least = 0;
  for (int i = 0; i < m.shape.n; ++i) {
    i64 const d = magnitude(number(m.stride[i]));
    if (m.is_unit(i) || d == 0) continue;
    if (least == 0 || d < least) least = d;
  }
  return least;
}

TW_HD constexpr tile_walk walk_of(layout const& tile) {
  if (rank(tile) > 2) refuse_rank(rank(tile), 2);
  if (rank(tile) == 1) return {size(tile), 1, 1, size(tile)};
  i64 const m = size(mode(tile, 0)), n = size(mode(tile, 1));
  i64 const dm = smallest_stride(mode(tile, 0)), dn = smallest_stride(mode(tile, 1));
  bool const first = dn == 0 || (dm != 0 && dm <= dn);
  return first ? tile_walk{m, n, 1, m} : tile_walk{n, m, m, 1};
}

TW_HD constexpr int log2_bytes(int elem_bits) {
  return elem_bits == 8 ? 0 : elem_bits == 16 ? 1 : elem_bits == 32 ? 2 : 3;
}

/// Log2 of the swizzle's 16-byte units if it is one of the hardware's, 0 for none, else -1.
TW_HD constexpr int hardware_swizzle_bits(swizzle s, int elem_bits) {
  if (is_identity(s)) return 0;
  return s.base + log2_bytes(elem_bits) == 4 && s.shift == 3 && s.bits <= 3 ? s.bits : -1;
}

TW_HD constexpr void check_multiple(i64 extent, i64 of) {
  if (extent % of != 0) refuse_unfilled(extent, of);
}

/// Bytes between rows: what they are and what the hardware needs. Equal: nothing to refuse.
struct row_distance {
  i64 got = 0, need = 0;
};

/// The first distance in the tile that the hardware does not have: from one row of a core matrix
/// to the next 16 bytes without a swizzle, the span with one; from one row of a box to the next the
/// row's bytes, or the span.
TW_HD constexpr row_distance wrong_distance(access_kind k, layout const& tile, int elem_bits) {
  bool const box = k.op == smem_op::tma;
  tile_walk const w = walk_of(tile);
  layout const p = linear_part(tile);
  int const bits = hardware_swizzle_bits(tile.sw, elem_bits);
  if (bits < 0) {
    int const base = tile.sw.base + log2_bytes(elem_bits);
    refuse_operand_swizzle(100 * tile.sw.bits + 10 * base + tile.sw.shift, 343);
  }
  i64 const row = w.along * elem_bits / 8;
  i64 const span = bits > 0 ? i64{16} << bits : box ? row : 16;
  if (box && bits > 0 && row > span) return {row, span};
  i64 const rows = box ? w.across : 8, columns = box ? w.along : 128 / elem_bits;
  for (i64 r = 0; r < w.across; ++r) {
    for (i64 c = 0; c < w.along; c += columns) {
      i64 const first = p(r / rows * rows * w.across_step + c * w.along_step);
      i64 const here = (p(r * w.across_step + c * w.along_step) - first) * elem_bits / 8;
      if (here != r % rows * span) return {here - (r % rows - 1) * span, span};
    }
  }
  return {};
}

}  // namespace detail

/// Refuses tiles and element widths that this access cannot have.
TW_HD constexpr void check_access(access_kind k, layout const& tile, int elem_bits) {
  bool const width = elem_bits == 8 || elem_bits == 16 || elem_bits == 32 || elem_bits == 64;
  if (!width || k.bits % elem_bits != 0) refuse_element_bits(elem_bits, k.bits);
  if (k.transposed && elem_bits != 16) refuse_element_bits(elem_bits, 16);
  if (rank(tile) > 2) refuse_rank(rank(tile), 2);
  i64 const bytes = ceil_div(cosize(linear_part(tile)) * elem_bits, 8);
  if (bytes > max_smem_bytes) refuse_tile_bytes(bytes, max_smem_bytes);
}

/// (thread, element, step) -> index: how a warp moves the whole tile.
TW_HD constexpr layout natural_map(access_kind k, layout const& tile, int elem_bits) {
  check_access(k, tile, elem_bits);
  detail::tile_walk const w = detail::walk_of(tile);
  i64 const elems = k.bits / elem_bits;
  detail::check_multiple(w.along, elems);
  i64 const units = w.along / elems, unit_step = elems * w.along_step;
  layout const element(elems, w.along_step);
  if (k.matrices > 0) {
    i64 const rows = k.matrices == 1 ? 8 : 16, wide = k.matrices == 4 ? 2 : 1;
    detail::check_multiple(w.across, rows);
    detail::check_multiple(w.along, wide * elems);
    return make_layout(make_layout(layout(8, w.across_step), layout(rows / 8, 8 * w.across_step),
                                   layout(wide, unit_step)),
                       element,
                       make_layout(layout(w.across / rows, rows * w.across_step),
                                   layout(units / wide, wide * unit_step)));
  }
  if (!k.plain()) {
    detail::row_distance const d = detail::wrong_distance(k, tile, elem_bits);
    if (d.got != d.need) refuse_form(d.got, d.need);
  }
  if (k.op == smem_op::wgmma) {
    bool const mn_major = rank(tile) == 1 || w.along_step == 1;
    if (mn_major && elem_bits != 16) refuse_element_bits(elem_bits, 16);
    detail::check_multiple(w.across, 8);
    return make_layout(
        layout(8, w.across_step), element,
        make_layout(layout(w.across / 8, 8 * w.across_step), layout(units, unit_step)));
  }
  i64 const threads = k.op == smem_op::tma ? 8 : 32;
  i64 along = detail::gcd(units, threads);  // threads along a row
  i64 across = detail::gcd(w.across, threads / along);
  return make_layout(make_layout(layout(along, unit_step), layout(across, w.across_step)), element,
                     make_layout(layout(units / along, along * unit_step),
                                 layout(w.across / across, across * w.across_step)));
}

/// The map of a thread-value layout (thread, value) -> index, also of several warps: the values in
/// groups of one access, then the warps (for ldmatrix and stmatrix: the threads that name rows).
TW_HD constexpr layout map_of_threads(access_kind k, layout const& tv, int elem_bits) {
  if (rank(tv) != 2) refuse_rank(rank(tv), 2);
  i64 const elems = k.bits / elem_bits, threads = size(mode(tv, 0)), values = size(mode(tv, 1));
  detail::check_multiple(values, elems);
  i64 const warp = k.threads();
  if (threads > warp) detail::check_multiple(threads, warp);
  layout const by_warp = threads > warp ? logical_divide(mode(tv, 0), layout(warp, i64{1}))
                                        : make_layout(mode(tv, 0), layout(1, i64{0}));
  layout const by_access = logical_divide(mode(tv, 1), layout(elems, i64{1}));
  return make_layout(mode(by_warp, 0), mode(by_access, 0),
                     make_layout(mode(by_access, 1), mode(by_warp, 1)));
}

/// Steps of a map: instructions, core matrices or groups of 8 chunks.
TW_HD constexpr i64 steps(layout const& map) { return size(mode(map, 2)); }

/// Bytes that threads access in one step. Byte 0 is where the tile begins, a multiple of 128.
TW_HD constexpr warp_access access_of(access_kind k, layout const& tile, int elem_bits,
                                      layout const& map, i64 step) {
  warp_access a;
  a.bytes = k.bits / 8;
  a.rule = k.rule();
  layout const thread = mode(map, 0), element = mode(map, 1);
  i64 const elems = size(element), begin = mode(map, 2)(step), cells = size(tile);
  for (int t = 0; t < size(thread) && t < 32; ++t) {
    i64 const index = begin + thread(t);
    if (index < 0 || index >= cells) refuse_outside(index, cells);
    i64 const first = tile(index);
    if (first < 0) refuse_outside(first, cells);
    for (i64 e = 1; e < elems; ++e) {
      i64 const at = index + element(e);
      if (at < 0 || at >= cells) refuse_outside(at, cells);
      if (tile(at) != first + e) refuse_scattered(e, elems);
    }
    a.address[t] = first * elem_bits / 8;
    if (a.address[t] % a.bytes != 0) refuse_unaligned(a.address[t], a.bytes);
    a.active |= 1U << t;
  }
  return a;
}

/// All steps of a map together.
struct bank_totals {
  i64 steps = 0, wavefronts = 0, ideal = 0;
  i64 worst = 0;  // the first step with the most wavefronts beyond its ideal

  bool operator==(bank_totals const&) const = default;
};

TW_HD constexpr bank_totals count_banks(access_kind k, layout const& tile, int elem_bits,
                                        layout const& map) {
  bank_totals sum;
  sum.steps = steps(map);
  int beyond = 0;
  for (i64 i = 0; i < sum.steps; ++i) {
    bank_report const r = count_banks(access_of(k, tile, elem_bits, map, i));
    sum.wavefronts += r.wavefronts;
    sum.ideal += r.ideal;
    if (r.wavefronts - r.ideal > beyond) {
      beyond = r.wavefronts - r.ideal;
      sum.worst = i;
    }
  }
  return sum;
}

/// The whole tile, by its natural map.
TW_HD constexpr bank_totals count_banks(access_kind k, layout const& tile, int elem_bits) {
  return count_banks(k, tile, elem_bits, natural_map(k, tile, elem_bits));
}

}  // namespace tw
