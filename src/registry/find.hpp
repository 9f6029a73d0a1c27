// SPDX-License-Identifier: Apache-2.0
// find.hpp  Looks a configuration up in the families of a backend.
#pragma once

#include "registry/registry.hpp"

namespace tw::registry {

/// `Families::get<AB, D, A, B>()` returns a family. All of them are searched.
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
  for (family<Launcher> const& f : all.f)
    for (entry<Launcher> const& e : f.kernels)
      if (e.config == c) return e.launch;
  return nullptr;
}

}  // namespace tw::registry
