// SPDX-License-Identifier: Apache-2.0
// umma_exact.cpp  tcgen05.mma by the published model of the tensor core, element by element:
//                 base/accumulator_bits.hpp states the rule and its source.
#include "emu/umma/umma.hpp"
#include "emu/umma/umma_element.hpp"
#include "emu/wgmma/exact_sum.hpp"
#include "tilewright/base/elem_traits.hpp"

namespace tw::emu {

namespace {

constexpr int most_k = 64, most_factors = 4;

operand_number negated(operand_number x, bool negate) {
  if (negate) x.significand = -x.significand;
  return x;
}

int mantissa_bits(elem e) { return traits_of(e).format.mantissa_bits; }

/// The factors of a row of A, or of a column of B.
struct row_factors {
  operand_number of[most_factors];

  row_factors(umma_shape const& s, std::uint32_t word, int first) {
    for (int f = 0; f < s.factors(); ++f)
      of[f] = operand_number_of(s.scale, word >> 8 * (first + f));
  }
};

/// t times its two factors.
sum_term scaled(sum_term t, operand_number const& fa, operand_number const& fb) {
  sum_term const f = product_of(fa, fb);
  if (f.kind == operand_number::special::nan) t.kind = f.kind;
  return {t.significand * f.significand, t.exponent + f.exponent, t.kind};
}

/// An element of D with scale factors.
std::uint32_t scaled_sum(umma_shape const& s, operand_number const* a, operand_number const* b,
                         row_factors const& fa, row_factors const& fb, std::uint32_t c,
                         bool accumulate) {
  sum_term terms[most_k];
  int const fraction_bits = mantissa_bits(s.a) + mantissa_bits(s.b);
  if (!s.dense) {  // .kind::mxf8f6f4
    for (int k = 0; k < s.k; ++k)
      terms[k] = scaled(product_of(a[k], b[k]), fa.of[k / s.block], fb.of[k / s.block]);
    return sum_of_terms(terms, s.k, fraction_bits, tcgen05_rule_of(s.d), s.d, c, accumulate);
  }
  int const groups = s.k / tcgen05_group_k;
  for (int g = 0; g < groups; ++g) {
    std::int64_t dot = 0;  // of values of e2m1, in units of 1/4
    for (int k = g * tcgen05_group_k; k < (g + 1) * tcgen05_group_k; ++k) {
      sum_term const x = product_of(a[k], b[k]);
      dot += x.significand * (std::int64_t{1} << x.exponent);
    }
    int const f = g * tcgen05_group_k / s.block;
    terms[g] = scaled({dot, 0, operand_number::special::no}, fa.of[f], fb.of[f]);
  }
  int const factor_bits = 2 * mantissa_bits(with_sign(s.scale));
  return sum_of_terms(terms, groups, fraction_bits + factor_bits, tcgen05_group_rule, s.d, c,
                      accumulate);
}

}  // namespace

void run_umma_exact(tensor_memory& t, umma_shape const& s, umma_call const& call,
                    umma_memory const& smem) {
  int const rows = s.rows();
  static thread_local std::vector<operand_number> a, b;
  int const a_rows = rows_of_a(s, call);
  a.resize(static_cast<std::size_t>(a_rows * s.k));
  b.resize(static_cast<std::size_t>(s.n * s.k));
  for (int r = 0; r < a_rows; ++r)
    for (int k = 0; k < s.k; ++k)
      a[static_cast<std::size_t>(r * s.k + k)] =
          negated(operand_number_of(s.a, element_of_a(t, s, call, smem, r, k)), s.negate_a);
  for (int n = 0; n < s.n; ++n)
    for (int k = 0; k < s.k; ++k)
      b[static_cast<std::size_t>(n * s.k + k)] =
          negated(operand_number_of(s.b, element_of_b(s, call, smem, n, k)), s.negate_b);
  int const fraction_bits = mantissa_bits(s.a) + mantissa_bits(s.b);
  for (int r = 0; r < rows; ++r)
    for (int n = 0; n < s.n; ++n) {
      std::uint32_t& word = element_of_d(t, s, call, r, n);
      operand_number const* const x = &a[static_cast<std::size_t>(row_of_a(s, call, r, n) * s.k)];
      operand_number const* const y = &b[static_cast<std::size_t>(n * s.k)];
      if (s.block != 0) {
        int const group = (r + (s.in_upper_lanes(n) ? rows : 0)) / lanes_of_group;
        row_factors const fa(s, factors_at(t, call.sfa, r, group), s.sfa_id);
        row_factors const fb(s, factors_at(t, call.sfb, s.row_of_sfb(n), group), s.sfb_id);
        word = scaled_sum(s, x, y, fa, fb, word, call.accumulate);
        continue;
      }
      sum_term terms[most_k];
      for (int k = 0; k < s.k; ++k) terms[k] = product_of(x[k], y[k]);
      word =
          sum_of_terms(terms, s.k, fraction_bits, tcgen05_rule_of(s.d), s.d, word, call.accumulate);
    }
}

}  // namespace tw::emu
