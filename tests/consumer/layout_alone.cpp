// SPDX-License-Identifier: Apache-2.0
// layout_alone.cpp  The headers of layout/, tensor/ and atom/ without any library: layouts that are
// known at run time only, and a refusal with its text.
#include <cstdio>
#include <cstring>

#include "tilewright/atom/tma_params.hpp"
#include "tilewright/layout/layout.hpp"
#include "tilewright/tensor/tensor.hpp"

int main(int argc, char**) {
  tw::i64 const rows = 127 + argc;  // 128, and not to the compiler
  tw::layout const l = make_layout(tw::layout(rows, 64), tw::layout(64, 1));
  tw::layout const tiles = zipped_divide(l, tw::tile(16, 16));
  if (tw::size(tiles) != 128 * 64) return 1;
  tw::tma_params const p = make_tma_params(
      l, tw::make_layout(tw::layout(rows, 64), tw::layout(64, 1)), tw::tile(rows, 64), 16);
  if (p.box[0] != 64 || p.box[1] != 128) return 2;
  try {
    composition(tw::make_layout(tw::layout(4, 8), tw::layout(8, 1)), tw::layout(5 + argc, 1));
  } catch (std::exception const& e) {
    std::puts(e.what());
    return std::strncmp(e.what(), "TW0105: composition, extent of B: got 6, need a multiple of 4",
                        61);
  }
  return 3;
}
