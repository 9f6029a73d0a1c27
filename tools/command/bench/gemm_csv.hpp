// SPDX-License-Identifier: Apache-2.0
// gemm_csv.hpp  Measured shapes as CSV (RFC 4180): a line per shape and mode, for spreadsheets.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "tools/command/bench/gemm_table.hpp"

namespace tw::bench {

/// With which files of every version begin.
inline constexpr char const* csv_mark = "name,category,m,n,k,batch,dtype,layout,epilogue,mode,us,";

inline std::string csv_head() {
  return std::string(csv_mark) +
         "tflops,gb_per_s,cublaslt_heuristic_ratio,cublaslt_tuned_ratio,sm_mhz,power_w,error_over_"
         "bound,state,"
         "kernel,deepgemm_ratio\n";
}

/// A text in quotes if it needs them.
inline std::string csv_text(std::string const& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char const c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

/// A number in full; nothing where it was not measured.
inline std::string csv_number(double x) { return std::isfinite(x) ? fmt::format("{:.9g}", x) : ""; }

/// The lines of one shape: a mode that was measured, or one line with the reason why not.
inline std::string csv_rows(shape_result const& r) {
  gemm_shape const& s = r.shape;
  std::string const head =
      fmt::format("{},{},{},{},{},{},{},{},{},", csv_text(s.name), csv_text(s.category), s.m, s.n,
                  s.k, s.batch, csv_text(dtype_cell(s)), s.layout, csv_text(s.epilogue));
  if (r.state != outcome::measured) {
    char const* const state = r.state == outcome::failed ? "failed" : "unsupported";
    return head + fmt::format(",,,,,,,,,{},,\n", csv_text(state + (": " + r.reason)));
  }
  std::string lines;
  auto const& ours = *r.find("tilewright");
  auto const add = [&](char const* mode, std::vector<sample> provider_result::*samples) {
    if ((ours.*samples).empty()) return;
    work const w = {flop(s), compulsory_bytes(s)};
    double const us = median_us(ours.*samples);
    lines += head + mode;
    for (double const x :
         {us, tflops(w, us), gb_per_s(w, us), speed_ratio(r, "cublaslt_heuristic", samples),
          speed_ratio(r, "cublaslt_tuned", samples),
          median(figures(ours.*samples, &sample::sm_mhz)),
          median(figures(ours.*samples, &sample::power_w)), ours.check.error_over_bound})
      lines += "," + csv_number(x);
    lines += fmt::format(",{},{},{}\n", is_right(r) ? "right" : "wrong", csv_text(ours.kernel),
                         csv_number(speed_ratio(r, "deepgemm", samples)));
  };
  add("burst", &provider_result::bursts);
  add("sustained", &provider_result::windows);
  return lines;
}

}  // namespace tw::bench
