// SPDX-License-Identifier: Apache-2.0
// bank_picture.hpp  Banks of a tile in shared memory, and the wavefronts of one access to it.
//
// The tile: each cell's bank; the cells that the threads touch are coloured by groups of four banks
// and named by thread. The wavefronts: which thread uses which bank in which one. A group of the
// access that needs more wavefronts than its words would, spread evenly, has conflicts: its cells
// of the tile stay, its surplus wavefronts are marked.
// Needs:    what access_of needs [TW0160-TW0165], a name of an access [TW0626]
// Example:  tests/tools/picture/picture_banks_test.cpp
#pragma once

#include <string_view>

#include "tilewright/atom/bank_proposal.hpp"
#include "tools/picture/picture.hpp"

namespace tw {

/// The step of the natural walk over the tile that has the most wavefronts beyond the ideal.
picture bank_picture(std::string_view access, layout const& tile, int element_bits);

}  // namespace tw
