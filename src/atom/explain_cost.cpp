// SPDX-License-Identifier: Apache-2.0
// explain_cost.cpp  Figures of a combination, counted by walking every access of every warp.
#include <set>

#include "atom/explain_parts.hpp"
#include "tilewright/layout/banks.hpp"

namespace tw::detail {
namespace {

/// Offset of what thread t's copy v takes in step s, [s, v][t].
std::vector<std::vector<i64>> places(combination const& c, layout const& tile, copy_map const& m) {
  i64 const threads = size(mode(m.cells, 0)), first = m.address_elements;
  i64 const copies = size(mode(m.cells, 1)) / first;
  std::vector<std::vector<i64>> all;
  for (i64 row = 0; row < c.rows; row += m.rows) {
    for (i64 column = 0; column < c.columns; column += m.columns) {
      for (i64 v = 0; v < copies; ++v) {
        std::vector<i64>& at = all.emplace_back();
        for (i64 t = 0; t < threads; ++t) {
          i64 const cell = m.cells(t, v * first);
          at.push_back(tile(row + m.row(cell), column + m.column(cell)));
        }
      }
    }
  }
  return all;
}

}  // namespace

combination_cost cost_of(combination const& c, layout const& tile, copy_map const& m) {
  std::vector<std::vector<i64>> const all = places(c, tile, m);
  bool const matrices = c.copy.kind == copy_kind::stmatrix;
  int const element = size_bytes(c.type);
  combination_cost k;
  k.copies = static_cast<i64>(all.size());
  for (std::vector<i64> const& threads : all) {
    for (std::size_t first = 0; first < threads.size(); first += 32) {
      warp_access a;
      a.bytes = matrices ? 16 : c.copy.bits / 8;
      a.rule = matrices ? bank_rule::rows : bank_rule::store;
      int const lanes = matrices ? 8 * c.copy.count : 32;
      for (int i = 0; i < lanes; ++i) {
        a.address[i] = threads[first + static_cast<std::size_t>(i)] * element;
        a.active |= 1U << i;
      }
      bank_report const r = count_banks(a);
      k.wavefronts += r.wavefronts;
      k.ideal += r.ideal;
    }
  }
  // Two copies need one address where the distance between them is the same for every thread.
  std::set<std::vector<i64>> distances;
  for (std::vector<i64> threads : all) {
    i64 const first = threads[0];
    for (i64& t : threads) t -= first;
    distances.insert(std::move(threads));
  }
  k.addresses = static_cast<i64>(distances.size());
  i64 const groups = i64{c.groups_m} * c.groups_n;
  k.sums = c.rows * c.columns / (128 * groups);
  k.wgmmas = c.rows / m.rows * (c.columns / m.columns);
  k.operand_bytes = groups * k.wgmmas * (64 + c.mma_n) * 32;  // 32 bytes of k for each row
  if (c.smem) {
    bool const by_row = c.contiguous == operand_major::k;
    i64 const span = span_elems(*c.smem, size_bits(c.type));
    k.boxes = (by_row ? c.columns : c.rows) / span * ceil_div(by_row ? c.rows : c.columns, 256);
  }
  return k;
}

}  // namespace tw::detail
