// SPDX-License-Identifier: Apache-2.0
// instances.hpp  The compiled kernels of the family sm80_gemm, from instances.txt.
#pragma once

#include <span>
#include <string_view>

#include "tilewright/kernel/sm80/config.hpp"

namespace tw::sm80_gemm_family {

/// A compiled kernel, and its name as plans and reports have it:
/// "sm80_bf16_bf16_tn_128x128x32_2x2_s4".
struct instance {
  sm80_config config;
  std::string_view name;
  bool representative;  // built with TW_KERNELS=representative too
};

/// All kernels, also those that this build lacks. An index into them names a kernel in a process.
std::span<instance const> instances();

/// The index of the kernel with this configuration, or -1.
int index_of(sm80_config const& c);

}  // namespace tw::sm80_gemm_family
