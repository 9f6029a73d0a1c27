// SPDX-License-Identifier: Apache-2.0
// tmem_fragment.hpp  Where accumulators of tcgen05.mma lie in tensor memory.
//
// Tensor memory has 128 lanes of 512 columns of 32 bits; an address has the lane in bits 16-31 and
// the column in bits 0-15. One CTA's part of an M x N accumulator:
//
//     CTAs  M of the CTA   rows in lanes                        columns
//     1     128            0-127                                N
//     1     64             0-15, 32-47, 64-79, 96-111           N; the next accumulator takes the
//                                                               other 16 of each 32 lanes
//     2     128            0-127                                N
//     2     64             0-63, and 64-127 for columns from    N / 2
//                          N / 2 on
//
//     tmem_accumulator(1, (64,64), (2,1)) == (((16,4),64),2,1):(((65536,2097152),1),1048576,0)
//
// Elements below 32 bits stay one to a column (the lower bits), so offsets in elements are 32 /
// bits times the address.
// Source:   PTX ISA, "Tensor Memory Addressing", "Data Path Layout Organization", "Packing formats"
// Needs:    M 64 or 128 for a CTA, N even, at most 512 columns in all [TW0218]
// Law:      distinct elements have distinct addresses
// Example:  tests/atom/mma_sm100_test.cpp
#pragma once

#include "tilewright/atom/mma_rules.hpp"
#include "tilewright/layout/composition.hpp"
#include "tilewright/layout/construct.hpp"
#include "tilewright/layout/value.hpp"
#include "tilewright/tensor/tmem_size.hpp"

namespace tw {

inline constexpr i64 tmem_lane = 1 << 16;  // address of the next lane

/// ((m, n), repeats...) -> address, in elements of `bits` bits. `ctas`: of the instruction; m, n:
/// of one CTA's accumulator; `repeats`: a tuple, how many accumulators stand side by side.
TW_HD constexpr layout tmem_accumulator(int ctas, int m, int n, tree const& repeats,
                                        int bits = 32) {
  if (ctas != 1 && ctas != 2) refuse_tmem_shape(ctas, 2);
  if (m != 64 && m != 128) refuse_tmem_shape(m, 128);
  if (n < 1 || (ctas == 2 && n % 2 != 0)) refuse_tmem_shape(n, 256);
  if (bits != 32 && bits != 16) refuse_tmem_shape(bits, 32);
  bool const halves = ctas == 2 && m == 64;  // the second half of N in the upper 64 lanes
  bool const gaps = ctas == 1 && m == 64;    // 16 of each 32 lanes are free
  i64 const used = halves ? n / 2 : n;       // columns of one accumulator
  i64 const scale = 32 / bits;               // elements in a column
  i64 const lane = tmem_lane * scale;
  i64 const count = size(repeats);
  i64 const columns = gaps ? ceil_div(count, 2) * used : count * used;
  if (columns > tmem_columns) refuse_tmem_shape(columns, tmem_columns);
  layout const rows = gaps ? make_layout(layout(16, lane), layout(4, 32 * lane)) : layout(m, lane);
  layout const cols =
      halves ? make_layout(layout(used, scale), layout(2, 64 * lane)) : layout(n, scale);
  // Where accumulator i begins: first the free lanes, then further columns.
  layout const place = gaps ? make_layout(layout(2, 16 * lane), layout(tmem_columns, used * scale))
                            : layout(tmem_columns, used * scale);
  layout const where = composition(place, make_layout_left(repeats));
  layout out = make_layout(rows, cols);
  layout all;
  detail::append(all, out);
  for (int i = 0; i < rank(where); ++i) detail::append(all, mode(where, i));
  detail::wrap(all);
  return all;
}

}  // namespace tw
