// SPDX-License-Identifier: Apache-2.0
// palette.hpp  The colours of the classes, on white and on black paper.
//
// Eight light fills under dark text, eight dark fills under light text. Both keep a contrast of at
// least 4.5 between text and fill (WCAG 2.1, 1.4.3); tests/tools/picture/picture_test.cpp
// computes it.
#pragma once

#include <array>
#include <string_view>

#include "tools/picture/picture.hpp"

namespace tw {

struct paper {
  std::array<std::string_view, 8> fill;
  std::string_view ground, text, quiet_text, pale_fill, warning_fill, line, mark;
};

inline constexpr paper light_paper{
    {"#aec7e8", "#ffbb78", "#98df8a", "#ff9896", "#c5b0d5", "#dbdb8d", "#9edae5", "#f7b6d2"},
    "#ffffff",
    "#111111",
    "#595959",
    "#eeeeee",
    "#ffd400",
    "#111111",
    "#c00000"};
inline constexpr paper dark_paper{
    {"#2f4f7f", "#7d4a12", "#2b6130", "#87302f", "#5d4480", "#5f5f1c", "#1d5f6b", "#7c3560"},
    "#16181c",
    "#f4f4f4",
    "#b4b8c0",
    "#2b2e34",
    "#6b5400",
    "#f4f4f4",
    "#ffd75e"};

/// The fill of a colour class.
constexpr std::string_view fill_of(paper const& p, int colour) {
  if (colour >= 0) return p.fill[static_cast<std::size_t>(colour % colours)];
  if (colour == pale) return p.pale_fill;
  return colour == warning ? p.warning_fill : p.ground;
}

/// The name of a colour class in TeX; with a "c" before it, in CSS: 0 .. 7, p, w, z.
constexpr char letter_of(int colour) {
  if (colour >= 0) return static_cast<char>('0' + colour % colours);
  return colour == pale ? 'p' : colour == warning ? 'w' : 'z';
}

}  // namespace tw
