// SPDX-License-Identifier: Apache-2.0
// plan_table.cpp  Columns by rank.
#include "tools/report/plan_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "tools/report/wrapped_text.hpp"

namespace tw {
namespace {

constexpr int all_ranks = 0, max_rank = 9;
constexpr int most_left_out = 5;  // beside a kernel; where more would be, it comes below

std::string number(double x, int digits = 1) { return fmt::format("{:.{}f}", x, digits); }

}  // namespace

plan_table::plan_table(plan_answer const& a, std::size_t rows)
    : columns_{{"", 3, max_rank},
               {"predicted", 9, max_rank},
               {"measured", 8, max_rank},
               {"tensor", 7, 7},
               {"idle", 7, 6},
               {"loads", 7, 7},
               {"DRAM", 7, 7},
               {"smem", 7, 2},
               {"epilog.", 7, 5},
               {"split-K", 7, 3},
               {"launch", 6, 4},
               {"waves", 6, 5}} {
  // A column that few plans need.
  bool const has_additions = std::ranges::any_of(
      std::span(a.plans).first(rows), [](gemm_plan const& x) { return x.terms.additions > 0; });
  constexpr int after_idle = 5;
  if (has_additions) columns_.insert(columns_.begin() + after_idle, {"adds", 7, 6});
  for (std::size_t i = 0; i < rows; ++i) {
    gemm_plan const& x = a.plans[i];
    plan_terms const& t = x.terms;
    std::vector<std::string> cells = {fmt::format("{}", i + 1),
                                      number(x.predicted_us),
                                      x.measured_us > 0 ? number(x.measured_us) : "-",
                                      number(t.tensor),
                                      number(t.idle),
                                      number(t.loads),
                                      number(t.dram),
                                      number(t.shared_memory),
                                      number(t.epilogue),
                                      number(t.reduction),
                                      number(t.launch),
                                      number(t.waves, 2)};
    if (has_additions) cells.insert(cells.begin() + after_idle, number(t.additions));
    for (std::size_t c = 0; c < columns_.size(); ++c) columns_[c].cells.push_back(cells[c]);
    kernels_.push_back(fmt::format("{}{}, {}{}", shown_kernel(x), x.swapped ? " swap-AB" : "",
                                   x.family->schedule_text(x),
                                   x.built ? "" : ", not in this build"));
  }
}

int plan_table::width_of_numbers(int min_rank) const {
  int width = -1;
  for (column const& c : columns_)
    if (c.rank >= min_rank) width += 1 + c.width;
  return width;
}

std::string plan_table::row(std::size_t i, int min_rank, bool head) const {
  std::string line;
  for (column const& c : columns_)
    if (c.rank >= min_rank)
      line +=
          fmt::format("{}{:>{}}", line.empty() ? "" : " ", head ? c.title : c.cells[i], c.width);
  return line;
}

std::string plan_table::text(int columns) const {
  std::string const kernel_title = "kernel, clusters (times in us)";
  std::size_t longest = kernel_title.size();
  for (std::string const& k : kernels_) longest = std::max(longest, k.size());
  auto const fits = [&](int min_rank, int more) {
    return columns == 0 || width_of_numbers(min_rank) + more <= columns;
  };
  int rank = all_ranks;
  while (rank < most_left_out && !fits(rank, 2 + static_cast<int>(longest))) ++rank;
  bool const beside = fits(rank, 2 + static_cast<int>(longest));
  if (!beside)  // below: all numbers that fit a line
    for (rank = all_ranks; rank < max_rank && !fits(rank, 0);) ++rank;
  auto const line = [&](std::string const& numbers, std::string const& kernel) {
    if (beside) return numbers + "  " + kernel + "\n";
    return numbers + "\n" + wrapped("    " + kernel, columns, 4) + "\n";
  };
  std::string text = line(row(0, rank, true), kernel_title);
  for (std::size_t i = 0; i < kernels_.size(); ++i) text += line(row(i, rank, false), kernels_[i]);
  return text;
}

}  // namespace tw
