// SPDX-License-Identifier: Apache-2.0
// accumulator_probe.hpp  Measures how one kind of wgmma adds: bits kept, rounding, order, special
//                        values. Each experiment is one CTA that multiplies row 0 by column 0.
//
// X is a large power of two and y a small one. X - X + y shows whether y survives beside X: that is
// how many bits below the largest term are kept.
#pragma once

#include <cmath>
#include <utility>

#include "tests/arch/kernels/kind_data.hpp"

namespace tw::test {

/// Both factors of each term, and the incoming accumulator (none: zero).
struct probe_case {
  std::vector<std::pair<double, double>> factors;
  double c = 0;
  bool has_c = false;
};

/// One named result of the probe: a number, or bits as text.
struct probe_fact {
  std::string name, value;
};

template <class K, class M>
class accumulator_probe {
 public:
  static constexpr wgmma_form form = K::form;

  explicit accumulator_probe(M& m) : m_(m) {}

  std::vector<probe_fact> measure() {
    kept();
    truncation();
    result();
    subnormals();
    order();
    specials();
    return std::move(facts_);
  }

 private:
  /// Exponents of the normal numbers that the probe uses.
  static constexpr int highest(elem e) {
    return e == elem::e4m3 ? 8 : e == elem::e5m2 || e == elem::f16 ? 15 : 60;
  }
  /// Of the smallest subnormal number, or a round one.
  static constexpr int lowest(elem e) {
    return e == elem::e4m3 ? -9 : e == elem::e5m2 ? -16 : e == elem::f16 ? -24 : -60;
  }
  static constexpr bool f16_sums = form.sums == elem::f16;
  static constexpr int depth = form.k();
  /// Exponent of X: as large as the factors allow beside y = X / 2^26.
  static constexpr int x_exponent() { return form.a_type == elem::e4m3 ? 14 : 18; }
  static constexpr int c_exponent() { return 10; }
  static constexpr int most = 27;  // bits looked for

  /// Two numbers whose multiplication gives significand * 2^exponent.
  static std::pair<double, double> product(int exponent, double significand = 1) {
    int a = std::clamp(exponent / 2, lowest(form.a_type), highest(form.a_type));
    int const b = std::clamp(exponent - a, lowest(form.b_type), highest(form.b_type));
    a = exponent - b;
    return {std::ldexp(significand, a), std::ldexp(1, b)};
  }
  static std::pair<double, double> negative(std::pair<double, double> p) {
    return {-p.first, p.second};
  }

  /// The bits of D(0, 0) of each case; all ones, a NaN, for a case whose numbers do not exist in
  /// the types. rounds: they are rounded instead.
  std::vector<std::uint32_t> run(std::vector<probe_case> const& cases, bool rounds = false) {
    kind_data x(form, static_cast<int>(cases.size()), 1, true);
    std::vector<bool> exists(cases.size(), true);
    auto const set = [&](std::size_t i, elem type, std::vector<std::uint32_t>& operand, int rows,
                         int k, double v) {
      std::uint32_t const bits = bits_of(type, v);
      if (!rounds && number_of(type, bits) != v) exists[i] = false;
      x.set(operand, static_cast<int>(i), rows, 0, k, bits);
    };
    for (std::size_t i = 0; i < cases.size(); ++i) {
      int k = 0;
      for (auto const& [a, b] : cases[i].factors) {
        set(i, form.a_type, x.a, 64, k, a);
        set(i, form.b_type, x.b, form.n, k, b);
        ++k;
      }
      if (cases[i].has_c) x.set_sum(x.c, static_cast<int>(i), 0, 0, bits_of(form.sums, cases[i].c));
    }
    x.template run<K>(m_);
    std::vector<std::uint32_t> out;
    for (std::size_t i = 0; i < cases.size(); ++i)
      out.push_back(exists[i] ? x.sum(x.d, static_cast<int>(i), 0, 0) : 0xFFFFFFFFU);
    return out;
  }
  static double value(std::uint32_t bits) { return number_of(form.sums, bits); }

