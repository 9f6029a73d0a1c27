// SPDX-License-Identifier: Apache-2.0
// mbarrier_calls.cpp  The functions that kernels call: init, arrive, expect_tx and wait, in the
//                     CTA and in its peers.
#include <fmt/format.h>

#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"

namespace tw::emu {

namespace {

constexpr std::int64_t tx_count_limit = (1 << 20) - 1;  // PTX ISA, "mbarrier", tx-count range

}  // namespace

void mbarrier_init(void* bar, int arrivals, site where) {
  engine_call const inside;
  machine& m = machine::current();
  cta_state& c = current_cta();
  std::uint32_t const offset = m.barrier.offset_of(c, bar, where);
  if (arrivals < 1 || arrivals > tx_count_limit)
    m.reports.stop(
        "E0019", "mbarrier-count",
        report_text({
            .what = fmt::format("init() of {} requests {} arrivals.",
                                object_name(m.grid_, c, offset), arrivals),
            .now = fmt::format("init at {} by {}", text_of(where), name_of(current_thread())),
            .cause = fmt::format("an mbarrier counts 1 to {} arrivals a phase", tx_count_limit),
            .remedy = "the number of arrives of one phase, arrive_expect_tx included",
        }),
        where, {object_name(m.grid_, c, offset)});
  mbarrier_state& b = m.barrier.create(c, bar, offset, arrivals, where);
  if (c.cluster->check) c.cluster->check->init(current_thread(), b);
}

void mbarrier_inval(void* bar, site where) {
  engine_call const inside;
  machine& m = machine::current();
  m.barrier.inval(m.barrier.at(current_cta(), bar, where), where);
}

void mbarrier_arrive(void* bar, int count, site where) {
  engine_call const inside;
  machine& m = machine::current();
  mbarrier_state& b = m.barrier.at(current_cta(), bar, where);
  if (count < 1)
    m.reports.stop(
        "E0019", "mbarrier-count",
        report_text({
            .what = fmt::format("An arrive at {} counts {} arrivals.",
                                object_name(m.grid_, current_cta(), b.offset), count),
            .now = fmt::format("arrive at {} by {}", text_of(where), name_of(current_thread())),
            .cause = fmt::format("an arrive counts 1 to {} arrivals", tx_count_limit),
            .remedy = "a condition around the arrive where no thread arrives",
        }),
        where, {object_name(m.grid_, current_cta(), b.offset)});
  m.barrier.arrive(current_cta(), b, count, arrive_order::release_cta, where);
}

void mbarrier_arrive_relaxed(void* bar, site where) {
  engine_call const inside;
  machine& m = machine::current();
  m.barrier.arrive(current_cta(), m.barrier.at(current_cta(), bar, where), 1,
                   arrive_order::relaxed_cluster, where);
}

std::uint64_t mbarrier_arrive_token(void* bar, site where) {
  engine_call const inside;
  machine& m = machine::current();
  mbarrier_state& b = m.barrier.at(current_cta(), bar, where);
  std::uint64_t const token =
      static_cast<std::uint64_t>(b.phase) << 32U | static_cast<std::uint32_t>(b.pending);
  m.barrier.arrive(current_cta(), b, 1, arrive_order::release_cta, where);
  return token;
}

void mbarrier_arrive_remote(void* bar, int cta, arrive_order order, site where) {
  engine_call const inside;
  machine& m = machine::current();
  thread& t = current_thread();
  cta_state& peer = m.memory.peer_cta(cta, where);
  if (order == arrive_order::release_cluster) {
    t.unpublished = {};
  } else if (t.unpublished.line != 0 && cta != t.cluster_rank) {
    m.reports.stop(
        "E0014", "arrive-scope-too-narrow",
        report_text({
            .what = "An arrive at a peer's barrier does not carry the access of a peer's shared "
                    "memory that came before it.",
            .now =
                fmt::format("arrive with {} order at {} by {}",
                            order == arrive_order::release_cta ? "release.cta" : "relaxed.cluster",
                            text_of(where), name_of(t)),
            .earlier = fmt::format("dsmem() at {}, in the same thread", text_of(t.unpublished)),
            .cause = "such an arrive counts, but orders no memory access between CTAs",
            .remedy = "arrive_remote<scope::cluster>(), whose release covers the cluster",
        }),
        where, {.earlier = t.unpublished});
  }
  std::uint32_t const offset = m.barrier.offset_of(current_cta(), bar, where);
  m.barrier.arrive(peer, m.barrier.at(peer, peer.smem + offset, where), 1, order, where);
}

void store_async(void* own, void const* value, int bytes, void* bar, int cta, site where) {
  engine_call const inside;
  machine& m = machine::current();
  if (current_cta().cluster->ctas.size() == 1)
    m.reports.stop("E0076", "store-async-without-clusters",
                   report_text({
                       .what = "A store_async in a launch without clusters.",
                       .now = fmt::format("store_async at {} by {}", text_of(where),
                                          name_of(current_thread())),
                       .cause = "a GPU takes it there as an illegal instruction",
                       .remedy = "an ordinary store and an arrive, or a kernel whose clusters have "
                                 "two CTAs or more",
                   }),
                   where);
  cta_state& peer = m.memory.peer_cta(cta, where);
  std::uint32_t const offset =
      m.memory.offset_in_smem(current_cta(), own, static_cast<std::size_t>(bytes), where);
  m.memory.require_aligned(own, bytes, "a store_async", where);
  std::uint32_t const bar_offset = m.barrier.offset_of(current_cta(), bar, where);
  m.memory.check_no_mbarrier(peer, offset, static_cast<std::size_t>(bytes), "A store_async", where);
  m.barrier.store_async(peer, offset, value, static_cast<std::uint32_t>(bytes),
                        m.barrier.at(peer, peer.smem + bar_offset, where), where);
}

namespace {

void expect_at(cta_state const& c, mbarrier_state& b, int bytes, site where) {
  machine& m = machine::current();
  b.tx += bytes;
  b.expected += bytes;
  m.counts_.expected_bytes += bytes;
  if (bytes < 0 || b.tx > tx_count_limit)
    m.reports.stop(
        "E0004", "expect-tx-range",
        report_text({
            .what = fmt::format("expect_tx of {} bytes brings {} to {} bytes.", bytes,
                                object_name(m.grid_, c, b.offset), b.tx),
            .now = fmt::format("expect_tx at {} by {}", text_of(where), name_of(current_thread())),
            .cause = fmt::format("an mbarrier counts 0 to {} bytes", tx_count_limit),
            .remedy = "smaller boxes, or more barriers",
        }),
        where, {object_name(m.grid_, c, b.offset), b.phase, b.made_at});
}

}  // namespace

void mbarrier_expect_tx(void* bar, int bytes, site where) {
  engine_call const inside;
  expect_at(current_cta(), machine::current().barrier.at(current_cta(), bar, where), bytes, where);
}

void mbarrier_expect_tx_remote(void* bar, int cta, int bytes, site where) {
  engine_call const inside;
  machine& m = machine::current();
  cta_state& peer = m.memory.peer_cta(cta, where);
  std::uint32_t const offset = m.barrier.offset_of(current_cta(), bar, where);
  mbarrier_state& b = m.barrier.at(peer, peer.smem + offset, where);
  if (hazard::checker* check = peer.cluster->check.get())
    check->use(current_thread(), peer, b, false, where);
  expect_at(peer, b, bytes, where);
}

void mbarrier_arrive_expect_tx(void* bar, int bytes, site where) {
  engine_call const inside;
  mbarrier_expect_tx(bar, bytes, where);
  mbarrier_arrive(bar, 1, where);
}

bool mbarrier_try_wait(void* bar, std::uint32_t parity, scope s, site where) {
  engine_call const inside;
  return machine::current().barrier.wait(bar, parity, {s}, true, where);
}

/// As try_wait: false once nothing else can go on, so that who polls with it does not keep others
/// from running.
bool mbarrier_test_wait(void* bar, std::uint32_t parity, scope s, site where) {
  return mbarrier_try_wait(bar, parity, s, where);
}

void mbarrier_wait(void* bar, std::uint32_t parity, scope s, site where) {
  engine_call const inside;
  machine::current().barrier.wait(bar, parity, {s}, false, where);
}

void mbarrier_wait_relaxed(void* bar, std::uint32_t parity, site where) {
  engine_call const inside;
  machine::current().barrier.wait(bar, parity, {scope::cta, false}, false, where);
}

}  // namespace tw::emu
