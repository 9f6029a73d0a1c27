// SPDX-License-Identifier: Apache-2.0
// error_bound.hpp  How far a correct D may be from the exact result, proven for any summation
// order.
//
// For one element let S = sum over k of a_k b_k, T = sum of |a_k b_k|, exact. The kernel computes
// S' in float32, then alpha S' + beta c in float32, then rounds once to D's type.
//
// 1. Products. a_k and b_k have at most 11 significant bits, so a_k b_k has at most 22: every
//    product is exact in float32's 24.
// 2. Sums. An ordinary float32 addition, rounded to nearest, loses at most 2^-24 of its result. A
//    tensor core is coarser: it adds blocks of b >= 1 products and the running sum at once, aligned
//    to the largest exponent among them, cuts off what falls below its last kept bit, and cuts the
//    result too (truncation: Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor
//    cores", 2021). Assume no kept bit below float32's last one: the largest addend loses nothing,
//    each of the b others less than 2^-23 of the largest, the result less than 2^-23 of itself. So
//    a step of b products loses at most (b + 1) 2^-23 <= b 2^-22 of the sum of its addends'
//    magnitudes: one unit
//                                  u = 2^-22 per product,
//    whatever b and the order. A tcgen05.mma of Blackwell, by its published model
//    (base/accumulator_bits.hpp), cuts each of b + 1 addends below 2^-25 of the largest one's power
//    of two and the result below 2^-23 of itself, towards zero: (b + 1) 2^-25 + 2^-23 <= b 2^-22.
//    Along the K products this grows to
//                          |S' - S| <= E = ((1 + u)^K - 1) T,
//    Higham's usual argument with the larger unit; plus K 2^-126 for results that may be flushed
//    because they are below float32's normal range.
//    The hardware adds the exponents of a product's factors, and takes the exponent of the
//    smallest normal number for a subnormal one. The product itself may then be far smaller. So T
//    of floats of 8 bits and more counts a factor that is not zero as the smallest normal number
//    at least (bound_magnitude).
//    The others:
//      e4m3, e5m2  The products have at most 8 significant bits. A step of 32 products and the
//                  running sum cuts each of its 33 addends, and the result, below 2^-13 of the
//                  largest addend's power of two (base/accumulator_bits.hpp):
//                          v = 34 2^-13 of the sum of their magnitudes.
//                  With a promotion every P elements of K a sum has s = P / 32 steps, then at most
//                  2 K / P + 2 additions in float32, with the additions of split K:
//                          E = ((1 + v)^s (1 + 2^-24)^(2 K / P + 2) - 1) T
//                  Without, s = K / 32. A tcgen05.mma keeps 25 bits: the bound holds there, too.
//                  If T has the plain magnitudes, products with subnormal factors cost up to
//                  2 K / 32 33 2^(e - 13) more (subnormal_floor), e the largest sum of a subnormal
//                  and another exponent: 2 for e4m3, 1 for e5m2, 9 for both.
//      s8, u8      The sum is exact. It is rounded once to float32, by 2^-24; not where D is s32.
//                  Where sums may wrap around, S is the number that 32 bits hold of it.
//      f32, tf32   S is the sum over the operands as tf32, whose products are exact too.
//      block-scaled  operands: the products of e2m1, and sums of 16 of them, are exact with their
//                  scales; those of e4m3 and e5m2 with powers of two. So u is that of 16-bit
//                  operands, and T has the scales. S' is then multiplied by the float32 product of
//                  the two second levels, which is infinite if it is beyond float32's range.
//                  e4m3 and e5m2 have the cost of subnormal factors too, with 23 kept bits
//                  instead of 13 and times the largest scale. A tcgen05.mma of K = 64 adds the
//                  sums of 16 and the running sum, each cut below 2^-35 of the largest power of two
//                  of the scales. A sum that is not zero has at least 2^-2 of this power, with two
//                  subnormal scales of ue4m3 2^-8: 5 2^-27 + 2^-23 <= 64 2^-22.
//      f16 sums    of f16 operands: a step of 16 products loses less than 17 2^-10 of its addends'
//                  magnitudes, or 2^-24 below f16's normal range, and is infinite beyond it.
// 3. Epilogue. alpha S', beta c and their sum are rounded to nearest, each by at most 2^-24 of its
//    result (fewer roundings if they are fused):
//          E' = |alpha| E + (2^-23 + 2^-48) (|alpha| (|S| + E) + |beta c|) + 2^-124.
// 4. Output. One rounding to nearest: half a last bit of the result, 2^-8 of it for bf16, 2^-11 for
//    f16, 2^-4 for e4m3, 2^-3 for e5m2, or half of the smallest subnormal. The bound is the sum.
//    8-bit floats saturate: beyond the largest finite number, and for infinities, D is that.
// The reference is computed in float64 and errs by at most K 2^-52 T, which is added to E.
//
// Infinities and NaN. Every number of the kernel has a set of possible outcomes: an interval around
// its exact value, +inf, -inf, NaN. S and E count finite products alone; infinite products and NaN
// decide S themselves. The partial sums of the finite ones lie, in any order, between the sum of
// the negative and that of the positive products, and may be infinite only where one of these
// leaves float32's range; then an infinity of the other sign, of another product or of C, makes NaN
// possible. The rules of IEEE 754 carry the sets through the epilogue (src/problem/outcomes.hpp).
// An outcome that is outside of the set is wrong. One that only an overflow on the way explains,
// where the exact result is another, is not judged. A result beyond D's range must be infinite.
// With alpha = 0, A and B take no part, and with beta = 0 C does not, as in BLAS.
#pragma once

