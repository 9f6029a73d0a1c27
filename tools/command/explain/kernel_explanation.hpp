// SPDX-License-Identifier: Apache-2.0
// kernel_explanation.hpp  The memory of a kernel: its stages in shared memory, and on
//                         Blackwell the columns of tensor memory, their contents, and the warps
//                         that use them.
//
// The numbers are those that the kernel's family states (family/kernel_memory.hpp).
// Example: tests/tools/explain/explain_kernel_command_test.cpp, docs/explain.md
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/device/occupancy.hpp"
#include "tilewright/family/kernel_memory.hpp"

namespace tw {

/// A kernel, its resources without registers, and the contents of tensor memory.
struct kernel_explanation {
  std::string kernel, family;
  cta_resources cta;
  int stages = 0;
  std::int64_t stage_bytes = 0;
  kernel_memory memory;
};

/// The kernel with this name, or nothing if no family has it. Refuses a kernel whose family does
/// not state its resources [TW0652].
std::optional<kernel_explanation> explain_kernel(std::string const& name);
/// Names of all kernels.
std::vector<std::string> kernel_names();

std::string explanation_text(kernel_explanation const& e);
nlohmann::ordered_json explanation_json(kernel_explanation const& e);

}  // namespace tw
