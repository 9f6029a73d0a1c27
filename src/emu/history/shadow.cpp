// SPDX-License-Identifier: Apache-2.0
// shadow.cpp  Records come, merge and go.
#include "emu/history/shadow.hpp"

namespace tw::emu::hazard {

void shadow::reset(std::uint32_t bytes) {
  blocks_.resize((bytes + block_bytes - 1) / block_bytes);
  for (block& b : blocks_) {
    b.writes.clear();
    b.reads.clear();
    b.fine = 0;
  }
}

std::uint32_t shadow::add_block() {
  blocks_.emplace_back();
  return static_cast<std::uint32_t>(blocks_.size() - 1);
}

void shadow::trim(std::vector<record>& list) const {
  if (list.size() <= max_reads_) return;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (!is_write(list[i].what)) {
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
}

std::uint64_t shadow::unwritten(touched t) const {
  block const& b = blocks_[t.block];
  std::uint64_t left = t.cells;
  for (record const& r : b.writes) left &= ~r.mask;
  for (std::uint64_t fine = left & b.fine; fine != 0; fine &= fine - 1) {
    auto const cell = static_cast<std::uint32_t>(__builtin_ctzll(fine));
    if (unwritten(t.block * 64 + cell, 0xFFFF) == 0) left &= ~(std::uint64_t{1} << cell);
  }
  return left;
}

std::uint16_t shadow::unwritten(std::uint32_t cell, std::uint16_t bytes) const {
  block const& b = blocks_[cell / 64];
  std::uint64_t const bit = std::uint64_t{1} << cell % 64;
  std::uint64_t left = bytes;
  if ((b.fine & bit) != 0) {
    for (record const& r : b.cells->cell[cell % 64])
      if (is_write(r.what)) left &= ~r.mask;
  } else {
    for (record const& r : b.writes)
      if ((r.mask & bit) != 0) left = 0;
  }
  return static_cast<std::uint16_t>(left);
}

void shadow::erase(std::vector<record>& from, std::uint64_t mask) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    from[i].mask &= ~mask;
    if (from[i].mask == 0) continue;
    if (kept != i) from[kept] = from[i];
    ++kept;
  }
  from.resize(kept);
}

/// Atomic operations of others do not race with the newer access, but they may with the older one.
bool shadow::outlives(record const& older, record const& newer) {
  return older.who == newer.who && traits(newer.what).atomic && is_write(older.what) &&
         !traits(older.what).atomic;
}

void shadow::add(std::vector<record>& to, record const& r) {
  for (record& old : to)
    if (old.who == r.who && old.when == r.when && old.what == r.what && old.origin == r.origin &&
        old.where.line == r.where.line && old.where.file == r.where.file) {
      old.mask |= r.mask;
      return;
    } else if (old.who == r.who && is_write(old.what) == is_write(r.what) &&
               (old.mask & ~r.mask) == 0 && !outlives(old, r)) {
      old = r;  // the later of two like accesses that complete in order
      return;
    }
  to.push_back(r);
}

void shadow::note(touched t, record r) {
  block& b = blocks_[t.block];
  r.mask = t.cells;
  if (is_write(r.what)) {
    if (r.what == access::bulk_reduce) {
      // Others into the same cells may still be under way: a reader has to wait for each of them.
      for (record& w : b.writes)
        if (w.what != r.what || w.who == r.who) w.mask &= ~t.cells;
      std::erase_if(b.writes, [](record const& w) { return w.mask == 0; });
    } else {
      erase(b.writes, t.cells);
    }
    erase(b.reads, t.cells);
    b.fine &= ~t.cells;
    add(b.writes, r);
    return;
  }
  if (std::uint64_t fine = b.fine & t.cells; fine != 0) {
    record whole = r;
    whole.mask = 0xFFFF;
    for (; fine != 0; fine &= fine - 1) {
      add(b.cells->cell[__builtin_ctzll(fine)], whole);
      trim(b.cells->cell[__builtin_ctzll(fine)]);
    }
    r.mask &= ~b.fine;
    if (r.mask == 0) return;
  }
  add(b.reads, r);
  trim(b.reads);
}

void shadow::forget(touched t) {
  block& b = blocks_[t.block];
  erase(b.writes, t.cells);
  erase(b.reads, t.cells);
  b.fine &= ~t.cells;
}

void shadow::refine(block& b, std::uint32_t cell) {
  if (!b.cells) b.cells = std::make_unique<fine_cells>();
  std::vector<record>& own = b.cells->cell[cell];
  own.clear();
  std::uint64_t const bit = std::uint64_t{1} << cell;
  for (std::vector<record>* const list : {&b.writes, &b.reads}) {
    for (record const& r : *list)
      if ((r.mask & bit) != 0) {
        own.push_back(r);
        own.back().mask = 0xFFFF;
      }
    erase(*list, bit);
  }
  b.fine |= bit;
}

void shadow::note(std::uint32_t cell, std::uint16_t bytes, record r) {
  block& b = blocks_[cell / 64];
  if (bytes == 0xFFFF && (is_write(r.what) || (b.fine >> cell % 64 & 1U) == 0)) {
    note({cell / 64, std::uint64_t{1} << cell % 64}, r);
    return;
  }
  if ((b.fine >> cell % 64 & 1U) == 0) refine(b, cell % 64);
  std::vector<record>& own = b.cells->cell[cell % 64];
  if (is_write(r.what)) {
    for (record& old : own)
      if (!outlives(old, r)) old.mask &= ~std::uint64_t{bytes};
    std::erase_if(own, [](record const& old) { return old.mask == 0; });
  }
  r.mask = bytes;
  add(own, r);
  trim(own);
}

}  // namespace tw::emu::hazard
