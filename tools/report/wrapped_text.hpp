// SPDX-License-Identifier: Apache-2.0
// wrapped_text.hpp  Text in lines of a width.
#pragma once

#include <string>
#include <string_view>

namespace tw {

/// The lines of `text`, broken between words where they are longer than `columns`. What follows a
/// break is indented by `indent`. A word that is longer than a line stays whole.
std::string wrapped(std::string_view text, int columns, int indent);

}  // namespace tw
