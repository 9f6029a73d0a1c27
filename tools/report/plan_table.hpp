// SPDX-License-Identifier: Apache-2.0
// plan_table.hpp  Ranked plans as a table that fits the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/report/plan_report.hpp"

namespace tw {

/// The first plans of an answer, one a row. Where a line has too few columns, terms of the
/// prediction are left out, the least telling first; then the kernel gets a separate line.
class plan_table {
 public:
  plan_table(plan_answer const& a, std::size_t rows);
  /// columns: of a line at most; 0: lines of any length.
  std::string text(int columns) const;

 private:
  struct column {
    std::string title;
    int width;
    int rank;  // a column of a lower rank is left out before it
    std::vector<std::string> cells = {};
  };
  std::string row(std::size_t i, int min_rank, bool head) const;
  int width_of_numbers(int min_rank) const;

  std::vector<column> columns_;
  std::vector<std::string> kernels_;
};

}  // namespace tw
