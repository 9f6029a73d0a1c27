// SPDX-License-Identifier: Apache-2.0
// barriers.cpp  mbarriers, named barriers, the cluster barrier, warp barriers.
#include <fmt/format.h>

#include "emu/machine.hpp"
#include "emu/words.hpp"

namespace tw::emu {

namespace {

constexpr std::uint64_t handle_magic = 0x54574D42ULL << 32;  // "TWMB"
constexpr std::int64_t tx_count_limit = (1 << 20) - 1;       // PTX ISA, "mbarrier", tx-count range

thread& me() { return *machine::current().running(); }

cta_state& own_cta() { return *me().block; }

cta_state& peer_cta(int cta, site where) {
  cluster_state& c = *own_cta().cluster;
  if (cta < 0 || cta >= static_cast<int>(c.ctas.size()))
    machine::current().stop(
        "E0007", "bad-cluster-rank",
        told({
            .what = fmt::format("A thread names CTA {} of a cluster of {}.", cta, c.ctas.size()),
            .now = fmt::format("use at {} by {}", text_of(where), name_of(me())),
            .cause = "the number is a rank in the cluster, not a CTA of the grid",
            .remedy = "ranks from 0 to the cluster size minus 1",
        }),
        where);
  cta_state& peer = c.ctas[static_cast<std::size_t>(cta)];
  if (peer.live_threads == 0) machine::current().exited_cta(cta, where);
  return peer;
}

}  // namespace

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

mbarrier_state& machine::barrier_at(cta_state& c, void const* word, site where) {
  std::uint32_t const offset = offset_in_smem(c, word, 8, where);
  std::uint64_t const handle = *static_cast<std::uint64_t const*>(word);
  std::uint64_t const index = handle - handle_magic;
  if (index >= c.mbarriers.size() || c.mbarriers[index].offset != offset)
    stop("E0002", "mbarrier-not-initialised",
         told({
             .what = fmt::format("{} is used as an mbarrier, but no init() ran there.",
                                 object_name(grid_, c, offset)),
             .now = fmt::format("use at {} by {}", text_of(where), name_of(me())),
             .cause = "init() comes later or never, or its 8 bytes were overwritten",
             .remedy =
                 "init() in one thread, fence_mbarrier_init(), then a barrier with all who use "
                 "it",
         }),
         where, {object_name(grid_, c, offset)});
  return c.mbarriers[index];
}

void machine::complete_if_done(cta_state& c, mbarrier_state& b) {
  if (b.pending != 0) return;
  if (b.tx < 0)
    stop(
        "E0015", "expect-tx-too-small",
        told({
            .what = fmt::format("All arrivals of phase {} of {} are in, and more bytes have landed "
                                "than were expected: {}, not {}.",
                                b.phase, object_name(grid_, c, b.offset), b.landed, b.expected),
            .barrier = barrier_text(grid_, c, b),
            .cause = "the phase ends before its data is there, or with that of another phase",
            .remedy = "expect_tx with the bytes of all boxes that complete on the barrier",
        }),
        b.made_at, {object_name(grid_, c, b.offset), b.phase});
  if (b.tx != 0) return;
  if (c.cluster->check && b.face.issued != b.landed) report_early_phase(c, b);
  if (log_) log_->phase_done(c, b);
  ++b.phase;
  ++counts_.phases;
  if (c.cluster->check) c.cluster->check->phase_done(b);
  b.pending = b.count;
  b.expected = b.landed = 0;
  // All waiters of the completed phase pass; nobody can wait for the next one yet.
  wake_all(b.waiters);
}

void machine::store_async(cta_state& c, std::uint32_t offset, void const* value, mbarrier_state& b,
                          site where) {
  constexpr std::uint32_t bytes = 16;
  ++progress_;
  if (hazard::checker* check = c.cluster->check.get())
    check->store_async(*running_, c, offset, bytes, b, where);
  std::memcpy(c.smem + offset, value, bytes);
  b.tx -= bytes;
  b.landed += bytes;
  complete_if_done(c, b);
}

void machine::arrive(cta_state& c, mbarrier_state& b, arrive_order order, site where) {
  ++progress_;
  ++counts_.arrives;
  if (&c != running_->block) ++counts_.remote_arrives;
  if (hazard::checker* check = c.cluster->check.get()) {
    check->use(*running_, c, b, false, where);
    check->arrive(*running_, c, b, order != arrive_order::relaxed_cluster,
                  order == arrive_order::release_cluster, where);
  }
  if (b.pending == 0)
    stop("E0003", "mbarrier-too-many-arrivals",
         told({
             .what = fmt::format("{} gets an arrival too many in phase {}.",
                                 object_name(grid_, c, b.offset), b.phase),
             .now = fmt::format("arrive at {} by {}", text_of(where), name_of(me())),
             .barrier = barrier_text(grid_, c, b),
             .cause = fmt::format("init() announced {}; the phase is open only because bytes are "
                                  "still to land",
                                  b.count),
             .remedy = "a wait before this arrive, if it is one of the next phase; else a larger "
                       "count in init()",
         }),
         where, {object_name(grid_, c, b.offset), b.phase, b.made_at});
  if (log_) log_->arrive(*running_, c, b);
  --b.pending;
  complete_if_done(c, b);
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

void mbarrier_init(void* bar, int arrivals, site where) {
  engine_call const inside;
  machine& m = machine::current();
  cta_state& c = own_cta();
  std::uint32_t const offset = m.offset_in_smem(c, bar, 8, where);
  if (arrivals < 1 || arrivals > tx_count_limit)
    m.stop("E0019", "mbarrier-count",
           told({
               .what = fmt::format("init() of {} asks for {} arrivals.",
                                   object_name(m.grid_, c, offset), arrivals),
               .now = fmt::format("init at {} by {}", text_of(where), name_of(me())),
               .cause = fmt::format("an mbarrier counts 1 to {} arrivals a phase", tx_count_limit),
               .remedy = "the number of arrives of one phase, arrive_expect_tx included",
           }),
           where, {object_name(m.grid_, c, offset)});
  mbarrier_state b;
  b.offset = offset;
  b.count = b.pending = arrivals;
  b.made_at = where;
  *static_cast<std::uint64_t*>(bar) = handle_magic + c.mbarriers.size();
  c.mbarriers.push_back(std::move(b));
  ++m.counts_.mbarriers;
  if (c.cluster->check) c.cluster->check->init(me(), c.mbarriers.back());
}

void mbarrier_arrive(void* bar, site where) {
  engine_call const inside;
  machine& m = machine::current();
  m.arrive(own_cta(), m.barrier_at(own_cta(), bar, where), arrive_order::release_cta, where);
}

void mbarrier_arrive_remote(void* bar, int cta, arrive_order order, site where) {
  engine_call const inside;
  machine& m = machine::current();
  thread& t = me();
  cta_state& peer = peer_cta(cta, where);
  if (order == arrive_order::release_cluster) {
    t.unpublished = {};
  } else if (t.unpublished.line != 0 && cta != t.cluster_rank) {
    m.stop("E0014", "arrive-scope-too-narrow",
           told({
               .what = "An arrive at a peer's barrier does not carry the access of a peer's shared "
                       "memory that came before it.",
               .now = fmt::format(
                   "arrive with {} order at {} by {}",
                   order == arrive_order::release_cta ? "release.cta" : "relaxed.cluster",
                   text_of(where), name_of(t)),
               .earlier = fmt::format("dsmem() at {}, in the same thread", text_of(t.unpublished)),
               .cause = "such an arrive counts, but orders no memory access between CTAs",
               .remedy = "arrive_remote<scope::cluster>(), whose release covers the cluster",
           }),
           where, {.earlier = t.unpublished});
  }
  std::uint32_t const offset = m.offset_in_smem(own_cta(), bar, 8, where);
  m.arrive(peer, m.barrier_at(peer, peer.smem + offset, where), order, where);
}

void store_async(void* own, void const* value, void* bar, int cta, site where) {
  engine_call const inside;
  machine& m = machine::current();
  cta_state& peer = peer_cta(cta, where);
  std::uint32_t const offset = m.offset_in_smem(own_cta(), own, 16, where);
  m.require_aligned(own, 16, "a store_async", where);
  std::uint32_t const bar_offset = m.offset_in_smem(own_cta(), bar, 8, where);
  m.store_async(peer, offset, value, m.barrier_at(peer, peer.smem + bar_offset, where), where);
}

void mbarrier_expect_tx(void* bar, int bytes, site where) {
  engine_call const inside;
  machine& m = machine::current();
  mbarrier_state& b = m.barrier_at(own_cta(), bar, where);
  b.tx += bytes;
  b.expected += bytes;
  m.counts_.expected_bytes += bytes;
  if (bytes < 0 || b.tx > tx_count_limit)
    m.stop("E0004", "expect-tx-range",
           told({
               .what = fmt::format("expect_tx of {} bytes brings {} to {} bytes.", bytes,
                                   object_name(m.grid_, own_cta(), b.offset), b.tx),
               .now = fmt::format("expect_tx at {} by {}", text_of(where), name_of(me())),
               .cause = fmt::format("an mbarrier counts 0 to {} bytes", tx_count_limit),
               .remedy = "smaller boxes, or more barriers",
           }),
           where, {object_name(m.grid_, own_cta(), b.offset), b.phase, b.made_at});
}

void mbarrier_arrive_expect_tx(void* bar, int bytes, site where) {
  engine_call const inside;
  mbarrier_expect_tx(bar, bytes, where);
  mbarrier_arrive(bar, where);
}

bool machine::mbarrier_passed(void* bar, std::uint32_t parity, scope s, bool may_fail, site where) {
  thread& t = *running_;
  mbarrier_state& b = barrier_at(*t.block, bar, where);
  hazard::checker* const check = t.block->cluster->check.get();
  if (check != nullptr) check->use(t, *t.block, b, false, where);
  if ((b.phase & 1U) == (parity & 1U)) {
    std::uint32_t const phase = b.phase;
    if (log_ && !may_fail) log_->wait(t, b, static_cast<std::int32_t>(phase));
    b.waiters.push_back(&t);
    t.timed_out = false;
    block(may_fail ? wait_kind::mbarrier_try : wait_kind::mbarrier, &b, parity & 1U, where);
    if (t.timed_out) return false;
    if (log_ && may_fail) log_->wait(t, b, static_cast<std::int32_t>(phase));
    if (check != nullptr && b.phase > phase + 1) report_missed_phase(t, b, phase, where);
  } else if (log_) {
    log_->wait(t, b, static_cast<std::int32_t>(b.phase) - 1);
  }
  ++counts_.mbarrier_waits;
  if (check != nullptr) check->passed(t, b, s, may_fail, where);
  return true;
}

bool mbarrier_try_wait(void* bar, std::uint32_t parity, scope s, site where) {
  engine_call const inside;
  return machine::current().mbarrier_passed(bar, parity, s, true, where);
}

void mbarrier_wait(void* bar, std::uint32_t parity, scope s, site where) {
  engine_call const inside;
  machine::current().mbarrier_passed(bar, parity, s, false, where);
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
  cta_state& peer = peer_cta(cta, where);
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
