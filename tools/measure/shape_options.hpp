// SPDX-License-Identifier: Apache-2.0
// shape_options.hpp  GEMMs to measure on a command line: sizes and their options, or a list.
#pragma once

#include <string>
#include <vector>

#include "tools/measure/shape.hpp"
#include "tools/request/result_scale_request.hpp"

namespace CLI {
class App;
}

namespace tw::bench {

inline constexpr char const* category_of_sizes = "sizes";

struct shape_request {
  std::string list;                            // a file, of which
  std::vector<std::string> categories, names;  // these; empty: all
  std::vector<std::string> sizes;              // M N K and their ranges (sizes.hpp), of these:
  std::string dtype = "bf16", out_dtype, layout = "TN", epilogue, weights;
  result_scale_request scale_d;
  std::int64_t batch = 1;
  shape_groups groups;
};

/// Adds SIZE, --dtype, --out-dtype, --scale-d, --layout, --epilogue, --batch, --groups,
/// --group-axis, --group-pattern, --expected-size, --weights, --shapes, --category and --names.
void add_shape_options(CLI::App& verb, shape_request& r);

/// The shapes of the list, then the sizes. Throws `rejected` TW07xx for the list, TW0803, TW0615
/// and TW0704 for the sizes.
std::vector<gemm_shape> shapes_of(shape_request const& r);

}  // namespace tw::bench