  template <class T>
  void fact(std::string name, T const& value) {
    facts_.push_back({std::move(name), text(value)});
  }
  void fact_bits(std::string name, std::uint32_t bits) {
    std::ostringstream out;
    out << "\"0x" << std::hex << bits << '"';
    facts_.push_back({std::move(name), out.str()});
  }

  /// The largest q for which case(q) gives wanted(q); -1 if no q does.
  template <class Case, class Wanted>
  int largest(Case&& make, Wanted&& wanted) {
    std::vector<probe_case> cases;
    for (int q = 1; q <= most; ++q) cases.push_back(make(q));
    std::vector<std::uint32_t> const got = run(cases);
    int found = -1;
    for (int q = 1; q <= most; ++q)
      if (value(got[static_cast<std::size_t>(q - 1)]) == wanted(q)) found = q;
    return found;
  }

  void kept() {
    int const x = x_exponent(), c = c_exponent();
    auto const y = [](int exponent) {
      return [exponent](int q) { return std::ldexp(1, exponent - q); };
    };
    kept_ = largest(
        [&](int q) {
          return probe_case{{product(x), negative(product(x)), product(x - q)}};
        },
        y(x));
    fact("products_kept_bits", kept_);
    auto const wide = [&](double sign) {
      std::pair<double, double> p = product(x);
      return std::pair{sign * 1.5 * p.first, 1.5 * p.second};
    };
    fact("products_kept_bits_beside_2.25_X",
         largest(
             [&](int q) {
               return probe_case{{wide(1), wide(-1), product(x - q)}};
             },
             y(x)));
    fact("products_kept_bits_beside_accumulator",
         largest(
             [&](int q) {
               return probe_case{{negative(product(c)), product(c - q)}, std::ldexp(1, c), true};
             },
             y(c)));
    fact("accumulator_kept_bits",
         largest(
             [&](int q) {
               return probe_case{{product(x), negative(product(x))}, std::ldexp(1, x - q), true};
             },
             y(x)));
    auto const one_and = [](int q) { return 1 + std::ldexp(1, -q); };
    fact("accumulator_fraction_bits_without_products",
         largest(
             [&](int q) {
               return probe_case{{}, one_and(q), true};
             },
             one_and));
    fact("accumulator_plus_product_bits", largest(
                                              [&](int q) {
                                                return probe_case{{product(-q)}, 1, true};
                                              },
                                              one_and));
  }

  void truncation() {
    int const x = x_exponent(), unit = x - kept_;
    auto const beside_x = [&](std::pair<double, double> y) {
      return probe_case{{product(x), negative(product(x)), y}};
    };
    auto const got = run({beside_x(product(unit - 1, 1.5)), beside_x(product(unit - 1, -1.5)),
                          beside_x(product(unit, 1.75)), beside_x(product(unit, -1.75))});
    char const* const names[] = {"units_of_0.75", "units_of_-0.75", "units_of_1.75",
                                 "units_of_-1.75"};
    for (int i = 0; i < 4; ++i)
      fact(names[i], std::ldexp(value(got[static_cast<std::size_t>(i)]), -unit));
  }

