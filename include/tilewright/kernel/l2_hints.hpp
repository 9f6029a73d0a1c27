// SPDX-License-Identifier: Apache-2.0
// l2_hints.hpp  L2 cache hints of a launch: how its operands are loaded and its result is stored.
#pragma once

#include <cstdint>

namespace tw {

/// L2 eviction priority of a launch's loads of an operand. `plain` loads name none. evict_normal is
/// the priority that they have; but loads that name it take another path through L2, which is
/// faster for some operands (docs/decisions/0020).
enum class l2_load : std::int32_t { plain, evict_first, evict_normal };

struct l2_hints {
  l2_load a = l2_load::plain, b = l2_load::plain;
  bool a_by_128_bytes = false;  // tensor_map_desc::l2_fetches_128 of A
  bool d_evict_first = false;

  bool operator==(l2_hints const&) const = default;
};

}  // namespace tw
