// SPDX-License-Identifier: Apache-2.0
// async.cpp  TMA copies: issue, the queue of unfinished work, completion.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "emu/elements/box.hpp"
#include "emu/elements/reduce.hpp"
#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"

namespace tw::emu {

namespace {

/// "A TMA load": what fills shared memory, as a sentence begins.
std::string copy_name(bulk_op const& op) {
  std::string name = hazard::traits(hazard::written_by(op)).noun;
  name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return name;
}

}  // namespace

void async_engine::report_other_phase(cta_state const& c, mbarrier_state const& b,
                                      bulk_op const& op, std::uint32_t issued) {
  std::string const place = object_name(m_.grid_, c, b.offset);
  diagnosis d;
  d.code = "E0032";
  d.kind = "expect-tx-mismatch";
  d.text = report_text({
      .what = fmt::format("{} that was issued in phase {} of {} lands in phase {}.", copy_name(op),
                          issued, place, b.phase),
      .now = fmt::format("issued at {} by {}", text_of(op.where), name_of(*op.issuer)),
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
  d.text = report_text({
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
                                    static_cast<std::size_t>(box_smem_bytes(*op.map)),
                                    copy_name(op).c_str(), op.where);
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
  // than the swizzle span is never written; these boxes are not poisoned.)
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
    m_.reports.landing = true;  // stays so if a report ends the run
    if (c.cluster->check && b.phase != op.issue_phase[c.rank])
      report_other_phase(of_bar, b, op, op.issue_phase[c.rank]);
    if (m_.log_) m_.log_->landed(op.traced_as, of_bar, b);
    b.copiers.add(*op.issuer);
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

void async_engine::to_ctas(bulk_op& op, std::uint32_t cta_mask) {
  op.cta_mask = cta_mask;
  ++m_.counts_.multicasts;
  if (cta_mask != 0 && cta_mask >> op.cta->cluster->ctas.size() == 0) return;
  m_.reports.stop(
      "E0007", "bad-cluster-rank",
      report_text({
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

}  // namespace tw::emu
