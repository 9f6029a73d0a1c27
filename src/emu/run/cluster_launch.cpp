// SPDX-License-Identifier: Apache-2.0
// cluster_launch.cpp  Cluster launch control: a request takes the next cluster of the grid, which
//                     is then never started. Under a random schedule a request may also fail while
//                     there are clusters left, as hardware may.
#include <fmt/format.h>

#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"

namespace tw::emu {

namespace {

constexpr std::uint64_t mark = 0xC1C0ULL << 48, taken = 1ULL << 32;

/// The answer, read by the generic proxy.
std::uint64_t read_answer(launch_response const* answer, site where) {
  machine& m = machine::current();
  thread& t = *m.sched.running();
  cta_state& c = *t.block;
  std::uint32_t const offset = m.memory.offset_in_smem(c, answer, sizeof *answer, where);
  if (hazard::checker* check = c.cluster->check.get())
    check->plain(t, c, offset, sizeof *answer, false, where);
  std::uint64_t const bits = answer->bits[0];
  if (bits >> 48 == mark >> 48 && answer->bits[1] == ~bits) return bits;
  m.reports.stop("E0121", "launch-response",
                 report_text({
                     .what = fmt::format("{} holds no answer to a launch_cancel.",
                                         object_name(m.grid_, c, offset)),
                     .now = fmt::format("query at {} by {}", text_of(where), name_of(t)),
                     .cause = "the answer has not come yet, or another thing was written there",
                     .remedy = "wait for the barrier that launch_cancel names, then read",
                 }),
                 where, {object_name(m.grid_, c, offset)});
}

}  // namespace

void launch_cancel(launch_response* answer, void* bar, bool multicast, site where) {
  engine_call const inside;
  machine& m = machine::current();
  thread& t = *m.sched.running();
  cluster_state& cluster = *t.block->cluster;
  if (cluster.saw_no_launch)
    m.reports.stop(
        "E0120", "launch-cancel-after-failure",
        report_text({
            .what = "A cluster requests another one although an answer has named none.",
            .now = fmt::format("launch_cancel at {} by {}", text_of(where), name_of(t)),
            .earlier =
                fmt::format("the failed answer was read at {}", text_of(*cluster.saw_no_launch)),
            .cause = "after a failed answer was seen, another request has no defined behaviour",
            .remedy = "leave the loop over tiles where launch_cancelled() is false",
        }),
        where, {.earlier = *cluster.saw_no_launch});
  bool const random = m.options_.policy == async_policy::random;
  int const id = random && m.sched.random()() % 8 == 0 ? -1 : m.take_cluster();
  std::uint64_t const bits =
      mark | (id < 0 ? 0 : taken | static_cast<std::uint32_t>(id * m.grid_.cluster));
  m.answers.push_back({{bits, ~bits}});
  auto desc = std::make_shared<tensor_map_desc>();
  desc->base = &m.answers.back();
  desc->type = elem::u8;
  desc->rank = 1;
  desc->dim[0] = desc->box[0] = sizeof(launch_response);
  bulk_op op{};
  op.what = bulk_op::kind::load;
  op.of_launch_cancel = true;
  op.map = desc.get();
  op.bytes = std::move(desc);
  op.cta = t.block;
  op.cta_mask = 1U << t.cluster_rank;
  op.issuer = &t;
  op.where = where;
  op.smem_offset = m.memory.offset_in_smem(*t.block, answer, sizeof *answer, where);
  m.memory.require_aligned(answer, 16, "launch_cancel", where);
  op.bar_offset = m.barrier.offset_of(*t.block, bar, where);
  if (multicast) m.async.to_ctas(op, (1U << cluster.ctas.size()) - 1);
  m.async.issue(std::move(op));
}

bool launch_cancelled(launch_response const* answer, site where) {
  engine_call const inside;
  bool const is = (read_answer(answer, where) & taken) != 0;
  if (!is) machine::current().sched.running()->block->cluster->saw_no_launch = where;
  return is;
}

extents3 launch_cancelled_cta(launch_response const* answer, site where) {
  engine_call const inside;
  machine& m = machine::current();
  std::uint64_t const bits = read_answer(answer, where);
  thread const& t = *m.sched.running();
  if ((bits & taken) == 0)
    m.reports.stop(
        "E0121", "launch-response",
        report_text({
            .what = "A thread reads the CTA of an answer that names no cluster.",
            .now = fmt::format("launch_cancelled_cta at {} by {}", text_of(where), name_of(t)),
            .cause = "only an answer for which launch_cancelled() is true names one",
            .remedy = "if (!launch_cancelled(answer)) break; before it",
        }),
        where);
  auto const first = static_cast<int>(static_cast<std::uint32_t>(bits));
  extents3 const& grid = m.grid_.extents;
  return {first % grid.x, first / grid.x % grid.y, first / grid.x / grid.y};
}

}  // namespace tw::emu
