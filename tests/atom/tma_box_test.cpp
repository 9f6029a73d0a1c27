// SPDX-License-Identifier: Apache-2.0
// tma_box_test.cpp  Derived TMA boxes, copied by the emulator's TMA, fill tiles as their layouts
// say, and a tile is refused only if no box fills it.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <vector>

#include "emu/elements/box.hpp"
#include "tests/layout/random.hpp"
#include "tilewright/atom/tma_map.hpp"

namespace tw {
namespace {

using tw_test::random_source;

layout layout_of(char const* text) {
  return parse_layout(text, static_cast<int>(std::string(text).size()));
}

/// A matrix of 32-bit elements in global memory, a tile of it, and where the tile lies.
struct tile_case {
  layout gmem;
  layout smem;
  i64 rows = 0, columns = 0;  // of the tile

  i64 contiguous() const { return gmem.stride[0].v == 1 ? 0 : 1; }
};

constexpr i64 bits = 32;
constexpr i64 bytes = bits / 8;

/// The leaves of a coordinate, by path.
std::map<std::uint32_t, i64> coordinate(layout const& cells, i64 index) {
  std::map<std::uint32_t, i64> c;
  for (int i = 0; i < cells.shape.n; ++i) {
    if (cells.stride[i].v != 0) {
      c[cells.stride[i].unit] += index % cells.extent(i) * cells.stride[i].v;
    }
    index /= cells.extent(i);
  }
  return c;
}

/// Coordinates of the TMA tensor at which a copy begins that has element `index` of the tile first.
std::vector<int> tma_coordinates(tma_params const& p, layout const& gmem, layout const& cells,
                                 i64 index) {
  auto const first = coordinate(cells, index);
  layout const identity = make_identity_layout(gmem.shape);
  std::vector<int> at(5);
  for (int i = 0; i < p.dims; ++i) {
    layout const m = mode(p.basis, i);
    i64 offset = 0;
    for (int k = 0; k < m.shape.n; ++k) {
      for (int j = 0; j < gmem.shape.n; ++j) {
        if (identity.stride[j].unit != m.stride[k].unit) continue;
        auto const found = first.find(m.stride[k].unit);
        offset += found == first.end() ? 0 : found->second * gmem.stride[j].v;
      }
    }
    i64 const step = i == 0 ? 1 : p.stride_bytes[i] / bytes;
    EXPECT_EQ(offset % step, 0);
    at[static_cast<std::size_t>(i)] = static_cast<int>(offset / step);
  }
  return at;
}

/// Copies the tile box by box, begun at the lowest address that is not filled yet, and compares
/// shared memory with the layout. Returns the number of copies.
i64 copy_and_compare(tile_case const& t, tiler const& tile) {
  tma_params const p = make_tma_params(t.gmem, t.smem, tile, bits);
  std::vector<std::uint32_t> global(static_cast<std::size_t>(cosize(t.gmem)));
  for (std::size_t i = 0; i < global.size(); ++i) global[i] = static_cast<std::uint32_t>(i);
  tensor_map_desc desc = make_tensor_map_desc(p, elem::f32, nullptr);
  alignas(16) static char anywhere[16];
  desc.base = anywhere;
  if (auto const refused = check_tensor_map(desc)) ADD_FAILURE() << to_string(*refused);
  desc.base = global.data();
  layout const cells = composition(make_identity_layout(t.gmem.shape), tile);
  std::map<i64, i64> left;  // address before the swizzle -> index in the tile
  for (i64 i = 0; i < size(t.smem); ++i) left[linear_part(t.smem)(i)] = i;
  EXPECT_EQ(std::ssize(left), size(t.smem));
  i64 const end = left.rbegin()->first + 1;
  std::vector<std::byte> memory(static_cast<std::size_t>((end * bytes + 2047) / 1024 * 1024));
  i64 copies = 0;
  while (!left.empty() && !testing::Test::HasFailure()) {
    i64 const start = left.begin()->first;
    EXPECT_EQ(start * bytes % 128, 0) << "a copy begins at an address that TMA does not take";
    std::vector<int> const at = tma_coordinates(p, t.gmem, cells, left.begin()->second);
    EXPECT_EQ(emu::coordinates_that_trap(desc, at.data(), false), nullptr);
    emu::load_box(desc, at.data(), memory.data() + start * bytes,
                  static_cast<std::uint32_t>(start * bytes));
    ++copies;
    for (i64 j = 0; j < p.box_elems(); ++j) {
      i64 const address = start + j / p.box[0] * p.row_pitch + j % p.box[0];
      EXPECT_EQ(left.erase(address), 1U) << "a copy fills address " << address << " in vain";
    }
  }
  for (i64 i = 0; i < size(t.smem); ++i) {
    std::uint32_t got = 0;
    std::memcpy(&got, memory.data() + t.smem(i) * bytes, sizeof got);
    i64 offset = 0;
    layout const identity = make_identity_layout(t.gmem.shape);
    for (auto const& [path, c] : coordinate(cells, i)) {
      for (int j = 0; j < t.gmem.shape.n; ++j) {
        if (identity.stride[j].unit == path) offset += c * t.gmem.stride[j].v;
      }
    }
    EXPECT_EQ(got, offset) << "element " << i << " of the tile";
    if (testing::Test::HasFailure()) break;
  }
  return copies;
}

/// The least copies that fill the tile with boxes of two extents, or 0 if no box does: each box
/// that cuts the tile evenly is tried, row by row as the hardware places it.
i64 least_copies(tile_case const& t) {
  i64 const inner = t.contiguous();
  i64 const wide = inner == 0 ? t.rows : t.columns, high = inner == 0 ? t.columns : t.rows;
  bool const swizzles = t.smem.swizzled();
  i64 const span = swizzles ? (i64{16} << t.smem.sw.bits) / bytes : 256;
  std::map<i64, i64> all;
  for (i64 i = 0; i < size(t.smem); ++i) all[linear_part(t.smem)(i)] = i;
  if (std::ssize(all) != size(t.smem)) return 0;
  i64 least = 0;
  for (i64 w = 16 / bytes; w <= wide && w <= span; ++w) {
    if (wide % w != 0 || w * bytes % 16 != 0) continue;
    i64 const pitch = swizzles ? span : w;
    for (i64 h = 1; h <= high && h <= 256; ++h) {
      if (high % h != 0) continue;
      std::map<i64, i64> left = all;
      bool fits = true;
      for (; !left.empty() && fits;) {
        auto const [start, index] = *left.begin();
        i64 const row = index % t.rows, column = index / t.rows;
        fits = start * bytes % 128 == 0;
        for (i64 j = 0; j < w * h && fits; ++j) {
          i64 const r = row + (inner == 0 ? j % w : j / w);
          i64 const c = column + (inner == 0 ? j / w : j % w);
          auto const found = left.find(start + j / w * pitch + j % w);
          fits =
              found != left.end() && r < t.rows && c < t.columns && found->second == r + c * t.rows;
          if (fits) left.erase(found);
        }
      }
      i64 const copies = wide / w * (high / h);
      if (fits && (least == 0 || copies < least)) least = copies;
    }
  }
  return least;
}

/// Factors of an extent as leaves: one, or two.
void add_leaves(random_source& r, i64 extent, std::vector<i64>& leaves) {
  i64 const f = r.one_in(2) ? extent : i64{1} << r.below(6);
  leaves.push_back(extent % f == 0 ? f : extent);
  leaves.push_back(extent / leaves.back());
}

tile_case random_case(random_source& r) {
  tile_case t;
  constexpr i64 extents[] = {4, 8, 8, 12, 16, 16, 20, 24, 32, 32, 48, 64};
  t.rows = extents[r.below(12)];
  t.columns = extents[r.below(12)];
  i64 const m = t.rows * (1 + r.below(2)), n = t.columns * (1 + r.below(2));
  i64 const pad = 4 * r.below(2);
  t.gmem = r.one_in(2) ? make_layout(layout(m, 1), layout(n, (m + pad + 3) / 4 * 4))
                       : make_layout(layout(m, (n + pad + 3) / 4 * 4), layout(n, 1));
  std::vector<i64> leaf;
  add_leaves(r, t.rows, leaf);
  add_leaves(r, t.columns, leaf);
  // The first leaf in memory is mostly one that is contiguous in global memory.
  std::vector<int> order{0, 1, 2, 3};
  for (std::size_t i = 4; i-- > 1;) {
    std::swap(order[i], order[static_cast<std::size_t>(r.below(static_cast<i64>(i) + 1))]);
  }
  if (!r.one_in(4)) {
    int const first = t.contiguous() == 0 ? 0 : 2;
    for (int& o : order) {
      if (o == first) std::swap(o, order[0]);
    }
  }
  int const sw = static_cast<int>(r.below(4));
  i64 stride[4] = {}, next = 1;
  for (int const o : order) {
    auto const at = static_cast<std::size_t>(o);
    stride[at] = next;
    next *= leaf[at];
    // Sometimes the next leaf begins at a span or with a gap.
    i64 const span = i64{4} << sw;
    if (r.one_in(3)) next = (next + span - 1) / span * span;
    if (r.one_in(12)) next += 4 << r.below(4);
  }
  layout const rows = make_layout(layout(leaf[0], stride[0]), layout(leaf[1], stride[1]));
  layout const columns = make_layout(layout(leaf[2], stride[2]), layout(leaf[3], stride[3]));
  t.smem = make_layout(rows, columns);
  if (sw > 0) t.smem = swizzled(make_swizzle(sw, 2, 3), t.smem);
  return t;
}

TEST(TmaBox, RandomTilesAreFilledOrHaveNoBox) {
  constexpr std::uint64_t seed = 20261125;
  random_source r(seed);
  int filled = 0, narrow = 0, refused = 0;
  for (int i = 0; i < 1500; ++i) {
    tile_case const t = random_case(r);
    SCOPED_TRACE(testing::Message()
                 << "seed " << seed << " case " << i << ": tma_params(" << to_string(t.gmem) << ", "
                 << to_string(t.smem) << ", (" << t.rows << "," << t.columns << "), 32)");
    i64 const least = least_copies(t);
    try {
      tma_params const p = make_tma_params(t.gmem, t.smem, tile(t.rows, t.columns), bits);
      i64 const copies = copy_and_compare(t, tile(t.rows, t.columns));
      if (least > 0) {
        EXPECT_LE(copies, least);
      }
      ++filled;
      narrow += p.row_pitch > p.box[0] ? 1 : 0;
    } catch (rejected const& e) {
      // Wider than a box: one that is cut for the user would be filled by many short rows.
      bool const too_wide = e.why().code == "TW0246" || e.why().code == "TW0247";
      if (least > 0 && !too_wide) ADD_FAILURE() << least << " copies fill it; " << e.what();
      ++refused;
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(filled, 300);
  EXPECT_GT(narrow, 40);
  EXPECT_GT(refused, 300);
}

struct answer_row {
  char const* gmem;
  char const* smem;
  i64 box[2];
  i64 copies;
};

TEST(TmaBox, RowsNarrowerThanTheSpan) {
  constexpr answer_row rows[] = {
      {"(128,128):(128,1)", "Sw<3,2,3> o 0 o (8,16):(32,1)", {16, 8}, 1},
      {"(128,128):(128,1)", "Sw<3,2,3> o 0 o (1,16):(32,1)", {16, 1}, 1},
      {"(128,128):(128,1)", "Sw<2,2,3> o 0 o (32,8):(16,1)", {8, 32}, 1},
      {"(128,128):(1,128)", "Sw<3,2,3> o 0 o (16,8):(1,32)", {16, 8}, 1},
      {"(128,128):(128,1)", "Sw<3,2,3> o 0 o (8,(16,2)):(32,(1,256))", {16, 8}, 2},
      {"(128,128):(128,1)", "Sw<3,2,3> o 0 o (8,32):(32,1)", {32, 8}, 1},
  };
  for (answer_row const& row : rows) {
    SCOPED_TRACE(row.smem);
    tile_case t{.gmem = layout_of(row.gmem), .smem = layout_of(row.smem)};
    t.rows = size(mode(t.smem, 0));
    t.columns = size(mode(t.smem, 1));
    tma_params const p = make_tma_params(t.gmem, t.smem, tile(t.rows, t.columns), bits);
    EXPECT_EQ(p.box[0], row.box[0]);
    EXPECT_EQ(p.box[1], row.box[1]);
    EXPECT_EQ(copy_and_compare(t, tile(t.rows, t.columns)), row.copies);
  }
}

// Tilers with gaps, and modes that are contiguous to each other in global memory.
TEST(TmaBox, OtherTilersAndMergedModes) {
  tile_case const gaps{.gmem = layout_of("(128,128):(128,1)"),
                       .smem = layout_of("Sw<3,2,3> o 0 o (8,32):(32,1)")};
  EXPECT_EQ(copy_and_compare(gaps, tile(layout(8, 2), 32)), 8);
  tile_case const merged{.gmem = layout_of("(8,16,32):(1,8,128)"),
                         .smem = layout_of("Sw<3,2,3> o 0 o (8,4,16):(1,8,32)")};
  EXPECT_EQ(copy_and_compare(merged, tile(8, 4, 16)), 1);
  tile_case const cut{.gmem = layout_of("(16,16,32):(1,16,256)"),
                      .smem = layout_of("Sw<3,2,3> o 0 o (16,4,16):(1,16,64)")};
  EXPECT_EQ(copy_and_compare(cut, tile(16, 4, 16)), 32);
}

}  // namespace
}  // namespace tw
