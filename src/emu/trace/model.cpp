// SPDX-License-Identifier: Apache-2.0
// model.cpp  Discrete events: threads by their clocks, copy engines and tensor cores as queues.
#include "emu/trace/model.hpp"

#include <algorithm>
#include <queue>

#include "emu/trace/costs.hpp"

namespace tw::emu {

namespace {

using time = std::int64_t;

class player {
 public:
  explicit player(trace_log const& log)
      : log_(log),
        threads_(log.threads.size()),
        engines_(static_cast<std::size_t>(log.shape.ctas)) {
    played_.events.resize(log.threads.size());
    played_.copies.resize(log.copies.size());
    played_.commits.resize(log.commits.size());
    for (auto const& t : log.threads)
      played_.events[static_cast<std::size_t>(&t - log.threads.data())].resize(t.events.size());
    for (barrier_log const& b : log.barriers) barriers_.emplace_back(b.rounds.size());
    for (warpgroup_log const& w : log.warpgroups) {
      played_.groups.emplace_back(w.groups.size());
      groups_.emplace_back(w.groups.size());
    }
  }

  played_log run() {
    for (std::size_t i = 0; i < threads_.size(); ++i)
      ready_.push({0, static_cast<std::uint32_t>(i)});
    while (!ready_.empty()) {
      auto const [now, thread] = ready_.top();
      ready_.pop();
      if (threads_[thread].next < log_.threads[thread].events.size()) step(thread, now);
    }
    return std::move(played_);
  }

 private:
  struct thread_state {
    std::size_t next = 0;
    std::vector<std::uint32_t> stores;  // copies in the order of their issue
    time multiplied = 0;                // the end of its multiplies of tcgen05
  };
  struct engine_state {
    time loads_free = 0, stores_free = 0, tensor_free = 0;
  };
  /// A round of a barrier, or a wgmma group: what has come, who waits.
  struct barrier_round {
    int arrivals = 0, landings = 0;
    bool open = false;  // complete: waits end
    time at = 0;
    trace_cause cause;
    std::vector<std::uint32_t> waiters;
  };

  trace_event const& event(std::uint32_t t) const {
    return log_.threads[t].events[threads_[t].next];
  }
  trace_span& span(std::uint32_t t) { return played_.events[t][threads_[t].next]; }
  int cta_of(std::uint32_t t) const { return static_cast<int>(t) / log_.shape.threads; }

  /// The thread's operation ends; its next one comes.
  void finish(std::uint32_t t, time end) {
    span(t).end = end;
    played_.cycles = std::max(played_.cycles, end);
    ++threads_[t].next;
    ready_.push({end, t});
  }

  void finish_wait(std::uint32_t t, time released, trace_cause cause) {
    time const at_once = span(t).begin + cost::operation;
    if (released + cost::wake <= at_once) return finish(t, at_once);
    span(t).cause = cause;
    finish(t, released + cost::wake);
  }

  void wait_for(std::uint32_t t, barrier_round& m) {
    if (m.open)
      finish_wait(t, m.at, m.cause);
    else
      m.waiters.push_back(t);
  }

  void open(barrier_round& m) {
    m.open = true;
    for (std::uint32_t const t : m.waiters) finish_wait(t, m.at, m.cause);
    m.waiters.clear();
  }

  /// The last to come is what released the wait; of several at once, one of the same CTA.
  void come(barrier_round& m, time at, trace_cause cause, bool same_cta = true) {
    bool const later = at > m.at || m.cause.what == trace_cause::kind::none;
    if (!later && (at < m.at || !same_cta)) return;
    m.at = std::max(m.at, at);
    m.cause = cause;
  }

  void open_round_if_done(std::uint32_t barrier, std::int32_t round) {
    auto const r = static_cast<std::size_t>(round);
    barrier_log::round const& all = log_.barriers[barrier].rounds[r];
    barrier_round& m = barriers_[barrier][r];
    if (!all.done || m.arrivals != all.arrivals || m.landings != all.landings) return;
    if (log_.barriers[barrier].what == barrier_log::kind::cluster) m.at += cost::peer;
    open(m);
  }

  void step(std::uint32_t t, time now) {
    trace_event const& e = event(t);
    span(t).begin = now;
    auto const value = static_cast<std::size_t>(e.value);
    switch (e.what) {
      case act::wait:
        if (e.value < 0) return finish(t, now + cost::operation);
        return wait_for(t, barriers_[e.object][value]);
      case act::arrive: return arrive(t, now, e);
      case act::store_async: return store_async(t, now, e);
      case act::copy: return copy(t, now, e.object);
      case act::commit: return commit(t, now, e);
      case act::tensor_commit: return tensor_commit(t, now, e.object);
      case act::group_wait: return wait_for(t, groups_[e.object][value - 1]);
      case act::store_wait:
      case act::store_read_wait: return wait_for_stores(t, now, e);
      case act::matrix_store:
      case act::matrix_load: return finish(t, now + e.count * cost::matrix_access);
      case act::plain: return finish(t, now + e.count * cost::plain_access);
      case act::global_store: return finish(t, now + e.count * cost::global_store);
      case act::clock: return finish(t, now);
    }
  }

