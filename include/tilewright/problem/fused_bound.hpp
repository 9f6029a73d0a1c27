// SPDX-License-Identifier: Apache-2.0
// fused_bound.hpp  How far a correct D may be from the exact result of a fused epilogue.
//
// The sum S' and its error E are those of error_bound.hpp. Write h = 2^-24 for the relative error
// of one rounding.
//
// 1. x. At most three products, the bias and beta C are rounded to nearest, each result y by h |y|
//    or, of a product below the normal range, by 2^-126; a product passes errors on, multiplied:
//          |(a b)' - a b| <= |a| Eb + |b| Ea + Ea Eb + h (|a| + Ea) (|b| + Eb) + 2^-126
//          |(a + b)' - (a + b)| <= Ea + Eb + h (|a| + Ea + |b| + Eb)
//    An FMA rounds once instead of twice and keeps these bounds.
// 2. y = act(x) for an act with |act'| <= L: L Ex, and what its evaluation costs.
//      relu  L = 1, exact.
//      silu, clamped_quick_gelu, gelu_tanh  L = 1.1, 1.1 and 1.13. x s(v) is computed as
//            x rcp(1 + ex2(w)), w = -v log2 e.
//            w errs by less than 4 h |w| (four roundings and the constants), which is 4 h |v| of
//            the power; ex2.approx by 4 h, the sum by h, rcp.approx by 2 h, the product by h. Of an
//            error of the power the share 1 - s(v) reaches the sum:
//                  |y| h ((4 |v| + 4) (1 - s(v)) + 5)
//            and where the power overflows, y = 0 instead of less than |x| 2^-125.
//      gelu_erf  L = 1.13. The polynomial in the kernel's arithmetic errs by less than 2^-22 |x|
//            (tests/kernel/epilogue/activation_test.cpp), where ex2 and rcp are rounded to nearest;
//            the GPU's cost 6 h |y| more:
//                  2^-22 |x| + 2^-21 |y|.
//    For x = -inf relu is 0 and the others are NaN.
//    clamped_quick_gelu: x is clamped first, which is exact and does not enlarge its error; +inf
//    becomes the limit.
// 3. Gate: the product of 1. A factor that is clamped and gets an offset errs by one sum more.
//    A weight of the row: one product, as in 1.
// 4. C last: one fma. Then the rounding of the output as in error_bound.hpp.
//
// 5. Scales of D: the result is divided by its scale, which is the one that is given or that was
//    written, with one rounding, then rounded to 8 bits. A NaN is 0 in s8. How far a written scale
//    may be from that of the exact amax is for check_scales (tools/check/check.cpp): the scale is a
//    monotonous function of amax, which errs by no more than the elements in float32.
//
// Infinities and NaN are treated as in error_bound.hpp.
#pragma once

#include "tilewright/problem/epilogue_kind.hpp"
#include "tilewright/problem/error_bound.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw {

/// Inputs of one x: S and T of error_bound.hpp, the scales of its row and column, its bias.
struct exact_linear {
  double s = 0, t = 0, row_scale = 1, col_scale = 1, bias = 0;
  double largest_scale = 1, second_level = 1;  // as in exact_sum
};

/// Inputs of one element of D. up: what the gate x multiplies, if there is one.
struct exact_fused {
  exact_linear x, up;
  double c = 0;
  double weight = 1;   // of the row
  double scale_d = 1;  // that the element was divided by
};

/// Constants of all elements; `out` serves judge().
struct fused_terms {
  bound_terms out;
  gemm_epilogue epilogue;
  epilogue_id kind = epilogue_id::plain;
};
fused_terms make_fused_terms(gemm_problem const& p);

/// The exact result and the bounds around it: `bound` of the problem's epilogue
/// (epilogue_kind.hpp).
expected_element expect_fused(exact_fused const& x, fused_terms const& t);

/// The auxiliary output: x, rounded to D's type. `c` as in exact_fused.
expected_element expect_aux(exact_linear const& x, double c, fused_terms const& t);

}  // namespace tw
