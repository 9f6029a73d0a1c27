// SPDX-License-Identifier: Apache-2.0
// operand_maps.hpp  Tensor maps of a launch's matrices, for families that load and store by TMA.
#pragma once

#include "family/bind.hpp"
#include "tilewright/arch/tensor_map.hpp"
#include "tilewright/atom/operand.hpp"

namespace tw {

/// Matrices that lie along the third dimension of an operand's map: the operand's `matrices`, or
/// one if all are the same matrix or each has a separate place.
std::int64_t matrices_of(matrix_desc const& m, std::int64_t matrices);
/// Of an operand with a matrix for each index of the batch.
std::int64_t matrices_of(gemm_problem const& q, matrix_desc const& m);

/// A map of `outer` times `inner` contiguous elements; the third dimension is the batch, 1 where
/// the whole batch has the same matrix. placed: the third and the fourth are a tma_place, for
/// matrices without pointers (batch, 0). Of an operand whose lines are all the same zeros the first
/// line is in the map, and TMA fills the others.
tensor_map map_of(void const* base, matrix_desc const& m, std::int64_t batch, extents e,
                  operand_box box, swizzle_mode swizzle, target t, bool placed,
                  bool l2_fetches_128 = false);

/// An operand as its map describes it, with its mapped_type().
matrix_desc as_mapped(matrix_desc m);

/// The end of what TMA stores along the contiguous side of a result: boxes of `tile` elements that
/// end beyond it go by plain stores. TMA writes whole 16-byte chunks, and a line that ends inside
/// one would be overrun (docs/decisions/0006).
int tma_end_of(std::int64_t inner, elem type, int tile);

}  // namespace tw
