// SPDX-License-Identifier: Apache-2.0
// tmem_guards_test.cpp  The columns and lanes of the layouts of tensor memory are those that ptxas
//                       guards: tests/golden/tmem_guards.json, which tmem_guards_test.py reads from
//                       machine code.
//
// Two guards are upper bounds: D has N columns and the factors of B have 2 ceil(N / 64), also where
// a CTA pair with M = 128 has half of N in the upper lanes. No guard says which lanes an access
// reaches, and of l16x32bx2 the guard covers the first half alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tilewright/atom/tmem_layout.hpp"
#include "tilewright/layout/layout.hpp"

namespace tw {
namespace {

nlohmann::json const& tmem_guards() {
  static nlohmann::json const all = [] {
    std::ifstream file(TW_SOURCE_DIR "/tests/golden/tmem_guards.json");
    return nlohmann::json::parse(file);
  }();
  return all;
}

/// One past the largest column of a layout of elements of `bits` bits.
i64 columns_reached(layout const& l, int bits = 32) {
  i64 const of_lane = tmem_lane * (32 / bits);
  i64 last = 0;
  for (i64 i = 0; i < size(l); ++i) last = std::max(last, l(i) % of_lane);
  return last / (32 / bits) + 1;
}

tmem_shape transfer_named(std::string const& name) {
  std::vector<std::string> const names{"32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"};
  return static_cast<tmem_shape>(std::find(names.begin(), names.end(), name) - names.begin());
}
tmem_copy_shape copy_named(std::string const& name) {
  std::vector<std::string> const names{
      "128x256b",       "128x128b", "64x128b.warpx2::02_13", "64x128b.warpx2::01_23",
      "32x128b.warpx4", "4x256b"};
  return static_cast<tmem_copy_shape>(std::find(names.begin(), names.end(), name) - names.begin());
}

TEST(TmemGuards, LoadsAndStoresReachTheGuardedColumns) {
  std::set<std::string> forms;
  for (auto const& row : tmem_guards()["transfers"]) {
    auto const shape = transfer_named(row["shape"]);
    int n = 1;
    for (i64 const guarded : row["columns"]) {
      EXPECT_EQ(columns_reached(tmem_transfer(shape, n)) * (row["packed"] ? 2 : 1), guarded)
          << row << ", count " << n;
      n *= 2;
    }
    EXPECT_FALSE(is_tmem_count(shape, n)) << row << ": counts are missing";
    forms.insert(row["op"].get<std::string>() + row["shape"].get<std::string>() +
                 (row["packed"] ? "packed" : ""));
  }
  EXPECT_EQ(forms.size(), 2U * 5U * 2U);
}

TEST(TmemGuards, CopiesReachTheGuardedColumns) {
  std::set<std::string> shapes;
  for (auto const& row : tmem_guards()["copies"]) {
    EXPECT_EQ(columns_reached(tmem_copy_places(copy_named(row["shape"])), 8), row["columns"])
        << row;
    shapes.insert(row["shape"]);
  }
  EXPECT_EQ(shapes.size(), 6U);
}

TEST(TmemGuards, MultipliesReachTheGuardedColumns) {
  std::set<std::string> kinds;
  for (auto const& row : tmem_guards()["multiplies"]) {
    std::string const kind = row["kind"];
    int const ctas = row["ctas"], m = row["m"], n = row["n"];
    int const rows = m / ctas, bits = kind == "f16"              ? 16
                                      : kind == "tf32"           ? 32
                                      : kind.starts_with("mxf4") ? 4
                                                                 : 8;
    bool const halves = ctas == 2 && m == 128;
    layout const d = tmem_accumulator(ctas, rows, n, tree(make_shape(1)));
    EXPECT_EQ(row["d"], n) << row;
    EXPECT_EQ(columns_reached(d), halves ? n / 2 : n) << row;
    EXPECT_EQ(columns_reached(tmem_operand_a(ctas, rows, bits), bits), row["a"]) << row;
    // Where a second accumulator begins: in the free lanes, or at another column.
    i64 const second =
        mode(tmem_accumulator(ctas, rows, n <= 128 ? n : 256, tree(make_shape(2))), 1)(1);
    std::vector<i64> lanes{0};
    if (second / tmem_lane != 0) lanes.push_back(second / tmem_lane);
    EXPECT_EQ(row["lanes"], nlohmann::json(lanes)) << row;
    kinds.insert(kind + std::to_string(row["block"].get<int>()));
    if (row["block"] == 0) continue;
    EXPECT_EQ(columns_reached(tmem_scale_factors(rows), 8), row["sfa"]) << row;
    i64 const of_b = columns_reached(tmem_scale_factors(n, halves), 8);
    EXPECT_EQ(halves ? 2 * of_b : 2 * ceil_div(of_b, 2), row["sfb"]) << row;
  }
  EXPECT_EQ(kinds.size(), 3U + 4U);
}

}  // namespace
}  // namespace tw
