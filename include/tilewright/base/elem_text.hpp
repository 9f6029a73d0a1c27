// SPDX-License-Identifier: Apache-2.0
// elem_text.hpp  An element type from its name, and lists of names; name() is in elem.hpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/elem.hpp"

namespace tw {

/// "bf16" -> elem::bf16; nothing when the text names no element type.
constexpr std::optional<elem> parse_elem(std::string_view text) {
  for (int i = 0; i < elem_count; ++i)
    if (text == name(static_cast<elem>(i))) return static_cast<elem>(i);
  return std::nullopt;
}

/// The types with a property, in the order of `elem`.
template <class Holds>
std::vector<elem> elems_that(Holds const& holds) {
  std::vector<elem> all;
  for (int i = 0; i < elem_count; ++i)
    if (holds(static_cast<elem>(i))) all.push_back(static_cast<elem>(i));
  return all;
}

/// "bf16, f16 or f32"
inline std::string list_of(std::vector<elem> const& types) {
  std::string text;
  for (std::size_t i = 0; i < types.size(); ++i)
    text += std::string(i == 0 ? "" : i + 1 == types.size() ? " or " : ", ") + name(types[i]);
  return text;
}

}  // namespace tw
