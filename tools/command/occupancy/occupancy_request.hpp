// SPDX-License-Identifier: Apache-2.0
// occupancy_request.hpp  The launches and the tile that `tilewright occupancy` calculates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/elem.hpp"
#include "tilewright/device/device.hpp"
#include "tilewright/device/occupancy.hpp"

namespace tw {

/// A row of the answer.
struct occupancy_row {
  std::string kernel;  // empty: resources of the command line
  cta_resources cta;
  std::int64_t stage_bytes = 0;  // 0: no stages
  int stages = 0;                // 0: unknown
  int sums = 0;                  // registers of accumulators of a thread; 0: unknown
};

/// A tile of D and its step along K, of so many warpgroups side by side along M.
struct tile_budget {
  std::int64_t m = 0, n = 0, k = 0;
  int warpgroups = 1;
  elem ab = elem::bf16;
};

struct occupancy_answer {
  sm_limits const* sm = nullptr;
  std::string device_name;      // "NVIDIA H200", or the word that was given
  std::optional<device> whole;  // with its number of SMs, where a description exists
  std::vector<occupancy_row> rows;
  std::optional<tile_budget> tile;
  bool one = false;  // one row, in detail
};

}  // namespace tw
