// SPDX-License-Identifier: Apache-2.0
// report_texts.cpp  Texts of reports that several families have.
#include "family/report_texts.hpp"

#include <fmt/format.h>

namespace tw {

std::string counted(std::int64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

std::string form_text(gemm_plan const& plan) {
  std::string text = plan.swapped ? "swap-AB: " : "";
  if (plan.normal.batch != plan.problem.batch) text += "the batch as one GEMM: ";
  return text;
}

std::string parts_text(predicted_times const& t) {
  return fmt::format(
      "launch {:.1f}, math {:.1f}, loads {:.1f}, DRAM {:.1f}, epilogue {:.1f}, copies {:.1f}",
      t.launch_us, t.math_us, t.loads_us, t.dram_us, t.epilogue_us, t.copies_us);
}

std::string why_text(gemm_plan const& plan, std::string_view work, std::string_view parts,
                     double total_us) {
  return fmt::format("{}{}; predicted for {}: {:.1f} us ({})", form_text(plan), work,
                     plan.predicted_for, total_us, parts);
}

std::string shared_memory_loads_text(gemm_plan const& plan, std::string_view how) {
  return fmt::format(
      "loads from L2 into shared memory{}: {:.1f} of {:.1f} us; the tensor cores need {:.1f}", how,
      plan.terms.loads, plan.predicted_us, plan.terms.tensor + plan.terms.idle);
}

std::vector<std::string> math_warpgroups(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(fmt::format("math warpgroup {}", i));
  return names;
}

}  // namespace tw
