// SPDX-License-Identifier: Apache-2.0
// group_rows.hpp  Which row of A and which row of D belong to an index of the extent that groups
//                 divide, where index arrays say so (problem/groups.hpp).
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/epilogue/params.hpp"
#include "tilewright/problem/groups.hpp"

namespace tw {

/// The row of A for index i; -1: the number names none.
TW_DEVICE int gathered_row(group_operands const& g, int i) {
  int const number = g.gather[i];
  if (number < 0) return -1;
  int const row = g.choices(number);
  return row < g.gather_from ? row : -1;
}

/// The row of D for index i; -1: the number names none.
TW_DEVICE int scattered_row(group_operands const& g, int i) {
  int const row = g.scatter[i];
  return row >= 0 && row < g.scatter_to ? row : -1;
}

/// Says that number i of an index array is not possible.
TW_DEVICE void report_index(group_operands const& g, int i) {
  if (g.status != nullptr) red_max(g.status, bad_index_status | static_cast<std::uint32_t>(i));
}

/// Value i of the scales of A's rows, of those that groups divide; of a row that is not there 0.
TW_DEVICE float scale_of_token(group_operands const& g, float const* scales, int step, int i) {
  if (g.gather == nullptr) return scales[i * step];
  int const row = gathered_row(g, i);
  return row < 0 ? 0.0F : scales[row * step];
}

/// The weight of the row of D of index i; of a row that is not there 0.
TW_DEVICE float weight_of_token(group_operands const& g, int i) {
  if (g.scatter == nullptr) return g.weight[i];
  int const row = scattered_row(g, i);
  return row < 0 ? 0.0F : g.weight[row];
}

}  // namespace tw
