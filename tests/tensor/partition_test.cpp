// SPDX-License-Identifier: Apache-2.0
// partition_test.cpp  Tiles and thread parts: the law, and every cell exactly once.
#include "tilewright/tensor/partition.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tilewright/layout/layout.hpp"
#include "tilewright/tensor/gmem_view.hpp"
#include "tilewright/tensor/shape.hpp"

namespace {

using namespace tw;

constexpr layout partition_sw128 = swizzled(make_swizzle(3, 3, 3), "(8,64):(64,1)"_L);

template <layout L>
struct memory_of {
  std::vector<std::int16_t> cells = std::vector<std::int16_t>(static_cast<std::size_t>(cosize(L)));
  tensor<std::int16_t, L, smem> t{cells.data()};
  i64 at(std::int16_t const& cell) const { return &cell - cells.data(); }
};

/// Law: a part's element is the cell that the divided layout says; over all threads, every cell of
/// the tensor is visited exactly once.
template <layout L, tiler Tile, layout TV>
void every_cell_once() {
  SCOPED_TRACE(print(L).text);
  memory_of<L> const m;
  layout const d = zipped_divide(linear_part(L), Tile);
  layout const tile_tv = composition(mode(d, 0), TV);
  std::vector<int> met(static_cast<std::size_t>(cosize(L)));
  for (int thread = 0; thread < size(mode(TV, 0)); ++thread) {
    auto const part = partition<Tile, TV>(m.t, thread);
    constexpr int values = static_cast<int>(size(mode(TV, 1)));
    expect_shape<values, _, _>(part);
    for (int v = 0; v < values; ++v) {
      for (int i = 0; i < size<1>(part); ++i) {
        for (int j = 0; j < size<2>(part); ++j) {
          i64 const plain_offset = tile_tv(thread, v) + mode(d, 1)(i, j);
          ASSERT_EQ(m.at(part(v, i, j)), L.sw(plain_offset));
          ++met[static_cast<std::size_t>(m.at(part(v, i, j)))];
        }
      }
    }
  }
  for (i64 i = 0; i < size(L); ++i) ASSERT_EQ(met[static_cast<std::size_t>(L(i))], 1) << i;
}

TEST(Partition, VisitsEveryCellOnce) {
  every_cell_once<"(8,12):(12,1)"_L, tile(4, 6), "((2,3),(2,2)):((1,8),(2,4))"_L>();
  every_cell_once<"(32,64):(1,32)"_L, tile(16, 64), "((8,16),8):((128,1),16)"_L>();
  every_cell_once<tile_to_shape(partition_sw128, make_shape(32, 128)), tile(16, 64),
                  "((8,16),8):((128,1),16)"_L>();
  every_cell_once<tile_to_shape(partition_sw128, make_shape(32, 128)), tile(16, 16),
                  "((4,8),(2,2,2)):((32,1),(16,8,128))"_L>();  // mma m16n8k16: A
  every_cell_once<tile_to_shape(partition_sw128, make_shape(24, 64)), tile(12, 32),
                  "((4,12),8):((96,1),12)"_L>();  // 12 rows share offset bits: the sum is kept
}

TEST(Partition, LocalTileIsADivide) {
  constexpr layout l = "(12,10):(10,1)"_L;
  memory_of<l> const m;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 2; ++j) {
      auto const t = local_tile<tile(4, 5)>(m.t, i, j);
      expect_shape<4, 5>(t);
      auto const row = local_tile<tile(4, 5)>(m.t, i, _);
      expect_shape<4, 5, 2>(row);
      auto const all = local_tile<tile(4, 5)>(m.t);
      expect_shape<4, 5, 3, 2>(all);
      auto const marked = local_tile<tile(4, 7, 5), "(1,_,1)"_T>(m.t, i, 99, j);
      for (int r = 0; r < 4; ++r) {
        for (int c = 0; c < 5; ++c) {
          i64 const want = l(4 * i + r, 5 * j + c);
          ASSERT_EQ(m.at(t(r, c)), want);
          ASSERT_EQ(m.at(row(r, c, j)), want);
          ASSERT_EQ(m.at(all(r, c, i, j)), want);
          ASSERT_EQ(m.at(marked(r, c)), want);
        }
      }
    }
  }
}

TEST(Partition, LocalTileOfASwizzledTensor) {
  constexpr layout l = tile_to_shape(partition_sw128, make_shape(32, 128));
  memory_of<l> const m;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 8; ++j) {
      auto const t = local_tile<tile(16, 16)>(m.t, i, j);
      auto const part = partition<"((8,4),(4,2)):((16,1),(4,128))"_L>(t, 9);  // of a part
      for (int c = 0; c < 256; ++c) ASSERT_EQ(m.at(t(c)), l(16 * i + c % 16, 16 * j + c / 16));
      for (int v = 0; v < 8; ++v) {
        i64 const cell = "((8,4),(4,2)):((16,1),(4,128))"_L(9, v);
        ASSERT_EQ(m.at(part(v)), l(16 * i + cell % 16, 16 * j + cell / 16));
      }
    }
  }
}

TEST(Partition, LocalPartitionIsTheAlgebras) {
  constexpr layout l = "(12,8):(8,1)"_L;
  constexpr layout threads = "(3,4):(4,1)"_L;
  memory_of<l> const m;
  std::vector<int> met(96);
  for (int thread = 0; thread < 12; ++thread) {
    auto const part = local_partition<threads>(m.t, thread);
    expect_shape<4, 2>(part);
    sliced const want = local_partition(l, threads, thread);
    for (int i = 0; i < 8; ++i) {
      ASSERT_EQ(m.at(part(i)), want.kept(i) + want.offset);
      ++met[static_cast<std::size_t>(m.at(part(i)))];
    }
  }
  EXPECT_EQ(met, std::vector<int>(96, 1));
}

TEST(Partition, OfAMatrixWithRunTimeExtents) {
  int const m = 37;
  int const k = 50;
  int const ld = 56;
  std::vector<float> cells(static_cast<std::size_t>(m * ld));
  auto const a = gmem_view(cells.data(), m, k, ld);
  auto const b = col_major_gmem_view(cells.data(), k, m, ld);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) {
      auto const t = local_tile<tile(8, 16)>(a, i, j);
      auto const u = local_tile<tile(16, 8)>(b, j, i);
      expect_shape<8, 16>(t);
      auto const part = partition<tile(4, 8), "((2,4),4):((16,1),4)"_L>(t, 5);
      for (int r = 0; r < 8; ++r) {
        for (int c = 0; c < 16; ++c) {
          float const* const want = cells.data() + (8 * i + r) * ld + 16 * j + c;
          ASSERT_EQ(&t(r, c), want);
          ASSERT_EQ(&u(c, r), want);
        }
      }
      for (int v = 0; v < 4; ++v) {
        i64 const cell = "((2,4),4):((16,1),4)"_L(5, v);
        ASSERT_EQ(&part(v, 1, 1), &t(4 + cell % 4, 8 + cell / 4));
      }
    }
  }
  auto const rows = local_tile<tile(8, 16)>(a, _, 1);
  expect_shape<8, 16, _>(rows);
  EXPECT_EQ(size<2>(rows), 5);  // ceil(37 / 8)
  EXPECT_EQ(&rows(1, 2, 4), cells.data() + 33 * ld + 18);
}

}  // namespace
