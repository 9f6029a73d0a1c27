// SPDX-License-Identifier: Apache-2.0
// layout_picture.hpp  The picture of a layout of any rank: a panel for each slice.
//
// The first free mode runs down, the second to the right; each coordinate of the further ones is a
// separate panel. A layout of one mode is one row, broken if it is long. Lines separate the
// blocks of nested modes.
// Colours: offsets that are equal in the bits [base, base + 3) of a swizzle, or in the lowest
// three bits without one.
// Owners:  cells with the same offset have one "thread" in common: the offset.
// Needs:   a layout with at least one mode [TW0170]; a slice whose profile is coarser than or
//          equal to the shape's [TW0171], with coordinates below the extents [TW0171]
// Example: tests/tools/picture/picture_test.cpp
#pragma once

#include <optional>
#include <string>

#include "tilewright/atom/call.hpp"
#include "tools/picture/picture.hpp"

namespace tw {

/// The cells of `a`; `slice` fixes the modes where it has a number instead of _.
picture layout_picture(answer const& a, std::optional<tree> const& slice = {});

/// One panel of all cells: rows are mode 0, columns the other modes together.
panel flat_panel(answer const& a, std::string title);

/// A layout swizzled and unswizzled, and which bits of the offset change.
/// Needs: a swizzled layout [TW0174].
picture swizzle_picture(layout const& l);

/// The one call for other languages: a layout as an SVG document.
std::string svg_of(layout const& l);

}  // namespace tw
