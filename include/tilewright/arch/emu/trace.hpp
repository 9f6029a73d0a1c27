// SPDX-License-Identifier: Apache-2.0
// trace.hpp  A recording of an emulated launch over time, and the timeline that a
//            model of time makes of it. docs/timeline.md describes the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tw::emu {

struct trace_log;

/// Records the launch whose options::trace points to it; a second launch replaces the first. Such a
/// launch runs in one OS thread, so the same options record the same events.
/// Example: tests/emu/trace_test.cpp
class trace {
 public:
  /// Events of single threads that are kept, 12 bytes each; what comes after them is left out.
  static constexpr std::size_t most_events_default = 4'000'000;

  explicit trace(std::size_t most_events = most_events_default);
  ~trace();
  trace(trace&&) noexcept;
  trace& operator=(trace&&) noexcept;

  trace_log& log() const { return *log_; }

 private:
  std::unique_ptr<trace_log> log_;
};

enum class row_kind : std::uint8_t { warps, tma_loads, tensor_core, tma_stores };

/// A row of the timeline: a role of a warpgroup, a warp without a role, or an engine.
struct trace_row {
  row_kind kind = row_kind::warps;
  int cta = 0, cluster = 0;
  bool has_role = false;  // of warps: the kernel named it with enter_role
  std::string name;       // "math (warps 4-7)", "TMA loads", "tensor core, warpgroup 1"
};

enum class slice_kind : std::uint8_t {
  wait,      // mbarrier
  barrier,   // named, CTA, cluster, warp
  arrive,    // mbarrier
  issue,     // a thread starts a copy, or commits a wgmma group or multiplies of tcgen05
  wait_mma,  // for a wgmma group
  wait_store,
  epilogue,  // stmatrix, ldmatrix, plain accesses of shared memory
  fill,      // TMA copy into shared memory, all boxes of one barrier and phase
  multiply,  // wgmma group, or the multiplies of a commit of tcgen05
  store,     // TMA copy or addition from shared memory
  stuck,     // a wait that never ended
};

/// From `begin` to `end`, in cycles of the model. Slices of one row do not overlap.
struct trace_slice {
  int row = 0;
  slice_kind kind = slice_kind::wait;
  std::int64_t begin = 0, end = 0;
  std::string name;    // "ab_landed[1] phase 3"
  std::string detail;  // what is acted on, for the writers' arguments: "32768 bytes to CTAs 0, 1"
  std::int64_t number = -1;  // phase of a barrier, number of a group; -1: none
};

/// The slice that ended a wait, and the wait.
struct trace_arrow {
  int from = 0, to = 0;
};

struct timeline {
  std::vector<trace_row> rows;      // by cluster, CTA, then threads before engines
  std::vector<trace_slice> slices;  // by row, then by time
  std::vector<trace_arrow> arrows;
  std::int64_t cycles = 0;
  std::string run;      // "seed 1, eager completion, 2 CTAs in clusters of 2, 384 threads each"
  std::string cut_off;  // empty, or what is missing and why
};

/// Plays a recording in the model of time. Which schedule the recording came from does not matter,
/// unless the kernel itself depends on it.
timeline timeline_of(trace const& recorded);

/// The emulator has no clock: sm_clock() returns numbers that only grow. In a recording each of
/// them has a time of the model.
struct clock_time {
  std::uint64_t reading = 0;
  std::int64_t cycles = 0;  // negative: the thread never came there
};
/// All readings of a recording, the smallest first.
std::vector<clock_time> clock_times(trace const& recorded);

}  // namespace tw::emu
