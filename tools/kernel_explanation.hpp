// SPDX-License-Identifier: Apache-2.0
// kernel_explanation.hpp  The memory of a kernel: its stages in shared memory, and on
//                         Blackwell the columns of tensor memory, their contents, and the warps
//                         that use them.
//
// The numbers are those of the kernel's configuration (kernel/sm100/config.hpp,
// block_scaled_config.hpp) and of its roles (kernel/sm100/roles.hpp).
// Example: tests/tools/explain_kernel_command_test.cpp, docs/explain.md
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/device/occupancy.hpp"

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

struct kernel_explanation {
  std::string kernel, family, tile;
  cta_resources cta;  // without registers
  int stages = 0;
  std::int64_t stage_bytes = 0;
  std::vector<tensor_part> parts;
  std::vector<tensor_user> users;
  std::vector<scale_step> steps;
  std::string note;  // of the factors of B
  std::vector<std::string> pictures;
};

/// The kernel with this name, or nothing where no family has it. Refuses a kernel whose family does
/// not state its resources [TW0652].
std::optional<kernel_explanation> explain_kernel(std::string const& name);
/// Names of all kernels.
std::vector<std::string> kernel_names();

std::string explanation_text(kernel_explanation const& e);
nlohmann::ordered_json explanation_json(kernel_explanation const& e);

}  // namespace tw