  void result() {
    if (f16_sums) {
      auto const sum = [&](double c, std::pair<double, double> y) {
        return probe_case{{y}, c, true};
      };
      double const up = 1 + 0x1p-10;
      auto const got = run({sum(1, product(-11, 1.5)), sum(1, product(-11)), sum(up, product(-11)),
                            sum(-1, product(-11, -1.5)), sum(1, product(-12, 1.5))});
      char const* const names[] = {"ulps_of_1_plus_0.75", "ulps_of_1_plus_tie",
                                   "ulps_of_odd_plus_tie", "ulps_of_-1_minus_0.75",
                                   "ulps_of_1_plus_0.375"};
      double const from[] = {1, 1, 1, -1, 1};
      for (std::size_t i = 0; i < 5; ++i) fact(names[i], std::ldexp(value(got[i]) - from[i], 10));
    } else {
      // Ones and the smallest kept part of one; and what rounds a float32.
      int const bits = std::min(kept_, 23);
      for (int ones : {1, 2, 4, 7}) {
        probe_case p{{product(-bits)}};
        for (int i = 0; i < ones; ++i) p.factors.push_back(product(0));
        fact(text("units_beside_", ones, "_ones"), std::ldexp(value(run({p})[0]) - ones, bits));
      }
      auto const pair = [](double s) { return probe_case{{{s, 1}, {s * 1.5 * 0x1p-12, 0x1p-12}}}; };
      if (form.k() < 32 && form.a_type != elem::f16) {
        auto const got = run({pair(1), pair(-1)});
        fact("ulps_of_1_plus_0.75", std::ldexp(value(got[0]) - 1, 23));
        fact("ulps_of_-1_minus_0.75", std::ldexp(value(got[1]) + 1, 23));
      }
    }
  }

  void subnormals() {
    int const least = form.a_type == elem::e4m3   ? -9
                      : form.a_type == elem::e5m2 ? -16
                      : form.a_type == elem::f16  ? -24
                      : form.a_type == elem::bf16 ? -133
                                                  : -136;
    int const smallest_normal = least + (form.a_type == elem::e4m3   ? 3
                                         : form.a_type == elem::e5m2 ? 2
                                         : form.a_type == elem::bf16 ? 7
                                                                     : 10);
    double const a = std::ldexp(1, least);
    int const b = std::min(highest(form.b_type), 15);
    auto const got = run({{{{a, std::ldexp(1, b)}}}});
    fact("subnormal_factor_is_exact", value(got[0]) == std::ldexp(1, least + b));
    // X from a subnormal factor: bits kept below its value.
    fact("kept_bits_beside_subnormal_factor",
         largest(
             [&](int q) {
               int const e = least + b - q;
               int const part = std::max(smallest_normal, e - highest(form.b_type));
               return probe_case{{{a, std::ldexp(1, b)},
                                  {-a, std::ldexp(1, b)},
                                  {std::ldexp(1, part), std::ldexp(1, e - part)}}};
             },
             [&](int q) { return std::ldexp(1, least + b - q); }));
    if (!f16_sums) {
      auto const sums = run({{{}, 0x1p-149, true}, {{}, 0x1.8p-127, true}});
      fact_bits("accumulator_2^-149_comes_out_as", sums[0]);
      fact_bits("accumulator_1.5*2^-127_comes_out_as", sums[1]);
    }
    if (size_bits(form.a_type) == 32 || form.a_type == elem::bf16) {
      auto const sums = run({{{{0x1p-70, 0x1p-70}}},
                             {{{0x1p-70, 0x1.8p-79}}},
                             {{{0x1p-60, 0x1p-60}, {0x1p-66, 0x1p-66}}}});
      fact_bits("product_2^-140_comes_out_as", sums[0]);
      fact_bits("product_1.5*2^-149_comes_out_as", sums[1]);
      fact_bits("sum_2^-120_plus_2^-132_comes_out_as", sums[2]);
    }
    // A zero beside a large factor: does its exponent count?
    int const high = std::min(highest(form.b_type), 15);
    int const zero_exponent = smallest_normal + high;
    if (form.a_type == elem::e4m3 || form.a_type == elem::e5m2 ||
        (form.a_type == elem::f16 && !f16_sums)) {
      fact("kept_bits_beside_0_times_large",
           largest(
               [&](int q) {
                 return probe_case{{{0, std::ldexp(1, high)}, product(zero_exponent - q)}};
               },
               [&](int q) { return std::ldexp(1, zero_exponent - q); }));
    } else if (!f16_sums) {
      auto const sums =
          run({{{{0, 0x1p127}, {0x1p-20, 0x1p-20}}}, {{{0x1p127, 0}, {0x1p-30, 0x1p-30}}}}, true);
      fact("2^-40_beside_0_times_2^127", std::ldexp(value(sums[0]), 40));
      fact("2^-60_beside_2^127_times_0", std::ldexp(value(sums[1]), 60));
    }
  }

