// SPDX-License-Identifier: Apache-2.0
// sm90_kernels.hpp  The kernels of sm90_gemm with a record, for the emulator and the GPU.
#pragma once

#include "tilewright/kernel/sm90/config.hpp"

namespace tw::stages {

inline constexpr gemm_config sm90_wide{};  // 128x256, clusters of two CTAs, four stages
inline constexpr gemm_config sm90_narrow{.tile_n = 128, .cluster_m = 1, .stages = 6};

}  // namespace tw::stages
