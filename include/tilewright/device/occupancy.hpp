// SPDX-License-Identifier: Apache-2.0
// occupancy.hpp  How many CTAs of a kernel an SM holds at a time, and which resource limits them.
//
// An SM has warp slots, CTA slots, registers and shared memory. A CTA is placed where all four
// suffice, so the number of CTAs is the minimum of four quotients. Two of them have steps: a warp
// gets registers in steps of 256, from the quarter of the SM that it runs in; a CTA gets shared
// memory in steps of 128 bytes, after 1 KiB that CUDA reserves.
#pragma once

#include <array>
#include <cstdint>

#include "tilewright/device/sm_limits.hpp"

namespace tw {

/// Resources that a CTA takes of an SM.
struct cta_resources {
  int threads = 128;
  int registers = 32;           // of a thread, at launch: setmaxnreg moves them within the CTA
  std::int64_t smem_bytes = 0;  // static and dynamic
  int cluster = 1;              // CTAs
  int barriers = 0;             // named barriers (bar.sync); 0: not counted
  int tensor_columns = 0;       // of tensor memory: 0, 32, 64, 128, 256 or 512

  bool operator==(cta_resources const&) const = default;
};

enum class sm_resource : std::uint8_t {
  warps,
  registers,
  shared_memory,
  ctas,
  barriers,
  tensor_memory
};
inline constexpr int sm_resource_count = 6;

/// "warps", "registers", "shared memory", "CTAs", "barriers", "tensor memory".
char const* name_of(sm_resource r);

/// Of a resource that a kernel does not use.
inline constexpr int unlimited_ctas = 1 << 20;

struct occupancy {
  int ctas = 0;                                  // of an SM; 0: the kernel cannot be launched
  int warps = 0;                                 // of an SM
  std::array<int, sm_resource_count> ctas_by{};  // that each resource suffices for
  sm_resource limit = sm_resource::ctas;         // the first resource with the fewest CTAs
  int warps_per_cta = 0;
  int allocated_registers = 0;            // of a thread
  std::int64_t allocated_smem_bytes = 0;  // of a CTA

  /// Does this resource limit, perhaps together with others?
  bool limited_by(sm_resource r) const { return ctas_by[static_cast<std::size_t>(r)] == ctas; }
  /// Share of the SM's warps.
  double share(sm_limits const& sm) const { return static_cast<double>(warps) / sm.max_warps; }
};

/// The occupancy of an SM. Needs 1 to 1024 threads, 0 or more of the others (callers check).
occupancy occupancy_of(cta_resources const& c, sm_limits const& sm);

/// How far a resource can grow or must shrink until the number of CTAs changes; the other
/// resources stay. 0: no value does that.
struct occupancy_steps {
  int max_registers = 0;                  // with as many CTAs
  int registers_for_more = 0;             // the most with which one CTA more fits
  std::int64_t max_smem_bytes = -1;       // with as many CTAs
  std::int64_t smem_bytes_for_more = -1;  // -1: no value does that
};
occupancy_steps steps_of(cta_resources const& c, sm_limits const& sm);

/// Registers of a thread that hold one step of a tile, if all operands were in registers and the
/// matrices were divided among `threads` threads: m x k of A, k x n of B with `operand_bits` an
/// element, m x n sums of 32 bits.
struct fragment_registers {
  int a = 0, b = 0, sums = 0;
  int total() const { return a + b + sums; }
};
fragment_registers fragments_of(std::int64_t m, std::int64_t n, std::int64_t k, int operand_bits,
                                int threads);

}  // namespace tw
