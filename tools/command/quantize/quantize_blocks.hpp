// SPDX-License-Identifier: Apache-2.0
// quantize_blocks.hpp  `tilewright quantize --to mxfp8|mxfp4|nvfp4`.
#pragma once

#include <optional>
#include <string>

#include "tilewright/base/check.hpp"
#include "tilewright/problem/block_quantize.hpp"
#include "tools/io/matrix_file.hpp"
#include "tools/operand/checkpoint_layout.hpp"

namespace tw {

struct quantize_blocks_request {
  bool wanted = false;
  block_format format = block_format::nvfp4;
  factor_order order = factor_order::swizzled;
  std::string in, out, scale_out, second_out;
  std::string second;                 // second level of nvfp4: a file or a number; may be empty
  bool second_is_reciprocal = false;  // it is 1 / the second level
  scale_rule rule = scale_rule::rceil;
  std::optional<checkpoint_layout> checkpoint;
  bool is_b = false, json = false, quiet = false;
  std::string unused;  // an option that these formats do not have
};

exit_status run_quantize_blocks(quantize_blocks_request r);

}  // namespace tw
