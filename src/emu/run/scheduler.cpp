// SPDX-License-Identifier: Apache-2.0
// scheduler.cpp  Fibers and their order.
#include "emu/machine/scheduler.hpp"

#include <fmt/format.h>

#include <bit>
#include <new>
#include <thread>
#include <utility>

#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"
#include "emu/run/run_guard.hpp"

namespace tw::emu {

thread_local constinit thread_face* self = nullptr;
thread_local constinit bool in_kernel = false;
constinit std::atomic<int> kernels_running = 0;
thread_local constinit std::byte const* stack_limit = nullptr;

void stack_overflow() {
  run_guard::leave_overflowing();
  machine& m = machine::current();  // without a guard: no room to look up the line
  m.reports.stop("E0060", "stack-overflow", stack_overflow_text(name_of(*m.sched.running())), {});
}

namespace {

constexpr std::size_t driver_stack_bytes = 1 << 20;  // it calls options::progress, a user's code

}  // namespace

void scheduler::begin(std::size_t warps, std::uint64_t seed, bool alone,
                      std::atomic<bool> const& interrupted) {
  interrupted_ = &interrupted;
  random_.seed(seed);
  alone_ = alone;
  stopped_ = false;
  polls_ = 0;
  polling_since_ = std::chrono::steady_clock::now();
  warps_.assign(warps, {});
  ready_warps_.assign((warps + 63) / 64, 0);
  current_warp_ = 0;
}

void scheduler::run(void (*drive)()) {
  [[maybe_unused]] leaks_allowed const abandoned_fibers;
  if (!driver_stack_)
    driver_stack_ = std::make_unique_for_overwrite<std::byte[]>(driver_stack_bytes);
  wipe_stacks(driver_stack_.get(), driver_stack_bytes);
  drive_ = drive;
  running_ = nullptr;
  thrown_ = nullptr;
  driver_.start(driver_stack_.get(), driver_stack_bytes, 0, &scheduler::driver_main);
  fiber::switch_to(host_, driver_);
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void scheduler::driver_main() {
  scheduler& s = machine::current().sched;
  try {
    s.drive_();
  } catch (...) {
    s.thrown_ = std::current_exception();
  }
  s.stopped_ = true;
  fiber::leave(s.driver_, s.host_);
}

void scheduler::thread_main() {
  machine& m = machine::current();
  try {
    thread const& t = *m.sched.running();
    if (t.cluster >= m.clusters_of_device() * m.layout_.devices) {
      m.run_queue();
    } else {
      in_kernel = true;
      m.grid_.body(m.params_of(t.device));
      in_kernel = false;
    }
    m.finish_thread();
  } catch (std::bad_alloc const&) {  // others, of the kernel, are diagnosed where they are thrown
    m.sched.thrown_ = std::current_exception();
  }
  in_kernel = false;
  m.sched.leave_for_good();
}

void scheduler::start(thread& t, stacks const& of_cluster, std::size_t index) {
  t.context.start(of_cluster.lowest(index), stacks::usable_bytes,
                  index % stagger_steps * stagger_bytes, &scheduler::thread_main);
  wake(&t);
}

void scheduler::switch_to(thread* t) {
  if (interrupted_->load(std::memory_order_relaxed)) leave_for_good();
  m_.tensor.complete_held();
  fiber& from = running_ == nullptr ? driver_ : running_->context;
  running_ = t;
  self = t;
  stack_limit = t == nullptr ? nullptr : t->context.lowest() + engine_stack_bytes;
  fiber::switch_to(from, t == nullptr ? driver_ : t->context);
}

void scheduler::resume() { switch_to(pick_or_stop()); }

void scheduler::leave_for_good() {
  stopped_ = true;
  fiber& from = running_ == nullptr ? driver_ : running_->context;
  running_ = nullptr;
  self = nullptr;
  fiber::leave(from, host_);  // a stopped machine resumes no fiber
}

void scheduler::finished(thread& t, bool last_of_cluster) {
  ++progress_;
  t.waiting = wait_kind::finished;
  set_ready(t, false);
  switch_to(last_of_cluster ? nullptr : pick_or_stop());
  std::abort();  // not reached: a finished thread is never resumed
}

void scheduler::set_ready(thread const& t, bool ready) {
  auto const w = static_cast<std::size_t>(t.warp_index);
  std::uint32_t const lane = 1U << (t.id % 32);
  std::uint64_t const warp = std::uint64_t{1} << (w % 64);
  if (ready) {
    warps_[w].ready |= lane;
    ready_warps_[w / 64] |= warp;
  } else {
    warps_[w].ready &= ~lane;
    if (warps_[w].ready == 0) ready_warps_[w / 64] &= ~warp;
  }
}

void scheduler::wake(thread* t) {
  t->waiting = wait_kind::none;
  set_ready(*t, true);
}

void scheduler::wake_all(std::vector<thread*>& waiters) {
  ++progress_;
  for (thread* t : waiters) wake(t);
  waiters.clear();
}

void scheduler::block(wait_kind kind, void const* object, std::uint32_t value, site where) {
  thread* t = running_;
  t->waiting = kind;
  t->wait_object = object;
  t->wait_value = value;
  t->wait_site = where;
  t->waits_since = ++waits_;
  set_ready(*t, false);
  thread* next = pick_or_stop();
  if (next != t) switch_to(next);
}

void scheduler::yield(site where, void const* polled) {
  if (interrupted_->load(std::memory_order_relaxed)) leave_for_good();
  constexpr auto patience = std::chrono::seconds(20);
  constexpr std::int64_t max_polls = 200'000;
  if (polled != nullptr) {
    running_->polled = polled;
    running_->polled_at = where;
    running_->poll_stamp = progress_;
  }
  auto const now = std::chrono::steady_clock::now();
  ++polls_;
  if (yield_stamp_ != progress_) {
    yield_stamp_ = progress_;
    polling_since_ = now;
    polls_ = 0;
  } else if (now - polling_since_ > patience || (alone_ && polls_ > max_polls)) {
    if (m_.layout_.devices > 1)
      stop_stuck(ranks_report(m_.clusters(), progress_, [&](void const* at) {
        return m_.memory.name_of_global(reinterpret_cast<std::uintptr_t>(at));
      }));
    diagnosis d = polling_report(m_.grid_, m_.clusters(), *running_, where);
    // A thread that polls neither a word nor an mbarrier waits for a time, or for what it has read.
    bool const tries_barrier = running_->timeouts > 0 && running_->timeout_stamp == progress_;
    cluster_state const& own = *running_->block->cluster;
    bool const may_be_global =
        polled == nullptr ? !tries_barrier : !address_space::is_shared(own, polled);
    if (alone_ && may_be_global)
      add_residency(d, m_.grid_, m_.counts_.ctas,
                    static_cast<int>(m_.clusters().size()) * m_.grid_.cluster);
    stop_stuck(std::move(d));
  }
  m_.async.complete_one(m_.options_.policy == async_policy::random);
  thread* t = running_;
  set_ready(*t, false);
  thread* next = pick_after(*t);
  set_ready(*t, true);
  if (next != nullptr)
    switch_to(next);
  else if (!alone_)
    std::this_thread::yield();  // what it polls for is another OS thread's to do
}

void scheduler::stop_stuck(diagnosis d) {
  if (auto registers = registers_report(m_.clusters())) m_.reports.stop(std::move(*registers));
  if (auto divergent = divergence_report(m_.grid_, warps_)) m_.reports.stop(std::move(*divergent));
  m_.reports.stop(std::move(d));
}

thread* scheduler::pick() {
  warp_state& same = warps_[static_cast<std::size_t>(current_warp_)];
  return same.ready != 0 ? same.first + std::countr_zero(same.ready) : pick_warp();
}

thread* scheduler::pick_after(thread const& t) {
  warp_state& same = warps_[static_cast<std::size_t>(current_warp_)];
  std::uint32_t const later = same.ready & ~((std::uint32_t{2} << t.id % 32) - 1);
  return later != 0 ? same.first + std::countr_zero(later) : pick_warp();
}

thread* scheduler::pick_warp() {
  if (m_.options_.policy == async_policy::random && (random_() & 3U) == 0)
    m_.async.complete_one(true);
  auto const words = ready_warps_.size();
  auto const count = warps_.size();
  auto start = m_.options_.random_warps ? random_() % count
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

bool scheduler::time_out_try_waits() {
  constexpr int tries_without_progress = 8;
  bool any = false;
  for (auto& c : m_.clusters())
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

thread* scheduler::pick_or_stop() {
  for (;;) {
    if (thread* t = pick()) return t;
    if (m_.async.complete_one(m_.options_.policy == async_policy::random)) continue;
    if (time_out_try_waits()) continue;
    stop_stuck(deadlock_report(m_.grid_, m_.clusters()));
  }
}

}  // namespace tw::emu
