// SPDX-License-Identifier: Apache-2.0
// clock_times.cpp  When a kernel read its clock, in the model's time.
#include <algorithm>

#include "emu/trace/model.hpp"

namespace tw::emu {

std::vector<clock_time> clock_times(trace const& recorded) {
  trace_log const& log = recorded.log();
  played_log const played = play(log);
  std::vector<clock_time> times;
  for (std::size_t t = 0; t < log.threads.size(); ++t)
    for (std::size_t i = 0; i < log.threads[t].events.size(); ++i)
      if (trace_event const& e = log.threads[t].events[i]; e.what == act::clock)
        times.push_back(
            {log.readings[static_cast<std::size_t>(e.value)], played.events[t][i].begin});
  std::ranges::sort(times, {}, &clock_time::reading);
  return times;
}

}  // namespace tw::emu
