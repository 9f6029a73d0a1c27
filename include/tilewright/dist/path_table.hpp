// SPDX-License-Identifier: Apache-2.0
// path_table.hpp  The times of the paths of calls that `tilewright tune --ranks` has measured.
//
// The file lies next to the tuning file (TILEWRIGHT_TUNE, docs/planning.md) and has its name with
// ".paths"; with TILEWRIGHT_TUNE=off calls read no file. A line is a call: operation, ranks, type,
// M, extent, path, microseconds, name of the GPU. All ranks of a group must read equal files: calls
// of two paths are refused (TW0901).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/elem.hpp"
#include "tilewright/dist/shards.hpp"

namespace tw::dist {

/// A call, by facts that are equal on all ranks.
struct path_key {
  operation op = operation::all_gather_gemm;
  int ranks = 1;
  elem type = elem::bf16;             // of A of an all-gather, else of partial results
  std::int64_t rows = 0, extent = 0;  // M; K of an all-gather, else N
  std::string gpu;                    // its name
  bool operator==(path_key const&) const = default;
};

/// The file; empty with TILEWRIGHT_TUNE=off. Throws `rejected` TW0802 for a word that is neither
/// off nor a path.
std::string path_table_file();

/// A path and its time.
struct stored_path {
  path via = path::serial;
  double us = 0;
  bool operator==(stored_path const&) const = default;
};

/// The times of all paths that were measured for the call, in the order of `path`; of each path the
/// time that was stored last. Reads the file once a process. Throws `rejected` TW0802 if the file
/// is damaged.
std::vector<stored_path> measured_paths(path_key const& key);
/// The fastest of these paths.
std::optional<stored_path> tuned_path(path_key const& key);

/// Adds a line. Throws `rejected` TW0802 with TILEWRIGHT_TUNE=off, or if the file cannot be
/// written.
void store_path(path_key const& key, path via, double us);

/// A line that store_path() wrote.
struct measured_path {
  path_key call;
  stored_path found;
};
/// Throws `rejected` TW0802 for another line.
measured_path path_in_line(std::string const& line);

}  // namespace tw::dist
