// SPDX-License-Identifier: Apache-2.0
// machine.cpp  Fibers and the scheduler: which emulated thread runs next.
#include "emu/machine.hpp"

#include <fmt/format.h>

#include <bit>
#include <cassert>
#include <cstring>
#include <thread>

#include "emu/words.hpp"

namespace tw::emu {

namespace context = boost::context::detail;

thread_local constinit thread_face* self = nullptr;
thread_local constinit bool in_kernel = false;

namespace {

constexpr std::size_t stack_bytes = bytes_per_stack;
// Stacks at equal page offsets would share the same few cache sets: 33 ns a switch instead of 9.
constexpr std::size_t stagger_bytes = 192;
constexpr std::size_t stagger_steps = 61;
constexpr std::size_t smem_bytes_of_cta = 228 * 1024;

thread_local machine* machine_of_this_os_thread = nullptr;

}  // namespace

machine& machine::current() {
  assert(!in_kernel && "a function that kernels call lacks its engine_call");
  return *machine_of_this_os_thread;
}

void machine::thread_main(context::transfer_t from) {
  machine& m = current();
  after_switch(m.running_->stack, m.previous_->stack);
  m.previous_->context = from.fctx;
  in_kernel = true;
  m.grid_.body(m.params_);
  in_kernel = false;
  m.finish_thread();
}

void machine::switch_to(thread* t) {
  previous_ = running_;
  running_ = t;
  self = t;
  before_switch(previous_->stack, t->stack);
  context::transfer_t const from = context::jump_fcontext(t->context, nullptr);
  after_switch(running_->stack, previous_->stack);
  previous_->context = from.fctx;
}

void machine::prepare(cluster_state& c) {
  int const threads = grid_.cluster * grid_.threads;
  c.ctas = std::vector<cta_state>(static_cast<std::size_t>(grid_.cluster));
  c.smem_store = std::make_unique_for_overwrite<std::byte[]>(
      static_cast<std::size_t>(grid_.cluster) * smem_bytes_of_cta + 1024);
  c.stack_store =
      std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(threads) * stack_bytes);
  auto base = reinterpret_cast<std::uintptr_t>(c.smem_store.get());
  base = (base + 1023) & ~std::uintptr_t{1023};
  for (int r = 0; r < grid_.cluster; ++r) {
    cta_state& b = c.ctas[static_cast<std::size_t>(r)];
    b.cluster = &c;
    b.rank = r;
    b.smem = reinterpret_cast<std::byte*>(base + static_cast<std::size_t>(r) * smem_bytes_of_cta);
    b.threads.resize(static_cast<std::size_t>(grid_.threads));
    b.groups = std::vector<warpgroup_state>(static_cast<std::size_t>((grid_.threads + 127) / 128));
  }
}

