// SPDX-License-Identifier: Apache-2.0
// accesses.cpp  Each access of shared memory against those before it, and where a tile came from.
#include <fmt/format.h>

#include <algorithm>

#include "emu/box.hpp"
#include "emu/hazard/checker.hpp"
#include "emu/machine.hpp"
#include "emu/operand.hpp"

namespace tw::emu::hazard {

bool checker::fence_concerns(record const& earlier, bool async) const {
  return async && !is_async(earlier.what) && (is_write(earlier.what) || options_.fence_after_reads);
}

checker::verdict checker::judge(actor const& a, component self, record const& earlier,
                                bool async) const {
  if (earlier.who == self) {
    return fence_concerns(earlier, async) && a.own_fenced < earlier.when ? verdict::unfenced
                                                                         : verdict::ordered;
  }
  if (a.known->happened(earlier.who) < earlier.when) return verdict::unordered;
  return fence_concerns(earlier, async) && a.known->passed_fence(earlier.who) < earlier.when
             ? verdict::unfenced
             : verdict::ordered;
}

checker::verdict checker::judge(warpgroup_state const& w, step_views const& v,
                                record const& earlier) const {
  component const first = static_cast<component>(w.block->rank * threads_ + w.index * 128);
  bool const mine = earlier.who >= first && earlier.who < first + 128;
  component const u = mine ? earlier.who - first : 0;
  bool const fence = fence_concerns(earlier, true);
  for (view const& x : v.views) {
    bool const has_writer = mine && (x.threads[u / 64] >> u % 64 & 1U) != 0;
    bool const alone =
        has_writer && __builtin_popcountll(x.threads[0]) + __builtin_popcountll(x.threads[1]) == 1;
    if (has_writer && fence && v.own_fenced[u] < earlier.when) return verdict::unfenced;
    if (alone) continue;
    if (x.known->happened(earlier.who) < earlier.when) return verdict::unordered;
    if (fence && x.known->passed_fence(earlier.who) < earlier.when) return verdict::unfenced;
  }
  return verdict::ordered;
}

void checker::access_cells(thread& t, cta_state& owner, touched at, record const& r) {
  shadow& s = shadows_[static_cast<std::size_t>(owner.rank)];
  component const self = thread_component(t);
  bool const async = is_async(r.what);
  bool const write = is_write(r.what);
  s.each_earlier(at, write, [&](record const& earlier) {
    verdict const v = judge(t.actor, self, earlier, async);
    if (v == verdict::ordered) return true;
    std::uint64_t const both = earlier.mask & at.cells;
    std::uint32_t const cell = both != 0 ? static_cast<std::uint32_t>(__builtin_ctzll(both)) : 0;
    report_conflict(owner, at.block * block_bytes + cell * cell_bytes, earlier, r, t, v);
    return false;
  });
  if (!write)
    if (std::uint64_t const none = s.unwritten(at); none != 0)
      report_unwritten(
          owner,
          at.block * block_bytes + static_cast<std::uint32_t>(__builtin_ctzll(none)) * cell_bytes,
          r, t);
  s.note(at, r);
}

void checker::matrix_row(thread& t, std::uint32_t offset, bool write, site where) {
  record r;
  r.who = thread_component(t);
  r.when = t.actor.own;
  r.what = write ? access::stmatrix : access::ldmatrix;
  r.where = where;
  access_cells(t, *t.block,
               {offset / block_bytes, std::uint64_t{1} << offset % block_bytes / cell_bytes}, r);
}

void checker::plain(thread& t, cta_state& owner, std::uint32_t offset, std::uint32_t bytes,
                    bool write, site where) {
  record r;
  r.who = thread_component(t);
  r.when = t.actor.own;
  r.what = write ? access::plain_write : access::plain_read;
  r.where = where;
  access_bytes(t, owner, offset, bytes, r);
}

void checker::undefined(thread& t, std::uint32_t offset, std::uint32_t bytes, site where) {
  record r;
  r.who = thread_component(t);
  r.what = access::undefined;
  r.where = where;
  r.when = 0;  // before everything: no later access can be out of order with it
  if ((offset | bytes) % cell_bytes == 0)
    each_block(offset, bytes, [&](touched at) { access_cells(t, *t.block, at, r); });
  else
    access_bytes(t, *t.block, offset, bytes, r);
}

void checker::copy(thread& t, std::uint32_t offset, std::uintptr_t from, std::uint32_t bytes,
                   site where) {
  record r;
  r.who = new_component(t.global.copies, component_face::kind::copies, t);
  r.when = t.copies_committed + 1;
  r.what = access::cp_async_write;
  r.where = where;
  access_bytes(t, *t.block, offset, bytes, r);
  r.what = access::cp_async_read;
  global_access(t, from, bytes, r);
}

void checker::access_bytes(thread& t, cta_state& owner, std::uint32_t offset, std::uint32_t bytes,
                           record const& r) {
  bool const write = is_write(r.what);
  shadow& s = shadows_[static_cast<std::size_t>(owner.rank)];
  if (owner.rank != t.cluster_rank) {  // the owner must not exit before it
    auto& list = leaving_[static_cast<std::size_t>(owner.rank)].remote;
    auto const it = std::ranges::find(list, r.who, &remote_access::who);
    auto const what = r.what == access::async_write ? remote_access::kind::store_async
                                                    : remote_access::kind::plain;
    remote_access const now{r.who, r.when, r.where, what, offset};
    if (it == list.end())
      list.push_back(now);
    else
      *it = now;
  }
  while (bytes > 0) {
    std::uint32_t const in_cell = offset % cell_bytes;
    std::uint32_t const here = std::min(bytes, cell_bytes - in_cell);
    if (here == cell_bytes) {
      access_cells(t, owner,
                   {offset / block_bytes, std::uint64_t{1} << offset % block_bytes / cell_bytes},
                   r);
    } else {
      auto const mask = static_cast<std::uint16_t>(((1U << here) - 1) << in_cell);
      std::uint32_t const cell = offset / cell_bytes;
      s.each_earlier(cell, mask, write, [&](record const& earlier) {
        verdict const v = judge(t.actor, thread_component(t), earlier, false);
        if (v == verdict::ordered) return true;
        report_conflict(owner, offset, earlier, r, t, v);
        return false;
      });
      if (!write && s.unwritten(cell, mask) != 0) report_unwritten(owner, offset, r, t);
      s.note(cell, mask, r);
    }
    offset += here;
    bytes -= here;
  }
}

void checker::each_box_block(bulk_op const& op, std::vector<touched>& to) const {
  to.clear();
  auto const bytes = static_cast<std::uint32_t>(box_smem_bytes(*op.map));
  if (box_smem_bytes(*op.map) == op.map->box_bytes()) {
    each_block(op.smem_offset, bytes, [&](touched t) { to.push_back(t); });
    return;
  }
  // Rows narrower than the swizzle span: only their own chunks.
  auto const pitch = static_cast<std::uint32_t>(box_row_pitch_bytes(*op.map));
  auto const width = static_cast<std::uint32_t>(op.map->box[0] * size_bytes(op.map->type));
  for (std::uint32_t row = 0; row < bytes; row += pitch)
    for (std::uint32_t chunk = 0; chunk < width; chunk += cell_bytes) {
      std::uint32_t const at =
          swizzled(smem_base + op.smem_offset + row + chunk, op.map->swizzle) - smem_base;
      std::uint64_t const cell = std::uint64_t{1} << at % block_bytes / cell_bytes;
      if (!to.empty() && to.back().block == at / block_bytes)
        to.back().cells |= cell;
      else
        to.push_back({at / block_bytes, cell});
    }
}

void checker::load(thread& t, bulk_op& op) {
  origin from;
  from.map = op.map;
  std::copy(std::begin(op.at), std::end(op.at), std::begin(from.at));
  from.smem_offset = op.smem_offset;
  from.row_bytes = static_cast<std::uint32_t>(box_row_pitch_bytes(*op.map));
  from.rows = op.map->box[1];
  from.elem_bytes = size_bytes(op.map->type);
  from.swizzle = op.map->swizzle;
  from.where = op.where;
  from.by = &t;
  record r;
  r.what = access::tma_write;
  r.where = op.where;
  if (origins_.size() < 0xFFFF) {
    r.origin = static_cast<std::uint16_t>(origins_.size());
    origins_.push_back(from);
  } else {
    r.origin = static_cast<std::uint16_t>(1 + next_origin_++ % 0xFFFE);
    origins_[r.origin] = from;
  }
  each_box_block(op, scratch_);
  component first = 0;  // of the first CTA: the load has read the tensor when its phase is over
  for (cta_state& c : cluster_->ctas) {
    if ((op.cta_mask >> c.rank & 1U) == 0) continue;
    mbarrier_state& b = machine_->barrier_at(c, c.smem + op.bar_offset, op.where);
    use(t, c, b, true, op.where);
    r.who = b.face.phases;
    r.when = b.phase + 1;
    if (first == 0) first = r.who;
    b.face.issued += op.map->box_bytes();
    op.issue_phase[c.rank] = b.phase;
    for (touched const& at : scratch_) access_cells(t, c, at, r);
    auto& list = leaving_[static_cast<std::size_t>(c.rank)].remote;
    auto const it = std::find_if(list.begin(), list.end(),
                                 [&](remote_access const& x) { return x.who == r.who; });
    remote_access const now{r.who, r.when, op.where, remote_access::kind::copy, op.smem_offset};
    if (it == list.end())
      list.push_back(now);
    else
      *it = now;
    if (r.who == first) global_box(t, op, r);
  }
}

void checker::store_async(thread& t, cta_state& owner, std::uint32_t offset, std::uint32_t bytes,
                          mbarrier_state& b, site where) {
  use(t, owner, b, true, where);
  widen(b.face);
  if (b.face.stored == 0) {
    b.face.stored = mbarrier_component(owner.rank, b);
    stored_.push_back(b.face.stored);
  }
  record r;
  r.who = b.face.stored;
  r.when = b.phase + 1;
  r.what = access::async_write;
  r.where = where;
  b.face.issued += bytes;
  access_bytes(t, owner, offset, bytes, r);
}

void checker::store(thread& t, bulk_op const& op) {
  record r;
  r.who = stores_component(t);
  r.when = op.group + 1;
  r.what = access::tma_store_read;
  r.where = op.where;
  each_box_block(op, scratch_);
  for (touched const& at : scratch_) access_cells(t, *op.cta, at, r);
  r.who = new_component(t.global.writes, component_face::kind::writes, t);
  r.what = op.what == bulk_op::kind::store ? access::tma_store_write : access::tma_reduce;
  global_box(t, op, r);
}

void checker::view_of(thread& t, step_views& v) {
  auto const u = static_cast<unsigned>(t.id % 128);
  v.own_fenced[u] = t.actor.own_fenced;
  for (view& x : v.views)
    if (x.known == t.actor.known) {
      x.threads[u / 64] |= std::uint64_t{1} << u % 64;
      return;
    }
  v.views.push_back({t.actor.known, {}});
  v.views.back().threads[u / 64] |= std::uint64_t{1} << u % 64;
}

std::vector<checker::chunk_block> const& checker::pattern(smem_desc d, operand_major major,
                                                          int extent) {
  std::uint32_t const inside = d.address() % block_bytes;
  std::array<std::uint64_t, 2> const key{
      (d.bits & ~std::uint64_t{0x3FFF}) | inside / 16,
      static_cast<std::uint64_t>(extent) << 1 | (major == operand_major::mn ? 1U : 0U)};
  auto [it, added] = patterns_.try_emplace(key);
  if (!added) return it->second;
  operand_layout lay(d, major);
  lay.start = inside;
  chunk_grid const grid(major, extent);
  std::map<std::uint32_t, chunk_block> blocks;
  for (int i = 0; i < grid.rows; ++i)
    for (int j = 0; j < grid.columns; ++j) {
      std::uint32_t const at = swizzled(lay.start + lay.row_offset(static_cast<std::uint32_t>(i)) +
                                            lay.column_offset(static_cast<std::uint32_t>(j)),
                                        lay.swizzle);
      auto [b, fresh] =
          blocks.try_emplace(at / block_bytes, chunk_block{at / block_bytes, 0, i, j, at});
      b->second.cells |= std::uint64_t{1} << at % block_bytes / cell_bytes;
    }
  for (auto const& [index, b] : blocks) it->second.push_back(b);
  return it->second;
}

void checker::check_origin(record const& written, smem_desc d, operand_major major,
                           std::uint32_t offset, int row, int column, int (&first)[3],
                           thread const& by, site where) {
  origin const& o = origins_[written.origin];
  if (o.swizzle != d.swizzle()) {
    report_origin("E0037", "swizzle-mismatch",
                  fmt::format("with a swizzle of {} bytes; TMA wrote it with {}.",
                              swizzle_span_bytes(d.swizzle()), swizzle_span_bytes(o.swizzle)),
                  "the descriptor names another swizzle than the tensor map, so chunks of 16 bytes "
                  "are taken from wrong places",
                  "give the descriptor and the tensor map the same swizzle", written, offset, by,
                  where);
    return;
  }
  std::uint32_t const logical = swizzled(smem_base + offset, o.swizzle) - smem_base - o.smem_offset;
  int const inner = o.at[0] + static_cast<int>(logical % o.row_bytes) / o.elem_bytes;
  int const outer = o.at[1] + static_cast<int>(logical / o.row_bytes) % o.rows;
  int const a = inner - 8 * column;  // coordinate of the operand's first chunk, if all is well
  int const b = outer - row;
  if (first[2] != written.origin) {
    if (first[2] == 0) {
      first[0] = a;
      first[1] = b;
    }
    first[2] = written.origin;
    origin_first_[0] = a;
    origin_first_[1] = b;
  } else if (a != origin_first_[0] || (b - origin_first_[1]) % 8 != 0) {
    // Groups of 8 rows may be taken at any distance (B interleaved for two warpgroups); the 8 rows
    // of a core matrix may not.
    report_origin(
        "E0038", "operand-layout",
        fmt::format("as row {}, column {} of its {}-major operand, but TMA put another part of "
                    "the tile there.",
                    row, 8 * column, major == operand_major::k ? "K" : "MN"),
        fmt::format("it is element ({}, {}) of the tensor; after the operand's first chunk it "
                    "should be ({}, {})",
                    outer, inner, origin_first_[1] + row, origin_first_[0] + 8 * column),
        "the descriptor's leading and stride offsets must be those of the tile that TMA wrote",
        written, offset, by, where);
    origin_first_[0] = a;
    origin_first_[1] = b;
  }
}

void checker::read_operand(warpgroup_state& w, step_views const& v, smem_desc d,
                           operand_major major, int extent, record const& r, thread const& by,
                           int (&k_of)[2]) {
  shadow& s = shadows_[static_cast<std::size_t>(w.block->rank)];
  std::uint32_t const start = d.address() - smem_base;
  std::uint32_t const base = start / block_bytes;
  // Addresses count from smem_base, which is a multiple of a block.
  int first[3] = {};
  for (chunk_block const& c : pattern(d, major, extent)) {
    touched const at{base + c.block, c.cells};
    if (at.block * block_bytes >= static_cast<std::uint32_t>(grid_.smem_bytes))
      return;  // the operand check of the product says so
    std::uint32_t const chunk_offset = base * block_bytes + c.offset;
    bool clean = true;
    s.each_earlier(at, false, [&](record const& earlier) {
      verdict const verd = judge(w, v, earlier);
      if (verd != verdict::ordered) {
        std::uint64_t const both = earlier.mask & at.cells;
        report_conflict(
            *w.block,
            at.block * block_bytes +
                (both != 0 ? static_cast<std::uint32_t>(__builtin_ctzll(both)) : 0) * cell_bytes,
            earlier, r, by, verd);
        clean = false;
        return false;
      }
      if (options_.provenance && earlier.what == access::tma_write && earlier.origin != 0 &&
          (earlier.mask >> chunk_offset % block_bytes / cell_bytes & 1U) != 0)
        check_origin(earlier, d, major, chunk_offset, c.row, c.column, first, by, r.where);
      return true;
    });
    if (clean)
      if (std::uint64_t const none = s.unwritten(at); none != 0)
        report_unwritten(
            *w.block,
            at.block * block_bytes + static_cast<std::uint32_t>(__builtin_ctzll(none)) * cell_bytes,
            r, by);
    s.note(at, r);
  }
  k_of[0] = first[2];  // a load that wrote a part of it
  k_of[1] = major == operand_major::k ? first[0] : first[1];
}

void checker::multiply(warpgroup_state& w, wgmma_call const& call, step_views const& v,
                       std::uint32_t group, site where) {
  record r;
  r.who = warpgroup_component(w);
  r.when = group + 1;
  r.what = access::wgmma_read;
  r.where = where;
  thread const& by = w.block->threads[static_cast<std::size_t>(w.index * 128)];
  int k_a[2] = {};
  int k_b[2] = {};
  if (!call.a_in_registers) read_operand(w, v, call.a, call.a_major, 64, r, by, k_a);
  read_operand(w, v, call.b, call.b_major, call.n, r, by, k_b);
  if (options_.provenance && k_a[0] != 0 && k_b[0] != 0 && k_a[1] != k_b[1])
    report_k_mismatch(by, k_a, k_b, call, where);
}

void checker::use(thread& t, cta_state& owner, mbarrier_state& b, bool by_copy, site where) {
  mbarrier_face const& f = b.face;
  component const self = thread_component(t);
  bool const known = f.maker == self || t.actor.known->happened(f.maker) >= f.made;
  bool const needs_fence = by_copy || owner.rank != t.cluster_rank;
  bool const fenced =
      f.fenced != 0 && (f.maker == self || t.actor.known->happened(f.maker) >= f.fenced);
  if (!known || (needs_fence && !fenced)) report_init(t, owner, b, known, where);
}

}  // namespace tw::emu::hazard
