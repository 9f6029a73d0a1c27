// SPDX-License-Identifier: Apache-2.0
// ranks.hpp  A GEMM on one device, and its operands as ranks have them. Values are small integers:
//            every sum is exact, so results are compared bit for bit.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/kernel/gemm_cases.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/dist/gemm.hpp"
#include "tilewright/problem/scale_convention.hpp"

namespace tw::dist::test {

using tw::test::make_matrix;
using tw::test::matrix;

inline constexpr path all_paths[] = {path::serial, path::two_pieces, path::pieces, path::direct};
/// path::gated is of an all-gather by kernels with a gate: gated_case().
/// The paths of operations that path::direct refuses, or all.
inline std::vector<path> paths_of(bool refuses_direct) {
  return {std::begin(all_paths), std::end(all_paths) - (refuses_direct ? 1 : 0)};
}

/// Integers in [-most, most].
struct integers {
  std::mt19937_64& rng;
  int most;
  float operator()() const {
    return static_cast<float>(static_cast<int>(rng() % static_cast<unsigned>(2 * most + 1)) - most);
  }
};

inline matrix integer_matrix(elem type, order ord, std::int64_t rows, std::int64_t cols,
                             std::int64_t extra, std::mt19937_64& rng, int most = 2) {
  return make_matrix(type, ord, rows, cols, extra, integers{rng, most});
}

inline matrix empty_matrix(elem type, order ord, std::int64_t rows, std::int64_t cols,
                           std::int64_t extra = 0) {
  return make_matrix(type, ord, rows, cols, extra, nullptr);
}

/// Rows or columns of a matrix as a separate matrix with another leading dimension.
inline matrix part_of(matrix const& m, range rows, range cols, std::int64_t extra) {
  matrix part = empty_matrix(m.desc.type, m.desc.ord, rows.size, cols.size, extra);
  for (std::int64_t i = 0; i < rows.size; ++i)
    for (std::int64_t j = 0; j < cols.size; ++j)
      part.store(i, j, 0, static_cast<float>(m.load(rows.begin + i, cols.begin + j, 0)));
  return part;
}

/// `got` has the bits of the part of `want` that begins at (row, col).
inline void expect_part(matrix const& got, matrix const& want, std::int64_t row, std::int64_t col,
                        std::string const& text) {
  auto const size = static_cast<std::size_t>(size_bytes(want.desc.type));
  for (std::int64_t i = 0; i < got.rows; ++i)
    for (std::int64_t j = 0; j < got.cols; ++j)
      if (std::memcmp(got.bytes.data() + got.at(i, j, 0),
                      want.bytes.data() + want.at(row + i, col + j, 0), size) != 0) {
        ADD_FAILURE() << text << ": D(" << row + i << "," << col + j << ") = " << got.load(i, j, 0)
                      << ", one device has " << want.load(row + i, col + j, 0);
        return;
      }
}

/// Up to a few milliseconds, by random numbers of the rank; one call in three is 30 ms late.
inline void random_delay(std::uint64_t seed, int rank) {
  std::mt19937_64 rng(seed * 97 + static_cast<std::uint64_t>(rank));
  bool const late = rng() % 3 == 0;
  std::this_thread::sleep_for(std::chrono::microseconds(late ? 30'000 : rng() % 3000));
}

/// A random division of an extent: even, with empty parts, or all in one part.
inline shards random_shards(std::int64_t total, int ranks, std::mt19937_64& rng, int step = 1) {
  switch (rng() % 3) {
    case 0:
      if (step == 1) return shards::even(total, ranks);
      [[fallthrough]];
    case 1: {
      std::vector<std::int64_t> sizes(static_cast<std::size_t>(ranks), 0);
      std::int64_t left = total;
      for (int r = 0; r + 1 < ranks; ++r) {
        std::int64_t const most = left / step;
        std::int64_t const n = static_cast<std::int64_t>(
            rng() % static_cast<std::uint64_t>(std::min(most, 2 * total / (ranks * step) + 1) + 1));
        sizes[static_cast<std::size_t>(r)] = n * step;
        left -= n * step;
      }
      sizes.back() = left;
      return shards(sizes);
    }
    default: {
      std::vector<std::int64_t> sizes(static_cast<std::size_t>(ranks), 0);
      sizes[rng() % static_cast<std::uint64_t>(ranks)] = total;
      return shards(sizes);
    }
  }
}

}  // namespace tw::dist::test