void machine::start_cluster(cluster_state& c, int id) {
  c.id = id;
  c.finished = false;
  if (banks_) banks_->close(&c);
  c.live_threads = grid_.cluster * grid_.threads;
  c.barrier = {};
  counts_.ctas += grid_.cluster;
  wipe_stacks(c.stack_store.get(),
              static_cast<std::size_t>(grid_.cluster * grid_.threads) * stack_bytes);
  std::size_t stack = 0;
  int warp = c.first_warp;
  for (cta_state& b : c.ctas) {
    b.live_threads = grid_.threads;
    b.mbarriers.clear();
    for (group_barrier& g : b.named) g = {};
    b.acquired_maps.clear();
    std::memset(b.smem, 0xFF, static_cast<std::size_t>(grid_.smem_bytes));  // NaN in every type
    for (std::size_t g = 0; g < b.groups.size(); ++g) {
      auto tiles = std::move(b.groups[g].tiles);
      b.groups[g] = {};
      b.groups[g].tiles = std::move(tiles);
      b.groups[g].block = &b;
      b.groups[g].index = static_cast<int>(g);
    }
    for (int t = 0; t < grid_.threads; ++t) {
      thread& th = b.threads[static_cast<std::size_t>(t)];
      th = {};
      th.id = t;
      th.cta = id * grid_.cluster + b.rank;
      th.cta_count = grid_.ctas;
      th.thread_count = grid_.threads;
      th.cluster_rank = b.rank;
      th.cluster = id;
      th.cluster_count = grid_.ctas / grid_.cluster;
      th.smem = b.smem;
      th.block = &b;
      th.group = &b.groups[static_cast<std::size_t>(t / 128)];
      th.warp_index = warp + t / 32;
      std::byte* top = c.stack_store.get() + (stack + 1) * stack_bytes;
      top -= stack % stagger_steps * stagger_bytes;
      th.context = context::make_fcontext(top, stack_bytes - stagger_steps * stagger_bytes,
                                          &machine::thread_main);
      th.stack = {c.stack_store.get() + stack * stack_bytes, stack_bytes};
      ++stack;
      warp_state& w = warps_[static_cast<std::size_t>(th.warp_index)];
      if (t % 32 == 0) {
        w = {};
        w.first = &th;
      }
      ++w.threads;
      wake(&th);
    }
    warp += (grid_.threads + 31) / 32;
  }
  if (!options_.hazards) {
    c.check = nullptr;
    return;
  }
  if (!c.check) c.check = std::make_unique<hazard::checker>();
  c.check->start(*this, c, grid_, options_);
}

void machine::wake(thread* t) {
  t->waiting = wait_kind::none;
  auto const w = static_cast<std::size_t>(t->warp_index);
  warps_[w].ready |= 1U << (t->id % 32);
  ready_warps_[w / 64] |= std::uint64_t{1} << (w % 64);
}

void machine::wake_all(std::vector<thread*>& waiters) {
  ++progress_;
  for (thread* t : waiters) wake(t);
  waiters.clear();
}

void machine::block(wait_kind kind, void const* object, std::uint32_t value, site where) {
  thread* t = running_;
  t->waiting = kind;
  t->wait_object = object;
  t->wait_value = value;
  t->wait_site = where;
  auto const w = static_cast<std::size_t>(t->warp_index);
  warps_[w].ready &= ~(1U << (t->id % 32));
  if (warps_[w].ready == 0) ready_warps_[w / 64] &= ~(std::uint64_t{1} << (w % 64));
  thread* next = pick_or_stop();
  if (next != t) switch_to(next);
}

void machine::yield(site where) {
  constexpr auto patience = std::chrono::seconds(20);
  constexpr std::int64_t most_polls = 200'000;
  auto const now = std::chrono::steady_clock::now();
  ++polls_;
  if (yield_stamp_ != progress_) {
    yield_stamp_ = progress_;
    polling_since_ = now;
    polls_ = 0;
  } else if (now - polling_since_ > patience || (alone_ && polls_ > most_polls)) {
    diagnosis d = deadlock_report(grid_, clusters_, 9);
    if (d.object.empty())  // no mbarrier lacks anything
      d.text = d.text.substr(0, d.text.find("\n  cause: ")) +
               "\n  cause: nobody who could still run writes what it polls for\n  remedy: check "
               "the value that it compares with, and that those who write it need not wait for it";
    d.text = fmt::format(
        "A thread polls for what never comes.\n  now: poll at {} by {}; no other "
        "thread arrived, copied, multiplied or changed a flag meanwhile{}",
        text_of(where), name_of(*running_),
        d.text.substr(std::min(d.text.size(), d.text.find('\n'))));
    d.where = where;
    diagnoses_.push_back(std::move(d));
    leave_for_good();
  }
  complete_one(options_.policy == async_policy::random);
  thread* t = running_;
  auto const w = static_cast<std::size_t>(t->warp_index);
  std::uint32_t const bit = 1U << (t->id % 32);
  warps_[w].ready &= ~bit;
  if (warps_[w].ready == 0) ready_warps_[w / 64] &= ~(std::uint64_t{1} << (w % 64));
  thread* next = pick();
  warps_[w].ready |= bit;
  ready_warps_[w / 64] |= std::uint64_t{1} << (w % 64);
  if (next == nullptr)
    std::this_thread::yield();  // what it polls for is another OS thread's to do
  else
    switch_to(next);
}

