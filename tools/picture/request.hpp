// SPDX-License-Identifier: Apache-2.0
// request.hpp  From options of the command to a picture, and from a picture to a file's text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/picture/picture.hpp"

namespace tw {

/// Options of `tilewright layout` that choose what is drawn; empty: not given.
struct picture_request {
  std::string expression = {};
  std::string slice = {};  // a coordinate with _ for what is drawn
  std::string tv = {};     // a tile: the expression is a thread-value layout into it
  bool steps = false;

  /// Something other than the layout itself is asked for.
  bool special() const { return !slice.empty() || !tv.empty() || steps; }
};

/// Needs: at most one of --slice, --tv, --steps [TW0625]. Throws `rejected`.
picture picture_of(picture_request const& r);

/// "table", "latex", "svg", "html" or "json".
std::string written(picture const& p, std::string_view how, bool coloured);

}  // namespace tw
