// SPDX-License-Identifier: Apache-2.0
// gathered.cpp  Offsets and copies.
#include "dist/gathered.hpp"

#include <fmt/format.h>

#include "tilewright/base/check.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/round_up.hpp"

namespace tw::dist {
namespace {

constexpr std::int64_t tma_bytes = 16;

std::int64_t bytes_in(elem type, std::int64_t elems) { return elems * size_bits(type) / 8; }

/// Scales that are adjacent in memory in every order: a tile, or the blocks of a word.
struct granules {
  std::int64_t elems;           // of the scale tensor, each
  std::int64_t rows, row_step;  // along rows, of `row_step` rows of A
  std::int64_t cols;            // along K
};

granules granules_of(scale_desc const& s, std::int64_t rows, std::int64_t k) {
  std::int64_t const blocks = scale_blocks(s.block_k, k);
  if (s.tiled)
    return {scale_tile_bytes, blocks_in(rows, scale_tile_rows), scale_tile_rows,
            blocks_in(blocks, scale_tile_blocks)};
  return {s.packed_k, scale_blocks(s.block_outer, rows), s.block_outer,
          blocks_in(blocks, s.packed_k)};
}

bool along_rows(scale_desc const& s) { return s.stride_k == 0 || s.stride_outer < s.stride_k; }

}  // namespace

matrix_desc dense(elem type, order ord, std::int64_t rows, std::int64_t cols) {
  std::int64_t const run = ord == order::row_major ? cols : rows;
  return {type, ord, round_up(std::max<std::int64_t>(run, 1), tma_bytes * 8 / size_bits(type)), 0};
}

std::int64_t bytes_of(matrix_desc const& m, std::int64_t rows, std::int64_t cols) {
  return m.pitch_bytes() * (m.ord == order::row_major ? rows : cols);
}

placed_lines copy_of(matrix_desc const& from, void const* base, std::int64_t rows,
                     std::int64_t cols, matrix_desc const& to, std::int64_t row,
                     std::int64_t offset) {
  bool const by_rows = to.ord == order::row_major;
  std::int64_t const count = by_rows ? rows : cols, run = by_rows ? cols : rows;
  std::int64_t const at = bytes_in(to.type, by_rows ? row * to.pitch_elems : row);
  // Two elements of 4 bits to a byte: a line of an odd number has an unused half.
  std::int64_t const bytes = divide_up(run * size_bits(to.type), std::int64_t{8});
  return {base, offset + at, {count, bytes, from.pitch_bytes(), to.pitch_bytes()}};
}

bool scales_travel(scale_desc const& s) { return s.tiled || s.block_outer != 0; }

scale_desc dense_scales(scale_desc const& like, std::int64_t rows, std::int64_t k) {
  granules const g = granules_of(like, rows, k);
  scale_desc s = like;
  std::int64_t const aligned = tma_bytes * 8 / size_bits(like.type);
  s.batch_stride = 0;
  if (along_rows(like)) {
    s.stride_outer = g.elems;
    s.stride_k = like.stride_k == 0 ? 0 : round_up(g.rows * g.elems, aligned);
  } else {
    s.stride_k = g.elems;
    s.stride_outer = round_up(g.cols * g.elems, aligned);
  }
  return s;
}

std::int64_t bytes_of(scale_desc const& s, std::int64_t rows, std::int64_t k) {
  granules const g = granules_of(s, rows, k);
  if (rows == 0 || k == 0) return 0;
  return bytes_in(s.type, (g.rows - 1) * s.stride_outer + (g.cols - 1) * s.stride_k + g.elems);
}

std::vector<placed_lines> copies_of(scale_desc const& from, void const* base, range part,
                                    std::int64_t k, scale_desc const& to, std::int64_t offset) {
  if (part.empty() || k == 0) return {};
  granules const g = granules_of(from, part.size, k);
  if (part.begin % g.row_step != 0)
    throw rejected({"TW0904", "shard of the rows of A",
                    fmt::format("{} rows from {}", part.size, part.begin),
                    fmt::format("a first row that is a multiple of {}", g.row_step),
                    fmt::format("{} rows of A share a scale or a tile of scales", g.row_step)});
  std::int64_t const first = part.begin / g.row_step * to.stride_outer;
  auto const bytes = [&](std::int64_t elems) { return bytes_in(from.type, elems); };
  bool const inner_rows = along_rows(from);
  std::int64_t const run = inner_rows ? g.rows : g.cols, count = inner_rows ? g.cols : g.rows;
  auto const inner = [&](scale_desc const& s) { return inner_rows ? s.stride_outer : s.stride_k; };
  auto const outer = [&](scale_desc const& s) { return inner_rows ? s.stride_k : s.stride_outer; };
  if (run == 1 || inner(from) == g.elems)
    return {{base,
             offset + bytes(first),
             {count, bytes(run * g.elems), bytes(outer(from)), bytes(outer(to))}}};
  std::vector<placed_lines> copies;  // the scales of a line are apart: a copy for each line
  for (std::int64_t i = 0; i < count; ++i)
    copies.push_back({static_cast<std::byte const*>(base) + bytes(i * outer(from)),
                      offset + bytes(first + i * outer(to)),
                      {run, bytes(g.elems), bytes(inner(from)), bytes(inner(to))}});
  return copies;
}

}  // namespace tw::dist
