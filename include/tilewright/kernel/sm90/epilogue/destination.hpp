// SPDX-License-Identifier: Apache-2.0
// destination.hpp  Where an epilogue's results go: D or the auxiliary output. Each states its
//                  tensor map, the coordinates of a box, and its addresses for plain stores.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/epilogue/add_c.hpp"
#include "tilewright/kernel/epilogue/params.hpp"
#include "tilewright/kernel/sm90/epilogue/d_box.hpp"

namespace tw {

/// D.
template <gemm_config C>
struct d_destination {
  static constexpr d_box box = d_box_of(C);
  epilogue_params const& p;
  tma_place place;  // of the batch index's D, or (batch, 0)
  int tile_end;     // where a kernel narrows: the first column after the tile
  /// Columns before this one are the tile's.
  TW_DEVICE int end() const { return C.varies_tile_n() && tile_end < p.n ? tile_end : p.n; }
  TW_DEVICE tensor_map const& map(int col) const {
    return C.varies_tile_n() && col + box.cols > tile_end ? p.d_part : p.d;
  }
  TW_DEVICE auto box_at(int inner, int outer, int batch) const {
    if constexpr (C.by_pointers()) {
      return tma_coord<4>{{inner, outer, place.units, place.spans}};
    } else {
      return tma_coord<3>{{inner, outer, batch}};
    }
  }
  /// Matrix `batch` begins `first` elements after `matrix`.
  TW_DEVICE void* matrix(int batch) const {
    return !C.by_pointers() ? p.data
           : p.matrices != nullptr
               ? p.matrices[batch]
               : static_cast<std::byte*>(p.data) + batch * p.batch_stride * size_bytes(C.d);
  }
  TW_DEVICE std::int64_t first(int batch) const {
    return C.by_pointers() ? 0 : batch * p.batch_stride;
  }
  TW_DEVICE std::int64_t pitch() const { return p.pitch; }
  TW_DEVICE int col(int d_col) const { return d_col; }
  static constexpr bool contiguous = true;  // columns, in a row-major matrix
  TW_DEVICE int col_step() const { return 1; }
};

/// D, for a tile whose first column is at.col.
template <gemm_config C>
TW_DEVICE d_destination<C> d_of(epilogue_params const& p, fragment_place at) {
  int const tile_end = C.varies_tile_n() ? at.col + p.tile_cols : 0;
  if constexpr (C.by_pointers()) return {p, matrix_place(p.matrices, at.batch, at.batch), tile_end};
  return {p, {at.batch, 0}, tile_end};
}

/// The auxiliary output, of which a gate (part 0) and what it multiplies (1) are columns apart.
template <gemm_config C>
struct aux_destination {
  epilogue_params const& p;
  int part;
  TW_DEVICE int end() const { return p.n; }
  TW_DEVICE tensor_map const& map(int) const { return p.fused.aux_map; }
  TW_DEVICE auto box_at(int inner, int outer, int batch) const {
    return tma_coord<3>{{inner, outer, batch}};
  }
  TW_DEVICE void* matrix(int) const { return p.fused.aux; }
  TW_DEVICE std::int64_t first(int batch) const { return batch * p.fused.aux_batch_stride; }
  TW_DEVICE std::int64_t pitch() const { return p.fused.aux_pitch; }
  TW_DEVICE int col(int d_col) const {
    return C.gated() ? d_col * p.fused.gate_step + part * p.fused.up_offset : d_col;
  }
  static constexpr bool contiguous = !C.gated();
  TW_DEVICE int col_step() const { return C.gated() ? p.fused.gate_step : 1; }
};

}  // namespace tw
