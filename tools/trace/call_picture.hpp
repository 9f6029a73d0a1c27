// SPDX-License-Identifier: Apache-2.0
// call_picture.hpp  A call over several ranks in time as a picture: a row for the launches of each
//                   rank, and one for its copies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/dist/shards.hpp"

namespace tw {

enum class call_act : std::uint8_t { gemm, copy, add, wait };

/// An act of a rank from `begin` to `end`.
struct call_block {
  int rank;
  call_act act;
  bool by_engine;  // a copy during the launches, by a copy engine
  double begin, end;
  dist::range rows = {};        // of a GEMM
  std::vector<int> peers = {};  // to which a copy goes, or for which a rank waits
};

/// A call on one path.
struct call_panel {
  std::string title;
  std::vector<call_block> blocks;
};

struct call_picture {
  int ranks = 0;
  std::vector<int> engines;          // the ranks whose copy engines have a row
  std::string unit;                  // of times: "us", "cycles"
  double end = 0;                    // of the axis, at least; it goes to a whole step
  std::vector<std::string> heading;  // lines above the panels
  std::vector<call_panel> panels;
};

/// The end of the last block.
double end_of(std::vector<call_block> const& blocks);

/// "5,940".
std::string thousands(double x);

/// SVG, as wide as a page.
std::string call_svg(call_picture const& p);

}  // namespace tw
