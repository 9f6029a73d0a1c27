// SPDX-License-Identifier: Apache-2.0
// steps_picture.hpp  An operation step by step: what it computes on the way, one panel each.
//
//     divides        L coloured by tile; the tile, its complement, (tile, complement); L composed
//                    with that; the modes in the order of the divide. Hovering shows a tile.
//     products       the block, its complement, the copies' places; (block, copies); the modes in
//                    the order of the product. Hovering shows a copy.
//     composition    A with the cells that each leaf of B visits, then A o B
//     complement     the offsets below m: L's, and L's shifted by each offset of the complement
//     a swizzled layout without a call: before and after
//
// Every step carries its value as the algebra prints it.
// Needs:   one of these operations [TW0175]
// Example: tests/tools/picture/picture_steps_test.cpp
#pragma once

#include <string_view>

#include "tools/picture/picture.hpp"

namespace tw {

picture steps_picture(std::string_view expression);

}  // namespace tw
