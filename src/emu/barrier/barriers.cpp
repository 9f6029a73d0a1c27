// SPDX-License-Identifier: Apache-2.0
// barriers.cpp  Named barriers, the cluster barrier, warp barriers; a peer's shared memory.
#include <fmt/format.h>

#include <algorithm>

#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"

namespace tw::emu {

void barriers::arrive(group_barrier& b, int expected, bool release) {
  ++m_.sched.running()->barriers_joined;
  hazard::checker* const check = m_.sched.running()->block->cluster->check.get();
  if (check != nullptr) {
    check->arrive(*m_.sched.running(), b.known, release);
    check->arrived(*m_.sched.running());
  }
  if (m_.log_) m_.log_->arrive(*m_.sched.running(), b);
  b.expected = expected;
  m_.sched.progressed();
  int const needed = !b.all ? expected
                     : &b == &m_.sched.running()->block->named[0]
                         ? m_.sched.running()->block->live_threads
                         : m_.sched.warp_of(*m_.sched.running()).live;
  if (++b.arrived < needed) return;
  finish_round(b, check);
}

void barriers::finish_round(group_barrier& b, hazard::checker* check) {
  if (m_.log_) m_.log_->round_done(*m_.sched.running(), b);
  b.arrived = 0;
  b.all = false;
  ++b.generation;
  if (&b == &m_.sched.running()->block->cluster->barrier)
    ++m_.counts_.cluster_barriers;
  else
    ++m_.counts_.barriers;
  if (check != nullptr) {
    check->complete(b.known);
    for (thread* t : b.waiters) check->leave(*t, b.known);
  }
  m_.sched.wake_all(b.waiters);
}

void barriers::left_by(thread const& t) {
  hazard::checker* const check = t.block->cluster->check.get();
  warp_state& w = m_.sched.warp_of(t);
  --w.live;
  if (w.barrier.arrived > 0 && w.barrier.arrived >= w.live) finish_round(w.barrier, check);
  if (t.block->live_threads == 0) check_registers(*t.block);
  group_barrier& b = t.block->named[0];
  if (b.all && b.arrived > 0 && b.arrived >= t.block->live_threads) finish_round(b, check);
}

void barriers::check_converged(thread& t, std::string_view name, int id, int threads, site where) {
  warp_state& w = m_.sched.warp_of(t);
  std::uint32_t const k = t.barrier_steps++ - w.barrier_steps_base;
  if (k == w.barrier_steps.size()) w.barrier_steps.push_back({name, id, threads, where, 0});
  warp_state::barrier_step& step = w.barrier_steps[k];
  auto const text = [](std::string_view what, int of) {
    return of < 0 ? std::string(what) : fmt::format("{} {}", what, of);
  };
  bool const same_place =
      step.where.line == where.line && std::string_view(step.where.file) == where.file;
  if (step.name != name || step.id != id || step.threads != threads || !same_place)
    m_.reports.stop(
        "E0053", "divergent-barrier",
        report_text({
            .what = fmt::format("The lanes of warp {} of CTA {} come to different barrier "
                                "instructions.",
                                t.id / 32, t.cta),
            .now = fmt::format("{} at {} by {}", text(name, id), text_of(where), name_of(t)),
            .earlier = fmt::format("{} at {} by the first lane that came", text(step.name, step.id),
                                   text_of(step.where)),
            .cause = "a barrier of the CTA or the cluster is one instruction of a whole warp: PTX "
                     "leaves open what happens where its lanes come from different branches",
            .remedy = "move the barrier out of the branch, or make the branch warp-uniform",
        }),
        where, {.earlier = step.where});
  if (++step.arrived == w.threads) {
    w.barrier_steps.pop_front();
    ++w.barrier_steps_base;
  }
}

void barriers::cta_sync(thread& t, site where) {
  check_converged(t, "cta_sync", -1, 0, where);
  group_barrier& b = t.block->named[0];
  if (b.arrived > 0 && !b.all)
    m_.reports.stop(
        "E0010", "named-barrier-count",
        report_text({
            .what = fmt::format("Barrier 0 of CTA {} is joined by cta_sync and for {} threads.",
                                t.cta, b.expected),
            .now = fmt::format("cta_sync at {} by {}", text_of(where), name_of(t)),
            .earlier = fmt::format("barrier for {} threads at {}", b.expected, text_of(b.first_at)),
            .cause = "barrier 0 is the one that cta_sync uses",
            .remedy = "ids from 1 for named barriers",
        }),
        where, {fmt::format("named barrier 0 of CTA {}", t.cta), -1, b.first_at});
  std::uint32_t const round = b.generation;
  if (b.arrived == 0) b.first_at = where;
  b.all = true;
  b.waiters.push_back(&t);
  arrive(b, t.thread_count);
  if (m_.log_) m_.log_->wait(t, b, round);
  if (b.generation == round) m_.sched.block(wait_kind::named_barrier, &b, 0, where);
}

void cta_sync(site where) {
  engine_call const inside;
  machine::current().barrier.cta_sync(current_thread(), where);
}

void named_barrier(int id, int threads, bool wait, site where) {
  engine_call const inside;
  machine& m = machine::current();
  thread& t = current_thread();
  m.barrier.check_converged(t, wait ? "named_barrier_sync" : "named_barrier_arrive", id, threads,
                            where);
  bool const bad =
      id < 0 || id > 15 || threads <= 0 || threads % 32 != 0 || threads > t.thread_count;
  group_barrier& b = t.block->named[id & 15];
  if (bad || (b.arrived > 0 && b.expected != threads))
    m.reports.stop(
        "E0010", "named-barrier-count",
        report_text({
            .what = bad ? fmt::format("A thread joins named barrier {} for {} threads, which "
                                      "cannot be.",
                                      id, threads)
                        : fmt::format("Named barrier {} of CTA {} is joined for {} threads and "
                                      "for {}.",
                                      id, t.cta, threads, b.expected),
            .now = fmt::format("barrier for {} threads at {} by {}", threads, text_of(where),
                               name_of(t)),
            .earlier =
                bad ? ""
                    : fmt::format("barrier for {} threads at {}", b.expected, text_of(b.first_at)),
            .cause = bad ? fmt::format("ids run from 0 to 15, counts are multiples of 32 up to {}",
                                       t.thread_count)
                         : "who joins one round of a barrier must agree on its count",
            .remedy = "one id and one count for each barrier, as named constants",
        }),
        where,
        {fmt::format("named barrier {} of CTA {}", id, t.cta), -1, bad ? site{} : b.first_at});
  std::uint32_t const round = b.generation;
  if (b.arrived == 0) b.first_at = where;
  b.all = false;
  if (wait) b.waiters.push_back(&t);
  m.barrier.arrive(b, threads);
  if (wait && m.log_) m.log_->wait(t, b, round);
  if (wait && b.generation == round)
    m.sched.block(wait_kind::named_barrier, &b, static_cast<std::uint32_t>(id), where);
}

void warp_sync(site where) {
  engine_call const inside;
  machine& m = machine::current();
  thread& t = current_thread();
  m.barrier.warp_sync(t, where);
}

void barriers::warp_sync(thread& t, site where) {
  warp_state& w = m_.sched.warp_of(t);
  std::uint32_t const round = w.barrier.generation;
  w.barrier.all = true;
  w.barrier.waiters.push_back(&t);
  arrive(w.barrier, w.threads);
  if (m_.log_) m_.log_->wait(t, w.barrier, round);
  if (w.barrier.generation == round) m_.sched.block(wait_kind::warp_barrier, &w.barrier, 0, where);
}

namespace {

void stop_at_cluster_order(thread const& t, std::string what, std::string now, site where) {
  machine::current().reports.stop(
      "E0061", "cluster-barrier-order",
      report_text({
          .what = std::move(what),
          .now = fmt::format("{} at {} by {}", now, text_of(where), name_of(t)),
          .earlier = t.cluster_arrived
                         ? fmt::format("cluster_arrive at {}", text_of(t.cluster_arrived_at))
                         : "",
          .cause = "each thread arrives at the cluster barrier and waits for it in turns; another "
                   "order is undefined",
          .remedy = "cluster_wait() after each cluster_arrive(), or cluster_sync(), which is both",
      }),
      where, {.earlier = t.cluster_arrived ? t.cluster_arrived_at : site{}});
}

}  // namespace

void cluster_arrive(bool release, site where) {
  engine_call const inside;
  machine& m = machine::current();
  thread& t = current_thread();
  m.barrier.check_converged(t, "cluster_arrive", -1, 0, where);
  if (t.cluster_arrived)
    stop_at_cluster_order(t, "A thread arrives at the cluster barrier twice without a wait.",
                          "cluster_arrive", where);
  t.cluster_arrived = true;
  t.cluster_arrived_at = where;
  cluster_state& c = *t.block->cluster;
  if (release) t.unpublished = {};
  t.cluster_arrive_relaxed = release ? site{} : where;
  t.cluster_round = c.barrier.generation;
  m.barrier.arrive(c.barrier, c.live_threads, release);
}

void cluster_wait(site where) {
  engine_call const inside;
  machine& m = machine::current();
  thread& t = current_thread();
  m.barrier.check_converged(t, "cluster_wait", -1, 0, where);
  if (!t.cluster_arrived)
    stop_at_cluster_order(t, "A thread waits for the cluster barrier without an arrive.",
                          "cluster_wait", where);
  t.cluster_arrived = false;
  group_barrier& b = t.block->cluster->barrier;
  if (m.log_) m.log_->wait(t, b, t.cluster_round);
  if (b.generation != t.cluster_round) {
    if (t.block->cluster->check) t.block->cluster->check->leave(t, b.known);
    return;
  }
  b.waiters.push_back(&t);
  m.sched.block(wait_kind::cluster_barrier, &b, 0, where);
}

void backoff(site where) {
  engine_call const inside;
  machine::current().sched.yield(where);
}

// Fences change no value here; they are where the hazard model records an order.
void fence_proxy_async(site) {
  engine_call const inside;
  ++machine::current().counts_.proxy_fences;
  if (hazard::checker* check = current_cta().cluster->check.get())
    check->proxy_fence(current_thread());
}
void fence_mbarrier_init(site) {
  engine_call const inside;
  ++machine::current().counts_.init_fences;
  if (hazard::checker* check = current_cta().cluster->check.get())
    check->mbarrier_init_fence(current_thread());
}

std::uint32_t smem_address(void const* p, site where) {
  engine_call const inside;
  machine& m = machine::current();
  return smem_base + m.memory.offset_in_smem(current_cta(), p, 1, where);
}

void leave_undefined(void* p, int bytes, site where) {
  engine_call const inside;
  machine::current().memory.leave_undefined(p, bytes, where);
}
void* peer_address(void* own, int cta, site where) {
  engine_call const inside;
  machine& m = machine::current();
  std::uint32_t const offset = m.memory.offset_in_smem(current_cta(), own, 1, where);
  cta_state& peer = m.memory.peer_cta(cta, where);
  if (cta != current_thread().cluster_rank) current_thread().unpublished = where;
  return peer.smem + offset;
}

}  // namespace tw::emu
