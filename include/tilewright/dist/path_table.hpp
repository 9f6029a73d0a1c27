// SPDX-License-Identifier: Apache-2.0
// path_table.hpp  The fastest path of calls that `tilewright tune --ranks` has measured.
//
// The file lies next to the tuning file (TILEWRIGHT_TUNE, docs/planning.md) and has its name with
// ".paths"; with TILEWRIGHT_TUNE=off calls read no file. A line is a call: operation, ranks, type,
// M, extent, path, microseconds, name of the GPU. All ranks of a group must read equal files: calls
// of two paths are refused (TW0901).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

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

/// The path that was stored last for the call. Reads the file once a process. Throws `rejected`
/// TW0802 if the file is damaged.
std::optional<path> tuned_path(path_key const& key);

/// Adds a line. Throws `rejected` TW0802 with TILEWRIGHT_TUNE=off, or if the file cannot be
/// written.
void store_path(path_key const& key, path fastest, double us);

/// The path of a line that store_path() wrote, if its call is `key`. Throws `rejected` TW0802 for
/// another line.
std::optional<path> path_in_line(std::string const& line, path_key const& key);

}  // namespace tw::dist
