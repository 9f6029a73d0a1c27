// SPDX-License-Identifier: Apache-2.0
// log.cpp  The recording that the emulator makes while it runs.
#include "emu/machine/trace_log.hpp"

#include <fmt/format.h>

#include <utility>

#include "emu/machine/machine.hpp"
#include "emu/trace/costs.hpp"
#include "emu/umma/umma.hpp"

namespace tw::emu {

namespace {

/// "a[1]" of "a[1] of CTA 3": rows and details say the CTA.
std::string object_of(grid const& g, cta_state const& c, std::uint32_t offset) {
  std::string text = object_name(g, c, offset);
  return text.substr(0, text.rfind(" of CTA "));
}

}  // namespace

trace::trace(std::size_t most_events) : log_(std::make_unique<trace_log>(most_events)) {}
trace::~trace() = default;
trace::trace(trace&&) noexcept = default;
trace& trace::operator=(trace&&) noexcept = default;

void trace_log::begin(grid const& g, options const& o) {
  shape = g;
  policy = o.policy;
  seed = o.seed;
  random_warps = o.random_warps;
  faulty = false;
  events = left_out = 0;
  groups_per_cta = (g.threads + 127) / 128;
  threads.assign(static_cast<std::size_t>(g.ctas) * static_cast<std::size_t>(g.threads), {});
  warpgroups.assign(static_cast<std::size_t>(g.ctas * groups_per_cta), {});
  for (std::size_t i = 0; i < warpgroups.size(); ++i) {
    warpgroups[i].cta = static_cast<int>(i) / groups_per_cta;
    warpgroups[i].index = static_cast<int>(i) % groups_per_cta;
  }
  barriers.clear();
  copies.clear();
  commits.clear();
  readings.clear();
  ids_.clear();
}

trace_log::thread_log& trace_log::log_of(thread const& t) {
  return threads[static_cast<std::size_t>(t.cta) * static_cast<std::size_t>(shape.threads) +
                 static_cast<std::size_t>(t.id)];
}

bool trace_log::add(thread const& t, trace_event e) {
  thread_log& l = log_of(t);
  if (events >= most_events || l.cut) {
    ++left_out;
    l.cut = true;
    return false;
  }
  if (l.role.empty() && *t.role != 0) l.role = t.role;
  ++events;
  l.events.push_back(e);
  return true;
}

std::uint32_t trace_log::made(std::uint64_t owner, void const* b, barrier_log made) {
  auto const index = static_cast<std::uint32_t>(barriers.size());
  ids_.emplace(key{owner, b}, index);
  barriers.push_back(std::move(made));
  return index;
}

std::uint32_t trace_log::id_of(cta_state const& owner, mbarrier_state const& b) {
  int const cta = owner.threads.front().cta;
  auto const found = ids_.find({static_cast<std::uint64_t>(cta), &b});
  if (found != ids_.end()) return found->second;
  return made(static_cast<std::uint64_t>(cta), &b,
              {barrier_log::kind::mbarrier, cta, object_of(shape, owner, b.offset), {}});
}

std::uint32_t trace_log::id_of(thread const& t, group_barrier const& b) {
  using kind = barrier_log::kind;
  cta_state const& c = *t.block;
  bool const whole_cluster = &b == &c.cluster->barrier;
  int const cta = whole_cluster ? t.cta - t.cluster_rank : t.cta;
  auto const found = ids_.find({static_cast<std::uint64_t>(cta), &b});
  if (found != ids_.end()) return found->second;
  barrier_log l{kind::warp, cta, fmt::format("warp barrier of warp {}", t.id / 32), {}};
  if (whole_cluster) l = {kind::cluster, cta, "cluster barrier", {}};
  for (int i = 0; i < 16; ++i)
    if (&b == &c.named[i])
      l = {i == 0 ? kind::cta : kind::named,
           cta,
           i == 0 ? std::string("CTA barrier") : fmt::format("named barrier {}", i),
           {}};
  return made(static_cast<std::uint64_t>(cta), &b, std::move(l));
}

barrier_log::round& trace_log::round_of(std::uint32_t barrier, std::uint32_t round) {
  auto& rounds = barriers[barrier].rounds;
  if (rounds.size() <= round) rounds.resize(round + 1);
  return rounds[round];
}

void trace_log::arrive(thread const& t, cta_state const& owner, mbarrier_state const& b) {
  std::uint32_t const id = id_of(owner, b);
  // Counted also when the event is left out: the round then never ends in the model.
  ++round_of(id, b.phase).arrivals;
  add(t, {act::arrive, 1, id, static_cast<std::int32_t>(b.phase)});
}

void trace_log::wait(thread const& t, mbarrier_state const& b, std::int32_t round) {
  if (round >= 0) round_of(id_of(*t.block, b), static_cast<std::uint32_t>(round));
  add(t, {act::wait, 1, id_of(*t.block, b), round});
}

void trace_log::store_async(thread const& t, cta_state const& owner, mbarrier_state const& b) {
  std::uint32_t const id = id_of(owner, b);
  ++round_of(id, b.phase).landings;
  add(t, {act::store_async, 1, id, static_cast<std::int32_t>(b.phase)});
}

void trace_log::phase_done(cta_state const& owner, mbarrier_state const& b) {
  round_of(id_of(owner, b), b.phase).done = true;
}

void trace_log::arrive(thread const& t, group_barrier const& b) {
  std::uint32_t const id = id_of(t, b);
  ++round_of(id, b.generation).arrivals;
  add(t, {act::arrive, 1, id, static_cast<std::int32_t>(b.generation)});
}

void trace_log::wait(thread const& t, group_barrier const& b, std::uint32_t round) {
  add(t, {act::wait, 1, id_of(t, b), static_cast<std::int32_t>(round)});
}

void trace_log::round_done(thread const& t, group_barrier const& b) {
  round_of(id_of(t, b), b.generation).done = true;
}

std::uint32_t trace_log::copy(thread const& t, bulk_op const& op) {
  auto const index = static_cast<std::uint32_t>(copies.size());
  if (!add(t, {act::copy, 1, index, 0})) return ~0U;
  copy_log l;
  l.load = op.fills_smem();
  l.add = op.what == bulk_op::kind::reduce;
  l.cta = t.cta;
  l.thread = static_cast<std::uint32_t>(&log_of(t) - threads.data());
  l.group = op.group;
  l.cta_mask = op.cta_mask;
  l.bytes = op.map->box_bytes();
  l.box = object_of(shape, *op.cta, op.smem_offset);
  copies.push_back(std::move(l));
  return index;
}

void trace_log::landed(std::uint32_t copy_index, cta_state const& owner, mbarrier_state const& b) {
  std::uint32_t const id = id_of(owner, b);
  ++round_of(id, b.phase).landings;
  if (copy_index != ~0U)
    copies[copy_index].landings.push_back({id, static_cast<std::int32_t>(b.phase)});
}

void trace_log::store_wait(thread const& t, std::uint32_t groups, bool read_only) {
  add(t, {read_only ? act::store_read_wait : act::store_wait, 1, 0,
          static_cast<std::int32_t>(groups)});
}

void trace_log::commit(thread const& t, std::uint32_t group) {
  auto const w = static_cast<std::uint32_t>(t.cta * groups_per_cta + t.id / 128);
  auto& groups = warpgroups[w].groups;
  if (groups.size() <= group) groups.resize(group + 1);
  ++groups[group].commits;
  add(t, {act::commit, 1, w, static_cast<std::int32_t>(group)});
}

void trace_log::issued(warpgroup_state const& w, std::uint32_t group, std::size_t first,
                       std::size_t last) {
  int const cta = w.block->threads.front().cta;
  auto const at = static_cast<std::size_t>(cta * groups_per_cta + w.index);
  group_log& g = warpgroups[at].groups[group];
  g.issued = true;
  g.steps = static_cast<int>(last - first);
  for (std::size_t i = first; i < last; ++i) {
    wgmma_call const& c = w.steps[i].call;
    g.n = c.form.n;
    g.cycles += cost::multiply_step(c.form.n);
    if (i != first) continue;
    if (!c.a_in_registers)
      g.operands = object_of(shape, *w.block, c.a.address() - smem_base) + ", ";
    g.operands += object_of(shape, *w.block, c.b.address() - smem_base);
  }
}

void trace_log::group_wait(thread const& t, std::uint32_t groups) {
  auto const w = static_cast<std::uint32_t>(t.cta * groups_per_cta + t.id / 128);
  add(t, {act::group_wait, 1, w, static_cast<std::int32_t>(groups)});
}

void trace_log::multiply(thread const& t, umma_shape const& shape, umma_call const& call) {
  commit_log& c = log_of(t).issued;
  if (c.steps++ == 0) {
    cta_state const& own = *t.block;
    auto const name = [&](std::uint64_t descriptor) {
      return object_of(this->shape, own, as_wgmma_desc(descriptor).address() - smem_base);
    };
    c.operands = (call.a_in_tmem ? "" : name(call.a) + ", ") + name(call.b);
  }
  c.m = shape.m;
  c.n = shape.n;
  c.ctas = shape.ctas;
  c.cycles += cost::multiply_step(shape.n);
}

std::uint32_t trace_log::tensor_commit(thread const& t) {
  auto const index = static_cast<std::uint32_t>(commits.size());
  commit_log c = std::exchange(log_of(t).issued, {});
  if (!add(t, {act::tensor_commit, 1, index, 0})) return ~0U;
  c.cta = t.cta - (c.ctas == 2 ? t.cluster_rank % 2 : 0);
  commits.push_back(std::move(c));
  return index;
}

void trace_log::committed(std::uint32_t commit_index, cta_state const& owner,
                          mbarrier_state const& b) {
  std::uint32_t const id = id_of(owner, b);
  ++round_of(id, b.phase).landings;
  if (commit_index != ~0U)
    commits[commit_index].landings.push_back({id, static_cast<std::int32_t>(b.phase)});
}

void trace_log::access(thread const& t, act what, std::uint32_t offset) {
  thread_log& l = log_of(t);
  if (!l.cut && !l.events.empty() && l.events.back().what == what &&
      l.events.back().count < 0xFFFF) {
    ++l.events.back().count;
    return;
  }
  add(t, {what, 1, 0, static_cast<std::int32_t>(offset)});
}

void trace_log::clock(thread const& t, std::uint64_t reading) {
  if (add(t, {act::clock, 1, 0, static_cast<std::int32_t>(readings.size())}))
    readings.push_back(reading);
}

}  // namespace tw::emu
