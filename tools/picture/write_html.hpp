// SPDX-License-Identifier: Apache-2.0
// write_html.hpp  A picture as a complete page: hover a thread to see its cells, a cell to see
// its owners.
#pragma once

#include <string>

#include "tools/picture/picture.hpp"

namespace tw {

/// One file without external parts, light or dark as the reader's system is. The mouse hovers and
/// pins with a click, a finger taps; arrow keys move from cell to cell, Enter pins, Escape lets go.
std::string write_html(picture const& p);

}  // namespace tw
