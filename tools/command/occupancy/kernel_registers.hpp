// SPDX-License-Identifier: Apache-2.0
// kernel_registers.hpp  Registers of a thread of our kernels: tests/golden/ptxas.json, embedded by
//                       gen/registers.py.
#pragma once

#include <span>
#include <string_view>

namespace tw {

struct kernel_registers {
  std::string_view family;
  int kernel;  // its number in the family; -1: the family no longer has it
  int registers;
};

std::span<kernel_registers const> accepted_registers();

/// The version of nvcc that the figures belong to: "13.0.88".
char const* accepted_nvcc();

}  // namespace tw
