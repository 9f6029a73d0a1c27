// SPDX-License-Identifier: Apache-2.0
// bit_checks.hpp  Random data through one wgmma of each kind, bit for bit against exact_sum.
#pragma once

#include "emu/wgmma/exact_sum.hpp"
#include "tests/arch/kernels/kind_data.hpp"

namespace tw::test {

inline char const* text_of(kind_values v) {
  constexpr char const* words[] = {"exact", "normal", "spread", "any_bits"};
  return words[static_cast<int>(v)];
}

/// The results of one launch against the rule, element by element.
inline std::string compare_bits(kind_data const& x) {
  failures f;
  int const depth = x.form.k();
  std::vector<emu::operand_number> a(64 * 32), b(256 * 32);
  for (int cta = 0; cta < x.ctas; ++cta) {
    std::vector<std::uint32_t> sums;
    for (int step = 0; step < x.steps; ++step) {
      for (int k = 0; k < depth; ++k) {
        int const at = step * depth + k;
        for (int row = 0; row < 64; ++row)
          a[static_cast<std::size_t>(row * depth + k)] =
              emu::operand_number_of(x.form.a_type, x.get(x.a, cta, 64, row, at));
        for (int n = 0; n < x.form.n; ++n)
          b[static_cast<std::size_t>(n * depth + k)] =
              emu::operand_number_of(x.form.b_type, x.get(x.b, cta, x.form.n, n, at));
      }
      for (int row = 0; row < 64; ++row)
        for (int n = 0; n < x.form.n; ++n) {
          auto const index = static_cast<std::size_t>(row * x.form.n + n);
          if (step == 0) sums.push_back(x.sum(x.c, cta, row, n));
          sums[index] = emu::exact_sum(x.form, &a[static_cast<std::size_t>(row * depth)],
                                       &b[static_cast<std::size_t>(n * depth)], sums[index],
                                       x.accumulate || step > 0);
        }
    }
    for (int row = 0; row < 64; ++row)
      for (int n = 0; n < x.form.n; ++n) {
        std::uint32_t const want = sums[static_cast<std::size_t>(row * x.form.n + n)];
        std::uint32_t const got = x.sum(x.d, cta, row, n);
        if (got == want) {
          f.add("", "");
          continue;
        }
        std::ostringstream how;
        how << std::hex << "got " << got << ", want " << want << ", c " << x.sum(x.c, cta, row, n)
            << ", a*b:";
        for (int k = 0; k < x.steps * depth; ++k)
          how << ' ' << x.get(x.a, cta, 64, row, k) << '*' << x.get(x.b, cta, x.form.n, n, k);
        f.add(text("CTA ", cta, " D(", row, ", ", n, ")"), how.str());
      }
  }
  return f.result();
}

constexpr kind_values bit_check_values[] = {kind_values::normal, kind_values::spread,
                                            kind_values::any_bits};

template <class K, class M>
kind_data run_bits(M& m, kind_values values, int steps, int ctas) {
  kind_data x(K::form, ctas, steps, true);
  fill_kind(x, values, 7 + static_cast<unsigned>(values));
  x.template run<K>(m);
  return x;
}

template <class K, class M>
std::string check_bits(M& m, int ctas) {
  failures f;
  for (kind_values const values : bit_check_values)
    for (int steps : {1, 4})
      f.add(text(text_of(values), ", ", steps, " steps"),
            compare_bits(run_bits<K>(m, values, steps, ctas)));
  return f.result();
}

/// One kernel of each kind: its name, what the machine computes, its facts.
template <class M>
struct bit_kind {
  std::string name;
  std::string (*check)(M&, int ctas);
  kind_data (*run)(M&, kind_values, int steps, int ctas);
  std::string (*facts)(M&);
};

}  // namespace tw::test
