// SPDX-License-Identifier: Apache-2.0
// workspace.hpp  The layout of a launch's workspace: counters, parts of split-K tiles, copies.
#pragma once

#include "tilewright/family/plan.hpp"

namespace tw {

/// Can TMA address this matrix? Base, pitch and batch stride must be multiples of 16 bytes; the
/// pitch does not matter for a single row or column (`outer` == 1), the stride for a batch of one.
/// A batch by pointers has known pitches and unknown addresses. If the pitch is a multiple of 16
/// bytes, the matrices count as addressable, also matrices of one row or column, and each address
/// must be a multiple of 16 bytes. If the pitch is not, the matrices are copied and any address is
/// allowed. CUDA driver API, cuTensorMapEncodeTiled.
bool tma_addressable(matrix_desc const& m, std::int64_t outer, std::int64_t batch,
                     void const* base);

/// Do lines that TMA reads of this matrix, which it can address, begin inside of L2's sectors of 32
/// bytes? Such loads take twice the time. Not of a batch by pointers, whose addresses are unknown.
bool splits_sectors(matrix_desc const& m, std::int64_t outer);

/// Byte offsets in a plan's workspace. The counters are its first gemm_workspace_zeros bytes, also
/// where the plan shares nothing: copies must not disturb them for the plans that do.
struct workspace_layout {
  std::int64_t partials = 0;                     // of split-K tiles
  ab_table<std::int64_t> copies;                 // of the operands as run (plan.normal)
  ab_table<std::int64_t> scales;                 // of block-scaled operands, in 32x4x4
  std::int64_t ordered = 0, ordered_scales = 0;  // rows that groups gather
  std::int64_t staged_d = 0;                     // D in float32, before a launch that quantises it
  std::int64_t bytes = 0;                        // all; 0: the plan needs no workspace
};
workspace_layout workspace_of(gemm_plan const& plan);

}  // namespace tw
