// SPDX-License-Identifier: Apache-2.0
// params.hpp  Parameters of an epilogue, as kernels of every family have them: D, C, scalars and
//             the operands of fused epilogues. The same bytes for both backends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tilewright/arch/types.hpp"
#include "tilewright/base/divisor.hpp"
#include "tilewright/base/elem.hpp"
#include "tilewright/problem/epilogue.hpp"

namespace tw {

/// C in global memory, any strides (elements). data == nullptr: there is no C. matrices: C of each
/// matrix, or nullptr where data and batch_stride give it.
struct c_view {
  void const* data;
  std::int64_t row_stride, col_stride, batch_stride;
  elem type;
  void const* const* matrices;
};

/// The operands of a fused epilogue (problem/epilogue.hpp), for the kernel's rows and columns:
/// those of the swapped problem with swap-AB. nullptr: not used.
struct fused_params {
  void const* bias;
  float const *row_scale, *col_scale;
  int row_scale_step, col_scale_step;  // 1, or 0: a single value
  /// The auxiliary output of kernels with gemm_config::aux: the values before the activation, in
  /// the type and order of D.
  tensor_map aux_map;
  void* aux;
  std::int64_t aux_pitch, aux_batch_stride;  // elements
  int aux_tma_end;                           // as epilogue_params::tma_end
  elem bias_type;
  bool bias_rows;  // else along columns
  bool c_last;
  bool col_scale_first;  // the kernel computes the transposed GEMM: its columns are rows there
  activation act;
  /// With a gate, column j of D is computed from two columns of A B: its gate is column
  /// j * gate_step, and the values that the gate multiplies are `up_offset` columns further on.
  int gate_step, up_offset;
};

/// The place of a matrix: its pointer's, or matrix `batch` along its map.
TW_HD inline tma_place matrix_place(void const* const* matrices, int product, int batch) {
  return matrices != nullptr ? tma_place_of(matrices[product]) : tma_place{batch, 0};
}

/// Scales of D (problem/gemm.hpp), in global memory.
struct result_scales {
  void* data;
  std::int64_t stride_row, stride_block, batch_stride;
  int packed_log2;  // 2^packed_log2 blocks of a row are adjacent
  int ue8m0;        // 1: bytes of ue8m0, else float32
  int power_of_two, given;
};

/// Operands of groups, of kernels with gemm_config::grouped(), in global memory; or nullptr.
struct group_operands {
  float const* weight;          // of each row (groups of columns: column): multiplies y
  float const* alpha;           // of each group: multiplies epilogue_params::alpha
  std::int32_t const* gather;   // of each row of A B: choices times a row of A, and more
  std::int32_t const* scatter;  // of each row of A B: a row of D
  divisor choices;
  int gather_from, scatter_to;  // rows of A, and of D
  std::uint32_t* status;        // gemm_operands::group_status
};

struct epilogue_params {
  /// Boxes of kernel/sm90/epilogue/d_box.hpp: (n, m, batch), or (m, n, batch) for an M-major D. For
  /// kernels with gemm_config::by_pointers() the last is two: a tma_place, or (batch, 0).
  tensor_map d;
  tensor_map d_part;  // run-time tile width: with the box of a tile's last epilogue tile
  int tile_cols;      // columns of a tile
  int tma_end;        // boxes that end beyond this index of D's contiguous side go by plain stores
  int d_evict_first;  // 1: L2 need not keep D, nor the auxiliary output, for the next launch
  int c_by_tma;       // 1: TMA loads C. In this line of the constant cache: each tile reads it
  void* data;         // D
  void* const* matrices;  // D of each batch index, in global memory; nullptr: data and batch_stride
  std::int64_t pitch, batch_stride;  // of D, elements
  int m, n;                          // size of D
  float alpha, beta;
  c_view c;
  fused_params fused;
  result_scales scales;  // for kernels with gemm_config::operands().scales
  group_operands group;
};

// Each tile of a GEMM reads both members. They share a line of 64 bytes of the constant cache: a
// miss takes 0.2 us (docs/decisions/0018-kernel-setup-cost.md).
static_assert(offsetof(epilogue_params, tma_end) / 64 == offsetof(epilogue_params, c_by_tma) / 64);

}  // namespace tw
