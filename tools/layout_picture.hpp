// SPDX-License-Identifier: Apache-2.0
// layout_picture.hpp  A layout as a grid: a table for the terminal, an SVG file.
//
// Rows are mode 0, columns the other modes together; a layout of one mode is one row. Lines
// separate the blocks of nested modes. A colour is one of eight classes of offsets: neighbouring
// runs of 2^base cells for a swizzled layout, single cells otherwise.
#pragma once

#include <string>

#include "tilewright/layout/call.hpp"

namespace tw {

/// At most 64 rows and columns; says so when there are more. Colours are ANSI background colours.
std::string table_of(answer const& a, bool coloured);

/// At most 65,536 cells [TW0122].
std::string svg_of(answer const& a);

}  // namespace tw