thread* machine::pick() {
  warp_state& same = warps_[static_cast<std::size_t>(current_warp_)];
  if (same.ready != 0) return same.first + std::countr_zero(same.ready);
  if (options_.policy == async_policy::random && (random_() & 3U) == 0) complete_one(true);
  auto const words = ready_warps_.size();
  auto const count = warps_.size();
  auto start = options_.random_warps ? random_() % count
                                     : static_cast<std::size_t>(current_warp_ + 1) % count;
  for (std::size_t i = 0; i <= words; ++i) {
    std::size_t const word = (start / 64 + i) % words;
    std::uint64_t bits = ready_warps_[word];
    if (i == 0) bits &= ~std::uint64_t{0} << (start % 64);
    if (bits == 0) continue;
    current_warp_ = static_cast<int>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
    warp_state& w = warps_[static_cast<std::size_t>(current_warp_)];
    return w.first + std::countr_zero(w.ready);
  }
  return nullptr;
}

bool machine::time_out_try_waits() {
  constexpr int tries_without_progress = 8;
  bool any = false;
  for (auto& c : clusters_)
    for (cta_state& b : c->ctas)
      for (thread& t : b.threads) {
        if (t.waiting != wait_kind::mbarrier_try) continue;
        if (t.timeout_stamp != progress_) t.timeouts = 0;
        if (t.timeouts >= tries_without_progress) continue;
        t.timeout_stamp = progress_;
        ++t.timeouts;
        t.timed_out = true;
        auto& bar = *static_cast<mbarrier_state*>(const_cast<void*>(t.wait_object));
        std::erase(bar.waiters, &t);
        wake(&t);
        any = true;
      }
  return any;
}

thread* machine::pick_or_stop() {
  for (;;) {
    if (thread* t = pick()) return t;
    if (complete_one(options_.policy == async_policy::random)) continue;
    if (time_out_try_waits()) continue;
    if (running_ == &main_) {
      diagnoses_.push_back(deadlock_report(grid_, clusters_));
      stopped_ = true;
      return nullptr;
    }
    diagnoses_.push_back(deadlock_report(grid_, clusters_));
    leave_for_good();
  }
}

void machine::say_who(diagnosis& d, thread const* by) const {
  if (d.thread >= 0) return;
  if (by == nullptr && !landing_ && running_ != &main_) by = running_;
  if (by == nullptr) return;
  d.cta = by->cta;
  d.thread = by->id;
  d.role = by->role;
}

void machine::stop(std::string code, std::string kind, std::string text, site where, about a) {
  diagnosis d;
  d.code = std::move(code);
  d.kind = std::move(kind);
  d.text = std::move(text);
  d.where = where;
  d.object = std::move(a.object);
  d.phase = a.phase;
  d.earlier = a.earlier;
  say_who(d, a.by);
  diagnoses_.push_back(std::move(d));
  leave_for_good();
}

void machine::leave_for_good() {
  stopped_ = true;
  if (running_ == &main_) throw run_ends{};
  switch_to(
      &main_);   // the other fibers are abandoned; their stacks are made anew at the next start
  std::abort();  // not reached: a stopped machine resumes no fiber
}

