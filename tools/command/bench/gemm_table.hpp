// SPDX-License-Identifier: Apache-2.0
// gemm_table.hpp  Measured shapes as text: a line per shape and mode, then means per category.
#pragma once

#include <string>
#include <vector>

#include "tools/command/bench/table.hpp"
#include "tools/measure/result.hpp"
#include "tools/measure/support.hpp"
#include "tools/measure/work.hpp"

namespace tw::bench {

/// "fp8_block_e4m3 amax-1x128", "bf16 x mxfp4, 8 zipf groups of m": the types, the scales of D, and
/// the groups.
inline std::string dtype_cell(gemm_shape const& s) {
  std::string text = s.weights.empty() ? s.dtype : s.dtype + " x " + s.weights;
  if (!s.scale_d.text.empty()) text += " " + s.scale_d.text;
  return s.groups.count == 0 ? text : text + ", " + groups_text(s.groups);
}

inline constexpr int deepgemm_column = 12;  // after cuBLASLt's, if there is one
inline constexpr char const* deepgemm_title = "/deepg";

/// Columns wide enough for the names of these shapes, with or without DeepGEMM's.
inline std::vector<column> gemm_columns(std::vector<gemm_shape> const& shapes,
                                        bool deepgemm = false) {
  int width = 5, dtype_width = 5;
  for (auto const& s : shapes) {
    width = std::max(width, static_cast<int>(s.name.size()));
    dtype_width = std::max(dtype_width, static_cast<int>(dtype_cell(s).size()));
  }
  std::vector<column> columns = {{"shape", width, true},
                                 {"M", 6},
                                 {"N", 6},
                                 {"K", 6},
                                 {"lay", 3, true},
                                 {"dtype", dtype_width, true},
                                 {"mode", 5, true},
                                 {"us", 8},
                                 {"TFLOP/s", 7},
                                 {"GB/s", 6},
                                 {"/heur", 6},
                                 {"/tuned", 6},
                                 {"MHz", 5},
                                 {"W", 4},
                                 {"J/TFLOP", 7},
                                 {"err/bound", 9},
                                 {"kernel", 6, true}};
  if (deepgemm) columns.insert(columns.begin() + deepgemm_column, {deepgemm_title, 6});
  return columns;
}

namespace detail {

inline std::vector<std::string> cells_of(gemm_shape const& s) {
  return {s.name,   std::to_string(s.m), std::to_string(s.n), std::to_string(s.k),
          s.layout, dtype_cell(s)};
}

/// The error as a share of its bound, or what is wrong with the result.
inline std::string verdict(provider_result const& ours) {
  if (!ours.check.passed) return "WRONG";
  return ours.repeatable ? cell(ours.check.error_over_bound, 4) : "UNSTABLE";
}

inline bool has_deepgemm(std::vector<column> const& columns) {
  return columns[deepgemm_column].title == deepgemm_title;
}

/// DeepGEMM's time over ours, or that its result is wrong.
inline std::string deepgemm_cell(shape_result const& r,
                                 std::vector<sample> provider_result::*samples) {
  auto const* theirs = r.find("deepgemm");
  if (theirs != nullptr && !theirs->check.passed) return "WRONG";
  return cell(speed_ratio(r, "deepgemm", samples), 3);
}

inline std::string one_mode(std::vector<column> const& columns, shape_result const& r,
                            std::string const& mode,
                            std::vector<sample> provider_result::*samples) {
  auto const& ours = *r.find("tilewright");
  work const w = {flop(r.shape), compulsory_bytes(r.shape)};
  double const us = median_us(ours.*samples);
  double const power_w = median(figures(ours.*samples, &sample::power_w));
  auto cells = cells_of(r.shape);
  for (std::string const& c :
       {mode, cell_us(us), cell(tflops(w, us), 1), cell(gb_per_s(w, us), 0),
        cell(speed_ratio(r, "cublaslt_heuristic", samples), 3),
        cell(speed_ratio(r, "cublaslt_tuned", samples), 3),
        cell(median(figures(ours.*samples, &sample::sm_mhz)), 0), cell(power_w, 0),
        cell(joule_per_tflop(w, us, power_w), 3), verdict(ours), ours.kernel})
    cells.push_back(c);
  if (has_deepgemm(columns))
    cells.insert(cells.begin() + deepgemm_column, deepgemm_cell(r, samples));
  return table_line(columns, cells) + "\n";
}

/// The contenders beside the usual ones: our plan in other orders of tiles, batches by pointers,
/// dependent launches, one order of sums for all shapes, a D of bf16 instead of 8 bits, weights of
/// 16 bits instead of 4, and equal groups as a batch.
inline std::string others(shape_result const& r, std::string const& mode,
                          std::vector<sample> provider_result::*samples) {
  std::string lines;
  double const us = median_us(r.find("tilewright")->*samples);
  for (auto const& p : r.providers)
    if (p.provider.find(':') != std::string::npos || p.provider.ends_with("_pointers") ||
        p.provider.ends_with("_pdl") || p.provider.ends_with("_invariant") ||
        p.provider.ends_with("_bf16_d") || p.provider.ends_with("_decoded") ||
        p.provider.ends_with("_batch"))
      lines += "  " + mode + " " + p.provider + ": " + cell_us(median_us(p.*samples)) + " us, " +
               cell(median_us(p.*samples) / us, 4) + " of our time above\n";
  return lines;
}

}  // namespace detail

/// The lines of one shape, each ended. A shape that was not measured gives its reason; next
/// to DeepGEMM also a shape that lacks a baseline.
inline std::string gemm_rows(std::vector<column> const& columns, shape_result const& r) {
  if (r.state != outcome::measured) {
    auto cells = detail::cells_of(r.shape);
    cells.resize(columns.size() - 1, "-");
    cells.push_back((r.state == outcome::failed ? "FAILED: " : "") + r.reason);
    return table_line(columns, cells) + "\n";
  }
  std::string lines;
  auto const& ours = *r.find("tilewright");
  if (!ours.bursts.empty())
    lines += detail::one_mode(columns, r, "burst", &provider_result::bursts) +
             detail::others(r, "burst", &provider_result::bursts);
  if (!ours.windows.empty())
    lines += detail::one_mode(columns, r, "sust", &provider_result::windows) +
             detail::others(r, "sust", &provider_result::windows);
  if (detail::has_deepgemm(columns) && !r.reason.empty()) lines += "  " + r.reason + "\n";
  return lines;
}

/// Geometric means of baseline time / our time per category, the smallest ratio, and how often we
/// lose by more than 2 %. Only shapes whose result was right take part.
inline std::string gemm_summary(std::vector<shape_result> const& results) {
  std::vector<column> const columns = {{"category", 12, true}, {"shapes", 6},  {"mode", 5, true},
                                       {"baseline", 18, true}, {"geomean", 7}, {"min", 6},
                                       {"lost >2%", 8}};
  std::vector<std::string> categories;
  for (auto const& r : results)
    if (std::find(categories.begin(), categories.end(), r.shape.category) == categories.end())
      categories.push_back(r.shape.category);
  categories.emplace_back("all");

  std::string text;
  auto const add = [&](std::string const& category, std::string const& mode,
                       std::string const& baseline, std::vector<sample> provider_result::*samples) {
    std::vector<double> ratios;
    for (auto const& r : results) {
      if (!is_right(r)) continue;
      if (category != "all" && r.shape.category != category) continue;
      double const ratio = speed_ratio(r, baseline, samples);
      if (std::isfinite(ratio)) ratios.push_back(ratio);
    }
    if (ratios.empty()) return;
    auto const lost =
        std::count_if(ratios.begin(), ratios.end(), [](double x) { return x < 0.98; });
    text += table_line(columns, {category, std::to_string(ratios.size()), mode, baseline,
                                 cell(geometric_mean(ratios), 3), cell(smallest(ratios), 3),
                                 std::to_string(lost)}) +
            "\n";
  };
  for (auto const& category : categories)
    for (std::string const baseline :
         {"cublaslt_heuristic", "cublaslt_tuned", "deepgemm", "tilewright_pdl", "tilewright_no_pdl",
          "tilewright_invariant", "tilewright_bf16_d", "tilewright_decoded", "tilewright_batch"}) {
      add(category, "burst", baseline, &provider_result::bursts);
      add(category, "sust", baseline, &provider_result::windows);
    }
  return text.empty() ? "" : table_head(columns) + "\n" + text;
}

}  // namespace tw::bench
