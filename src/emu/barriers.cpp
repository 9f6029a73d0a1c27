// SPDX-License-Identifier: Apache-2.0
// barriers.cpp  Named barriers, the cluster barrier, warp barriers; a peer's shared memory.
#include <fmt/format.h>

#include "emu/machine.hpp"
#include "emu/words.hpp"

namespace tw::emu {

namespace {

thread& me() { return *machine::current().running(); }

cta_state& own_cta() { return *me().block; }

}  // namespace

cta_state& machine::peer_cta(int cta, site where) {
  cluster_state& c = *own_cta().cluster;
  if (cta < 0 || cta >= static_cast<int>(c.ctas.size()))
    stop("E0007", "bad-cluster-rank",
         told({
             .what = fmt::format("A thread names CTA {} of a cluster of {}.", cta, c.ctas.size()),
             .now = fmt::format("use at {} by {}", text_of(where), name_of(me())),
             .cause = "the number is a rank in the cluster, not a CTA of the grid",
             .remedy = "ranks from 0 to the cluster size minus 1",
         }),
         where);
  cta_state& peer = c.ctas[static_cast<std::size_t>(cta)];
  if (peer.live_threads == 0) exited_cta(cta, where);
  return peer;
}

void machine::exited_cta(int cta, site where) {
  stop(
      "E0016", "access-to-exited-cta",
      told({
          .what = fmt::format("A thread reaches into the shared memory of CTA {}, which has ended.",
                              me().cta - me().cluster_rank + cta),
          .now = fmt::format("access at {} by {}", text_of(where), name_of(me())),
          .cause = "nothing kept that CTA alive until its peers were done with it",
          .remedy = "cluster_sync() as the last act of the kernel, in all threads",
      }),
      where);
}

void machine::group_arrive(group_barrier& b, int expected, bool release) {
  ++running_->barriers_joined;
  hazard::checker* const check = running_->block->cluster->check.get();
  if (check != nullptr) {
    check->arrive(*running_, b.known, release);
    check->arrived(*running_);
  }
  if (log_) log_->arrive(*running_, b);
  b.expected = expected;
  ++progress_;
  if (++b.arrived < expected) return;
  finish_round(b, check);
}

void machine::finish_round(group_barrier& b, hazard::checker* check) {
  if (log_) log_->round_done(*running_, b);
  b.arrived = 0;
  ++b.generation;
  if (&b == &running_->block->cluster->barrier)
    ++counts_.cluster_barriers;
  else
    ++counts_.barriers;
  if (check != nullptr) {
    check->complete(b.known);
    for (thread* t : b.waiters) check->leave(*t, b.known);
  }
  wake_all(b.waiters);
}

void cta_sync(site where) {
  engine_call const inside;
  named_barrier(0, me().thread_count, true, where);
}

void named_barrier(int id, int threads, bool wait, site where) {
  engine_call const inside;
  machine& m = machine::current();
  thread& t = me();
  bool const bad =
      id < 0 || id > 15 || threads <= 0 || threads % 32 != 0 || threads > t.thread_count;
  group_barrier& b = t.block->named[id & 15];
  if (bad || (b.arrived > 0 && b.expected != threads))
    m.stop(
        "E0010", "named-barrier-count",
        told({
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
  if (wait) b.waiters.push_back(&t);
  m.group_arrive(b, threads);
  if (wait && m.log_) m.log_->wait(t, b, round);
  if (wait && b.generation == round)
    m.block(wait_kind::named_barrier, &b, static_cast<std::uint32_t>(id), where);
}

void warp_sync(site where) {
  engine_call const inside;
  machine& m = machine::current();
  thread& t = me();
  m.warp_barrier(t, where);
}

void machine::warp_barrier(thread& t, site where) {
  warp_state& w = warps_[static_cast<std::size_t>(t.warp_index)];
  std::uint32_t const round = w.barrier.generation;
  w.barrier.waiters.push_back(&t);
  group_arrive(w.barrier, w.threads);
  if (log_) log_->wait(t, w.barrier, round);
  if (w.barrier.generation == round) block(wait_kind::warp_barrier, &w.barrier, 0, where);
}

void cluster_arrive(bool release, site) {
  engine_call const inside;
  machine& m = machine::current();
  thread& t = me();
  cluster_state& c = *t.block->cluster;
  if (release) t.unpublished = {};
  t.cluster_round = c.barrier.generation;
  m.group_arrive(c.barrier, c.live_threads, release);
}

void cluster_wait(site where) {
  engine_call const inside;
  machine& m = machine::current();
  thread& t = me();
  group_barrier& b = t.block->cluster->barrier;
  if (m.log_) m.log_->wait(t, b, t.cluster_round);
  if (b.generation != t.cluster_round) {
    if (t.block->cluster->check) t.block->cluster->check->leave(t, b.known);
    return;
  }
  b.waiters.push_back(&t);
  m.block(wait_kind::cluster_barrier, &b, 0, where);
}

void backoff(site where) {
  engine_call const inside;
  machine::current().yield(where);
}

// Fences change no value here; they are where the hazard model learns of an order.
void fence_proxy_async(site) {
  engine_call const inside;
  ++machine::current().counts_.proxy_fences;
  if (hazard::checker* check = own_cta().cluster->check.get()) check->proxy_fence(me());
}
void fence_mbarrier_init(site) {
  engine_call const inside;
  ++machine::current().counts_.init_fences;
  if (hazard::checker* check = own_cta().cluster->check.get()) check->mbarrier_init_fence(me());
}

std::uint32_t smem_address(void const* p, site where) {
  engine_call const inside;
  machine& m = machine::current();
  return smem_base + m.offset_in_smem(own_cta(), p, 1, where);
}

void leave_undefined(void* p, int bytes, site where) {
  engine_call const inside;
  machine::current().leave_undefined(p, bytes, where);
}
void* peer_address(void* own, int cta, site where) {
  engine_call const inside;
  machine& m = machine::current();
  std::uint32_t const offset = m.offset_in_smem(own_cta(), own, 1, where);
  cta_state& peer = m.peer_cta(cta, where);
  if (cta != me().cluster_rank) me().unpublished = where;
  return peer.smem + offset;
}

void set_max_regs(int registers, site where) {
  engine_call const inside;
  if (registers < 24 || registers > 256 || registers % 8 != 0)
    machine::current().stop(
        "E0008", "setmaxnreg",
        told({
            .what = fmt::format("setmaxnreg cannot give {} registers.", registers),
            .now = fmt::format("use at {} by {}", text_of(where), name_of(me())),
            .cause = "the count is a multiple of 8 from 24 to 256",
            .remedy = "such a multiple, with which all warps of the CTA fit 65,536 registers",
        }),
        where);
  machine& m = machine::current();
  thread& t = me();
  auto& calls = t.group->register_calls;
  std::size_t const k = t.register_calls++;
  if (k < calls.size()) {
    if (calls[k].registers == registers) return;
    m.stop(
        "E0008", "setmaxnreg",
        told({
            .what = fmt::format("The threads of {} ask for {} registers and for {}.",
                                warpgroup_name(t), calls[k].registers, registers),
            .now = fmt::format("{} registers at {} by {}", registers, text_of(where), name_of(t)),
            .earlier = fmt::format("{} registers at {} by the first thread that came",
                                   calls[k].registers, text_of(calls[k].where)),
            .cause = "setmaxnreg is one instruction of a whole warpgroup",
            .remedy = "one count for the 128 threads, chosen by warpgroup_id()",
        }),
        where, {.earlier = calls[k].where});
  }
  calls.push_back({registers, where});
  // A warpgroup that has called once holds so many from then on.
  constexpr int registers_of_cta = 65536;
  int held = 0;
  std::string counts;
  for (warpgroup_state const& w : t.block->groups) {
    if (w.register_calls.size() != 1) continue;
    held += 128 * w.register_calls.front().registers;
    counts += fmt::format("{}{}", counts.empty() ? "" : " + ", w.register_calls.front().registers);
  }
  if (held > registers_of_cta)
    m.stop(
        "E0008", "setmaxnreg",
        told({
            .what = fmt::format("The warpgroups of CTA {} ask for more registers than it can have.",
                                t.cta),
            .now = fmt::format("{} registers at {} by {}", registers, text_of(where), name_of(t)),
            .cause =
                fmt::format("128 * ({}) = {}; a CTA can have {}", counts, held, registers_of_cta),
            .remedy = "fewer for the math warpgroups, or set_max_regs_dec in those that load",
        }),
        where);
}

}  // namespace tw::emu
