// SPDX-License-Identifier: Apache-2.0
// canonical.hpp  A matrix of one row or one column has two orders: the one that kernels prefer.
#pragma once

#include "tilewright/problem/gemm.hpp"

namespace tw {

/// A matrix described in the other order, if that describes its memory too: a single line in either
/// order, or adjacent lines of a single element. Otherwise `as_given`.
matrix_desc in_order(matrix_desc const& as_given, order wanted, std::int64_t rows,
                     std::int64_t cols);

/// The problem, with unchanged addresses of all elements, in the orders that are best if an
/// extent is 1: A row-major and B column-major (K-major); with K = 1 A column-major and B row-major
/// instead, lines that TMA can address, unless a gate or an auxiliary output needs K-major
/// operands; D and an auxiliary output row-major; D of a GEMM with weights as A column-major; C in
/// the order of D. Batches by pointers stay as they are.
gemm_problem canonical(gemm_problem p);

}  // namespace tw
