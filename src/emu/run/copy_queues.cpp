// SPDX-License-Identifier: Apache-2.0
// copy_queues.cpp  Copy engines of several devices: a thread carries out the copies of a queue in
//                  order. And the report of a wait that no rank can satisfy.
#include <fmt/format.h>

#include <cstring>
#include <map>

#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"

namespace tw::emu {

void machine::run_queue() {
  engine_call const inside;
  thread& t = *sched.running();
  if (t.id != 0 || t.cluster_rank != 0) return;
  int const first = clusters_of_device() * layout_.devices;
  copy_queue const& queue = layout_.queues[static_cast<std::size_t>(t.cluster - first)];
  hazard::checker* const check = t.block->cluster->check.get();
  for (engine_copy const& c : queue.copies) {
    // A copy takes its time: eager copies are early, lazy ones late, others by the seed.
    auto const turns = options_.policy == async_policy::eager  ? 0
                       : options_.policy == async_policy::lazy ? 2000
                                                               : sched.random()() % 400;
    for (std::uint64_t i = 0; i < turns; ++i) sched.yield(c.where);
    auto const from = reinterpret_cast<std::uintptr_t>(c.from);
    auto const to = reinterpret_cast<std::uintptr_t>(c.to);
    if (check != nullptr) {
      check->engine_copied(t, from, c.bytes, false, c.where);
      if (c.flag)
        check->atomic(t, to, c.bytes,
                      {.writes = true, .order = mem_order::release, .reach = scope::sys}, c.where);
      else
        check->engine_copied(t, to, c.bytes, true, c.where);
    }
    if (c.flag)
      __atomic_store_n(static_cast<std::uint64_t*>(c.to),
                       *static_cast<std::uint64_t const*>(c.from), __ATOMIC_RELEASE);
    else
      std::memcpy(c.to, c.from, c.bytes);
    sched.progressed();
  }
}

diagnosis ranks_report(std::vector<std::unique_ptr<cluster_state>> const& clusters,
                       std::uint64_t progress,
                       std::function<std::string(void const*)> const& name_of_word) {
  std::map<int, std::string> of_device;
  diagnosis d;
  d.code = "E0133", d.kind = "wait-of-no-rank";
  for (auto const& c : clusters)
    for (cta_state const& b : c->ctas)
      for (thread const& t : b.threads) {
        bool const polls = t.poll_stamp == progress && t.polled != nullptr &&
                           t.waiting != wait_kind::finished && c->live_threads > 0;
        if (!polls || of_device.contains(c->device)) continue;
        std::uint64_t value = 0;
        bool const aligned = reinterpret_cast<std::uintptr_t>(t.polled) % 8 == 0;
        std::memcpy(&value, t.polled, aligned ? 8 : 4);
        of_device[c->device] =
            fmt::format("\n  waiting: device {}: {} at {}, for {}, which holds {:#x}", c->device,
                        name_of(t), text_of(t.polled_at), name_of_word(t.polled), value);
        if (d.where.line == 0) d.where = t.polled_at, d.cta = t.cta, d.thread = t.id;
      }
  d.text = "Ranks wait for flags that no rank will set.";
  for (auto const& [device, line] : of_device) d.text += line;
  d.text +=
      "\n  cause: every device waits or has ended, and no copy is on its way: a flag was not set, "
      "was set for another call, or each waits for the other one\n  remedy: every rank sets its "
      "flag for each peer in each call before it waits, also if it has no rows for that peer";
  return d;
}

}  // namespace tw::emu
