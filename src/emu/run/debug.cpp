// SPDX-License-Identifier: Apache-2.0
// debug.cpp  Clocks that go on when they are read, and kernels that stop themselves.
#include <fmt/format.h>

#include <cstdlib>

#include "emu/machine/machine.hpp"
#include "emu/machine/trace_log.hpp"
#include "emu/report/words.hpp"
#include "tilewright/arch/emu/debug.hpp"

namespace tw::emu {

std::uint64_t clock_reading(site where) {
  engine_call const inside;
  constexpr std::uint64_t cycles_per_reading = 1000;
  static thread_local std::uint64_t readings = 0;
  machine& m = machine::current();
  m.sched.progressed();  // who waits for a time gets there
  m.sched.yield(where);
  std::uint64_t const reading = cycles_per_reading * ++readings;
  if (m.log_) m.log_->clock(*m.sched.running(), reading);
  return reading;
}

void trap(site where) {
  engine_call const inside;
  machine& m = machine::current();
  m.reports.stop(
      "E0073", "trap",
      report_text({
          .what = "The kernel executes a trap.",
          .now = fmt::format("trap at {} by {}", text_of(where), name_of(*m.sched.running())),
          .cause = "the kernel has found a state from which it must not go on",
          .remedy = "the condition before the trap says which",
      }),
      where);
  std::abort();  // not reached
}

void assertion_failed(char const* what, site where) {
  engine_call const inside;
  machine& m = machine::current();
  m.reports.stop("E0074", "assertion-failed",
                 report_text({
                     .what = fmt::format("An assertion of the kernel does not hold: {}.", what),
                     .now = fmt::format("device_assert at {} by {}", text_of(where),
                                        name_of(*m.sched.running())),
                     .cause = "the condition is false in this thread",
                     .remedy = "what the assertion demands, or an assertion that demands less",
                 }),
                 where);
  std::abort();  // not reached
}

}  // namespace tw::emu
