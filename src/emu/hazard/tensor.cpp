// SPDX-License-Identifier: Apache-2.0
// tensor.cpp  The order of tcgen05 operations in tensor memory.
//
// Multiplies, loads and stores are asynchronous. A multiply is known to be complete if a thread
// has waited for an mbarrier that a later commit arrives at; a load or store if its warp has
// waited for it. For an operation of another thread, complete or not, tcgen05.fence is needed on
// both sides of the synchronisation: ::before_thread_sync, which a commit implies, lets a thread
// tell of its operations at its next arrive; ::after_thread_sync takes in what a wait has brought.
// Multiplies into the same accumulator with the same shape follow one another without completion,
// and multiplies follow copies. A copy over columns that earlier operations of the same thread use
// comes after them if a commit or ::before_thread_sync lies between: a reading of "Memory
// Consistency Model", which lists no order of the two and gives that fence one.
// Source: PTX ISA, "Memory Consistency Model for 5th generation of TensorCore operations".
#include <fmt/format.h>

#include <algorithm>

#include "emu/machine/checker.hpp"
#include "emu/machine/machine.hpp"

namespace tw::emu::hazard {

namespace {

constexpr std::uint32_t cells_of_group = tmem_columns;  // cells of the same 16 lanes
constexpr std::uint32_t groups_of_lanes = tmem_lanes / lanes_of_cell;

}  // namespace

void checker::begin_tensor() {
  if (tensor_) return;
  tensor_ = std::make_unique<tensor_memory_order>();
  auto const warps = static_cast<std::size_t>(grid_.cluster * ((threads_ + 31) / 32));
  tensor_->loads.assign(warps, 0);
  tensor_->stores.assign(warps, 0);
  tensor_->tags.assign(1, {});
  tensor_->factors.resize(static_cast<std::size_t>(grid_.cluster));
  for (auto& columns : tensor_->factors) columns.resize(tmem_columns);
  tensor_->last_factors.resize(static_cast<std::size_t>(grid_.cluster));
  tensor_->cells.resize(static_cast<std::size_t>(grid_.cluster));
  tensor_->allocated.resize(static_cast<std::size_t>(grid_.cluster));
  tensor_->freed_by_peer.resize(static_cast<std::size_t>(grid_.cluster));
  for (shadow& s : tensor_->cells) s.reset(groups_of_lanes * cells_of_group * cell_bytes);
  for (cta_state& b : cluster_->ctas)
    for (thread& t : b.threads) t.tensor.taken = t.tensor.received = pool_.zero();
}

component checker::warp_component(thread const& t, bool stores) {
  auto const warp = static_cast<std::size_t>(t.cluster_rank * ((threads_ + 31) / 32) + t.id / 32);
  return new_component(
      (stores ? tensor_->stores : tensor_->loads)[warp],
      stores ? component_face::kind::tensor_stores : component_face::kind::tensor_loads, t);
}

void checker::tensor_fence(thread& t, bool before) {
  begin_tensor();
  tensor_actor& a = t.tensor;
  if (!before) {
    a.taken = a.received;  // which holds all that was taken before
    return;
  }
  if (t.tensor_ops) a.ordered = t.tensor_ops->begun;
  a.loads_ordered = a.loads_waited;
  a.stores_ordered = a.stores_waited;
}

void checker::tmem_waited(thread& t, bool stores, std::uint32_t count) {
  if (count == 0) return;
  (stores ? t.tensor.stores_waited : t.tensor.loads_waited) = count;
  learn(t, warp_component(t, stores), count, other_memory_);
}

void checker::note_arrive(thread& t) const {
  tensor_actor& a = t.tensor;
  tensor_warp const& w = machine_->sched.warp_of(t).tensor;
  stamp const own = t.actor.own;
  if (w.loads > a.loads_waited) a.early_loads = {a.loads_waited, w.loads, own};
  if (w.stores > a.stores_waited) a.early_stores = {a.stores_waited, w.stores, own};
  a.arrived = own;
}

void checker::tensor_arrive(thread& t, exchange& x) {
  tensor_actor const& a = t.tensor;
  // A barrier of the warp alone leads to no other one.
  if (&x != &machine_->sched.warp_of(t).barrier.known) note_arrive(t);
  x.tensor_in.add(a.received);
  if (a.ordered != 0) x.tensor_in.add(a.ops, a.ordered, 0);
  if (a.loads_ordered != 0)
    x.tensor_in.add(warp_component(t, false), a.loads_ordered, a.loads_ordered);
  if (a.stores_ordered != 0)
    x.tensor_in.add(warp_component(t, true), a.stores_ordered, a.stores_ordered);
}

std::uint16_t checker::accumulator_tag(umma_call const& call) {
  constexpr std::uint32_t shape = 0x3FU << 17 | 0x1FU << 24;
  std::array<std::uint32_t, 2> const tag{call.d, (call.idesc & shape) |
                                                     static_cast<std::uint32_t>(call.kind) << 4 |
                                                     static_cast<std::uint32_t>(call.ctas)};
  auto const it = std::ranges::find(tensor_->tags, tag);
  if (it != tensor_->tags.end()) return static_cast<std::uint16_t>(it - tensor_->tags.begin());
  tensor_->tags.push_back(tag);
  return static_cast<std::uint16_t>(tensor_->tags.size() - 1);
}

checker::tensor_verdict checker::judge_tensor(thread const& t, record const& now,
                                              record const& earlier) const {
  tensor_actor const& a = t.tensor;
  bool const of_multiply = now.what == access::umma_write || now.what == access::umma_a_read ||
                           now.what == access::umma_scale_read;
  bool const pipelined = (now.what == access::umma_write && earlier.what == access::umma_write &&
                          now.origin == earlier.origin) ||
                         (of_multiply && earlier.what == access::tmem_copy_write);
  component_face const& of = faces_[earlier.who];
  bool const own_warp = of.cta == t.cluster_rank && of.index / 32 == t.id / 32;
  if (of.what == component_face::kind::tensor_loads && own_warp && a.loads_waited >= earlier.when)
    return tensor_verdict::ordered;
  if (of.what == component_face::kind::tensor_stores && own_warp && a.stores_waited >= earlier.when)
    return tensor_verdict::ordered;
  if (pipelined && earlier.who == a.ops) return tensor_verdict::ordered;
  // A copy over what earlier operations of the thread use: a commit or a fence lies between.
  if (now.what == access::tmem_copy_write && earlier.who == a.ops && a.ordered >= earlier.when)
    return tensor_verdict::ordered;
  auto const has = [&](clock_ref const& c) {
    return (pipelined ? c->happened(earlier.who) : c->passed_fence(earlier.who)) >= earlier.when;
  };
  bool const known = t.actor.known->happened(earlier.who) >= earlier.when;
  // The barriers of an allocation's end need no fence: tcgen05.dealloc is synchronous.
  bool const fences =
      options_.tensor_fences == tensor_order::strict && now.what != access::tmem_free;
  if (has(a.taken) || (!fences && (has(a.received) || known))) return tensor_verdict::ordered;
  if (has(a.received)) return tensor_verdict::needs_after;
  return known ? tensor_verdict::needs_before : tensor_verdict::unordered;
}

template <class F>
void checker::each_cell(tmem_area const& a, F&& f) {
  for (int lane = a.lane; lane < a.lane + a.lanes; lane += lanes_of_cell)
    each_block((static_cast<std::uint32_t>(lane / lanes_of_cell) * cells_of_group +
                static_cast<std::uint32_t>(a.column)) *
                   cell_bytes,
               static_cast<std::uint32_t>(a.columns) * cell_bytes, f);
}

void checker::tensor_access(thread const* const* threads, int count, cta_state& owner,
                            tmem_area const& a, record const& r, bool accumulates) {
  shadow& s = tensor_->cells[static_cast<std::size_t>(owner.rank)];
  bool clean = true;  // one report for an instruction
  for (auto const& f : tensor_->freed_by_peer[static_cast<std::size_t>(owner.rank)]) {
    if (r.what == access::tmem_free || a.column >= f.first + f.columns ||
        f.first >= a.column + a.columns)
      continue;
    std::string const place = fmt::format("tensor memory of CTA {}, column {}",
                                          owner.threads.front().cta, std::max(a.column, f.first));
    report_pair_freed(place, r, f.by, **threads);
    clean = false;
    break;
  }
  each_cell(a, [&](touched at) {
    s.each_earlier(at, is_write(r.what), [&](record const& earlier) {
      for (int i = 0; i < count && clean; ++i) {
        tensor_verdict const v = judge_tensor(*threads[i], r, earlier);
        if (v == tensor_verdict::ordered) continue;
        report_tensor(owner, at, earlier.mask & at.cells, earlier, r, *threads[i], v);
        clean = false;
      }
      return clean;
    });
    if (clean && r.what != access::tmem_free && (!is_write(r.what) || accumulates))
      if (std::uint64_t const none = s.unwritten(at); none != 0) {
        report_tensor_unwritten(owner, at, none, r, *threads[0]);
        clean = false;
      }
    s.note(at, r);
  });
}

void checker::tmem_moved(thread& t, cta_state& owner, tmem_area const& a, bool store,
                         std::uint32_t when, site where) {
  begin_tensor();
  record r;
  r.who = warp_component(t, store);
  r.when = when;
  r.what = store ? access::tmem_store : access::tmem_load;
  r.where = where;
  // Lanes that know the same are judged once.
  thread const* lanes[32];
  int count = 0;
  thread const* const first = machine_->sched.warp_of(t).first;
  for (thread const* x = first; x < first + machine_->sched.warp_of(t).threads; ++x) {
    bool const same = count > 0 && x->tensor.taken == lanes[count - 1]->tensor.taken &&
                      x->tensor.received == lanes[count - 1]->tensor.received &&
                      x->actor.known == lanes[count - 1]->actor.known &&
                      x->tensor.loads_waited == lanes[count - 1]->tensor.loads_waited &&
                      x->tensor.stores_waited == lanes[count - 1]->tensor.stores_waited &&
                      x->tensor.ops == lanes[count - 1]->tensor.ops;
    if (!same) lanes[count++] = x;
  }
  tensor_access(lanes, count, owner, a, r, false);
  if (store) renew_factors(owner, a.column, a.columns);
}

void checker::renew_factors(cta_state const& owner, int first, int columns) {
  auto& factors = tensor_->factors[static_cast<std::size_t>(owner.rank)];
  for (int i = first; i < first + columns; ++i) {
    factors[static_cast<std::size_t>(i)] = {};
    factors[static_cast<std::size_t>(i)].stored = true;
  }
}

void checker::tmem_renewed(cta_state& owner, int first, int columns) {
  begin_tensor();
  shadow& s = tensor_->cells[static_cast<std::size_t>(owner.rank)];
  each_cell({0, tmem_lanes, first, columns}, [&](touched at) { s.forget(at); });
  std::erase_if(tensor_->freed_by_peer[static_cast<std::size_t>(owner.rank)],
                [&](tensor_memory_order::freed const& f) {
                  return f.first < first + columns && first < f.first + f.columns;
                });
}

void checker::tmem_allocated(thread& t, site where) {
  record& r = tensor_->allocated[static_cast<std::size_t>(t.cluster_rank)];
  r.who = thread_component(t);
  r.when = t.actor.own;
  r.what = access::plain_write;  // of the address
  r.where = where;
}

bool checker::has_allocated(thread const& t, cta_state const& peer) const {
  record const& begun = tensor_->allocated[static_cast<std::size_t>(peer.rank)];
  if (t.actor.known->happened(begun.who) >= begun.when) return begun.when != 0;
  // Who has loaded or stored there has known the address.
  auto const warps = static_cast<std::size_t>((threads_ + 31) / 32);
  auto const first = static_cast<std::size_t>(peer.rank) * warps;
  for (std::size_t w = first; w < first + warps; ++w)
    for (component const c : {tensor_->loads[w], tensor_->stores[w]})
      if (c != 0 && t.actor.known->happened(c) != 0) return true;
  return false;
}

void checker::tmem_freed_for_peer(thread& t, cta_state& peer, int first, int columns, site where) {
  record r;
  r.who = thread_component(t);
  r.when = t.actor.own;
  r.what = access::tmem_free;
  r.where = where;
  shadow& s = tensor_->cells[static_cast<std::size_t>(peer.rank)];
  bool clean = true;  // one report for an instruction
  each_cell({0, tmem_lanes, first, columns}, [&](touched at) {
    if (!clean) return;
    s.each_earlier(at, true, [&](record const& earlier) {
      clean = judge_tensor(t, r, earlier) == tensor_verdict::ordered;
      if (clean) return true;
      std::string const place = tensor_object(peer, at, earlier.mask & at.cells);
      if (!blame_scope(place, earlier, r, t)) report_pair_freed(place, earlier, r, t);
      return false;
    });
  });
  if (clean && !has_allocated(t, peer))
    report_pair_freed_early(peer, tensor_->allocated[static_cast<std::size_t>(peer.rank)], r, t);
  if (peer.tensor && peer.tensor->of_column(first) == nullptr) return;  // it gave them back before
  tensor_->freed_by_peer[static_cast<std::size_t>(peer.rank)].push_back({first, columns, r});
}

void checker::tmem_freed(thread& t, cta_state& owner, int first, int columns, site where) {
  record r;
  r.who = thread_component(t);
  r.when = t.actor.own;
  r.what = access::tmem_free;
  r.where = where;
  thread const* const self[] = {&t};
  tensor_access(self, 1, owner, {0, tmem_lanes, first, columns}, r, false);
  tmem_renewed(owner, first, columns);
}

void checker::commit(thread& t, tensor_op& op) {
  begin_tensor();
  tensor_actor& a = t.tensor;
  new_component(a.ops, component_face::kind::tensor, t);
  tensor_fence(t, true);  // a commit implies it
  note_arrive(t);
  op.known = t.actor.known;
  op.ordered = a.received;
  if (a.loads_ordered != 0)
    op.ordered = pool_.with(op.ordered, warp_component(t, false), a.loads_ordered);
  if (a.stores_ordered != 0)
    op.ordered = pool_.with(op.ordered, warp_component(t, true), a.stores_ordered);
  for (tensor_op::arrive const& to : op.arrives) {
    counts(t, *to.at, "a commit", op.where);
    if (t.tensor_ops->begun == 0)
      tensor_->empty_commits.push_back(
          {&t, to.at->face.phases, object(*to.cta, to.at->offset), op.where});
  }
}

void checker::committed(thread& t, tensor_op const& op, mbarrier_state& b) {
  mbarrier_face& f = b.face;
  component const asynchronous = static_cast<component>(grid_.cluster * threads_);
  for (exchange* const x : {&f.own, f.wide ? &f.all : nullptr}) {
    if (x == nullptr) continue;
    x->in.add(t.tensor.ops, op.until, op.until);
    // The copies that the multiplies have read are complete too.
    x->in.add_from(op.known, asynchronous);
    x->tensor_in.add(op.ordered);
    x->tensor_in.add(t.tensor.ops, op.until, op.until);
  }
}

}  // namespace tw::emu::hazard
