// SPDX-License-Identifier: Apache-2.0
// checks.hpp  Whether a set of functions solves the exercises: each check computes the answer in
//             another way.
#pragma once

#include <cmath>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "ladder/exercises/exercises.hpp"
#include "tilewright/arch/accumulator_map.hpp"
#include "tilewright/arch/types.hpp"
#include "tilewright/pipeline/ring.hpp"

namespace ladder {

/// Empty: solved. Else the first input for which the answer is wrong.
struct check_of_exercise {
  int number;
  std::string wrong;
};

namespace check {

inline std::string at(std::string const& input) { return "wrong for " + input; }

inline std::string shown(place p) {
  return "row " + std::to_string(p.row) + ", column " + std::to_string(p.column);
}
inline std::string shown(slot s) {
  return "stage " + std::to_string(s.stage) + ", parity " + std::to_string(s.parity);
}
template <class Number>
std::string shown(Number x) {
  return std::to_string(x);
}

/// With the value that the function returned.
template <class Value>
std::string at(std::string const& input, Value const& got) {
  return at(input) + ": returned " + shown(got);
}
/// And the right one.
template <class Value, class Right>
std::string at(std::string const& input, Value const& got, Right const& right) {
  return at(input, got) + ", right is " + shown(right);
}

template <class S>
std::string intensity() {
  for (int const rows : {1, 2, 4, 8})
    for (int const columns : {1, 4, 16}) {
      int flop = 0, bytes = 0;
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c) flop += 2 * 8;
      for (int x = 0; x < rows + columns; ++x) bytes += 8 * 2;
      double const got = S::flop_per_byte(rows, columns), right = static_cast<double>(flop) / bytes;
      if (std::abs(got - right) > 1e-9)
        return at(std::to_string(rows) + " x " + std::to_string(columns) + " elements", got, right);
    }
  return "";
}

template <class S>
std::string accumulator() {
  using map = tw::accumulator_map;
  for (int t = 0; t < 128; ++t)
    for (int v = 0; v < 128; ++v) {
      place const right{map::row_of(t / 32, t % 32) + map::row_of_register(v),
                        map::col_of(t % 32) + map::col_of_register(v)};
      if (auto const got = S::place_of_accumulator(t, v); got != right)
        return at("thread " + std::to_string(t) + ", element " + std::to_string(v), got, right);
    }
  return "";
}

template <class S>
std::string bytes() {
  for (int const bm : {64, 128})
    for (int const bn : {64, 128, 256})
      for (int const k : {64, 640}) {
        int const m = 3 * bm, n = 2 * bn;
        long long loaded = 0;
        for (int tile = 0; tile < m / bm * (n / bn); ++tile) loaded += 2LL * (bm + bn) * k;
        if (auto const got = S::loaded_bytes(m, n, k, bm, bn); got != loaded)
          return at("tiles of " + std::to_string(bm) + " x " + std::to_string(bn), got, loaded);
      }
  return "";
}

template <class S, int Stages>
std::string ring() {
  tw::ring<Stages> slot_now;
  for (int k = 0; k < 7 * Stages; ++k, slot_now.next())
    if (auto const got = S::slot_of(k, Stages), right = slot{slot_now.stage, slot_now.phase};
        got != right)
      return at("K block " + std::to_string(k) + " of " + std::to_string(Stages) + " stages", got,
                right);
  return "";
}

template <class S>
std::string registers() {
  for (int const consumers : {1, 2, 3})
    for (int const launched : {128, 168})
      for (int const producer : {24, 32, 40}) {
        int most = 0;
        for (int r = 8; r <= 256; r += 8)
          if (consumers * r + producer <= (consumers + 1) * launched) most = r;
        if (auto const got = S::consumer_registers(consumers, launched, producer); got != most)
          return at(std::to_string(consumers) + " consumers, " + std::to_string(launched) +
                        " registers at launch, " + std::to_string(producer) + " for the producer",
                    got, most);
      }
  return "";
}

template <class S>
std::string order() {
  for (int const band : {1, 2, 4})
    for (int const n_tiles : {1, 3}) {
      int const m_tiles = 8;
      int i = 0;
      for (int first = 0; first < m_tiles; first += band)
        for (int column = 0; column < n_tiles; ++column)
          for (int row = first; row < first + band; ++row, ++i)
            if (auto const got = S::tile_of(i, m_tiles, n_tiles, band); got != place{row, column})
              return at("tile " + std::to_string(i) + " in bands of " + std::to_string(band), got,
                        place{row, column});
    }
  return "";
}

template <class S>
std::string arrivals() {
  for (int const k_blocks : {1, 6})
    for (int const consumers : {1, 2}) {
      int tokens = 0, parities = 0;
      for (int k = 0; k < k_blocks; ++k) {
        tokens += 2 * (1 + 128 * consumers);  // landed and free: the producer and every consumer
        parities += 1 + consumers;            // landed: the producer; free: one of each warpgroup
      }
      if (auto const got = S::arrivals_with_tokens(k_blocks, consumers); got != tokens)
        return at("tokens, " + std::to_string(consumers) + " consumers", got, tokens);
      if (auto const got = S::arrivals_with_parities(k_blocks, consumers); got != parities)
        return at("parities, " + std::to_string(consumers) + " consumers", got, parities);
    }
  return "";
}

template <class S>
std::string masks() {
  for (int const m : {1, 2, 4})
    for (int const n : {1, 2, 4})
      for (int rank = 0; rank < m * n; ++rank) {
        unsigned mask = 0;
        for (int other = 0; other < m * n; ++other)
          if (other % m == rank % m) mask |= 1U << other;
        if (auto const got = S::same_rows(rank, m, n); got != mask)
          return at("rank " + std::to_string(rank) + " of " + std::to_string(m) + " x " +
                        std::to_string(n),
                    got, mask);
      }
  return "";
}

template <class S>
std::string pairs() {
  using map = tw::accumulator_map;
  int last_row = -1, last_column = -1;
  std::set<int> seen;
  for (int i = 0; i < 64; ++i) {
    int const v = S::first_of_pair(i);
    if (v < 0 || v > 127 || v % 2 != 0 || !seen.insert(v).second)
      return at("pair " + std::to_string(i) + ", an even number below 128 that is new", v);
    int const row = map::row_of_register(v), column = map::col_of_register(v);
    if (row < last_row || (row == last_row && column < last_column))
      return at("pair " + std::to_string(i) + ", which lies before the last one", v);
    last_row = row, last_column = column;
  }
  return "";
}

template <class S>
std::string swizzle() {
  for (int row = 0; row < 64; ++row)
    for (int column = 0; column < 64; ++column) {
      auto const plain = static_cast<std::uint32_t>(128 * row + 2 * column);
      int const got = S::swizzled_byte(row, column);
      auto const right = static_cast<int>(tw::swizzled(plain, tw::swizzle_mode::b128));
      if (got != right)
        return at("(" + std::to_string(row) + ", " + std::to_string(column) + ")", got, right);
    }
  return "";
}

template <class S>
std::string curve() {
  for (int const side : {2, 4, 16}) {
    std::vector<place> cells;
    std::set<std::pair<int, int>> seen;
    for (int i = 0; i < side * side; ++i) {
      place const p = S::curve(i, side);
      if (p.row < 0 || p.row >= side || p.column < 0 || p.column >= side ||
          !seen.insert({p.row, p.column}).second)
        return at("point " + std::to_string(i) + ", which is new in its square of side " +
                      std::to_string(side),
                  p);
      if (i > 0 &&
          std::abs(p.row - cells.back().row) + std::abs(p.column - cells.back().column) != 1)
        return at("point " + std::to_string(i) + ", which is no neighbour of the one before", p);
      cells.push_back(p);
    }
    for (int part = 4, edge = 2; part <= side * side; part *= 4, edge *= 2)
      for (int i = 0; i < side * side; ++i) {
        place const first = cells[static_cast<std::size_t>(i / part * part)];
        place const p = cells[static_cast<std::size_t>(i)];
        if (p.row / edge != first.row / edge || p.column / edge != first.column / edge)
          return at("point " + std::to_string(i) + ", which leaves its square", p);
      }
  }
  return "";
}

template <class S>
std::string waves() {
  for (int const sms : {1, 4, 132})
    for (int const tiles : {1, 4, 131, 132, 133, 512}) {
      int slots = 0;  // of tiles, until the last CTA ends
      for (int done = 0; done < tiles; done += sms) slots += sms;
      double const got = S::busy_share(tiles, sms), right = static_cast<double>(tiles) / slots;
      if (std::abs(got - right) > 1e-9)
        return at(std::to_string(tiles) + " tiles on " + std::to_string(sms) + " SMs", got, right);
    }
  return "";
}

template <class S>
std::string columns() {
  for (int const n : {8, 16, 96, 128, 192, 256})
    for (int const accumulators : {1, 2, 4}) {
      int right = 0;
      for (int c = 512; c >= 32 && c >= n * accumulators; c /= 2) right = c;
      if (auto const got = S::tensor_columns(n, accumulators); got != right)
        return at(
            std::to_string(accumulators) + " accumulators of " + std::to_string(n) + " columns",
            got, right);
    }
  return "";
}

template <class S>
std::string pair_intensity() {
  for (int const ctas : {1, 2})
    for (int const bm : {128, 256})
      for (int const bn : {128, 256}) {
        long long bytes = 0;
        for (int cta = 0; cta < ctas; ++cta) bytes += 2LL * (bm / ctas + bn / ctas);
        double const right = 2.0 * bm * bn / static_cast<double>(bytes);
        double const got = S::flop_per_loaded_byte(ctas, bm, bn);
        if (std::abs(got - right) > 1e-9)
          return at(
              std::to_string(ctas) + " CTAs, " + std::to_string(bm) + " x " + std::to_string(bn),
              got, right);
      }
  return "";
}

template <class S>
std::string factors() {
  for (int const blocks : {4, 12}) {
    int byte = 0;
    for (int rows = 0; rows < 256; rows += 128)
      for (int first = 0; first < blocks; first += 4)
        for (int r = 0; r < 32; ++r)
          for (int group = 0; group < 4; ++group)
            for (int f = 0; f < 4; ++f, ++byte) {
              int const row = rows + 32 * group + r, block = first + f;
              if (auto const got = S::byte_of_factor(row, block, blocks); got != byte)
                return at("row " + std::to_string(row) + ", block " + std::to_string(block) +
                              " of " + std::to_string(blocks),
                          got, byte);
            }
  }
  return "";
}

}  // namespace check

/// The exercises in order.
template <class S>
std::vector<check_of_exercise> check_exercises() {
  std::string rings = check::ring<S, 2>();
  if (rings.empty()) rings = check::ring<S, 5>();
  return {{1, check::intensity<S>()}, {2, check::accumulator<S>()},
          {3, check::bytes<S>()},     {4, rings},
          {5, check::registers<S>()}, {6, check::order<S>()},
          {7, check::arrivals<S>()},  {8, check::masks<S>()},
          {9, check::pairs<S>()},     {10, check::swizzle<S>()},
          {11, check::curve<S>()},    {12, check::waves<S>()},
          {13, check::columns<S>()},  {14, check::pair_intensity<S>()},
          {15, check::factors<S>()}};
}

}  // namespace ladder
