// SPDX-License-Identifier: Apache-2.0
// ncu_csv.hpp  Reads the CSV that Nsight Compute prints.
//
// Two forms, both after lines of other text that begin with "==":
//   --page raw      a row per launch and a column per metric; the row after the heads has units
//   --page details  a row per metric of a launch: "Metric Name", "Metric Unit", "Metric Value"
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tw::profile {

struct launch {
  std::string id, kernel, block, grid;
  /// By name; percent, counts, bytes and microseconds. What ncu could not measure is NaN.
  std::map<std::string, double, std::less<>> values;
};

/// Rows of fields; quotes and line ends within quotes as RFC 4180 has them.
std::vector<std::vector<std::string>> csv_rows(std::string_view text);

/// The launches of a file, in its order. `path` is for messages. Throws `rejected` TW0655 where the
/// text has no heads of ncu, or no launch.
std::vector<launch> read_ncu_csv(std::string const& path, std::string_view text);

}  // namespace tw::profile
