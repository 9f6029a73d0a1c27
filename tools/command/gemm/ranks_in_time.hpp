// SPDX-License-Identifier: Apache-2.0
// ranks_in_time.hpp  The recorded acts of emulated ranks in time, and their picture.
//
// The emulator does not measure time. As for one kernel (docs/timeline.md), a recording has the
// order of acts, and a model gives each a time: a rank has a stream of launches and a queue of
// copies, as on a GPU (dist/group.hpp). A GEMM takes the cycles of its recorded launch. A copy
// begins when the copy before it has ended and the results that it sends are there; a wait ends
// when the copies before the awaited flag have.
#pragma once

#include <string>
#include <vector>

#include "dist/recorded.hpp"
#include "tilewright/device/device.hpp"
#include "tilewright/dist/plan.hpp"
#include "tools/trace/call_picture.hpp"

namespace tw {

/// Cycles, and bytes of a cycle: of a copy from GPU to GPU; of the launch of path::direct; of the
/// addition of partial results, and copies inside of a GPU.
struct call_rates {
  double copy, copied_bytes;
  double direct, direct_bytes;
  double add, added_bytes;
};
/// Those of the links and the memory of `whole` that an emulated device with `sms` of its SMs
/// has: an equal part of the bytes, and the whole latencies.
call_rates rates_of(device const& whole, int sms, dist::link_rates const& links = {});

/// The blocks of all ranks; of_rank[r] has the acts of rank r. Acts without a time do not
/// have a block: flags, and waits that pass at once. A GEMM with a gate has a block for the rows of
/// each rank, and all copies of a launch have one.
std::vector<call_block> blocks_in_time(std::vector<dist::recorded_acts> const& of_rank,
                                       call_rates const& rates);

/// The longest sum of the times of a rank's acts: the end of a call without overlap.
double without_overlap(std::vector<call_block> const& blocks, int ranks);

struct ranks_picture {
  dist::operation op;
  dist::path via;
  std::int64_t m, n, k;
  std::string device_name;
  int sms, of_sms;  // of a rank, and of the whole device
  call_rates rates;
};
/// The picture; its axis is as long as a rank would take without overlap.
std::string ranks_svg(ranks_picture const& p, std::vector<dist::recorded_acts> const& of_rank);

}  // namespace tw
