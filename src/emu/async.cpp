// SPDX-License-Identifier: Apache-2.0
// async.cpp  TMA copies: issue, the queue of unfinished work, completion.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "emu/box.hpp"
#include "emu/machine.hpp"
#include "emu/reduce.hpp"
#include "emu/words.hpp"
#include "tilewright/base/elem_text.hpp"

namespace tw::emu {

void async_engine::report_other_phase(cta_state const& c, mbarrier_state const& b,
                                      bulk_op const& op, std::uint32_t issued) {
  std::string const place = object_name(m_.grid_, c, b.offset);
  diagnosis d;
  d.code = "E0032";
  d.kind = "expect-tx-mismatch";
  d.text = told({
      .what = fmt::format("A TMA load that was issued in phase {} of {} lands in phase {}.", issued,
                          place, b.phase),
      .now = fmt::format("load at {} by {}", text_of(op.where), name_of(*op.issuer)),
      .barrier = barrier_text(m_.grid_, c, b),
      .cause = fmt::format("phase {} ended without waiting for these bytes", issued),
      .remedy = "arrive_expect_tx with the bytes of all copies before the copies are issued",
  });
  d.where = op.where;
  d.earlier = b.made_at;
  d.object = place;
  d.phase = issued;
  d.cta = op.issuer->cta;
  d.thread = op.issuer->id;
  d.role = op.issuer->role;
  m_.reports.report(std::move(d));
}

void async_engine::note_box_outside(bulk_op const& op) {
  ++m_.counts_.boxes_outside;
  if (!m_.options_.boxes_outside) return;
  auto const list = [&](auto const* values) {
    std::string text;
    for (int i = 0; i < op.map->rank; ++i)
      text += fmt::format("{}{}", i == 0 ? "" : ", ", values[i]);
    return text;
  };
  bool const load = op.what == bulk_op::kind::load;
  std::string const place = object_name(m_.grid_, *op.cta, op.smem_offset);
  diagnosis d;
  d.code = "E0040";
  d.kind = "tma-box-outside-tensor";
  d.text = told({
      .what = load ? fmt::format("A TMA load fills {} with zeros: its box lies outside the tensor.",
                                 place)
                   : fmt::format("A TMA store of {} stores nothing: its box lies outside the "
                                 "tensor.",
                                 place),
      .now = fmt::format("{} at {} by {}", load ? "load" : "store", text_of(op.where),
                         name_of(*m_.sched.running())),
      .cause = fmt::format("the box begins at ({}), in a tensor of ({})", list(op.at),
                           list(op.map->dim)),
      .remedy = "the first coordinate is the contiguous one; check the tile's index against the "
                "number of tiles",
  });
  d.where = op.where;
  d.object = place;
  m_.reports.report(std::move(d));
}

void async_engine::begin(std::function<void(double)> const* macs_done) {
  macs_done_ = macs_done;
  pending_ops_.clear();
  pending_groups_.clear();
  pending_copies_.clear();
  pending_tensor_.clear();
  m_.tensor.forget_held();
}

void async_engine::issue(bulk_op op) {
  m_.tensor.complete_held();
  if (m_.log_) op.traced_as = m_.log_->copy(*m_.sched.running(), op);
  bool const load = op.fills_smem();
  ++(load                              ? m_.counts_.tma_loads
     : op.what == bulk_op::kind::store ? m_.counts_.tma_stores
                                       : m_.counts_.tma_reductions);
  if (load)
    for (cta_state& c : op.cta->cluster->ctas)
      if ((op.cta_mask >> c.rank & 1U) != 0)
        m_.memory.check_no_mbarrier(c, op.smem_offset,
                                    static_cast<std::size_t>(box_smem_bytes(*op.map)), "A TMA load",
                                    op.where);
  if (hazard::checker* check = op.cta->cluster->check.get()) {
    if (load)
      check->load(*m_.sched.running(), op);
    else
      check->store(*m_.sched.running(), op);
  }
  if (m_.options_.policy == async_policy::eager) {
    complete(op);
    return;
  }
  // The old bytes are gone from now on, and the new bytes have not come. (Padding of rows narrower
  // than the swizzle span is never written; such boxes are not poisoned.)
  if (load && op.what != bulk_op::kind::reduce_at_peer && box_fills_smem(*op.map))
    for (cta_state& c : op.cta->cluster->ctas)
      if ((op.cta_mask >> c.rank & 1U) != 0)
        std::memset(c.smem + op.smem_offset, 0xFF,
                    static_cast<std::size_t>(box_smem_bytes(*op.map)));
  pending_ops_.push_back(op);
}

void async_engine::complete(bulk_op const& op) {
  m_.sched.progressed();
  std::uint32_t const address = smem_base + op.smem_offset;
  if (!op.fills_smem()) {
    std::byte const* src = op.cta->smem + op.smem_offset;
    if (op.what == bulk_op::kind::store)
      store_box(*op.map, op.at, src, address);
    else
      reduce_box(*op.map, op.at, op.op, op.type, src, address);
    thread& t = *op.issuer;
    --t.bulk_left[op.group - t.bulk_base];
    if (t.waiting == wait_kind::bulk_group && t.bulk_left.size() > 0) {
      std::uint32_t g = t.bulk_base;
      while (g < t.wait_value && t.bulk_left[g - t.bulk_base] == 0) ++g;
      if (g == t.wait_value) m_.sched.wake(&t);
    }
    return;
  }
  auto const bytes = static_cast<std::size_t>(op.map->box_bytes());  // credited
  bool const dense = box_fills_smem(*op.map);
  std::byte const* first = nullptr;
  for (cta_state& c : op.cta->cluster->ctas) {
    if ((op.cta_mask >> c.rank & 1U) == 0) continue;
    std::byte* dst = c.smem + op.smem_offset;
    if (op.what == bulk_op::kind::reduce_at_peer)
      reduce_elements(op.op, op.type, dst, static_cast<std::byte const*>(op.map->base),
                      static_cast<std::ptrdiff_t>(bytes));
    else if (first == nullptr ||
             !dense)  // rows narrower than the swizzle span leave bytes untouched
      load_box(*op.map, op.at, dst, address);
    else
      std::memcpy(dst, first, static_cast<std::size_t>(box_smem_bytes(*op.map)));
    first = dst;
    cta_state& of_bar = op.of_pair ? c.cluster->ctas[static_cast<std::size_t>(c.even_rank())] : c;
    mbarrier_state& b = m_.barrier.at(of_bar, of_bar.smem + op.bar_offset, op.where);
    m_.reports.landing = true;  // stays so where a report ends the run
    if (c.cluster->check && b.phase != op.issue_phase[c.rank])
      report_other_phase(of_bar, b, op, op.issue_phase[c.rank]);
    if (m_.log_) m_.log_->landed(op.traced_as, of_bar, b);
    b.tx -= static_cast<std::int64_t>(bytes);
    b.landed += static_cast<std::int64_t>(bytes);
    m_.counts_.tma_load_bytes += static_cast<std::int64_t>(bytes);
    m_.barrier.complete_if_done(of_bar, b);
    m_.reports.landing = false;
  }
}

bool async_engine::complete_one(bool any_order) {
  std::size_t const ops = pending_ops_.size();
  std::size_t const groups = pending_groups_.size();
  std::size_t const copies = pending_copies_.size();
  std::size_t const total = ops + groups + copies + pending_tensor_.size();
  if (total == 0) return false;
  std::size_t const choice = any_order ? m_.sched.random()() % total : 0;
  if (choice < ops) {
    bulk_op const op = pending_ops_[choice];
    pending_ops_.erase(pending_ops_.begin() + static_cast<std::ptrdiff_t>(choice));
    complete(op);
    return true;
  }
  if (choice >= ops + groups + copies) {
    // Operations of one thread finish in order.
    auto const it =
        pending_tensor_.begin() + static_cast<std::ptrdiff_t>(choice - ops - groups - copies);
    thread* const t = *it;
    m_.tensor.complete(*t);
    if (t->tensor_ops->ops.empty()) std::erase(pending_tensor_, t);
    return true;
  }
  if (choice >= ops + groups) {
    auto const it = pending_copies_.begin() + static_cast<std::ptrdiff_t>(choice - ops - groups);
    thread* const t = *it;
    pending_copies_.erase(it);
    land_copies(*t);
    return true;
  }
  // Groups of one warpgroup finish in order: the first entry of the chosen warpgroup.
  warpgroup_state* w = pending_groups_[choice - ops];
  pending_groups_.erase(std::find(pending_groups_.begin(), pending_groups_.end(), w));
  complete_group(*w);
  return true;
}

void async_engine::drain(cluster_state& c) {
  for (std::size_t i = 0; i < pending_tensor_.size();) {
    thread* const t = pending_tensor_[i];
    if (t->block->cluster != &c) {
      ++i;
      continue;
    }
    while (!t->tensor_ops->ops.empty()) m_.tensor.complete(*t);
    pending_tensor_.erase(pending_tensor_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (std::size_t i = 0; i < pending_copies_.size();) {
    thread* const t = pending_copies_[i];
    if (t->block->cluster != &c) {
      ++i;
      continue;
    }
    pending_copies_.erase(pending_copies_.begin() + static_cast<std::ptrdiff_t>(i));
    land_copies(*t);
  }
  for (std::size_t i = 0; i < pending_ops_.size();) {
    if (pending_ops_[i].cta->cluster != &c) {
      ++i;
      continue;
    }
    bulk_op const op = pending_ops_[i];
    pending_ops_.erase(pending_ops_.begin() + static_cast<std::ptrdiff_t>(i));
    complete(op);
  }
}

namespace {

char const* name_of(reduce_op op) {
  char const* const names[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
  return names[static_cast<int>(op)];
}

/// The map that a TMA operation names, and whether it may have these coordinates (E0013, E0023).
tensor_map_desc const* check_request(tensor_map const& named, int const* at, int rank,
                                     bool writes_tensor, site where) {
  machine& m = machine::current();
  thread& t = *m.sched.running();
  tensor_map_desc const* const map = m.memory.map_of(named, where);
  if (rank != map->rank)
    m.reports.stop(
        "E0013", "tensor-map-invalid",
        told({
            .what = fmt::format("A TMA copy gives {} coordinates for a tensor map of rank {}.",
                                rank, map->rank),
            .now = fmt::format("copy at {} by {}", text_of(where), name_of(t)),
            .cause = "the map describes a tensor with another number of dimensions",
            .remedy = "one coordinate for each dimension, the contiguous one first",
        }),
        where);
  if (auto const bad = bad_address_of_place(*map, at))
    m.reports.stop("E0013", "tensor-map-invalid",
                   told({
                       .what = fmt::format("TMA cannot address a matrix that begins at {}.", *bad),
                       .now = fmt::format("copy at {} by {}", text_of(where), name_of(t)),
                       .cause = "the coordinates of a map over all memory count pieces of 16 bytes",
                       .remedy = "addresses that are multiples of 16 bytes, and not null",
                   }),
                   where);
  if (char const* why = coordinates_that_trap(*map, at, writes_tensor))
    m.reports.stop(
        "E0023", "tma-coordinates",
        told({
            .what = "The hardware stops at the coordinates of a TMA copy.",
            .now = fmt::format("copy at {} by {}", text_of(where), name_of(t)),
            .cause = why,
            .remedy = "boxes that begin at multiples of 16 bytes along the contiguous dimension; "
                      "stores that begin inside the tensor; of a batch by pointers, loads with an "
                      "element of the matrix",
        }),
        where);
  return map;
}

bulk_op bulk(bulk_op::kind what, tensor_map const& map, void const* smem, int const* at, int rank,
             site where) {
  machine& m = machine::current();
  thread& t = *m.sched.running();
  bulk_op op{};
  op.what = what;
  op.map = check_request(map, at, rank, what != bulk_op::kind::load, where);
  op.map_in_global = m.memory.is_parameter(&map) ? nullptr : &map;
  op.cta = t.block;
  op.cta_mask = 1U << t.cluster_rank;
  op.issuer = &t;
  op.where = where;
  for (int i = 0; i < rank; ++i) op.at[i] = at[i];
  op.smem_offset = m.memory.offset_in_smem(
      *t.block, smem, static_cast<std::size_t>(box_smem_bytes(*op.map)), where);
  if (box_coverage(*op.map, op.at) == coverage::outside) m.async.note_box_outside(op);
  // CUDA C++ Programming Guide, "Tensor Memory Access": 128 bytes, or the swizzle pattern's period.
  int const span = swizzle_span_bytes(op.map->swizzle);
  std::uint32_t const align = span == 16 ? 128U : static_cast<std::uint32_t>(span * 8);
  if ((op.smem_offset + smem_base) % align != 0)
    m.reports.stop(
        "E0005", "tma-alignment",
        told({
            .what = fmt::format("The box of a TMA copy lies at {}, which is not aligned to {} "
                                "bytes.",
                                object_name(m.grid_, *t.block, op.smem_offset), align),
            .now = fmt::format("copy at {} by {}", text_of(where), name_of(t)),
            .cause = fmt::format(
                "it begins at byte {} of shared memory; a swizzle of {} bytes "
                "{}",
                op.smem_offset, span,
                span == 16 ? "(none) needs 128" : fmt::format("repeats every {}", align)),
            .remedy = fmt::format("alignas({}) on the member of the shared-memory struct", align),
        }),
        where, {object_name(m.grid_, *t.block, op.smem_offset)});
  return op;
}

}  // namespace

void tma_load(void* smem, tensor_map const& map, void* bar, int const* at, int rank,
              std::uint32_t cta_mask, bool multicast, site where) {
  engine_call const inside;
  machine& m = machine::current();
  thread& t = *m.sched.running();
  bulk_op op = bulk(bulk_op::kind::load, map, smem, at, rank, where);
  op.bar_offset = m.memory.offset_in_smem(*t.block, bar, 8, where);
  if (multicast) m.async.to_ctas(op, cta_mask);
  m.async.issue(std::move(op));
}

void tma_load_pair(void* smem, tensor_map const& map, void* bar, int const* at, int rank,
                   site where) {
  engine_call const inside;
  machine& m = machine::current();
  thread& t = *m.sched.running();
  m.tensor.check_group(t, 2, "tma_load_pair", where);
  bulk_op op = bulk(bulk_op::kind::load, map, smem, at, rank, where);
  op.bar_offset = m.memory.offset_in_smem(*t.block, bar, 8, where);
  op.of_pair = true;
  m.async.issue(std::move(op));
}

void tma_load_pair_multicast(void* smem, tensor_map const& map, void* bar, int const* at, int rank,
                             std::uint32_t cta_mask, site where) {
  engine_call const inside;
  machine& m = machine::current();
  thread& t = *m.sched.running();
  m.tensor.check_group(t, 2, "tma_load_pair_multicast", where);
  bulk_op op = bulk(bulk_op::kind::load, map, smem, at, rank, where);
  op.bar_offset = m.memory.offset_in_smem(*t.block, bar, 8, where);
  op.of_pair = true;
  m.async.to_ctas(op, cta_mask);
  m.async.issue(std::move(op));
}

void async_engine::to_ctas(bulk_op& op, std::uint32_t cta_mask) {
  op.cta_mask = cta_mask;
  ++m_.counts_.multicasts;
  if (cta_mask != 0 && cta_mask >> op.cta->cluster->ctas.size() == 0) return;
  m_.reports.stop(
      "E0007", "bad-cluster-rank",
      told({
          .what = fmt::format("The mask {:#x} of a multicast names CTAs that a cluster of {} "
                              "does not have.",
                              cta_mask, op.cta->cluster->ctas.size()),
          .now = fmt::format("load at {} by {}", text_of(op.where), name_of(*op.issuer)),
          .cause = "bit r of the mask stands for rank r",
          .remedy = "a mask of at least one bit, below 1 << cluster size",
      }),
      op.where);
}

void async_engine::issue_in_group(bulk_op op) {
  thread& t = *op.issuer;
  op.group = t.bulk_committed;
  if (t.bulk_left.empty()) t.bulk_base = t.bulk_committed;
  while (t.bulk_base + t.bulk_left.size() <= t.bulk_committed) t.bulk_left.push_back(0);
  ++t.bulk_left[op.group - t.bulk_base];
  t.bulk_site = op.where;
  issue(std::move(op));
}

void tma_store(tensor_map const& map, void const* smem, int const* at, int rank, site where) {
  engine_call const inside;
  machine::current().async.issue_in_group(bulk(bulk_op::kind::store, map, smem, at, rank, where));
}

void tma_reduce(tensor_map const& map, void const* smem, int const* at, int rank, reduce_op op,
                site where) {
  engine_call const inside;
  machine& m = machine::current();
  bulk_op b = bulk(bulk_op::kind::reduce, map, smem, at, rank, where);
  b.op = op;
  b.type = reduce_type_of(b.map->type);
  bool const is_s32 = b.type == tw::detail::reduce_type::s32;
  bool const counts = op == reduce_op::inc || op == reduce_op::dec;  // of u32, which no map has
  if (!tw::detail::can_reduce(op, b.type) || (counts && is_s32))
    m.reports.stop(
        "E0088", "reduction-type",
        told({
            .what =
                fmt::format("A TMA reduction ({}) names a tensor of {}, which does not have it.",
                            name_of(op), name(b.map->type)),
            .now =
                fmt::format("reduction at {} by {}", text_of(where), name_of(*m.sched.running())),
            .cause = "the tensor's type decides which reductions there are",
            .remedy = "add for f32; add, min and max for f16 and bf16; these and bitwise "
                      "operations for s32",
        }),
        where);
  m.async.issue_in_group(std::move(b));
}

void tma_prefetch(tensor_map const& map, int const* at, int rank, site where) {
  engine_call const inside;
  check_request(map, at, rank, false, where);
}

void tma_store_commit(site) {
  engine_call const inside;
  thread& t = *machine::current().sched.running();
  ++t.bulk_committed;
  if (t.bulk_left.empty()) t.bulk_base = t.bulk_committed - 1;
  while (t.bulk_base + t.bulk_left.size() < t.bulk_committed) t.bulk_left.push_back(0);
}

void tma_store_wait(int pending, bool read_only, site where) {
  engine_call const inside;
  machine& m = machine::current();
  thread& t = *m.sched.running();
  if (t.bulk_committed <= static_cast<std::uint32_t>(pending)) return;
  std::uint32_t const needed = t.bulk_committed - static_cast<std::uint32_t>(pending);
  if (m.log_) m.log_->store_wait(t, needed, read_only);
  bool done = true;
  for (std::uint32_t g = t.bulk_base; g < needed; ++g)
    done = done && t.bulk_left[g - t.bulk_base] == 0;
  if (!done) m.sched.block(wait_kind::bulk_group, &t, needed, where);
  while (t.bulk_base < needed && !t.bulk_left.empty()) {
    t.bulk_left.pop_front();
    ++t.bulk_base;
  }
  t.bulk_known_read = std::max(t.bulk_known_read, needed);
  if (hazard::checker* check = t.block->cluster->check.get())
    check->waited_for_stores(t, needed, !read_only);
}

}  // namespace tw::emu
