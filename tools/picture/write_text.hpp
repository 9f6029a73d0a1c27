// SPDX-License-Identifier: Apache-2.0
// write_text.hpp  A picture as text tables.
#pragma once

#include <string>

#include "tools/picture/picture.hpp"

namespace tw {

/// At most 64 rows and columns of each panel; says so when there are more. `coloured`: ANSI
/// background colours. Titles, captions and the legend stand above if there are several panels.
std::string write_text(picture const& p, bool coloured);

}  // namespace tw