void machine::plain_access(void const* address, std::size_t bytes, bool write, site where) {
  thread& t = *running_;
  cluster_state& c = *t.block->cluster;
  auto const at = static_cast<std::byte const*>(address) - c.ctas.front().smem;
  if (at < 0 || static_cast<std::size_t>(at) >= c.ctas.size() * smem_bytes_of_cta) {
    if (write)
      for (thread::fragment& f : t.fragments) {
        auto const distance =
            static_cast<std::byte const*>(address) - reinterpret_cast<std::byte const*>(f.at);
        if (distance < static_cast<std::ptrdiff_t>(sizeof(f.value)) &&
            distance + static_cast<std::ptrdiff_t>(bytes) > 0)
          f.changed = where;
      }
    if (c.check && is_global(address))
      c.check->global_plain(t, reinterpret_cast<std::uintptr_t>(address), bytes, write, where);
    return;
  }
  cta_state& owner = c.ctas[static_cast<std::size_t>(at) / smem_bytes_of_cta];
  std::uint32_t const offset = offset_in_smem(owner, address, bytes, where);
  if (owner.live_threads == 0) exited_cta(owner.rank, where);
  ++(write ? counts_.plain_stores : counts_.plain_loads);
  if (banks_ && &owner == t.block)
    banks_->plain(t, warps_[static_cast<std::size_t>(t.warp_index)], offset,
                  static_cast<std::uint32_t>(bytes), write, where);
  if (log_) log_->smem_access(t, act::plain, offset);
  if (c.check) c.check->plain(t, owner, offset, static_cast<std::uint32_t>(bytes), write, where);
}

void machine::leave_undefined(void* p, int bytes, site where) {
  if (bytes <= 0) return;
  cta_state& own = *running_->block;
  auto const count = static_cast<std::uint32_t>(bytes);
  std::uint32_t const offset = offset_in_smem(own, p, count, where);
  std::memset(p, 0xFF, count);
  if (own.cluster->check) own.cluster->check->undefined(*running_, offset, count, where);
}

bool machine::is_global(void const* address) const {
  auto const inside = [at = static_cast<std::byte const*>(address)](void const* from,
                                                                    std::size_t bytes) {
    auto const distance = at - static_cast<std::byte const*>(from);
    return distance >= 0 && static_cast<std::size_t>(distance) < bytes;
  };
  thread const& t = *running_;
  cluster_state const& c = *t.block->cluster;
  if (inside(c.stack_store.get(), c.ctas.size() * t.block->threads.size() * stack_bytes) ||
      inside(&self, sizeof(self)) || inside(&t, sizeof(t)) || inside(params_, grid_.params_bytes))
    return false;
  for (auto const& tile : t.group->tiles)
    if (inside(tile.get(), sizeof(*tile))) return false;
  return true;
}

void machine::report(diagnosis d) {
  say_who(d, nullptr);
  for (diagnosis& old : diagnoses_)
    if (same_hazard(old, d)) {
      ++old.count;
      return;
    }
  if (static_cast<int>(diagnoses_.size()) + 1 < options_.most_reports) {
    diagnoses_.push_back(std::move(d));
    return;
  }
  diagnoses_.push_back(std::move(d));
  leave_for_good();
}

void machine::finish_thread() {
  thread* t = running_;
  if (t->bulk_committed != t->bulk_known_read ||
      (!t->bulk_left.empty() && t->bulk_base + t->bulk_left.size() > t->bulk_committed))
    stop("E0011", "exit-with-pending-tma-store",
         told({
             .what = "A thread ends with TMA stores that it never waited for.",
             .now = "end of " + name_of(*t),
             .earlier = "last store at " + text_of(t->bulk_site),
             .cause = "the next CTA may get the shared memory while the stores still read it",
             .remedy = "tma_store_wait_read<0>() in the thread that stored, before the kernel ends",
         }),
         t->bulk_site);
  if (t->wgmma_groups != t->wgmma_known_done)
    stop(
        "E0012", "exit-with-pending-wgmma",
        told({
            .what = fmt::format("A thread ends with {} wgmma groups that it never waited for.",
                                t->wgmma_groups - t->wgmma_known_done),
            .now = "end of " + name_of(*t),
            .earlier = "last commit at " + text_of(t->commit_site),
            .cause = "their sums are lost, and the operands may be overwritten while they are read",
            .remedy = "wgmma_wait<0>() before the warpgroup ends",
        }),
        t->commit_site);
  if (t->map_unreleased) stop_at_unreleased_map(*t);
  ++progress_;
  t->waiting = wait_kind::finished;
  auto const w = static_cast<std::size_t>(t->warp_index);
  warps_[w].ready &= ~(1U << (t->id % 32));
  if (warps_[w].ready == 0) ready_warps_[w / 64] &= ~(std::uint64_t{1} << (w % 64));
  cluster_state& c = *t->block->cluster;
  --t->block->live_threads;
  --c.live_threads;
  if (c.check) c.check->exits(*t, t->block->live_threads == 0);
  if (c.live_threads > 0) {
    if (c.barrier.arrived > 0 && c.barrier.arrived >= c.live_threads)
      finish_round(c.barrier, c.check.get());
    switch_to(pick_or_stop());
  } else {
    drain(c);
    c.finished = true;
    switch_to(&main_);
  }
  std::abort();  // not reached: a finished thread is never resumed
}

