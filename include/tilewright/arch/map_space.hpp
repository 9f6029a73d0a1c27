// SPDX-License-Identifier: Apache-2.0
// map_space.hpp  Where a tensor map lies that a kernel changes.
#pragma once

#include <cstdint>

namespace tw {

enum class map_space : std::uint8_t { global, shared };

}  // namespace tw
