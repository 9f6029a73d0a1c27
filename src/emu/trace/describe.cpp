// SPDX-License-Identifier: Apache-2.0
// describe.cpp  The words for each kind of event.
#include <fmt/format.h>

#include "emu/trace/slices.hpp"

namespace tw::emu {

trace_slice slice_of(trace_log const& log, trace_event const& e) {
  trace_slice s;
  s.number = e.value;
  switch (e.what) {
    case act::wait: {
      barrier_log const& b = log.barriers[e.object];
      bool const phases = b.what == barrier_log::kind::mbarrier;
      s.kind = phases ? slice_kind::wait : slice_kind::barrier;
      s.name = phases ? fmt::format("{} phase {}", b.name, e.value) : b.name;
      s.detail = phases && e.value < 0 ? "free at the start: passes at once"
                 : phases              ? "waits for an mbarrier"
                                       : fmt::format("round {}", e.value);
      return s;
    }
    case act::arrive: {
      barrier_log const& b = log.barriers[e.object];
      s.kind = slice_kind::arrive;
      s.name = b.what == barrier_log::kind::mbarrier
                   ? fmt::format("arrive {} phase {}", b.name, e.value)
                   : fmt::format("arrive {}", b.name);
      return s;
    }
    case act::store_async:
      s.kind = slice_kind::epilogue;
      s.name = fmt::format("store_async {} phase {}", log.barriers[e.object].name, e.value);
      s.detail = "16 bytes per thread, which the barrier counts";
      return s;
    case act::copy: {
      copy_log const& c = log.copies[e.object];
      s.kind = slice_kind::issue;
      s.name = fmt::format("issue {} {}", c.load ? "load" : c.add ? "add" : "store", c.box);
      s.detail = fmt::format("{} bytes", c.bytes);
      s.number = -1;
      return s;
    }
    case act::commit:
      s.kind = slice_kind::issue;
      s.name = fmt::format("commit wgmma group {}", ++s.number);
      return s;
    case act::tensor_commit: {
      commit_log const& c = log.commits[e.object];
      s.kind = slice_kind::issue;
      s.name = "commit";
      for (std::size_t i = 0; i < c.landings.size(); ++i)
        s.name += fmt::format("{}{} phase {}", i == 0 ? " to " : ", ",
                              log.barriers[c.landings[i].barrier].name, c.landings[i].round);
      s.detail = fmt::format("{} multiplies of tcgen05 since the last one", c.steps);
      s.number = -1;
      return s;
    }
    case act::group_wait:
      s.kind = slice_kind::wait_mma;
      s.name = fmt::format("wgmma group {}", e.value);
      s.detail = "waits for it and all before it";
      return s;
    case act::store_wait:
    case act::store_read_wait:
      s.kind = slice_kind::wait_store;
      s.name = fmt::format("store group {}{}", e.value,
                           e.what == act::store_read_wait ? " read" : " written");
      s.detail = "waits for it and all before it";
      return s;
    case act::matrix_store:
    case act::matrix_load:
    case act::plain: {
      s.kind = slice_kind::epilogue;
      bool const plain = e.what == act::plain;
      char const* const name = e.what == act::matrix_store  ? "stmatrix"
                               : e.what == act::matrix_load ? "ldmatrix"
                                                            : "plain accesses";
      s.name = fmt::format("{} x{}", name, e.count);
      s.detail = fmt::format("{} per thread, the first at shared memory +{:#x}",
                             plain ? "accesses" : "instructions", e.value);
      s.number = -1;
      return s;
    }
    case act::global_store:
      s.kind = slice_kind::store;
      s.name = fmt::format("store D x{}", e.count);
      s.detail = fmt::format("{} ordinary stores to global memory per thread", e.count);
      s.number = -1;
      return s;
    case act::clock: return s;
  }
  return s;
}

}  // namespace tw::emu
