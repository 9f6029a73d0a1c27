// SPDX-License-Identifier: Apache-2.0
// elem_text.hpp  An element type from its name; the other direction is name() in elem.hpp.
#pragma once

#include <optional>
#include <string_view>

#include "tilewright/base/elem.hpp"

namespace tw {

/// "bf16" -> elem::bf16; nothing when the text names no element type.
constexpr std::optional<elem> parse_elem(std::string_view text) {
  for (int i = 0; i < elem_count; ++i)
    if (text == name(static_cast<elem>(i))) return static_cast<elem>(i);
  return std::nullopt;
}

}  // namespace tw
