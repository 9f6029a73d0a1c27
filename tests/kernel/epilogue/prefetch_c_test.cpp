// SPDX-License-Identifier: Apache-2.0
// prefetch_c_test.cpp  The lines of C at a tile: all elements of C there, and no others.
#include "tilewright/kernel/sm90/prefetch_c.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace tw::test {
namespace {

TEST(PrefetchC, LinesAreTheElementsOfATile) {
  std::mt19937 rng(3);
  auto const any = [&](int least, int most) {
    return least + static_cast<int>(rng() % static_cast<unsigned>(most - least + 1));
  };
  int outside = 0;
  for (int i = 0; i < 2000; ++i) {
    epilogue_params e{};
    e.m = any(1, 90), e.n = any(1, 90);
    elem const type = any(0, 1) == 0 ? elem::f32 : elem::bf16;
    int const size = type == elem::f32 ? 4 : 2;
    bool const by_rows = any(0, 1) == 0;
    std::int64_t const inner = by_rows ? e.n : e.m, outer = by_rows ? e.m : e.n;
    std::int64_t const pitch = inner + any(0, 9), batch = pitch * outer;
    int const matrices = any(1, 3);
    std::vector<std::byte> memory(static_cast<std::size_t>(batch * matrices * size));
    std::vector<void const*> pointers;
    for (int b = 0; b < matrices; ++b) pointers.push_back(memory.data() + b * batch * size);
    e.c = {memory.data(), by_rows ? pitch : 1, by_rows ? 1 : pitch, batch, type, nullptr};
    if (any(0, 1) == 0) e.c.matrices = pointers.data(), e.c.batch_stride = 1LL << 60;
    int const rows = any(1, 40), cols = any(1, 40);
    cta_tile const tile{any(0, matrices - 1), rows * any(0, 3), cols * any(0, 3)};
    std::set<std::byte const*> want;
    for (int r = tile.row; r < std::min(tile.row + rows, e.m); ++r)
      for (int c = tile.col; c < std::min(tile.col + cols, e.n); ++c)
        want.insert(memory.data() +
                    (tile.matrix * batch + r * e.c.row_stride + c * e.c.col_stride) * size);
    std::set<std::byte const*> have;
    c_lines const lines = c_lines_of(e, tile, rows, cols);
    for (int l = 0; l < lines.count; ++l)
      for (int b = 0; b < lines.bytes; b += size) have.insert(lines.first + l * lines.pitch + b);
    ASSERT_EQ(have, want) << i;
    outside += want.empty();
  }
  EXPECT_GT(outside, 100);  // tiles that lie outside D
}

}  // namespace
}  // namespace tw::test
