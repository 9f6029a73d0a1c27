// SPDX-License-Identifier: Apache-2.0
// instances.hpp  The compiled kernels of the family sm100_scaled, from instances.txt.
#pragma once

#include <span>
#include <string_view>

#include "tilewright/kernel/sm100/block_scaled_config.hpp"

namespace tw::sm100_scaled_family {

/// A compiled kernel, and its name as plans and reports have it:
/// "sm100_nvfp4_bf16_tn_256x256x256_2cta_s5".
struct instance {
  block_scaled_config config;
  std::string_view name;
  bool representative;  // built with TW_KERNELS=representative too
};

/// All kernels, also those that this build lacks. An index into them names a kernel in a process.
std::span<instance const> instances();

/// The index of the kernel with this configuration, or -1.
int index_of(block_scaled_config const& c);

}  // namespace tw::sm100_scaled_family
