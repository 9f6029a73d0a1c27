// SPDX-License-Identifier: Apache-2.0
// plan_report.hpp  Ranked plans of a problem as text and as JSON ("tilewright.plan/1").
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/dispatch/gemm.hpp"
#include "tools/report/field_words.hpp"

namespace tw {

/// The problem, and all plans for it, the chosen one first.
struct plan_answer {
  gemm_problem problem;
  std::string layout;    // "TN"
  std::string epilogue;  // "bias_gelu"; empty: none
  device dev{};
  std::int64_t workspace_bytes = 0;
  std::vector<gemm_plan> plans;
  std::optional<double> never_promoted_us = {};  // the same GEMM's, where sums are promoted
  std::optional<double> any_order_us = {};       // where it is to be reproducible, without that
  std::optional<double> in_16_bits_us = {};      // of 8-bit operands, the same GEMM's of bf16
  std::vector<std::string> (*words)(std::vector<std::string>) = with_options;  // of the hints
};

/// The limit of a plan, in words: "the tensor cores: 138.7 of 163.0 us, ...".
std::string limit_text(gemm_plan const& p);

/// The chosen plan and why, then a table of the first `top` plans (0: all), in lines of at most
/// `columns` (0: of any length).
std::string plan_text(plan_answer const& a, int top, int columns = 0);
nlohmann::ordered_json plan_json(plan_answer const& a, int top);

/// The scales of A, B and D by their arguments: the convention of each in words, or null.
nlohmann::ordered_json scales_json(gemm_problem const& p);

}  // namespace tw
