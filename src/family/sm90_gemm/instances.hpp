// SPDX-License-Identifier: Apache-2.0
// instances.hpp  The compiled kernels of the family sm90_gemm, from instances.txt.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tilewright/kernel/sm90/config.hpp"

namespace tw::sm90_gemm_family {

/// A compiled kernel. Its name has the columns of its tile between two texts.
struct instance {
  gemm_config config;
  std::string_view before_columns, after_columns;
  bool representative;  // built with TW_KERNELS=representative too

  /// The name, as plans and reports have it: "sm90_bf16_bf16_tn_128x256x64_2x1_s4". `columns` of
  /// its tiles, where a launch chooses them.
  std::string name(int columns) const {
    return std::string(before_columns) + std::to_string(columns) + std::string(after_columns);
  }
  std::string name() const { return name(config.tile_n); }
};

/// All kernels, also those that this build lacks. An index into them names a kernel in a process.
std::span<instance const> instances();

/// The index of the kernel with this configuration, or -1.
int index_of(gemm_config const& c);

}  // namespace tw::sm90_gemm_family
