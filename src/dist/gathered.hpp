// SPDX-License-Identifier: Apache-2.0
// gathered.hpp  Where matrices and scales lie in a receive buffer, and the copies that fill it.
#pragma once

#include <vector>

#include "dist/membership.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw::dist {

/// A dense matrix, its leading dimension a multiple of 16 bytes, as TMA needs it.
matrix_desc dense(elem type, order ord, std::int64_t rows, std::int64_t cols);
std::int64_t bytes_of(matrix_desc const& m, std::int64_t rows, std::int64_t cols);

/// The copy of a matrix to the rows that begin at `row` of a matrix `to` at `offset`.
placed_lines copy_of(matrix_desc const& from, void const* base, std::int64_t rows,
                     std::int64_t cols, matrix_desc const& to, std::int64_t row,
                     std::int64_t offset);

/// Do scales of A differ from row to row? Otherwise all ranks have the same scales.
bool scales_travel(scale_desc const& s);

/// The scales of (rows, k) elements, dense, in the order of `like`.
scale_desc dense_scales(scale_desc const& like, std::int64_t rows, std::int64_t k);
std::int64_t bytes_of(scale_desc const& s, std::int64_t rows, std::int64_t k);

/// The copies of the scales of `part` of the rows to scales `to` of all rows at `offset`. Throws
/// `rejected` (TW0904) if the part begins inside of a block of rows that share a scale.
std::vector<placed_lines> copies_of(scale_desc const& from, void const* base, range part,
                                    std::int64_t k, scale_desc const& to, std::int64_t offset);

}  // namespace tw::dist
