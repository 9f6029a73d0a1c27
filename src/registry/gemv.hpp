// SPDX-License-Identifier: Apache-2.0
// gemv.hpp  From a configuration to the compiled GEMV kernel, for both backends.
#pragma once

#include <array>

#include "registry/registry.hpp"
#include "tilewright/dispatch/gemv_candidates.hpp"
#include "tilewright/kernel/gemv_params.hpp"

namespace tw::registry {

using gemv_emu_launcher = void (*)(int ctas, gemv_params const&, emu::options const&);
/// Returns a cudaError_t as int; 0 is success. pdl: as in arch/cuda/launch.hpp.
using gemv_gpu_launcher = int (*)(int ctas, gemv_params const&, cudaStream_t, bool pdl);

/// The kernels of one operand type and one output type.
template <class Launcher>
using gemv_family = std::array<entry<Launcher, gemv_config>, gemv_shapes>;

/// The compiled kernel of a configuration; nullptr if there is none.
gemv_emu_launcher find_emu(gemv_config const& c);
gemv_gpu_launcher find_gpu(gemv_config const& c);

/// Builds a family from a maker: Maker::launcher<Config>() for every configuration.
template <class Launcher, elem AB, elem D, class Maker>
constexpr gemv_family<Launcher> make_gemv_family(Maker) {
  return []<int... I>(std::integer_sequence<int, I...>) {
    return gemv_family<Launcher>{
        {{config_of(gemv_shape_list[I], AB, D),
          Maker::template launcher<config_of(gemv_shape_list[I], AB, D)>()}...}};
  }
  (std::make_integer_sequence<int, gemv_shapes>{});
}

/// `Families::get<AB, D>()` returns a family. All are searched.
template <class Launcher, class Families>
Launcher find_gemv_in(gemv_config const& c) {
  static std::array<gemv_family<Launcher>, 4> const all{
      Families::template get<elem::bf16, elem::bf16>(),
      Families::template get<elem::bf16, elem::f32>(),
      Families::template get<elem::f16, elem::f16>(),
      Families::template get<elem::f16, elem::f32>()};
  for (gemv_family<Launcher> const& family : all)
    for (entry<Launcher, gemv_config> const& e : family)
      if (e.config == c) return e.launch;
  return nullptr;
}

}  // namespace tw::registry