  void arrive(std::uint32_t t, time now, trace_event const& e) {
    barrier_log const& b = log_.barriers[e.object];
    bool const mbarrier = b.what == barrier_log::kind::mbarrier;
    time const end = now + (mbarrier ? cost::operation : 0);  // else its wait takes the time
    barrier_round& m = barriers_[e.object][static_cast<std::size_t>(e.value)];
    ++m.arrivals;
    come(m, end + (mbarrier && b.cta != cta_of(t) ? cost::peer : 0),
         {trace_cause::kind::event, t, static_cast<std::uint32_t>(threads_[t].next)});
    finish(t, end);
    open_round_if_done(e.object, e.value);
  }

  void store_async(std::uint32_t t, time now, trace_event const& e) {
    bool const near = log_.barriers[e.object].cta == cta_of(t);
    time const end = now + cost::operation;
    barrier_round& m = barriers_[e.object][static_cast<std::size_t>(e.value)];
    ++m.landings;
    come(m, end + cost::peer,
         {trace_cause::kind::event, t, static_cast<std::uint32_t>(threads_[t].next)}, near);
    finish(t, end);
    open_round_if_done(e.object, e.value);
  }

  void copy(std::uint32_t t, time now, std::uint32_t index) {
    copy_log const& c = log_.copies[index];
    engine_state& engine = engines_[static_cast<std::size_t>(c.cta)];
    time& free = c.load ? engine.loads_free : engine.stores_free;
    trace_span& busy = played_.copies[index];
    busy.begin = std::max(free, now + cost::operation);
    busy.end = busy.begin + cost::copy_start + (c.bytes + cost::copy_bytes - 1) / cost::copy_bytes;
    free = busy.end;
    played_.cycles = std::max(played_.cycles, busy.end);
    if (!c.load) threads_[t].stores.push_back(index);
    finish(t, now + cost::operation);
    for (copy_log::landing const& l : c.landings) {
      barrier_round& m = barriers_[l.barrier][static_cast<std::size_t>(l.round)];
      ++m.landings;
      come(m, busy.end + cost::copy_latency, {trace_cause::kind::copy, index, 0},
           log_.barriers[l.barrier].cta == c.cta);
      open_round_if_done(l.barrier, l.round);
    }
  }

  void commit(std::uint32_t t, time now, trace_event const& e) {
    auto const g = static_cast<std::size_t>(e.value);
    group_log const& all = log_.warpgroups[e.object].groups[g];
    barrier_round& m = groups_[e.object][g];
    ++m.arrivals;
    come(m, now + cost::operation, {});
    finish(t, now + cost::operation);
    if (!all.issued || m.arrivals != all.commits) return;
    time& free = engines_[static_cast<std::size_t>(log_.warpgroups[e.object].cta)].tensor_free;
    trace_span& busy = played_.groups[e.object][g];
    busy.begin = all.cycles == 0 ? m.at : std::max(free, m.at);
    busy.end = busy.begin + all.cycles;
    if (all.cycles != 0) free = busy.end;
    played_.cycles = std::max(played_.cycles, busy.end);
    m.at = busy.end + cost::multiply_latency;
    m.cause = {trace_cause::kind::group, e.object, static_cast<std::uint32_t>(g)};
    open(m);
  }

  void tensor_commit(std::uint32_t t, time now, std::uint32_t index) {
    commit_log const& c = log_.commits[index];
    trace_span& busy = played_.commits[index];
    busy.begin = std::max(threads_[t].multiplied, now + cost::operation);
    if (c.cycles > 0)
      for (int i = c.cta; i < c.cta + c.ctas; ++i)
        busy.begin = std::max(busy.begin, engines_[static_cast<std::size_t>(i)].tensor_free);
    busy.end = threads_[t].multiplied = busy.begin + c.cycles;
    if (c.cycles > 0)
      for (int i = c.cta; i < c.cta + c.ctas; ++i)
        engines_[static_cast<std::size_t>(i)].tensor_free = busy.end;
    played_.cycles = std::max(played_.cycles, busy.end);
    finish(t, now + cost::operation);
    for (copy_log::landing const& l : c.landings) {
      barrier_round& m = barriers_[l.barrier][static_cast<std::size_t>(l.round)];
      bool const near = log_.barriers[l.barrier].cta == cta_of(t);
      ++m.landings;
      come(m, busy.end + cost::multiply_latency + (near ? 0 : cost::peer),
           {trace_cause::kind::commit, index, 0}, near);
      open_round_if_done(l.barrier, l.round);
    }
  }

  void wait_for_stores(std::uint32_t t, time now, trace_event const& e) {
    auto const& stores = threads_[t].stores;
    auto const last = std::find_if(stores.rbegin(), stores.rend(), [&](std::uint32_t c) {
      return log_.copies[c].group < static_cast<std::uint32_t>(e.value);
    });
    if (last == stores.rend()) return finish(t, now + cost::operation);
    time const latency = e.what == act::store_wait ? cost::copy_latency : 0;
    finish_wait(t, played_.copies[*last].end + latency, {trace_cause::kind::copy, *last, 0});
  }

  trace_log const& log_;
  played_log played_;
  std::vector<thread_state> threads_;
  std::vector<engine_state> engines_;
  std::vector<std::vector<barrier_round>> barriers_, groups_;
  using entry = std::pair<time, std::uint32_t>;
  std::priority_queue<entry, std::vector<entry>, std::greater<>> ready_;
};

}  // namespace

played_log play(trace_log const& log) { return player(log).run(); }

}  // namespace tw::emu
