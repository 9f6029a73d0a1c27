// SPDX-License-Identifier: Apache-2.0
// write_svg.hpp  A picture as SVG: one element per cell, so that hovering shows its hint.
#pragma once

#include <string>
#include <string_view>

#include "tools/picture/frame.hpp"
#include "tools/picture/palette.hpp"
#include "tools/picture/picture.hpp"

namespace tw {

/// A complete SVG 1.1 document on white, without scripts and external files.
std::string write_svg(picture const& p);

/// CSS of the colours of one paper, and of everything else.
std::string colour_rules(paper const& c);
std::string_view shape_rules();

/// The drawing as an element of a page: cells of one colour are one path, colours and
/// hints are the page's.
std::string svg_element(picture const& p, picture_frame const& f);

}  // namespace tw
