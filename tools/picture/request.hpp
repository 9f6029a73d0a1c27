// SPDX-License-Identifier: Apache-2.0
// request.hpp  From options of the command to a picture, and from a picture to a file's text.
#pragma once

#include <string>
#include <string_view>

#include "tools/picture/picture.hpp"

namespace tw {

/// Options of `tilewright layout` that choose what is drawn; empty: not given.
struct picture_request {
  std::string expression = {};
  std::string slice = {};  // a coordinate with _ for what is drawn
  std::string tv = {};     // a tile: the expression is a thread-value layout into it
  std::string banks = {};  // an access: the expression is a tile in shared memory
  std::string tma = {};    // a tile in shared memory: the expression is a tensor in global memory
  std::string at = {};     // where the tile begins in the tensor
  std::string descriptor = {};  // wgmma or tcgen05: the expression is an operand tile (M or N, K)
  bool mn_major = false;        // of the descriptor's operand
  i64 step = 0;                 // of the descriptor, along k
  int bits = 16;                // of an element, for --banks, --tma, --descriptor
  bool steps = false;

  /// True if something other than the layout itself is requested.
  bool special() const;
};

/// Needs: at most one of --slice, --tv, --banks, --tma, --descriptor, --steps [TW0625]; an
/// expression that is what the option says [TW0170, TW0172, TW0176, TW0626]. Throws `rejected`.
picture picture_of(picture_request const& r);

/// "table", "latex", "svg", "html" or "json".
std::string written(picture const& p, std::string_view how, bool coloured);

}  // namespace tw
