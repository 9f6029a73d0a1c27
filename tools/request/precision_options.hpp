// SPDX-License-Identifier: Apache-2.0
// precision_options.hpp  Options of commands for the types of a GEMM and how its sums are kept.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tilewright/problem/precision.hpp"

namespace tw {

/// Types of A and B, of what the tensor core multiplies, of D, of a D with scales
/// (`gemm --scale-d`), and of the values of `quantize`.
std::vector<std::string> operand_words();
std::vector<std::string> multiplied_words();
std::vector<std::string> result_words();
std::vector<std::string> result_words_with_scales();
std::vector<std::string> quantized_words();

/// --promote, --f16-sums and --wrap. `precision` must live while the command line is parsed.
void add_precision_options(CLI::App& verb, gemm_precision& precision);
/// --invariant: gemm_problem::reproducible.
void add_invariance_option(CLI::App& verb, bool& reproducible);

}  // namespace tw
