// SPDX-License-Identifier: Apache-2.0
// sm_limits.hpp  Resources of an SM and the steps in which they are allocated, by compute
//                capability.
//
// Sources: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" (warps,
// CTAs, registers, shared memory, and the 1 KiB that CUDA reserves for each CTA since 8.0);
// cuda_occupancy.h of the CUDA Toolkit 13.0 (allocation steps, partitions, barriers).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tw {

struct sm_limits {
  int compute_capability;               // 90 for 9.0
  int max_warps;                        // of an SM
  int max_ctas;                         // likewise
  std::int64_t smem_bytes;              // of an SM
  std::int64_t max_smem_bytes_per_cta;  // by opt-in
  std::int64_t smem_step_bytes;         // a CTA's shared memory is rounded up to a multiple
  std::int64_t reserved_smem_bytes_per_cta;
  int max_barriers;  // named barriers of an SM; 0: they limit nothing
  int max_cluster;   // CTAs, as any kernel may have it; 1: no clusters

  /// Columns of tensor memory: an SM of 10.x and 11.x has 128 lanes of 512. PTX ISA, "Tensor
  /// Memory".
  constexpr int tensor_columns() const {
    return compute_capability / 10 == 10 || compute_capability / 10 == 11 ? 512 : 0;
  }

  // Limits that all listed architectures have.
  static constexpr int max_threads_per_cta = 1024;
  static constexpr int max_non_portable_cluster = 16;
  static constexpr int registers = 65536;    // of 32 bits
  static constexpr int partitions = 4;       // each with a quarter of registers and warps
  static constexpr int register_step = 256;  // a warp's registers are a multiple: 8 a thread
  static constexpr int max_registers = 255;  // of a thread, that a program can name
  static constexpr int max_allocated_registers = 256;  // of a thread; setmaxnreg can name 256
};

std::span<sm_limits const> known_sm_limits();

/// The limits of a compute capability, 90, or nullptr.
sm_limits const* find_sm_limits(int compute_capability);

/// A GPU by a usual word, for calculations that need its SM alone: "a100", "b200", "sm_90a", "9.0".
/// Nullptr where the word is unknown.
sm_limits const* sm_limits_named(std::string_view word);

/// "a100, h100, ...": the usual words, without sm_XX.
std::string sm_limits_words();

}  // namespace tw
