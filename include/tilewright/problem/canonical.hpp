// SPDX-License-Identifier: Apache-2.0
// canonical.hpp  A matrix of one row or one column has two orders: the one that kernels prefer.
#pragma once

#include "tilewright/problem/gemm.hpp"

namespace tw {

/// The same memory in the other order, where there is one: a single line in either order, or lines
/// of a single element that follow each other. `as_given` where the order says something.
matrix_desc in_order(matrix_desc const& as_given, order wanted, std::int64_t rows,
                     std::int64_t cols);

/// The same problem, and the same addresses of all elements, in the orders that are best where an
/// extent is 1: A row-major and B column-major (K-major); with K = 1 A column-major and B row-major
/// instead, lines that TMA can address, unless a gate or an auxiliary output needs K-major
/// operands; D and an auxiliary output row-major together; C as D. Batches by pointers stay as they
/// are.
gemm_problem canonical(gemm_problem p);

}  // namespace tw
