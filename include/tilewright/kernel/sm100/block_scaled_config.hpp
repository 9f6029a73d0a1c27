// SPDX-License-Identifier: Apache-2.0
// block_scaled_config.hpp  The one parameter of a block-scaled Blackwell kernel, and the tensor map
//                          of scale factors.
#pragma once

#include "tilewright/arch/tensor_map.hpp"
#include "tilewright/arch/tensor_memory.hpp"
#include "tilewright/base/elem.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/hd.hpp"
#include "tilewright/kernel/sm100/cta.hpp"
#include "tilewright/problem/epilogue_kind.hpp"
#include "tilewright/problem/scale.hpp"
#include "tilewright/tensor/tmem_size.hpp"

namespace tw {

/// Configuration of block_scaled_sm100.
struct block_scaled_config {
  elem a = elem::e2m1, b = elem::e2m1;  // e4m3, e5m2, e2m3, e3m2, e2m1
  elem scale = elem::ue4m3;             // of the factors; ue8m0 but for NVFP4
  int block = 16;                       // elements of a factor; 32 but for NVFP4
  elem d = elem::bf16;                  // e4m3 and e2m1: with block scales, of ue8m0 for 32
  int ctas = 1;                         // that multiply together: 1, or 2
  int tile_n = 128;
  int stages = 4;
  epilogue_id epilogue = epilogue_id::plain;

  /// A tile of the order 32x4x4, an atom: its rows, factors of a row, and bytes.
  static constexpr int atom_rows = scale_tile_rows, atom_factors = scale_tile_blocks;
  static constexpr int atom_bytes = scale_tile_bytes;

  /// Two elements of 4 bits in a byte; otherwise 16 elements in 16 bytes.
  TW_HD constexpr bool dense() const { return packs_in_pairs(a) && packs_in_pairs(b); }
  TW_HD constexpr umma_kind kind() const {
    return !dense() ? umma_kind::mxf8f6f4 : nvfp4() ? umma_kind::mxf4nvf4 : umma_kind::mxf4;
  }
  /// Is D block-scaled? Then it is MXFP8 if its type is e4m3, and MXFP4 if its type is e2m1.
  TW_HD constexpr bool block_result() const { return !is_wide_float(d); }
  TW_HD constexpr bool nvfp4() const { return !is_exponent(scale); }
  /// Rows of D that the CTAs compute together.
  TW_HD constexpr int tile_m() const { return sm100_cta::rows * ctas; }
  /// Columns of B that a CTA loads.
  TW_HD constexpr int b_share() const { return tile_n / ctas; }
  /// Elements of a stage along K: one span of a row in shared memory, where elements that are not
  /// dense have a byte each.
  TW_HD constexpr int tile_k() const { return (dense() ? 2 : 1) * sm100_cta::row_bytes; }
  /// Factors of a row in a stage, in atoms of 4.
  TW_HD constexpr int atoms() const { return tile_k() / block / atom_factors; }
  /// Atoms along N whose factors a tile needs. A tile may begin in the middle of one.
  TW_HD constexpr int n_atoms() const { return (tile_n + atom_rows - 1) / atom_rows; }
  /// Data bytes of a row of a stage, without padding: what a barrier is credited with.
  TW_HD constexpr int row_data_bytes(elem e) const { return tile_k() * size_bits(e) / 8; }
  /// Atoms of the factors of A and of B in a stage.
  TW_HD constexpr int stage_atoms() const { return atoms() * (1 + n_atoms()); }
  /// Shared memory of a CTA for one stage: its parts of A and B, and their scale factors.
  TW_HD constexpr int stage_bytes() const {
    return (sm100_cta::rows + b_share()) * sm100_cta::row_bytes + atom_bytes * stage_atoms();
  }
  /// Columns of tensor memory: one or two accumulators, the factors of A, those of B.
  TW_HD constexpr int factor_columns() const { return scale_columns_of_128_rows * stage_atoms(); }
  TW_HD constexpr int accumulators() const {
    return 2 * tile_n + factor_columns() <= tmem_columns ? 2 : 1;
  }
  TW_HD constexpr int accumulator_column(int i) const { return i * tile_n; }
  TW_HD constexpr int a_factors_column() const { return accumulator_column(accumulators()); }
  TW_HD constexpr int b_factors_column() const {
    return a_factors_column() + scale_columns_of_128_rows * atoms();
  }
  TW_HD constexpr int used_columns() const { return a_factors_column() + factor_columns(); }
  /// That a CTA allocates.
  TW_HD constexpr int tensor_columns() const { return tmem_allocation(used_columns()); }
  TW_HD constexpr epilogue_operands operands() const { return operands_of_epilogue(epilogue); }
  /// Does the epilogue compute more than alpha A B + beta C?
  TW_HD constexpr bool fused() const { return operands().ops; }
  TW_HD constexpr bool gated() const { return operands().gate; }
  TW_HD constexpr bool aux() const { return operands().aux; }
  /// Columns of D in a tile: those of A B, with a gate half of them.
  TW_HD constexpr int d_cols() const { return gated() ? tile_n / 2 : tile_n; }
  bool operator==(block_scaled_config const&) const = default;
};

/// The tensor of the factors of `rows` rows of k elements at `base`, in boxes of the atoms of a
/// stage for `row_atoms` atoms of rows. Atoms beyond the tensor come as zeros.
/// Its coordinates are (byte of half an atom, half of an atom along K, 128 rows).
inline tensor_map_desc factor_map(void* base, elem type, std::int64_t rows, std::int64_t k,
                                  block_scaled_config const& c, int row_atoms) {
  constexpr int half = block_scaled_config::atom_bytes / 2;  // as large as a box may be
  std::int64_t const atoms = divide_up(k, block_scaled_config::atom_factors * c.block);
  tensor_map_desc d;
  d.base = base;
  d.type = type;
  d.rank = 3;
  d.dim[0] = half;
  d.dim[1] = 2 * atoms;
  d.dim[2] = divide_up(rows, block_scaled_config::atom_rows);
  d.stride_bytes[0] = half;
  d.stride_bytes[1] = 2 * half * atoms;
  d.box[0] = half;
  d.box[1] = 2 * c.atoms();
  d.box[2] = row_atoms;
  return d;
}
/// The map of a batch, its index the last coordinate. Bytes from 128 rows to the next, and from a
/// matrix to the next; matrices: 1 where the whole batch has the same.
inline tensor_map_desc batched(tensor_map_desc d, std::int64_t row_stride, std::int64_t matrices,
                               std::int64_t matrix_stride) {
  d.rank = 4;
  d.dim[3] = matrices;
  d.stride_bytes[1] = row_stride;
  d.stride_bytes[2] = matrices > 1 ? matrix_stride : row_stride;
  return d;
}

}  // namespace tw
