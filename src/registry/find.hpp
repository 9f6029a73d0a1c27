// SPDX-License-Identifier: Apache-2.0
// find.hpp  Looks a configuration up in the families of a backend.
#pragma once

#include "registry/registry.hpp"

namespace tw::registry {

/// `Families::get<AB, D, A, B>()` returns a family. That of the configuration is searched.
template <class Launcher, class Families>
Launcher find_in(gemm_config const& c) {
  using enum operand_major;
  static auto const all = [] {
    constexpr int count = 2 * 3 * 4;
    struct {
      family<Launcher> f[count];
    } list;
    [&]<int... I>(std::integer_sequence<int, I...>) {
      ((list.f[I] = Families::template get < I % 2 == 0 ? elem::bf16 : elem::f16,
        I / 2 % 3 == 0   ? elem::bf16
        : I / 2 % 3 == 1 ? elem::f16
                         : elem::f32,
        I / 6 % 2 == 0 ? k : mn, I / 12 % 2 == 0 ? k : mn > ()),
       ...);
    }
    (std::make_integer_sequence<int, count>{});
    return list;
  }();
  if (c.ab != elem::bf16 && c.ab != elem::f16) return nullptr;
  if (c.d != elem::bf16 && c.d != elem::f16 && c.d != elem::f32) return nullptr;
  int const d = c.d == elem::bf16 ? 0 : c.d == elem::f16 ? 1 : 2;
  int const index = (c.ab == elem::bf16 ? 0 : 1) + 2 * d + 6 * c.a_mn + 12 * c.b_mn;
  for (entry<Launcher> const& e : all.f[index].kernels)
    if (e.config == c) return e.launch;
  return nullptr;
}

}  // namespace tw::registry
