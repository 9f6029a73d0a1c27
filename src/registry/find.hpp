// SPDX-License-Identifier: Apache-2.0
// find.hpp  Looks a configuration up in the families of a backend.
#pragma once

#include "registry/registry.hpp"

namespace tw::registry {

/// `Families::get<AB, A, B>()` returns a family. All eight are searched.
template <class Launcher, class Families>
Launcher find_in(gemm_config const& c) {
  using enum operand_major;
  static family<Launcher> const all[] = {
      Families::template get<elem::bf16, k, k>(),  Families::template get<elem::bf16, k, mn>(),
      Families::template get<elem::bf16, mn, k>(), Families::template get<elem::bf16, mn, mn>(),
      Families::template get<elem::f16, k, k>(),   Families::template get<elem::f16, k, mn>(),
      Families::template get<elem::f16, mn, k>(),  Families::template get<elem::f16, mn, mn>()};
  for (family<Launcher> const& f : all)
    for (entry<Launcher> const& e : f.kernels)
      if (e.config == c) return e.launch;
  return nullptr;
}

}  // namespace tw::registry
