// SPDX-License-Identifier: Apache-2.0
// prefetch_c_test.cpp  The lines of C at a tile: whole units of 16 bytes, all of them inside C and
//                      at the tile, and every unit at the tile is in one.
#include "tilewright/kernel/sm90/prefetch_c.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace tw::test {
namespace {

TEST(PrefetchC, LinesCoverTheWholeUnitsOfATile) {
  std::mt19937 rng(3);
  auto const any = [&](int least, int most) {
    return least + static_cast<int>(rng() % static_cast<unsigned>(most - least + 1));
  };
  int with_lines = 0;
  for (int i = 0; i < 2000; ++i) {
    epilogue_params e{};
    e.m = any(1, 90), e.n = any(1, 90);
    elem const type = any(0, 1) == 0 ? elem::f32 : elem::bf16;
    int const size = type == elem::f32 ? 4 : 2, per_unit = 16 / size;
    bool const by_rows = any(0, 1) == 0;
    std::int64_t const inner = by_rows ? e.n : e.m, outer = by_rows ? e.m : e.n;
    std::int64_t pitch = inner + any(0, 9);
    if (any(0, 2) > 0) pitch = (pitch + per_unit - 1) / per_unit * per_unit;
    int const matrices = any(1, 3);
    std::int64_t const batch = pitch * outer;
    std::vector<std::byte> memory(static_cast<std::size_t>(batch * matrices * size + 32));
    std::byte* const data =
        memory.data() + (16 - reinterpret_cast<std::uintptr_t>(memory.data()) % 16) % 16;
    e.c = {data, by_rows ? pitch : 1, by_rows ? 1 : pitch, batch, type, nullptr};
    int const rows = 8 * any(1, 4), cols = 8 * any(1, 4);
    cta_tile const tile{any(0, matrices - 1), rows * any(0, 3), cols * any(0, 3)};
    c_lines const lines = c_lines_of(e, tile, rows, cols);
    std::set<std::byte const*> units;  // that the lines have
    for (int l = 0; l < lines.count; ++l)
      for (int b = 0; b < lines.bytes; b += 16) units.insert(lines.first + l * lines.pitch + b);
    std::set<std::byte const*> want;
    bool aligned = true;
    for (int r = tile.row; r < std::min(tile.row + rows, e.m); ++r)
      for (int c = tile.col; c < std::min(tile.col + cols, e.n); ++c) {
        int const in_line = by_rows ? c - tile.col : r - tile.row;
        int const left =
            (by_rows ? std::min(cols, e.n - tile.col) : std::min(rows, e.m - tile.row));
        if (in_line % per_unit != 0 || in_line + per_unit > left) continue;
        std::byte const* const at =
            data + (tile.matrix * batch + r * e.c.row_stride + c * e.c.col_stride) * size;
        aligned = aligned && reinterpret_cast<std::uintptr_t>(at) % 16 == 0;
        want.insert(at);
      }
    if (!aligned || units.empty()) {
      EXPECT_TRUE(units.empty());
      bool const line_aligned = pitch * size % 16 == 0 && (batch * size) % 16 == 0;
      EXPECT_TRUE(want.empty() || !line_aligned) << i;  // nothing is left out that could be there
      continue;
    }
    ++with_lines;
    ASSERT_EQ(units, want) << i;
  }
  EXPECT_GT(with_lines, 300);
}

}  // namespace
}  // namespace tw::test
