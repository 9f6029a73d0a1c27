// SPDX-License-Identifier: Apache-2.0
// sort_rows.cpp  Sorts indices, then moves slices and arrows to the places that they have there.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "emu/trace/slices.hpp"

namespace tw::emu {

void sort_rows(timeline& t) {
  std::vector<int> order(t.slices.size());
  std::iota(order.begin(), order.end(), 0);
  auto const at = [&](int i) -> trace_slice& { return t.slices[static_cast<std::size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return std::tuple(at(a).row, at(a).begin, at(a).end) <
           std::tuple(at(b).row, at(b).begin, at(b).end);
  });
  std::vector<trace_row> rows;
  std::vector<std::int64_t> free;  // of the rows made from the current one
  int current = -1;
  for (int const i : order) {
    trace_slice& s = at(i);
    if (s.row != current) {
      current = s.row;
      free.clear();
    }
    std::size_t k = 0;
    while (k < free.size() && free[k] > s.begin) ++k;
    if (k == free.size()) {
      free.push_back(0);
      rows.push_back(t.rows[static_cast<std::size_t>(current)]);
      if (k > 0) rows.back().name += fmt::format(", others{}", k > 1 ? fmt::format(" {}", k) : "");
    }
    free[k] = s.end;
    s.row = static_cast<int>(rows.size() - free.size() + k);
  }
  t.rows = std::move(rows);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return std::tuple(at(a).row, at(a).begin) < std::tuple(at(b).row, at(b).begin);
  });
  std::vector<int> place(order.size());
  std::vector<trace_slice> sorted;
  for (std::size_t k = 0; k < order.size(); ++k) {
    place[static_cast<std::size_t>(order[k])] = static_cast<int>(k);
    sorted.push_back(std::move(at(order[k])));
  }
  t.slices = std::move(sorted);
  for (trace_arrow& a : t.arrows)
    a = {place[static_cast<std::size_t>(a.from)], place[static_cast<std::size_t>(a.to)]};
}

}  // namespace tw::emu
