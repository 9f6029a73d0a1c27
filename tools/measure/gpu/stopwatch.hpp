// SPDX-License-Identifier: Apache-2.0
// stopwatch.hpp  Times work on one stream, with the mean SM clock and the power over the same
// stretch.
//
// Events enclose the timed work; cycle counters read just outside of the events give the clock.
// Work that starts on an idle device is held back by a waiting kernel until the host has queued all
// of it, so that no host overhead is timed. A device that does not finish ends the process: nothing
// that touches it would return.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <string>

#include "tools/measure/nvml.hpp"
#include "tools/measure/protocol.hpp"

namespace tw::bench {

struct clock_record;  // one SM's counters

class stopwatch {
 public:
  using enqueue = std::function<void(cudaStream_t)>;

  /// `meter` may be null: no power then.
  stopwatch(int sms, nvml const* meter);
  stopwatch(stopwatch const&) = delete;
  stopwatch& operator=(stopwatch const&) = delete;
  ~stopwatch();

  cudaStream_t stream() const { return stream_; }

  /// Names the work that is timed next; the message of a kernel that hangs (TW0711) has the name.
  void expects(std::string const& work) { work_ = work; }

  /// Times `timed` on an idle device, held back for `hold_s`. sample::us is the whole time.
  sample from_idle(double hold_s, enqueue const& timed);

  /// Times `timed` directly after `warm_up`, with power.
  sample behind(enqueue const& warm_up, enqueue const& timed, double expected_s);

  /// Returns when the stream is empty; ends the process (exit status 1, TW0711) when that takes
  /// longer than a minute beyond `expected_s`.
  void wait(double expected_s = 0);

 private:
  sample read_out() const;

  int sms_;
  nvml const* meter_;
  std::string work_ = "work on the device";
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  clock_record* before_ = nullptr;  // in host memory that the device writes
  clock_record* after_ = nullptr;
};

}  // namespace tw::bench
