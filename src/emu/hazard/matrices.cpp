// SPDX-License-Identifier: Apache-2.0
// matrices.cpp  The rows that ldmatrix takes from a tile that TMA brought.
//
// An 8x8 matrix is read from 8 consecutive rows of a tile, at one 16-byte column of the unswizzled
// tile. If the 8 addresses fit this rule under another swizzle than the tensor map's, the code that
// computes the addresses assumes that other swizzle. Rows at other distances, and rows of several
// loads, allow no conclusion.
#include <fmt/format.h>

#include <algorithm>

#include "emu/elements/box.hpp"
#include "emu/machine/checker.hpp"
#include "emu/machine/machine.hpp"

namespace tw::emu::hazard {

namespace {

constexpr int rows_of_matrix = 8;

/// The place of 8 addresses in a tile, if it has a certain swizzle.
struct rows_seen {
  bool in_a_row = true, same_chunk = true;
};

}  // namespace

void checker::matrices_loaded(thread& t, std::uint32_t const* offsets, int count, site where) {
  if (!options_.provenance || origins_.size() == 1) return;
  for (int i = 0; i < count; ++i)
    if (!check_matrix(t, offsets + rows_of_matrix * i, where)) return;
}

bool checker::check_matrix(thread& t, std::uint32_t const* offsets, site where) {
  cta_state const& owner = *t.block;
  record written;
  for (int i = 0; i < rows_of_matrix; ++i) {
    record mine;
    int writes = 0;
    touched const cell{offsets[i] / block_bytes,
                       std::uint64_t{1} << offsets[i] % block_bytes / cell_bytes};
    shadows_[static_cast<std::size_t>(owner.rank)].each_earlier(cell, false, [&](record const& r) {
      mine = r;
      return ++writes < 2;
    });
    if (writes != 1 || mine.what != access::tma_write || !origins_[mine.origin].has_map)
      return true;
    if (i == 0) written = mine;
    if (mine.origin != written.origin) return true;
  }
  origin const& o = origins_[written.origin];
  auto const seen_with = [&](swizzle_mode s) {
    rows_seen seen;
    std::uint32_t const first = swizzled(smem_base + offsets[0], s) - smem_base - o.smem_offset;
    for (std::uint32_t i = 1; i < rows_of_matrix; ++i) {
      std::uint32_t const at = swizzled(smem_base + offsets[i], s) - smem_base - o.smem_offset;
      seen.in_a_row = seen.in_a_row && at / o.row_bytes == first / o.row_bytes + i;
      seen.same_chunk = seen.same_chunk && at % o.row_bytes == first % o.row_bytes;
    }
    return seen;
  };
  auto const fits = [&](swizzle_mode s) {
    rows_seen const seen = seen_with(s);
    return seen.in_a_row && seen.same_chunk;
  };
  if (fits(o.swizzle)) return true;
  constexpr swizzle_mode patterns[] = {swizzle_mode::none, swizzle_mode::b32, swizzle_mode::b64,
                                       swizzle_mode::b128};
  auto const* const other = std::ranges::find_if(patterns, fits);
  bool const named = other != std::end(patterns);
  if (!named && (o.swizzle == swizzle_mode::none || !seen_with(o.swizzle).in_a_row)) return true;
  record now;
  now.who = thread_component(t);
  now.what = access::ldmatrix;
  now.where = where;
  report_origin("E0037", "swizzle-mismatch",
                fmt::format("with {}; TMA wrote it with a swizzle of {} bytes.",
                            named ? fmt::format("a swizzle of {} bytes", swizzle_span_bytes(*other))
                                  : std::string("another pattern"),
                            swizzle_span_bytes(o.swizzle)),
                "the addresses of the 8 rows of a matrix are computed with another pattern than "
                "the tensor map has, so chunks of 16 bytes are taken from wrong places",
                "swizzled(address, mode) with the swizzle of the tensor map", owner, written,
                offsets[0], t, now);
  return false;
}

}  // namespace tw::emu::hazard
