// SPDX-License-Identifier: Apache-2.0
// tune_command.hpp  `tilewright tune`: measures plans on this card and remembers the fastest.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tilewright/problem/gemm.hpp"

namespace tw {

void add_tune_command(CLI::App& app, int& status);

/// M, N, K from three numbers, or from words 4096x4096x8192. Throws `rejected` TW0803.
struct product_size {
  std::int64_t m, n, k;
};
std::vector<product_size> parse_sizes(std::vector<std::string> const& words);

}  // namespace tw
