// SPDX-License-Identifier: Apache-2.0
// limits.hpp  Sizes that the architecture fixes: warps, fragments, shared memory, alignments.
#pragma once

namespace tw {

/// Threads. CUDA C++ Programming Guide, "Hardware Multithreading"; PTX ISA, "Warpgroup".
inline constexpr int warp_threads = 32;
inline constexpr int warpgroup_threads = 128;
inline constexpr int warps_of_warpgroup = warpgroup_threads / warp_threads;

/// Rows of A and D of one wgmma. PTX ISA, "Asynchronous Warpgroup Level Matrix Shape".
inline constexpr int wgmma_m = 64;
/// Granularity of wgmma's N.
inline constexpr int wgmma_n_step = 8;
inline constexpr int max_wgmma_n = 256;

/// Rows of a core matrix, 16 bytes wide each, of which shared-memory operands consist. PTX ISA,
/// "Asynchronous Warpgroup Level Matrix Shared Memory Layout".
inline constexpr int core_matrix_rows = 8, core_matrix_row_bytes = 16;
/// Where a TMA box begins in shared memory is a multiple of it. PTX ISA, "Tensor-map".
inline constexpr int tma_box_alignment = 128;
/// A whole 128-byte swizzle pattern: operand tiles start at multiples of it.
inline constexpr int swizzle_pattern_bytes = 1024;

/// Of an SM and of a CTA, compute capability 9.0: what the emulator has of a device. CUDA C++
/// Programming Guide, "Technical Specifications per Compute Capability"; an H100 SXM has so many
/// SMs. tests/device compares them with device/sm_limits.hpp and devices/h100_sxm.json.
inline constexpr int max_cta_threads = 1024, max_cluster_ctas = 16;
inline constexpr int max_sm_threads = 2048, max_sm_ctas = 32;
inline constexpr int sm_smem_bytes = 228 * 1024, reserved_cta_smem_bytes = 1024;
inline constexpr int h100_sms = 132;

/// Shared memory of a CTA, compute capability 9.0. CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability".
inline constexpr int max_smem_bytes = 227 * 1024;
/// Shared memory of a CTA, compute capability 8.0.
inline constexpr int sm80_max_smem_bytes = 163 * 1024;

}  // namespace tw
