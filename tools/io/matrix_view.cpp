// SPDX-License-Identifier: Apache-2.0
// matrix_view.cpp  The checks that every reader makes before it hands out a view.
#include "tools/io/matrix_view.hpp"

#include <fmt/format.h>

#include "tools/io/refuse.hpp"

namespace tw {

std::string text_of(elem type, std::int64_t rows, std::int64_t cols) {
  return fmt::format("{}x{} {}", rows, cols, name(type));
}

void check_extents(std::string const& file, elem type, std::int64_t rows, std::int64_t cols,
                   bytes present) {
  std::string const shape = text_of(type, rows, cols);
  if (rows < 1 || cols < 1) {
    refuse("TW0607", "shape in " + file, shape, "at least one row and one column");
  }
  auto const needed = checked_bytes(type, rows, cols);
  if (!needed) {
    refuse("TW0606", "shape in " + file, shape, "a size in bytes below 2^63",
           "the header is corrupt");
  }
  if (present < *needed) {
    refuse("TW0603", "data of " + file, fmt::format("{} bytes", present.count),
           fmt::format("{} bytes for {}", needed->count, shape), "the file is truncated");
  }
}

}  // namespace tw
