// SPDX-License-Identifier: Apache-2.0
// shape.hpp  One GEMM to measure, an entry of a shape file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/problem/groups.hpp"
#include "tools/measure/group_sizes.hpp"
#include "tools/request/result_scale_request.hpp"

namespace tw::bench {

/// Groups of unequal size that divide M, N or K of a shape (docs/groups.md).
struct shape_groups {
  std::int64_t count = 0;  // 0: no groups
  group_axis axis = group_axis::m;
  group_pattern pattern = group_pattern::equal;
  std::vector<std::int64_t> sizes;  // of axis m; empty: by the pattern
  std::int64_t expected = 0;        // group_desc::expected_size
};

/// D = A B. Letters of `layout` and names of `dtype`: shapes.hpp and dtypes.hpp. With groups the
/// extent that they divide is the sum over all groups.
struct gemm_shape {
  std::string name, category;
  std::int64_t m = 0, n = 0, k = 0;
  std::string dtype, layout;
  std::int64_t batch = 1;
  shape_groups groups;
  std::string weights;                      // format of a B of prepared 4-bit weights; empty: none
  std::string epilogue;                     // empty: none
  result_scale_request scale_d;             // of a D in 8 bits; its format is that of `dtype`
  std::vector<std::string> unknown_fields;  // present in the file, meaning unknown
};

}  // namespace tw::bench