std::vector<diagnosis> machine::run(grid const& g, void const* params, options const& o,
                                    std::function<int()> const& next, int live, std::uint64_t seed,
                                    std::function<void(double)> const& macs_done,
                                    hazard::global_memory* memory, bool alone) {
  [[maybe_unused]] leaks_allowed const abandoned_fibers;
  bool const same_shape = grid_.cluster == g.cluster && grid_.threads == g.threads;
  grid_ = g;
  options_ = o;
  log_ = o.record != nullptr ? &o.record->log() : nullptr;
  random_.seed(seed);
  counts_ = {};
  counts_.smem_bytes = g.smem_bytes;
  counts_.cluster = g.cluster;
  counts_.plain_accesses_seen = g.plain_accesses_seen;
  counts_.hazards = o.hazards;
  banks_ = o.bank_conflicts || o.banks != nullptr ? std::make_unique<bank_meter>(grid_) : nullptr;
  params_ = params;
  next_ = &next;
  macs_done_ = &macs_done;
  diagnoses_.clear();
  stopped_ = landing_ = false;
  polling_since_ = std::chrono::steady_clock::now();
  pending_ops_.clear();
  pending_groups_.clear();
  pending_copies_.clear();
  memory_ = memory;
  alone_ = alone;
  polls_ = 0;
  maps_.clear();
  acquired_descs_.clear();
  machine* const outer = machine_of_this_os_thread;
  thread_face* const outer_self = self;
  machine_of_this_os_thread = this;
  running_ = &main_;

  warps_.clear();  // their barriers hold clocks of the clusters
  if (!same_shape) clusters_.clear();
  int const warps_per_cluster = g.cluster * ((g.threads + 31) / 32);
  while (static_cast<int>(clusters_.size()) < live) {
    clusters_.push_back(std::make_unique<cluster_state>());
    prepare(*clusters_.back());
  }
  clusters_.resize(static_cast<std::size_t>(live));
  warps_.assign(static_cast<std::size_t>(live * warps_per_cluster), {});
  ready_warps_.assign((warps_.size() + 63) / 64, 0);
  current_warp_ = 0;
  live_clusters_ = 0;
  for (int i = 0; i < live; ++i) {
    clusters_[static_cast<std::size_t>(i)]->first_warp = i * warps_per_cluster;
    int const id = next();
    if (id < 0) break;
    start_cluster(*clusters_[static_cast<std::size_t>(i)], id);
    ++live_clusters_;
  }
  while (live_clusters_ > 0 && !stopped_) {
    thread* t = nullptr;
    try {
      t = pick_or_stop();
    } catch (run_ends const&) {
    }
    if (t == nullptr) break;
    switch_to(t);
    self = nullptr;
    for (auto& c : clusters_) {
      if (!c->finished) continue;
      c->finished = false;
      int const id = next();
      if (id >= 0) {
        start_cluster(*c, id);
      } else {
        --live_clusters_;
      }
    }
  }
  if (banks_) banks_->close(nullptr);
  machine_of_this_os_thread = outer;
  self = outer_self;
  return diagnoses_;
}

}  // namespace tw::emu
