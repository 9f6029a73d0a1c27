// SPDX-License-Identifier: Apache-2.0
// exact_sum.cpp  Aligns, truncates and adds as base/accumulator_bits.hpp states it.
#include "emu/wgmma/exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "tilewright/base/elem_traits.hpp"

namespace tw::emu {

namespace {

using special = operand_number::special;

operand_number parts_of(float_format const& f, std::uint32_t bits) {
  std::uint32_t const fraction = bits & ((1U << f.mantissa_bits) - 1);
  int const all_ones = (1 << f.exponent_bits) - 1;
  int const field = static_cast<int>(bits >> f.mantissa_bits) & all_ones;
  bool const negative = (bits >> (f.mantissa_bits + f.exponent_bits) & 1U) != 0;
  special kind = special::no;
  if (f.has_infinity() && field == all_ones)
    kind = fraction == 0 ? special::infinity : special::nan;
  bool const has_nan = f.nan != f.max_finite;
  if (has_nan && !f.has_infinity() && field == all_ones && fraction + 1 == 1U << f.mantissa_bits)
    kind = special::nan;
  auto const magnitude =
      static_cast<std::int32_t>(fraction | (field != 0 ? 1U << f.mantissa_bits : 0U));
  return {negative ? -magnitude : magnitude,
          static_cast<std::int16_t>(std::max(field, 1) - f.bias()), kind};
}

/// value * 2^-shift towards zero; shift may be negative.
std::int64_t shifted(std::int64_t value, int shift) {
  if (shift <= 0) return value * (std::int64_t{1} << -shift);
  if (shift > 62) return 0;
  std::int64_t const magnitude = std::abs(value) >> shift;
  return value < 0 ? -magnitude : magnitude;
}

/// sum * 2^scale in the format of the sums.
std::uint32_t packed(std::int64_t sum, int scale, elem sums, accumulator_rule const& rule,
                     bool negative_zero) {
  float_format const f = traits_of(sums).format;
  std::uint32_t const sign_bit = 1U << (f.exponent_bits + f.mantissa_bits);
  if (sum == 0) return negative_zero ? sign_bit : 0;
  std::uint32_t const sign = sum < 0 ? sign_bit : 0;
  auto magnitude = static_cast<std::uint64_t>(std::abs(sum));
  int exponent = 63 - std::countl_zero(magnitude) + scale;  // of the leading bit
  int const smallest = 1 - f.bias();
  // Bits of the result: rule.result_bits after the leading one, fewer if it is subnormal.
  int const unit = std::max(exponent, smallest) - rule.result_bits;
  int const drop = unit - scale;
  if (drop > 63) return sign;
  if (drop > 0) {
    std::uint64_t const rest = magnitude & ((std::uint64_t{1} << drop) - 1);
    std::uint64_t const half = std::uint64_t{1} << (drop - 1);
    magnitude >>= drop;
    if (rule.to_nearest && (rest > half || (rest == half && (magnitude & 1U) != 0))) ++magnitude;
    magnitude <<= drop;
    if (magnitude == 0) return sign;
    exponent = 63 - std::countl_zero(magnitude) + scale;
  }
  if (exponent > f.bias()) return sign | ((1U << f.exponent_bits) - 1) << f.mantissa_bits;
  // As an integer count of the format's units.
  int const to_units = std::max(exponent, smallest) - f.mantissa_bits - scale;
  std::uint64_t const units = to_units >= 0 ? magnitude >> to_units : magnitude << -to_units;
  std::uint32_t const field =
      exponent < smallest ? 0 : static_cast<std::uint32_t>(exponent + f.bias());
  return sign | (field << f.mantissa_bits) |
         (static_cast<std::uint32_t>(units) & ((1U << f.mantissa_bits) - 1));
}

std::uint32_t integer_sum(wgmma_form const& form, operand_number const* a, operand_number const* b,
                          std::uint32_t c, bool accumulate) {
  std::int64_t sum = accumulate ? static_cast<std::int32_t>(c) : 0;
  for (int k = 0; k < form.k(); ++k) sum += a[k].significand * b[k].significand;
  if (form.overflow == integer_overflow::saturate)
    sum = std::clamp(sum, std::int64_t{std::numeric_limits<std::int32_t>::min()},
                     std::int64_t{std::numeric_limits<std::int32_t>::max()});
  return static_cast<std::uint32_t>(sum);
}

}  // namespace

operand_number operand_number_of(elem type, std::uint32_t bits) {
  if (is_8_bit_integer(type)) {
    if (is_signed(type)) return {static_cast<std::int8_t>(bits), 0, special::no};
    return {static_cast<std::uint8_t>(bits), 0, special::no};
  }
  if (is_exponent(type)) {
    auto const field = static_cast<int>(bits & 0xFFU);
    return {1, static_cast<std::int16_t>(field - 127),
            field == nan_code(type) ? special::nan : special::no};
  }
  float_format const f = traits_of(with_sign(type)).format;
  bits >>= bits_below_mantissa(type);
  if (!is_signed(type)) bits &= (1U << (f.exponent_bits + f.mantissa_bits)) - 1;
  return parts_of(f, bits);
}

sum_term product_of(operand_number const& x, operand_number const& y) {
  special kind = special::no;
  if (x.kind != special::no || y.kind != special::no) {
    bool const zero = x.significand == 0 || y.significand == 0;  // times an infinity
    bool const nan = x.kind == special::nan || y.kind == special::nan || zero;
    kind = nan ? special::nan : special::infinity;
  }
  return {std::int64_t{x.significand} * y.significand, x.exponent + y.exponent, kind};
}

std::uint32_t sum_of_terms(sum_term const* terms, int count, int fraction_bits,
                           accumulator_rule const& rule, elem sums, std::uint32_t c,
                           bool accumulate) {
  float_format const f = traits_of(sums).format;
  operand_number const in = accumulate ? parts_of(f, c) : operand_number{0, 0, special::no};

  // Special values, and the largest exponent.
  bool nan = in.kind == special::nan, up = false, down = false;
  if (in.kind == special::infinity) (in.significand < 0 ? down : up) = true;
  int largest = std::numeric_limits<int>::min();
  if (in.significand != 0) largest = in.exponent;
  for (int i = 0; i < count; ++i) {
    sum_term const& t = terms[i];
    if (t.kind == special::nan) nan = true;
    if (t.kind == special::infinity) (t.significand < 0 ? down : up) = true;
    if (t.significand != 0) largest = std::max(largest, t.exponent);
  }
  if (nan || (up && down)) return f.nan;
  if (up || down) {
    std::uint32_t const infinity = ((1U << f.exponent_bits) - 1) << f.mantissa_bits;
    return infinity | (down ? 1U << (f.exponent_bits + f.mantissa_bits) : 0);
  }
  if (largest == std::numeric_limits<int>::min()) return 0;

  // Terms as integers of 2^(largest - kept_bits).
  std::int64_t sum =
      shifted(in.significand, largest - in.exponent + f.mantissa_bits - rule.kept_bits);
  for (int i = 0; i < count; ++i)
    if (terms[i].significand != 0)
      sum += shifted(terms[i].significand,
                     largest - terms[i].exponent + fraction_bits - rule.kept_bits);
  return packed(sum, largest - rule.kept_bits, sums, rule, false);
}

std::uint32_t exact_sum(wgmma_form const& form, operand_number const* a, operand_number const* b,
                        std::uint32_t c, bool accumulate) {
  if (holds_integer_sums(form.sums)) return integer_sum(form, a, b, c, accumulate);
  constexpr int most_terms = 32;
  sum_term terms[most_terms];
  for (int k = 0; k < form.k(); ++k) terms[k] = product_of(a[k], b[k]);
  int const fraction_bits =
      traits_of(form.a_type).format.mantissa_bits + traits_of(form.b_type).format.mantissa_bits;
  return sum_of_terms(terms, form.k(), fraction_bits, accumulator_rule_of(form.a_type, form.sums),
                      form.sums, c, accumulate);
}

}  // namespace tw::emu