  /// Positions of X, -X and y for which y, below the kept bits, is not lost: none if all terms
  /// are aligned at once.
  void order() {
    int const x = x_exponent();
    std::vector<probe_case> cases;
    for (int i = 0; i < depth; ++i)
      for (int j = 0; j < depth; ++j)
        for (int k = 0; k < depth; ++k) {
          bool const some = (i + 1 == j || (i == 0 && j == depth - 1)) && i < j && k != i && k != j;
          if (!some) continue;
          probe_case p;
          p.factors.assign(static_cast<std::size_t>(depth), {0, 0});
          p.factors[static_cast<std::size_t>(i)] = product(x);
          p.factors[static_cast<std::size_t>(j)] = negative(product(x));
          p.factors[static_cast<std::size_t>(k)] = product(x - kept_ - 1);
          cases.push_back(std::move(p));
        }
    int seen = 0;
    for (std::uint32_t const bits : run(cases)) seen += value(bits) != 0 ? 1 : 0;
    fact("placements", cases.size());
    fact("placements_in_which_y_is_kept", seen);
  }

  void specials() {
    double const inf = HUGE_VAL;
    std::vector<probe_case> cases{
        {{{-1, 0}}, -0.0, true},  // -0 + -0
        {{}, -0.0, true},        {{{1, 1}, {-1, 1}}},      {{}, inf, true},
        {{{-1, 1}}, inf, true},  {{}, std::nan(""), true},
    };
    char const* const names[] = {"-0_plus_-0_is",      "-0_plus_zeros_is", "1_minus_1_is",
                                 "accumulator_inf_is", "inf_minus_1_is",   "nan_is"};
    std::vector<std::uint32_t> const got = run(cases, true);
    for (std::size_t i = 0; i < got.size(); ++i) fact_bits(names[i], got[i]);
    std::vector<probe_case> large;
    if (f16_sums)
      large = {{{product(15), product(15)}},
               {{product(15), {2032, 16}}},
               {{product(11), product(4)}, 65504, true}};
    else
      large = {{{product(c_exponent())}, std::ldexp(2 - 0x1p-23, 127), true},
               {{negative(product(c_exponent()))}, -std::ldexp(2 - 0x1p-23, 127), true}};
    std::vector<std::uint32_t> const sums = run(large, true);
    for (std::size_t i = 0; i < sums.size(); ++i) fact_bits(text("overflow_", i, "_is"), sums[i]);
    if (size_bits(form.a_type) != 8 && form.a_type != elem::f16) {
      auto const over = run({{{{0x1p64, 0x1p64}}},
                             {{{0x1p127, 1}, {0x1p127, 1}}},
                             {{{0x1p127, 1}, {0x1p126, 1.5}, {0x1p110, 1}}}},
                            true);
      fact_bits("2^64_times_2^64_is", over[0]);
      fact_bits("2^127_plus_2^127_is", over[1]);
      fact_bits("below_2^128_is", over[2]);
    }
  }

  M& m_;
  int kept_ = 0;
  std::vector<probe_fact> facts_;
};

/// The facts of one kind as a JSON object.
template <class K, class M>
std::string probe_json(M& m) {
  std::string out = text("{\"a\": \"", name(K::form.a_type), "\", \"b\": \"", name(K::form.b_type),
                         "\", \"sums\": \"", name(K::form.sums), "\"");
  for (probe_fact const& f : accumulator_probe<K, M>(m).measure())
    out += text(",\n   \"", f.name, "\": ", f.value);
  return out + "}";
}

}  // namespace tw::test
