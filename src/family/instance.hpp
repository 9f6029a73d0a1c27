// SPDX-License-Identifier: Apache-2.0
// instance.hpp  A compiled kernel: a row of a family's table, which gen/instances.py writes from
//               instances.txt.
#pragma once

#include <string>
#include <string_view>

#include "tilewright/family/plan.hpp"

namespace tw {

template <class Config>
struct instance_of {
  Config config;
  std::string_view name;  // in plans and reports: "sm90_bf16_bf16_tn_128x256x64_2x1_s4"
  bool representative;    // built with TW_KERNELS=representative too
  /// The name before and after the columns of its tiles, if a launch chooses them; else empty.
  std::string_view before_columns{}, after_columns{};

  std::string name_with(int columns) const {
    return std::string(before_columns) + std::to_string(columns) + std::string(after_columns);
  }
};

}  // namespace tw
