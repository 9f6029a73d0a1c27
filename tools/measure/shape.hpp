// SPDX-License-Identifier: Apache-2.0
// shape.hpp  One GEMM to measure, an entry of a shape file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/request/result_scale_request.hpp"

namespace tw::bench {

/// D = A B. Letters of `layout` and names of `dtype`: shapes.hpp and dtypes.hpp.
struct gemm_shape {
  std::string name, category;
  std::int64_t m = 0, n = 0, k = 0;
  std::string dtype, layout;
  std::int64_t batch = 1;
  std::vector<std::int64_t> group_m;
  std::string epilogue;                     // empty: none
  result_scale_request scale_d;             // of a D in 8 bits; its format is that of `dtype`
  std::vector<std::string> unknown_fields;  // present in the file, meaning unknown
};

}  // namespace tw::bench
