// SPDX-License-Identifier: Apache-2.0
// kernel_memory.hpp  The contents of tensor memory in a kernel, as its family states them.
#pragma once

#include <string>
#include <vector>

namespace tw {

/// Columns of tensor memory with one use, of all 128 lanes.
struct tensor_part {
  int first = 0, columns = 0;
  std::string content;
};

/// Lanes that a warp uses.
struct tensor_user {
  int warp = 0, first_lane = 0, lanes = 0;
  std::string access;
};

/// Scale factors of one multiply of a stage: their first columns, and the id in its descriptor.
struct scale_step {
  int k = 0, k_extent = 0;  // elements from the start of the stage
  int a_column = 0, a_columns = 0, b_column = 0, b_columns = 0;
  int id = 0;
};

struct kernel_memory {
  std::string tile;  // in words: extents, and how many CTAs compute it
  std::vector<tensor_part> parts;
  std::vector<tensor_user> users;
  std::vector<scale_step> steps;
  std::string note;                   // of the factors of B
  std::vector<std::string> pictures;  // that `tilewright layout` draws
};

}  // namespace tw
