// SPDX-License-Identifier: Apache-2.0
// explain_fragments.hpp  Who writes which cell, from the definitions of the instructions, not from
//                        layouts: the yardstick of explain's partitions.
#pragma once

#include <vector>

#include "tilewright/atom/explain.hpp"

namespace tw_test {

struct cell {
  std::int64_t row, column;
};

/// Sum number i of thread t of the warpgroups, in step (row, column) 0: PTX ISA, "Matrix Fragments
/// for wgmma.mma_async.m64nNk16". Warpgroups count along M first.
inline cell sum_cell(tw::combination const& c, std::int64_t t, std::int64_t i) {
  std::int64_t const group = t / 128, lane = t % 32, warp = t / 32 % 4;
  std::int64_t const at_m = group % c.groups_m, at_n = group / c.groups_m;
  std::int64_t const row = 64 * at_m + 16 * warp + lane / 4 + 8 * (i / 2 % 2);
  std::int64_t const column = 2 * (lane % 4) + i % 2;
  if (c.by_turns) return {row, column + 8 * at_n + i / 4 * 8 * c.groups_n};
  return {row, column + c.mma_n * at_n + 8 * (i / 4)};
}

/// The fields that determine where copy q of thread t puts its sum e (of those of the copy): the
/// thread of the warp that gives the address, and the place after that address. PTX ISA,
/// "stmatrix"; "st".
struct store_place {
  std::int64_t thread, element;
};

inline store_place place_of(tw::combination const& c, std::int64_t t, std::int64_t e) {
  if (c.copy.kind == tw::copy_kind::store) return {t, e};
  std::int64_t const lane = t % 32, matrix = e / 2;
  std::int64_t const row = lane / 4, column = 2 * (lane % 4) + e % 2;
  std::int64_t const giver = 8 * matrix + (c.copy.transposed ? column : row);
  return {t - lane + giver, c.copy.transposed ? row : column};
}

/// Sums that one copy of a thread takes.
inline std::int64_t sums_of_copy(tw::combination const& c) {
  return c.copy.kind == tw::copy_kind::store ? c.copy.bits / size_bits(c.type) : 2 * c.copy.count;
}

/// One digit of the profile (lane, ..., element, copies, steps): extent, rows and columns per step.
struct digit {
  std::int64_t extent, rows, columns;
};

inline std::vector<digit> digits_of(tw::combination const& c) {
  std::int64_t const g = c.by_turns ? 8 * c.groups_n : 8, groups = c.mma_n / 8;
  std::vector<digit> d;
  if (c.copy.kind == tw::copy_kind::store) {
    d = {{4, 0, 2}, {8, 1, 0}, {2, 0, 1}, {2, 8, 0}, {groups, 0, g}};
  } else {
    d = {{8, 1, 0}, {8, 0, 1}};  // a matrix, whichever way it is read
    std::int64_t const across = c.copy.count == 4 ? 2 : 1;
    d.push_back({2, 8, 0});
    d.push_back({across, 0, g});
    d.push_back({groups / across, 0, across * g});
  }
  std::int64_t const m = 64 * c.groups_m, n = std::int64_t{c.mma_n} * c.groups_n;
  d.push_back({4, 16, 0});
  d.push_back({c.groups_m, 64, 0});
  d.push_back({c.groups_n, 0, c.by_turns ? 8 : c.mma_n});
  d.push_back({c.rows / m, m, 0});
  d.push_back({c.columns / n, 0, n});
  return d;
}

/// There are factors n = f0 f1 ... such that f is a sum over the digits of the index: the function
/// of one leaf of a profile is a layout.
inline bool is_leaf_layout(std::vector<std::int64_t> const& f, std::size_t first = 1) {
  std::size_t const n = f.size();
  if (first == n) return true;
  for (std::size_t k = 2; first * k <= n; ++k) {  // the next factor is k
    if (n % (first * k) != 0) continue;
    bool linear = true;
    for (std::size_t i = 0; i < first * k && linear; ++i) {
      linear = f[i] == f[i % first] + static_cast<std::int64_t>(i / first) * f[first];
    }
    if (linear && is_leaf_layout(f, first * k)) return true;
  }
  return false;
}

/// Whether any shape:stride layout of the profile gives the offsets of the tile, under its swizzle.
inline bool layout_exists(tw::combination const& c, tw::layout const& tile) {
  tw::layout const l = linear_part(tile);
  std::vector<digit> const digits = digits_of(c);
  std::int64_t size = 1;
  for (digit const& d : digits) size *= d.extent;
  for (digit const& d : digits) {
    std::vector<std::int64_t> f;
    for (std::int64_t i = 0; i < d.extent; ++i) f.push_back(l(i * d.rows, i * d.columns));
    if (!is_leaf_layout(f)) return false;
  }
  for (std::int64_t i = 0; i < size; ++i) {
    std::int64_t row = 0, column = 0, sum = 0, rest = i;
    for (digit const& d : digits) {
      std::int64_t const at = rest % d.extent;
      rest /= d.extent;
      row += at * d.rows;
      column += at * d.columns;
      sum += l(at * d.rows, at * d.columns);
    }
    if (l(row, column) != sum) return false;
  }
  return true;
}

}  // namespace tw_test
