// SPDX-License-Identifier: Apache-2.0
// instances.hpp  The compiled kernels of the family gemv, from instances.txt.
#pragma once

#include <span>
#include <string_view>

#include "tilewright/kernel/gemv/config.hpp"

namespace tw::gemv_family {

/// A compiled kernel, and its name as plans and reports have it: "gemv_bf16_bf16_4x1_u2_1x8_c2".
struct instance {
  gemv_config config;
  std::string_view name;
  bool representative;  // built with TW_KERNELS=representative too
};

/// All kernels, also those that this build lacks. An index into them names a kernel in a process.
std::span<instance const> instances();

/// The index of the kernel with this configuration, or -1.
int index_of(gemv_config const& c);

}  // namespace tw::gemv_family
