// SPDX-License-Identifier: Apache-2.0
// shadow.hpp  Who last wrote and who has read each byte of a CTA's shared memory.
//
// Blocks of 1 KiB hold records with a mask of 64 cells of 16 bytes: what TMA, wgmma, stmatrix and
// ldmatrix touch is whole cells, and a tile's block has one record. Only cells that are touched in
// part (plain loads and stores of 1 to 8 bytes) keep separate records, with a mask of bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "emu/history/access.hpp"
#include "emu/history/clock.hpp"
#include "tilewright/arch/emu/site.hpp"
#include "tilewright/arch/types.hpp"

namespace tw::emu::hazard {

struct record {
  component who = 0;  // what can prove the access complete
  stamp when = 0;     // at which count
  access what = access::plain_read;
  scope reach = scope::gpu;  // of an atomic access
  std::uint16_t origin = 0;  // of a tma_write: which copy (0: none)
  site where;
  std::uint64_t mask = 0;  // cells of the block, or bytes of the cell
};

inline constexpr std::uint32_t block_bytes = 1024, cell_bytes = 16;
inline constexpr int lanes_of_cell = 16;  // of tensor memory, in a column

/// Cells of one block.
struct touched {
  std::uint32_t block;
  std::uint64_t cells;
};

/// Calls f(touched) for the whole cells of [offset, offset + bytes); both multiples of 16.
template <class F>
void each_block(std::uint32_t offset, std::uint32_t bytes, F&& f) {
  while (bytes > 0) {
    std::uint32_t const first = offset % block_bytes / cell_bytes;
    std::uint32_t const here = std::min(bytes, block_bytes - offset % block_bytes);
    std::uint32_t const count = here / cell_bytes;
    std::uint64_t const ones = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    f(touched{offset / block_bytes, ones << first});
    offset += here;
    bytes -= here;
  }
}

class shadow {
 public:
  /// max_reads: of a block or a cell, how many reads are kept; the oldest go first.
  explicit shadow(std::size_t max_reads = ~std::size_t{0}) : max_reads_(max_reads) {}
  void reset(std::uint32_t bytes);
  /// One block more; its index.
  std::uint32_t add_block();

  /// Calls f(record) for every earlier access to these cells that a new one must be ordered after:
  /// all writes, and reads too if the new one writes. f returns false to stop.
  template <class F>
  void each_earlier(touched t, bool write, F&& f) const {
    block const& b = blocks_[t.block];
    for (record const& r : b.writes)
      if ((r.mask & t.cells) != 0 && !f(r)) return;
    if (write)
      for (record const& r : b.reads)
        if ((r.mask & t.cells) != 0 && !f(r)) return;
    if ((b.fine & t.cells) != 0) each_fine(b, t.cells, write, f);
  }
  /// Earlier accesses of bytes of one cell.
  template <class F>
  void each_earlier(std::uint32_t cell, std::uint16_t bytes, bool write, F&& f) const {
    block const& b = blocks_[cell / 64];
    std::uint64_t const bit = std::uint64_t{1} << cell % 64;
    if ((b.fine & bit) == 0) {
      each_earlier({cell / 64, bit}, write, f);
      return;
    }
    for (record const& r : b.cells->cell[cell % 64])
      if ((r.mask & bytes) != 0 && (write || is_write(r.what)) && !f(r)) return;
  }

  /// Cells of t that hold bytes which nothing has written.
  std::uint64_t unwritten(touched t) const;
  /// Bytes of a cell that nothing has written.
  std::uint16_t unwritten(std::uint32_t cell, std::uint16_t bytes) const;

  /// Records an access. A write replaces what was known of its bytes, but an atomic one leaves the
  /// ordinary writes of the same thread.
  void note(touched t, record r);
  void note(std::uint32_t cell, std::uint16_t bytes, record r);
  /// The cells hold new objects: what was accessed there before is of no account.
  void forget(touched t);

 private:
  struct fine_cells {
    std::vector<record> cell[64];
  };
  struct block {
    std::vector<record> writes, reads;
    std::uint64_t fine = 0;  // cells whose records are in `cells`
    std::unique_ptr<fine_cells> cells;
  };

  template <class F>
  static void each_fine(block const& b, std::uint64_t cells, bool write, F&& f) {
    for (std::uint64_t left = b.fine & cells; left != 0; left &= left - 1)
      for (record const& r : b.cells->cell[__builtin_ctzll(left)])
        if ((write || is_write(r.what)) && !f(r)) return;
  }
  static void erase(std::vector<record>& from, std::uint64_t mask);
  static bool outlives(record const& older, record const& newer);
  static void add(std::vector<record>& to, record const& r);
  static void refine(block& b, std::uint32_t cell);

  void trim(std::vector<record>& list) const;

  std::vector<block> blocks_;
  std::size_t max_reads_;
};

}  // namespace tw::emu::hazard
