// SPDX-License-Identifier: Apache-2.0
// first_rungs.cpp  Rungs 1 to 3: CUDA cores, tensor cores, larger tiles.
#include "ladder/01_naive.hpp"
#include "ladder/02_tensor_cores.hpp"
#include "ladder/03_larger_tiles.hpp"
#include "tools/check/rungs/rungs.hpp"

namespace ladder {

std::vector<rung> first_rungs() {
  constexpr config c{.breakable = true};
  return {row<rung_01<c>>(1, "01_naive", "CUDA cores"),
          row<rung_02<c>>(2, "02_tensor_cores", "TMA and wgmma"),
          row<rung_03<c>>(3, "03_larger_tiles", "tiles of 128 x 128")};
}

}  // namespace ladder
