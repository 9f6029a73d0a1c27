// SPDX-License-Identifier: Apache-2.0
// registers.cpp  setmaxnreg: the registers of a CTA as its warpgroups release and request them.
//
// ptxas launches a kernel that uses setmaxnreg with the registers a thread that its launch bounds
// allow one CTA, or with its largest count if that is smaller. The pool of the CTA is what it was
// launched with, not the register file of the SM: 168 for each of 384 threads, 504 for a lane of
// three warpgroups. An H200 runs 24 + 240 + 240 and hangs with 32 + 240 + 240; an increase to fewer
// registers than the warpgroup has, and a decrease to more, is an illegal instruction there.
#include <fmt/format.h>

#include <algorithm>

#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"

namespace tw::emu {

namespace {

/// The largest number of registers that a thread can be launched with in a CTA of `threads`.
int launched_registers(int threads) {
  constexpr int registers_of_sm = 65536, most = 256;
  return std::min(most, registers_of_sm / threads / 8 * 8);
}

std::string launch_text(int threads) {
  return fmt::format("a CTA of {} threads is launched with {} registers for each", threads,
                     launched_registers(threads));
}

char const* call_name(bool more) { return more ? "set_max_regs_inc" : "set_max_regs_dec"; }

void stop_at_direction(thread const& t, warpgroup_state::register_call const& c, int has,
                       std::string const& why) {
  machine::current().reports.stop(
      "E0008", "setmaxnreg",
      report_text({
          .what = fmt::format("{}<{}> in {}, which has {} registers.", call_name(c.more),
                              c.registers, warpgroup_name(t.block->threads[t.id / 128 * 128]), has),
          .now = fmt::format("{} at {} by {}", call_name(c.more), text_of(c.where), name_of(t)),
          .cause = "setmaxnreg.inc adds registers and setmaxnreg.dec gives some up; the other "
                   "direction is an illegal instruction" +
                   why,
          .remedy = fmt::format("{}<{}>, or no call where the count stays as it is",
                                call_name(!c.more), c.registers),
      }),
      c.where);
}

/// The first call of each warpgroup starts from what ptxas has chosen, which the largest count of
/// the kernel may limit: it is known when all calls are.
void check_first_calls(cta_state const& c) {
  int const threads = c.threads.front().thread_count;
  int largest = 0;
  for (warpgroup_state const& w : c.groups)
    for (auto const& call : w.register_calls) largest = std::max(largest, call.registers);
  int const launched = std::min(launched_registers(threads), largest);
  for (warpgroup_state const& w : c.groups) {
    if (w.register_calls.empty()) continue;
    auto const& first = w.register_calls.front();
    if (first.more && first.registers < launched)
      stop_at_direction(c.threads[static_cast<std::size_t>(w.index) * 128], first, launched,
                        ": " + launch_text(threads));
  }
}

}  // namespace

void barriers::check_registers(cta_state const& c) {
  for (thread const& t : c.threads) {
    auto const& calls = t.group->register_calls;
    if (t.register_calls == calls.size()) continue;
    m_.reports.stop(
        "E0008", "setmaxnreg",
        report_text({
            .what =
                fmt::format("Threads of {} have not called setmaxnreg, others have.",
                            warpgroup_name(c.threads[static_cast<std::size_t>(t.id / 128 * 128)])),
            .now = fmt::format("{} has ended", name_of(t)),
            .earlier = fmt::format("{} registers at {}", calls[t.register_calls].registers,
                                   text_of(calls[t.register_calls].where)),
            .cause = "setmaxnreg is one instruction of a whole warpgroup, and waits for all of it",
            .remedy = "the call in all 128 threads, chosen by warpgroup_id()",
        }),
        calls[t.register_calls].where);
  }
  check_first_calls(c);
}

void barriers::set_max_regs(thread& t, int registers, bool more, site where) {
  cta_state& c = *t.block;
  if (registers < 24 || registers > 256 || registers % 8 != 0)
    m_.reports.stop(
        "E0008", "setmaxnreg",
        report_text({
            .what = fmt::format("setmaxnreg cannot give {} registers.", registers),
            .now = fmt::format("use at {} by {}", text_of(where), name_of(t)),
            .cause = "the count is a multiple of 8 from 24 to 256",
            .remedy = "a multiple of 8 from 24 to 256; the registers of all warpgroups together "
                      "must not exceed those at launch",
        }),
        where);
  auto& calls = t.group->register_calls;
  std::size_t const k = t.register_calls++;
  if (k == calls.size()) calls.push_back({registers, more, where});
  if (calls[k].registers != registers)
    m_.reports.stop(
        "E0008", "setmaxnreg",
        report_text({
            .what = fmt::format("The threads of {} request {} registers and {}.", warpgroup_name(t),
                                calls[k].registers, registers),
            .now = fmt::format("{} registers at {} by {}", registers, text_of(where), name_of(t)),
            .earlier = fmt::format("{} registers at {} by the first thread that came",
                                   calls[k].registers, text_of(calls[k].where)),
            .cause = "setmaxnreg is one instruction of a whole warpgroup",
            .remedy = "one count for the 128 threads, chosen by warpgroup_id()",
        }),
        where, {.earlier = calls[k].where});
  int const launched = launched_registers(t.thread_count);
  int const has = t.registers == 0 ? launched : t.registers;
  bool const first = t.registers == 0;
  if (more ? !first && registers < has : registers > has)
    stop_at_direction(t, calls[k], has, first ? ": " + launch_text(t.thread_count) : "");
  m_.sched.progressed();
  while (registers - has > c.free_registers) {
    c.wait_for_registers.push_back(&t);
    m_.sched.block(wait_kind::registers, &c, static_cast<std::uint32_t>(registers), where);
  }
  c.free_registers -= registers - has;
  t.registers = registers;
  if (c.free_registers > 0 && !c.wait_for_registers.empty())
    m_.sched.wake_all(c.wait_for_registers);
}

void set_max_regs(int registers, bool more, site where) {
  engine_call const inside;
  machine::current().barrier.set_max_regs(current_thread(), registers, more, where);
}

namespace {

diagnosis never_enough(cta_state const& c, thread const& waits) {
  int const threads = waits.thread_count, launched = launched_registers(threads);
  std::string counts;
  int sum = 0;
  bool idle = false;
  for (warpgroup_state const& w : c.groups) {
    idle = idle || w.register_calls.empty();
    int const registers = w.register_calls.empty() ? launched : w.register_calls.back().registers;
    sum += registers;
    counts += fmt::format("{}{}", counts.empty() ? "" : " + ", registers);
  }
  int const pool = launched * static_cast<int>(c.groups.size());
  diagnosis d;
  d.code = "E0008";
  d.kind = "setmaxnreg";
  d.where = waits.wait_site;
  d.cta = waits.cta;
  d.thread = waits.id;
  d.role = waits.role;
  d.text = report_text({
      .what = idle
                  ? fmt::format("A warpgroup of CTA {} never gives up registers that another one "
                                "requests.",
                                waits.cta)
                  : fmt::format("The warpgroups of CTA {} request more registers than it can have.",
                                waits.cta),
      .now = fmt::format("{} registers at {} by {}", waits.wait_value, text_of(waits.wait_site),
                         name_of(waits)),
      .cause = sum > pool
                   ? fmt::format("{}, {} for a lane of its {} warpgroups; {} = {}, so the increase "
                                 "waits for ever",
                                 launch_text(threads), pool, c.groups.size(), counts, sum)
                   : "the increase waits for registers that threads have not given up which never "
                     "come to their set_max_regs_dec",
      .remedy = idle ? "set_max_regs_dec in the warpgroups that do not multiply, or smaller counts"
                     : "fewer for the math warpgroups, or set_max_regs_dec in those that load",
  });
  return d;
}

}  // namespace

std::optional<diagnosis> registers_report(
    std::vector<std::unique_ptr<cluster_state>> const& clusters) {
  for (auto const& c : clusters)
    for (cta_state const& b : c->ctas)
      for (thread const& t : b.threads)
        if (c->live_threads > 0 && t.waiting == wait_kind::registers) return never_enough(b, t);
  return std::nullopt;
}

}  // namespace tw::emu
