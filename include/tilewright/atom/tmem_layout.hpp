// SPDX-License-Identifier: Apache-2.0
// tmem_layout.hpp  Where A, D of a weight-stationary multiply, scale factors, copies, and the
//                  registers of loads and stores lie in tensor memory.
//
// A place is an offset in elements of `bits` bits: 32 / bits times the address (lane in bits 16-31,
// column in bits 0-15), plus the index inside of the column, the low bits first. tmem_fragment.hpp
// has the accumulators of the other multiplies.
//
//     tmem_accumulator_ws(m, n)        (m, n) -> address
//     tmem_operand_a(ctas, m, bits)    (m, k, copies) -> place, of A: 32 bytes of each row
//     tmem_scale_factors(rows, ...)    (row, factor, copies) -> byte; 4 factors of a row, a column
//     tmem_copy_places(shape)          (row, byte, copies) -> byte, of tcgen05.cp
//     tmem_transfer(shape, n, split)   ((thread, warp), register) -> address, of tcgen05.ld and .st
//
// "copies" is the mode of replicated elements: each of its coordinates has the same element.
// Source:   PTX ISA, "Data Path Layout Organization" (layouts E and G of .ws, A), "Layout of the
//           Scale Factor A/B Matrix in Tensor Memory", "tcgen05.cp", "Data Movement Shape". The
//           document draws A and the factors of a CTA pair with M = 128 as pictures; these two are
//           as CuTe's fragments have them (its traits of SM100: Duplicated,
//           ScaleFactorDuplicated2by2)
// Needs:    extents that the instructions have [TW0218]
// Law:      distinct coordinates have distinct places, all inside of 128 lanes and 512 columns
// Example:  tests/atom/tmem_layout_test.cpp, tests/emu/tmem_layout_test.cpp
#pragma once

#include "tilewright/arch/tensor_memory.hpp"
#include "tilewright/atom/tmem_fragment.hpp"

namespace tw {

/// (m, n) -> address of an accumulator of tcgen05.mma.ws: its rows are in neighbouring lanes, and
/// its columns in 128 / m parts, one for each m lanes. m: 32, 64, 128; n: 64, 128, 256.
TW_HD constexpr layout tmem_accumulator_ws(int m, int n) {
  if (m != 32 && m != 64 && m != 128) refuse_tmem_shape(m, 128);
  if (n != 64 && n != 128 && n != 256) refuse_tmem_shape(n, 256);
  int const parts = 128 / m;
  if (parts == 1) return make_layout(layout(m, tmem_lane), layout(n, i64{1}));
  return make_layout(layout(m, tmem_lane),
                     make_layout(layout(n / parts, i64{1}), layout(parts, m * tmem_lane)));
}

/// (m, k, copies) -> place of an element of A in elements of `bits` bits (4, 8, 16, 32). m: rows of
/// one CTA, 64 or 128. A CTA pair with 64 rows in each has them twice.
TW_HD constexpr layout tmem_operand_a(int ctas, int m, int bits) {
  if (ctas != 1 && ctas != 2) refuse_tmem_shape(ctas, 2);
  if (m != 64 && m != 128) refuse_tmem_shape(m, 128);
  if (bits != 4 && bits != 8 && bits != 16 && bits != 32) refuse_tmem_shape(bits, 32);
  i64 const lane = tmem_lane * (32 / bits);
  layout const rows =
      m == 64 && ctas == 1 ? make_layout(layout(16, lane), layout(4, 32 * lane)) : layout(m, lane);
  layout const copies = m == 64 && ctas == 2 ? layout(2, 64 * lane) : layout(1, i64{0});
  return make_layout(rows, layout(256 / bits, i64{1}), copies);
}

/// (row, factor, copies) -> byte of a scale factor: the four factors of a row share a column, rows
/// are padded to 32, and each group of 32 lanes has all of them. An instruction that takes fewer
/// takes them from the byte on that its id names. halves: the factors of B for a CTA pair with
/// M = 128, `rows` a multiple of 64: lanes 0-63 have those of the first half, 64-127 the others.
TW_HD constexpr layout tmem_scale_factors(int rows, bool halves = false) {
  if (rows < 1 || rows > 256 || (halves && rows % 64 != 0)) refuse_tmem_shape(rows, 256);
  constexpr i64 lane = 4 * tmem_lane;
  if (!halves)
    return make_layout(make_layout(layout(32, lane), layout(ceil_div(rows, 32), i64{4})),
                       layout(4, i64{1}), layout(4, 32 * lane));
  return make_layout(make_layout(layout(32, lane), layout(rows / 64, i64{4}), layout(2, 64 * lane)),
                     layout(4, i64{1}), layout(2, 32 * lane));
}

/// Where tcgen05.cp writes: (row, byte of the row, number of the copy) -> byte of tensor memory.
/// The lanes are those of tmem_copy_lane(); those of c4x256b are not confirmed on hardware. Where
/// the copy unpacks elements of 4 or 6 bits, each byte here holds one element.
TW_HD constexpr layout tmem_copy_places(tmem_copy_shape s) {
  constexpr i64 lane = 4 * tmem_lane;
  int const n = tmem_copy_rows(s), repeats = tmem_copy_repeats(s);
  i64 const next = lane * tmem_copy_lane(s, 1, 0), half = lane * tmem_copy_lane(s, 32, 0);
  layout const rows = n <= 32 || half == 32 * next
                          ? layout(n, next)
                          : make_layout(layout(32, next), layout(n / 32, half));
  layout const copies =
      repeats == 1 ? layout(1, i64{0}) : layout(repeats, lane * tmem_copy_lane(s, 0, 1));
  return make_layout(rows, layout(16 * tmem_copy_chunks(s), i64{1}), copies);
}

/// ((thread, warp), register) -> address of a load or store of count n by four warps, each at the
/// first of its 32 lanes. split: of l16x32bx2, from the first half's column to the second's.
TW_HD constexpr layout tmem_transfer(tmem_shape s, int n, int split = 0) {
  if (!is_tmem_count(s, n)) refuse_tmem_shape(n, 128);
  constexpr i64 lane = tmem_lane;
  layout const warps(4, 32 * lane);
  switch (s) {
    case tmem_shape::l16x64b:
      return make_layout(
          make_layout(layout(2, 8 * lane), layout(2, i64{1}), layout(8, lane), warps),
          layout(n, i64{2}));
    case tmem_shape::l16x128b:
      return make_layout(make_layout(layout(4, i64{1}), layout(8, lane), warps),
                         make_layout(layout(2, 8 * lane), layout(n, i64{4})));
    case tmem_shape::l16x256b:
      return make_layout(make_layout(layout(4, i64{2}), layout(8, lane), warps),
                         make_layout(layout(2, i64{1}), layout(2, 8 * lane), layout(n, i64{8})));
    case tmem_shape::l16x32bx2:
      return make_layout(make_layout(layout(16, lane), layout(2, i64{split}), warps),
                         layout(n, i64{1}));
    case tmem_shape::l32x32b: break;
  }
  return make_layout(make_layout(layout(32, lane), warps), layout(n, i64{1}));
}

}  // namespace tw
