// SPDX-License-Identifier: Apache-2.0
// write_latex.hpp  A picture as a complete LaTeX document: TikZ in the class standalone.
#pragma once

#include <string>

#include "tools/picture/picture.hpp"

namespace tw {

/// Compiles with pdflatex (packages standalone, tikz); the tikzpicture alone can be pasted into
/// another document together with the definitions above it. One pixel is 0.75 bp.
std::string write_latex(picture const& p);

}  // namespace tw
