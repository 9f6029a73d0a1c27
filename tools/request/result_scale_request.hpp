// SPDX-License-Identifier: Apache-2.0
// result_scale_request.hpp  The scales of D that a command line requests.
#pragma once

#include <optional>
#include <string>

#include "tilewright/problem/block_format.hpp"
#include "tilewright/problem/scale_convention.hpp"
#include "tools/report/result_scale_text.hpp"

namespace tw {

/// --scale-d, --scale-d-out, --scale-d-as, --scale-d-type, --scale-d-power-of-two; of a D in MXFP8,
/// MXFP4 or NVFP4 (--out-dtype) --scale-d-out, --scale2-d-out and --scale-d-as.
struct result_scale_request {
  std::string text;  // a number, a file, amax-row or amax-1x128; empty: D has no scales
  std::string out;   // empty: beside D
  std::string as;    // the word that gave library or order
  scale_library library = scale_library::torch;
  elem type = elem::f32;  // s32: four ue8m0
  bool power_of_two = false;
  std::optional<block_format> format = {};
  factor_order order = factor_order::swizzled;  // of a block-scaled D's scales
  std::string second_out = {};                  // nvfp4; empty: beside D

  bool any() const { return !text.empty() || format; }
  /// Are they computed? Else one is given.
  bool computed() const { return format || text == "amax-row" || text == "amax-1x128"; }
  scaling kind() const {
    return !computed() ? scaling::tensor : text == "amax-row" ? scaling::row : scaling::block_1x128;
  }
};

/// The scales over a D of `rows` x `cols`; those of a batch follow each other in memory, with the
/// padding of their order, as in a file. Throws `rejected` TW0450 where the library has no such
/// scaling.
output_scales result_scales_of(result_scale_request const& r, std::int64_t rows, std::int64_t cols,
                               std::int64_t batch = 1);

}  // namespace tw
