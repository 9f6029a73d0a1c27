// SPDX-License-Identifier: Apache-2.0
// model.hpp  A recording with times: when each operation began and ended, and what ended a wait.
#pragma once

#include "emu/machine/trace_log.hpp"

namespace tw::emu {

/// The event that released a wait: of a thread, a copy, a wgmma group, or a commit of tcgen05.
struct trace_cause {
  enum class kind : std::uint8_t { none, event, copy, group, commit } what = kind::none;
  std::uint32_t owner = 0;  // thread, copy, warpgroup of the grid, or commit
  std::uint32_t index = 0;  // event or group
};

/// In cycles; end < 0: it never ended, begin < 0: it was never reached.
struct trace_span {
  std::int64_t begin = -1, end = -1;
  trace_cause cause = {};
};

struct played_log {
  std::vector<std::vector<trace_span>> events;  // by thread, as in the log
  std::vector<trace_span> copies;               // when the engine was busy with it
  std::vector<trace_span> commits;              // when the tensor core was, with its multiplies
  std::vector<std::vector<trace_span>> groups;  // by warpgroup: when the tensor core was
  std::int64_t cycles = 0;
};

/// Plays the recording: the thread with the earliest clock goes on, engines serve what comes in the
/// order of the model's time, waits end at the event that released them.
played_log play(trace_log const& log);

}  // namespace tw::emu
