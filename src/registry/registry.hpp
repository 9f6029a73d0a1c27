// SPDX-License-Identifier: Apache-2.0
// registry.hpp  From a configuration to the compiled kernel, for both backends.
#pragma once

#include <utility>

#include "tilewright/dispatch/candidates.hpp"
#include "tilewright/kernel/params.hpp"

typedef struct CUstream_st* cudaStream_t;

namespace tw::emu {
struct options;  // arch/emu/options.hpp, which device code need not read
}

namespace tw::registry {

using emu_launcher = void (*)(int ctas, gemm_params const&, emu::options const&);
/// Returns a cudaError_t as int; 0 is success. pdl: as in arch/cuda/launch.hpp.
using gpu_launcher = int (*)(int ctas, gemm_params const&, cudaStream_t, bool pdl);

template <class Launcher, class Config = gemm_config>
struct entry {
  Config config;
  Launcher launch;
};

/// The kernels of one operand type, output type and pair of majors: one for each tile shape that
/// is compiled for them; the launchers of the others are null.
template <class Launcher>
struct family {
  entry<Launcher> kernels[tile_shapes];
};

/// The compiled kernel of a configuration; nullptr if there is none.
emu_launcher find_emu(gemm_config const& c);
gpu_launcher find_gpu(gemm_config const& c);

/// Builds a family from a maker: Maker::launcher<Config>() for every configuration.
template <class Launcher, elem AB, elem D, operand_major A, operand_major B, class Maker>
constexpr family<Launcher> make_family(Maker) {
  family<Launcher> f{};
  [&]<int... I>(std::integer_sequence<int, I...>) {
    ((f.kernels[I] =
          [] {
            constexpr gemm_config c = config_of(tile_shape_list[I], AB, D, A, B);
            if constexpr (is_compiled(c))
              return entry<Launcher>{c, Maker::template launcher<c>()};
            else
              return entry<Launcher>{c, nullptr};
          }()),
     ...);
  }
  (std::make_integer_sequence<int, tile_shapes>{});
  return f;
}

}  // namespace tw::registry
