// SPDX-License-Identifier: Apache-2.0
// kind_checks.hpp  Every kind of wgmma at several N: small integers against sums in double, A from
//                  shared memory and from registers.
#pragma once

#include "tests/arch/kernels/kind_data.hpp"

namespace tw::test {

/// D on data whose sums are exact in every order, or wrap around, or saturate.
inline std::string compare_exact(kind_data const& x) {
  failures f;
  for (int cta = 0; cta < x.ctas; ++cta)
    for (int row = 0; row < 64; ++row)
      for (int n = 0; n < x.form.n; ++n) {
        double sum = x.accumulate ? number_of(x.form.sums, x.sum(x.c, cta, row, n)) : 0;
        for (int k = 0; k < x.steps * x.form.k(); ++k)
          sum += number_of(x.form.a_type, x.get(x.a, cta, 64, row, k)) *
                 number_of(x.form.b_type, x.get(x.b, cta, x.form.n, n, k));
        std::uint32_t const want = bits_of(x.form.sums, sum), got = x.sum(x.d, cta, row, n);
        f.add(text("CTA ", cta, " D(", row, ", ", n, ")"),
              got == want ? "" : text("got bits ", got, ", want ", want));
      }
  return f.result();
}

template <class K, class M>
std::string check_kind(M& m) {
  failures f;
  for (bool accumulate : {false, true})
    for (int steps : {1, 3}) {
      kind_data x(K::form, 2, steps, accumulate);
      fill_kind(x, kind_values::exact, static_cast<unsigned>(steps));
      x.template run<K>(m);
      f.add(text(steps, " steps, accumulate ", accumulate), compare_exact(x));
    }
  return f.result();
}

/// The sum of one element beyond 32 bits: 2^31 - 1 + 1 and -2^31 - 1.
template <class K, class M>
std::string check_overflow(M& m) {
  failures f;
  kind_data x(K::form, 1, 1, true);
  for (int row = 0; row < 64; ++row)
    for (int n = 0; n < x.form.n; ++n)
      x.set_sum(x.c, 0, row, n, row % 2 != 0 ? 0x7FFFFFFFU : 0x80000000U);
  for (int row = 0; row < 64; ++row) x.set(x.a, 0, 64, row, 0, row % 2 != 0 ? 1 : 0xFF);
  for (int n = 0; n < x.form.n; ++n) x.set(x.b, 0, x.form.n, n, 0, 1);
  x.template run<K>(m);
  bool const wraps = x.form.overflow == integer_overflow::wrap;
  for (int row = 0; row < 64; ++row)
    for (int n = 0; n < x.form.n; ++n) {
      std::uint32_t const want = (row % 2 != 0) == wraps ? 0x80000000U : 0x7FFFFFFFU;
      f.add(text("D(", row, ", ", n, ")"),
            x.sum(x.d, 0, row, n) == want ? "" : text("got ", x.sum(x.d, 0, row, n)));
    }
  return f.result();
}

template <elem A, elem B, class T, int N, bool Registers, class M>
check<M> kind_check() {
  return {text("wgmma n", N, " ", name(A), " ", name(B), " sums ", name(elem_of<T>),
               Registers ? " A from registers" : ""),
          check_kind<wgmma_kind_kernel<A, B, T, N, Registers>, M>};
}
template <elem A, elem B, class T, int N, class M>
void add_kind(std::vector<check<M>>& checks) {
  checks.push_back(kind_check<A, B, T, N, false, M>());
  checks.push_back(kind_check<A, B, T, N, true, M>());
}
template <elem A, elem B, class M>
void add_integers(std::vector<check<M>>& checks) {
  add_kind<A, B, std::int32_t, 24, M>(checks);
  add_kind<A, B, std::int32_t, 144, M>(checks);
}

/// The kinds that wgmma_checks.hpp does not have, and mixed types: floats.
template <class M>
std::vector<check<M>> float_kind_checks() {
  using enum elem;
  std::vector<check<M>> all;
  add_kind<f16, f16, tw::f16, 8, M>(all);
  add_kind<f16, f16, tw::f16, 136, M>(all);
  add_kind<tf32, tf32, float, 40, M>(all);
  add_kind<tf32, tf32, float, 256, M>(all);
  add_kind<e4m3, e4m3, float, 8, M>(all);
  add_kind<e4m3, e4m3, float, 192, M>(all);
  add_kind<e4m3, e5m2, float, 72, M>(all);
  add_kind<e5m2, e4m3, float, 64, M>(all);
  add_kind<e5m2, e5m2, float, 128, M>(all);
  add_kind<e4m3, e5m2, tw::f16, 64, M>(all);
  add_kind<e5m2, e5m2, tw::f16, 248, M>(all);
  return all;
}
/// And integers.
template <class M>
std::vector<check<M>> integer_kind_checks() {
  using enum elem;
  std::vector<check<M>> all;
  add_integers<s8, s8, M>(all);
  add_integers<s8, u8, M>(all);
  add_integers<u8, s8, M>(all);
  add_integers<u8, u8, M>(all);
  using wrapping = wgmma_kind_kernel<s8, s8, std::int32_t, 16>;
  using saturating = wgmma_kind_kernel<s8, s8, std::int32_t, 16, false, integer_overflow::saturate>;
  all.push_back({"wgmma s8 sums wrap around", check_overflow<wrapping, M>});
  all.push_back({"wgmma s8 sums saturate", check_overflow<saturating, M>});
  return all;
}
template <class M>
std::vector<check<M>> kind_checks() {
  auto all = float_kind_checks<M>();
  for (check<M> const& more : integer_kind_checks<M>()) all.push_back(more);
  return all;
}

}  // namespace tw::test
