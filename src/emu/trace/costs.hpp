// SPDX-License-Identifier: Apache-2.0
// costs.hpp  The model of time of the timeline, in clock cycles: what each operation takes.
//
// A model, not a measurement: it says what can overlap with what, not how fast a kernel is.
// Arithmetic, global loads, fences and set_max_regs take no time. One CTA per SM.
// Rates per SM: 2048 multiply-adds of 16 bits a cycle, which makes N/2 cycles of 64 x N x (32 bytes
// of K) in every type (NVIDIA H100 white paper, peak rates); 64 bytes a cycle from L2. Latencies
// are round numbers near those published for Hopper (arXiv 2402.13499).
#pragma once

#include <cstdint>

#include "emu/history/access.hpp"

namespace tw::emu::cost {

using cycles = std::int64_t;

inline constexpr cycles operation = 8;  // of a thread: arrive, issue, commit, a wait that passes
inline constexpr cycles wake = 24;      // from the end of what is waited for to the next step
inline constexpr cycles peer = 180;     // an arrive at, and a barrier with, another CTA
// At 128 B/cycle: stmatrix and ldmatrix of a warpgroup, a load or store of each of its threads.
inline constexpr cycles matrix_access = hazard::traits(hazard::access::ldmatrix).cycles;
inline constexpr cycles plain_access = hazard::traits(hazard::access::plain_read).cycles;
// A store of each thread of a warpgroup: 8 sectors of 32 bytes a warp, one sector a cycle.
inline constexpr cycles global_store = 32;
inline constexpr cycles copy_latency = 700;  // global memory: after the engine is done with it
inline constexpr cycles copy_start = 16;     // the engine takes one request at a time
inline constexpr cycles copy_bytes = 64;     // bytes per cycle, each direction of each CTA
inline constexpr cycles multiply_latency =
    32;  // results in registers after the tensor core is done

/// Of one step of wgmma, which takes 32 bytes of K in every type. A tcgen05.mma takes them too, and
/// 128 rows of each CTA at twice the rate (devices/b200.json).
constexpr cycles multiply_step(int n) { return n / 2; }

}  // namespace tw::emu::cost
