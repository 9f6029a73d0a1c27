// SPDX-License-Identifier: Apache-2.0
// mbarriers.cpp  The barrier object of shared memory: arrivals, expected bytes, phases, and stores
//                that it counts.
#include <fmt/format.h>

#include <cstring>

#include "emu/machine.hpp"
#include "emu/words.hpp"

namespace tw::emu {

namespace {

constexpr std::uint64_t handle_magic = 0x54574D42ULL << 32;  // "TWMB"
constexpr std::int64_t tx_count_limit = (1 << 20) - 1;       // PTX ISA, "mbarrier", tx-count range

thread& me() { return *machine::current().running(); }

cta_state& own_cta() { return *me().block; }

}  // namespace

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
            .remedy = "expect_tx with the bytes of all boxes, and 16 of each store_async, that "
                      "complete on the barrier",
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
  ++counts_.async_stores;
  if (log_) log_->store_async(*running_, c, b);
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
  cta_state& peer = m.peer_cta(cta, where);
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
  cta_state& peer = m.peer_cta(cta, where);
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

}  // namespace tw::emu
