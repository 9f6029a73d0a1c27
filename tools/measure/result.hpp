// SPDX-License-Identifier: Apache-2.0
// result.hpp  The result of a measured shape, before it becomes a table or JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/measure/protocol.hpp"
#include "tools/measure/shape.hpp"

namespace tw::bench {

/// The result of a timed program against sums in float64 over the rounded operands.
struct check_result {
  bool passed = false;
  bool whole = false;              // every element was compared; else sampled rows and columns
  std::int64_t compared = 0;       // elements compared with the reference
  std::int64_t unwritten = 0;      // NaN anywhere in any D (D is filled with NaN before)
  double largest_error = 0;        // |D - reference|
  double error_over_bound = 0;     // largest share of the proven bound, problem/error_bound.hpp
  double error_over_expected = 0;  // largest share of the tighter bound for zero-mean data
  double relative_rms = 0;         // |D - reference| / |reference|, Frobenius norms
  std::int64_t scales = 0, wrong_scales = 0;  // computed scales of D: compared; wrong
};

/// One contender's part of a shape.
struct provider_result {
  std::string provider;  // "tilewright", "cublaslt_heuristic", "cublaslt_tuned", "deepgemm"
  std::string kernel;    // configuration or algorithm, in words
  std::string same_as;   // not timed again: the same algorithm as this provider
  check_result check;
  bool repeatable = false;  // every D bit-identical before and after the timing
  std::vector<sample> bursts, windows;
};

/// One candidate of the tuning that precedes "cublaslt_tuned" and "deepgemm".
struct tuning_entry {
  std::string kernel;
  double us = not_measured;  // NaN: the candidate did not run
};

/// One of our plans, tried before the timing.
struct plan_entry {
  std::string kernel;
  bool swapped = false;
  int clusters = 0, split_k_tiles = 0, split_k_clusters = 0;
  double predicted_us = 0, us = not_measured;
};

enum class outcome { measured, unsupported, failed };

struct shape_result {
  gemm_shape shape;
  outcome state = outcome::failed;
  std::string reason;  // why it is unsupported or has failed, or lacks a baseline
  std::string why;     // why the planner chose our kernel
  std::vector<std::string> hints;
  int buffer_sets = 0;  // copies of A, B and D that the launches rotate through
  double cycle_bytes = 0;
  std::vector<provider_result> providers;  // ours first
  std::vector<tuning_entry> tuning;        // of cuBLASLt
  std::vector<tuning_entry> deepgemm;      // its configurations; the first is its own choice
  std::vector<plan_entry> plans;

  /// The provider's results, those of `same_as` where it was not timed again; nullptr: not there.
  provider_result const* find(std::string const& name) const {
    for (auto const& p : providers)
      if (p.provider == name) return p.same_as.empty() ? &p : find(p.same_as);
    return nullptr;
  }
};

/// Measured, every element within its bound, and the same bits before and after the timing.
inline bool is_right(shape_result const& r) {
  auto const* ours = r.find("tilewright");
  return r.state == outcome::measured && ours != nullptr && ours->check.passed && ours->repeatable;
}

/// Baseline time / our time, NaN where one of them was not measured. Above 1: we are faster.
inline double speed_ratio(shape_result const& r, std::string const& baseline,
                          std::vector<sample> provider_result::*samples) {
  auto const* ours = r.find("tilewright");
  auto const* theirs = r.find(baseline);
  if (ours == nullptr || theirs == nullptr) return not_measured;
  return median_us(theirs->*samples) / median_us(ours->*samples);
}

}  // namespace tw::bench
