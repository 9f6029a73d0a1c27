// SPDX-License-Identifier: Apache-2.0
// launchers.hpp  Launches a compiled kernel of the family sm100_scaled by its index.
#pragma once

#include <span>

#include "tilewright/kernel/sm100/block_scaled_config.hpp"
#include "tilewright/kernel/sm100/block_scaled_params.hpp"

typedef struct CUstream_st* cudaStream_t;

namespace tw::emu {
struct options;  // arch/emu/options.hpp, which device code need not read
}

namespace tw::sm100_scaled_family {

using emu_launcher = void (*)(int ctas, block_scaled_params const&, emu::options const&);
/// Returns a cudaError_t as int; 0 is success. pdl is false: the kernels wait for no other launch.
using gpu_launcher = int (*)(int ctas, block_scaled_params const&, cudaStream_t, bool pdl);

/// By index into instances(); nullptr where this build lacks the kernel.
std::span<emu_launcher const> emu_launchers();
std::span<gpu_launcher const> gpu_launchers();

/// Defined in launch_emu.hpp and launch_gpu.cuh, for the generated sources.
template <block_scaled_config C>
void launch_emu(int ctas, block_scaled_params const&, emu::options const&);
template <block_scaled_config C>
int launch_gpu(int ctas, block_scaled_params const&, cudaStream_t, bool pdl);

}  // namespace tw::sm100_scaled_family
