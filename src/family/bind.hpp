// SPDX-License-Identifier: Apache-2.0
// bind.hpp  Operands as launches of every family take them: checked, in the form as run, copied.
#pragma once

#include "tilewright/arch/tensor_map.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/family/plan.hpp"
#include "tilewright/kernel/epilogue/params.hpp"
#include "tilewright/kernel/moe/ordered_rows.hpp"
#include "tilewright/kernel/repitch/params.hpp"
#include "tilewright/problem/operand.hpp"

namespace tw {

/// Throws `rejected` (TW0408, TW0409) for a missing or misaligned pointer.
void check_operands(gemm_problem const& p, gemm_operands const& o);

/// Throws `rejected` (TW0410) for a workspace that is missing, misaligned or smaller than what the
/// launch touches: workspace_of(plan).bytes, whatever plan.workspace_bytes says.
void check_workspace(gemm_plan const& plan, gemm_operands const& o);

/// Contiguous and outer extents of the operands of a normalised problem.
struct extents {
  std::int64_t inner, outer;
};
extents extents_of_a(gemm_problem const& q);
extents extents_of_b(gemm_problem const& q);
extents extents_of(gemm_problem const& q, role x);

/// A copy of operand `m` whose pitch and batch stride TMA can address, in elements, and its size:
/// one matrix where the whole batch has the same. Lines of whole 128 bytes where that costs at most
/// 5 %: TMA and L2 then move whole lines.
struct padded {
  std::int64_t pitch_elems, batch_stride_elems, matrices, bytes;
};
padded padded_copy(matrix_desc const& m, extents e, std::int64_t batch);

/// With a gate, result column j has its gate in column j * step of A B, and the column that it
/// multiplies up_offset columns later. Without one step is 1.
struct gate_columns {
  int step, up_offset;
};
gate_columns gate_columns_of(gemm_problem const& q);

/// Rows of the scales of A or B in the order that tcgen05 reads: M and N. With a gate, B has rows
/// for the gates and rows for the columns that they multiply, each from a multiple of 128 on.
std::int64_t scale_rows(gemm_problem const& q, role x);

/// Is A one of 8 or 32 bits, column-major, that TMA can address? Kernels that read A into registers
/// load it as it is; others need a copy.
bool may_load_a_as_stored(gemm_problem const& q, gemm_operands const& o);

/// Sets which operands of plan.normal are copied first, and puts the copies that are rearranged in
/// their place. `o` has the operands of plan.normal. With a_as_stored A is not copied.
void choose_copies(gemm_plan& plan, gemm_operands const& o, bool a_as_stored = false);

/// Does a launch copy A, B or their scales to the workspace first?
bool copies_operands(gemm_plan const& plan);
/// Bytes that this launch copies, for predictions. Scales count once, also for a batch.
double copied_bytes(gemm_plan const& plan);

/// D in float32 in the workspace, row-major: what a second launch quantises (gemm_plan::stage_d).
matrix_desc staged_d(gemm_problem const& p);

/// The sizes of the groups of a problem as run, as kernels read them.
group_sizes sizes_of_groups(gemm_problem const& q, gemm_operands const& o);

/// A launch as run: the normal form, its operands, and the copies in the workspace that take the
/// place of operands TMA cannot address.
struct launch_form {
  gemm_problem problem;
  gemm_operands operands;
  repitch_params copies;        // of 16-bit operands
  rearrange_params rearranged;  // of others
  factor_params factors;        // scales of block-scaled operands
  ordered_rows_params ordered;  // rows that groups gather
  bool copied() const {
    return any(copies) || any(rearranged) || any(factors) || ordered.to != nullptr;
  }
  template <class Params>
  static bool any(Params const& p) {
    return p.operand[0].to != nullptr || p.operand[1].to != nullptr;
  }
};

/// Checks the operands and the workspace (TW0408 to TW0410, TW0428, TW0446). zeros: 16 bytes of
/// them on the device that runs the plan, for problems with K = 0.
launch_form form_of(gemm_plan const& plan, gemm_operands const& given, void const* zeros = nullptr);

/// C as a kernel reads it; without data if the problem has no C or beta is 0.
c_view view_of_c(gemm_problem const& q, gemm_operands const& o);

/// The fused epilogue of a launch but for an auxiliary output. If q is the swapped problem
/// (swap-AB), its columns are rows of the requested GEMM, whose scales come first.
fused_params fused_of(gemm_problem const& q, gemm_operands const& o, bool swapped);

}  // namespace tw
