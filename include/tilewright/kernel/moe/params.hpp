// SPDX-License-Identifier: Apache-2.0
// params.hpp  Parameters of the launches around the GEMMs of a mixture of experts. Equal bytes
//             for both backends.
#pragma once

#include <cstdint>

#include "tilewright/base/elem.hpp"

namespace tw {

/// Experts of pairs (token, choice): pair t * choices + c is choice c of token t.
struct moe_sort_params {
  std::int32_t const* experts;  // (tokens, choices); a number outside of 0 .. groups - 1: no expert
  int pairs;                    // tokens * choices
  int groups;                   // experts
  std::int32_t* counts;         // (groups): pairs of each expert; nullptr: not wanted
  std::int32_t* ends;           // (groups): the sum of the counts up to it (group_form::ends)
  std::int32_t* source;         // (pairs): the pair at each place of the sorted order
  std::int32_t* place;          // (pairs): the place of each pair; -1: none
};

/// Rows of tokens to the places of their pairs, or the sum of the places of a token's pairs.
struct moe_rows_params {
  void const* from;
  void* to;
  std::int64_t from_pitch, to_pitch;  // elements
  std::int32_t const* index;          // gather: source; combine: place
  float const* weights;               // combine: (tokens, choices); nullptr: all 1
  std::int32_t const* rows;           // gather: the number of places that are used
  int count;                          // gather: pairs; combine: tokens
  int choices;                        // pairs of a token
  int cols;
  elem type;               // bf16, f16 or f32
  bool scattered = false;  // combine: row `pair` instead of row `place`
};

}  // namespace tw
