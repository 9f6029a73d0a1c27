// SPDX-License-Identifier: Apache-2.0
// plan.cpp  Looks for the kernel among all plans.
#include "tools/command/stages/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/io/refuse.hpp"
#include "tools/request/problem_request.hpp"

namespace tw::stages {

gemm_problem problem_of(request const& r) {
  problem_request a;
  a.m = r.m, a.n = r.n, a.k = r.k;
  return tw::problem_of(a);
}

gemm_plan plan_of(request const& r, gemm_operands const& o, device const& dev) {
  for (gemm_plan const& plan : plan_candidates(problem_of(r), o, dev, kernel_set::all))
    if (plan.family == r.kernel->of && plan.instance == r.kernel->kernel && !plan.swapped &&
        plan.schedule.split_k_tiles == 0 && !plan.repitch.a && !plan.repitch.b)
      return plan;
  refuse("TW0656", "GEMM with a record of its stages", fmt::format("{} x {} x {}", r.m, r.n, r.k),
         "one that the kernel computes: K a multiple of 8, and N of 8");
}

std::vector<role_record> records_of(std::vector<stage_event> const& events,
                                    std::vector<std::int32_t> const& counts, int roles) {
  std::vector<role_record> all;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    auto const kept = std::min(counts[i], log_capacity);
    auto const first = events.begin() + static_cast<std::ptrdiff_t>(i) * log_capacity;
    all.push_back({static_cast<int>(i) / roles,
                   static_cast<int>(i) % roles,
                   {first, first + kept},
                   counts[i] - kept});
  }
  for (std::size_t first = 0; first < all.size(); first += static_cast<std::size_t>(roles)) {
    std::uint64_t begin = ~std::uint64_t{0};
    for (std::size_t i = first; i < first + static_cast<std::size_t>(roles); ++i)
      for (stage_event const& e : all[i].events) begin = std::min(begin, e.begin);
    for (std::size_t i = first; i < first + static_cast<std::size_t>(roles); ++i)
      for (stage_event& e : all[i].events) e.begin -= begin, e.end -= begin;
  }
  return all;
}

}  // namespace tw::stages
