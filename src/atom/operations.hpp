// SPDX-License-Identifier: Apache-2.0
// operations.hpp  Every operation that has a name: the algebra's, atoms' and copies'.
#pragma once

#include <array>
#include <span>

#include "layout/operations.hpp"

namespace tw::detail {

std::span<operation const> mma_operations();
std::span<operation const> copy_operations();

inline std::array<std::span<operation const>, 6> every_table() {
  auto const layouts = all_operations();
  return {layouts[0], layouts[1], layouts[2], layouts[3], mma_operations(), copy_operations()};
}

}  // namespace tw::detail
