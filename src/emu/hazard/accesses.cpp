// SPDX-License-Identifier: Apache-2.0
// accesses.cpp  Each access of shared memory against those before it.
#include <fmt/format.h>

#include <algorithm>

#include "emu/elements/box.hpp"
#include "emu/machine/checker.hpp"
#include "emu/machine/machine.hpp"

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

void checker::access_cells(thread& t, cta_state& owner, touched at, record const& r) {
  shadow& s = shadows_[static_cast<std::size_t>(owner.rank)];
  component const self = thread_component(t);
  bool const async = is_async(r.what);
  bool const write = is_write(r.what);
  bool const reduction = r.what == access::bulk_reduce;
  s.each_earlier(at, write, [&](record const& earlier) {
    if (reduction && earlier.what == r.what) return true;  // indivisible to each other
    verdict const v = judge(t.actor, self, earlier, async);
    if (v == verdict::ordered) return true;
    std::uint64_t const both = earlier.mask & at.cells;
    std::uint32_t const cell = both != 0 ? static_cast<std::uint32_t>(__builtin_ctzll(both)) : 0;
    report_conflict(owner, at.block * block_bytes + cell * cell_bytes, earlier, r, t, v);
    return false;
  });
  if (!write || reduction)
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
                   std::uint32_t valid, site where) {
  record r;
  r.who = copies_component(t);
  r.when = t.copies_begun;
  r.what = access::cp_async_write;
  r.where = where;
  access_bytes(t, *t.block, offset, bytes, r);
  if (valid == 0) return;
  r.what = access::cp_async_read;
  global_access(t, from, valid, r);
}

void checker::access_bytes(thread& t, cta_state& owner, std::uint32_t offset, std::uint32_t bytes,
                           record const& r) {
  bool const write = is_write(r.what);
  shadow& s = shadows_[static_cast<std::size_t>(owner.rank)];
  if (owner.rank != t.cluster_rank)
    note_remote(owner, {r.who, r.when, r.where,
                        r.what == access::async_write ? remote_access::kind::store_async
                        : traits(r.what).atomic       ? remote_access::kind::atomic
                                                      : remote_access::kind::plain,
                        offset});
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
        if (morally_strong(r, earlier, {faces_[earlier.who].cta == t.cluster_rank, true, true}))
          return true;
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
  if (box_fills_smem(*op.map)) {
    each_block(op.smem_offset, bytes, [&](touched t) { to.push_back(t); });
    return;
  }
  // Rows narrower than the swizzle span: only their own chunks.
  auto const pitch = static_cast<std::uint32_t>(box_row_pitch_bytes(*op.map));
  auto const width = static_cast<std::uint32_t>(box_row_bytes(*op.map));
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

access written_by(bulk_op const& op) {
  return op.of_launch_cancel                        ? access::answer_write
         : op.what == bulk_op::kind::reduce_at_peer ? access::bulk_reduce
         : op.what == bulk_op::kind::to_peer        ? access::peer_write
                                                    : access::tma_write;
}

void checker::load(thread& t, bulk_op& op) {
  origin from;
  from.has_map = op.bytes == nullptr;
  std::copy(std::begin(op.at), std::end(op.at), std::begin(from.at));
  from.smem_offset = op.smem_offset;
  from.row_bytes = static_cast<std::uint32_t>(box_row_pitch_bytes(*op.map));
  from.rows = op.map->box[1];
  from.elem_bits = op.map->smem_bits();
  from.type = op.map->type;
  from.padded = op.map->is_padded();
  if (from.has_map) from.map = *op.map;
  from.swizzle = op.map->swizzle;
  from.where = op.where;
  from.issued = ++issued_;
  from.by = &t;
  record r;
  r.what = written_by(op);
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
    cta_state& of_bar = op.of_pair ? cluster_->ctas[static_cast<std::size_t>(c.even_rank())] : c;
    mbarrier_state& b = machine_->barrier.at(of_bar, of_bar.smem + op.bar_offset, op.where);
    use(t, of_bar, b, true, op.where);
    r.who = b.face.phases;
    r.when = b.phase + 1;
    if (first == 0) first = r.who;
    b.face.issued += op.map->box_bytes();
    counts(t, b, "bytes", op.where);
    op.issue_phase[c.rank] = b.phase;
    for (touched const& at : scratch_) access_cells(t, c, at, r);
    note_remote(
        c, {r.who, r.when, op.where, remote_access::kind::copy, op.smem_offset, t.cta, r.what});
    if (r.who != first) continue;
    if (op.to_peer()) {
      record source = r;
      source.what = access::bulk_copy_read;
      each_block(op.from_offset, static_cast<std::uint32_t>(op.map->box_bytes()),
                 [&](touched at) { access_cells(t, *t.block, at, source); });
      note_remote(*t.block, {r.who, r.when, op.where, remote_access::kind::copy_to_peer,
                             op.from_offset, t.cta});
      continue;
    }
    global_box(t, op, r);
    global_map(t, op, r);
  }
}

void checker::store_async(thread& t, cta_state& owner, std::uint32_t offset, std::uint32_t bytes,
                          mbarrier_state& b, site where) {
  use(t, owner, b, true, where);
  widen(b.face);
  if (b.face.stored == 0) {
    b.face.stored = mbarrier_component(owner.rank, b);
    stored_.push_back(b.face.stored);
    need_release_.push_back(b.face.stored);
  }
  record r;
  r.who = b.face.stored;
  r.when = b.phase + 1;
  r.what = access::async_write;
  r.where = where;
  b.face.issued += bytes;
  counts(t, b, "bytes", where);
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
  global_map(t, op, r);
  r.who = new_component(t.global.writes, component_face::kind::writes, t);
  r.what = op.what == bulk_op::kind::store ? access::tma_store_write : access::tma_reduce;
  global_box(t, op, r);
}

void checker::use(thread& t, cta_state& owner, mbarrier_state& b, bool by_copy, site where) {
  mbarrier_face& f = b.face;
  component const self = thread_component(t);
  f.used[self] = {t.actor.own, 0, where};
  bool const known = f.maker == self || t.actor.known->happened(f.maker) >= f.made;
  bool const needs_fence = by_copy || owner.rank != t.cluster_rank;
  bool const fenced =
      f.fenced != 0 && (f.maker == self || t.actor.known->happened(f.maker) >= f.fenced);
  if (!known || (needs_fence && !fenced)) report_init(t, owner, b, known, where);
}

}  // namespace tw::emu::hazard