#include <cstdint>

#include "tilewright/base/elem.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw {

/// One element of the GEMM in float64: S, T (of the finite products) and c of the text above.
struct exact_sum {
  double s, t, c;
  double largest_scale = 1;  // of a block of K, in magnitude: scales a floor of the sum
  double second_level = 1;   // NVFP4: S is multiplied by it, once it is complete
};

/// Constants of all elements.
struct bound_terms {
  double alpha, beta;
  double sum_unit;  // E = sum_unit T + sum_floor
  double sum_floor;
  double out_unit;      // half a last bit of D's type, relative to the value
  double out_floor;     // half of its smallest subnormal
  double out_overflow;  // the smallest magnitude that rounds to infinity
  double out_most;      // not 0: D saturates at this magnitude
  double sum_most;      // the largest finite sum that the tensor core keeps
  bool nan_is_zero;     // D is an integer
  bool wraps;           // a sum is what 32 bits hold of it
};

/// |x| as T has it: an element of A or B of this type that is not zero counts as at least the
/// smallest normal number; but of less than 8 bits |x|, for which the bound has terms.
double bound_magnitude(elem operand, double x);

/// The error of sums of e4m3 and e5m2 products beyond the bound, if T has plain magnitudes and some
/// factors are subnormal; in units of the largest scale. 0 of other operands.
double subnormal_floor(gemm_problem const& p);

bound_terms make_bound_terms(gemm_problem const& p);
/// Of 16-bit operands.
bound_terms make_bound_terms(std::int64_t k, float alpha, float beta, elem d);

/// The exact result alpha S + beta c, or the infinity or NaN that it is, the two bounds around it,
/// and what else is possible. E' allows for infinite results.
struct expected_element {
  double value = 0;
  double before_rounding = 0;  // E': bound before the output is rounded
  double bound = 0;            // what |D - value| must not exceed; 0 where value is not finite
  bool plus_inf = false, minus_inf = false, nan = false;  // D may be this
  bool far = false;  // D may be a finite number farther from value: what overflowed came back
};
expected_element expect_element(exact_sum const& x, bound_terms const& t);

/// How one element of D compares.
enum class verdict {
  right,  // within the bound, or the infinity or NaN that the exact result requires
  wrong,
  unjudged,  // possible only because float32 may overflow on the way
};
verdict judge(double d, expected_element const& e, bound_terms const& t);

}  // namespace tw
