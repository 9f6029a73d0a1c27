// SPDX-License-Identifier: Apache-2.0
// precision_options.hpp  Options of commands for the types of a GEMM and how its sums are kept.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tilewright/problem/precision.hpp"

namespace tw {

/// Types of A and B, and of D.
inline std::vector<std::string> operand_words() {
  return {"bf16", "f16", "e4m3", "e5m2", "s8", "u8", "tf32", "f32"};
}
inline std::vector<std::string> result_words() {
  return {"bf16", "f16", "f32", "e4m3", "e5m2", "s32"};
}

/// And of a D with scales (`gemm --scale-d`).
inline std::vector<std::string> result_words_with_scales() {
  return {"bf16", "f16", "f32", "e4m3", "e5m2", "s32", "s8"};
}

/// --promote, --f16-sums and --wrap. `precision` must live while the command line is parsed.
void add_precision_options(CLI::App& verb, gemm_precision& precision);
/// --invariant: gemm_problem::reproducible.
void add_invariance_option(CLI::App& verb, bool& reproducible);

}  // namespace tw
