// SPDX-License-Identifier: Apache-2.0
// report_texts.hpp  Texts of reports that several families have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "family/predicted_times.hpp"
#include "tilewright/family/plan.hpp"

namespace tw {

/// "1 CTA", "66 CTAs".
std::string counted(std::int64_t n, std::string_view noun);

/// "swap-AB: " and "the batch as one GEMM: ", as far as they apply.
std::string form_text(gemm_plan const& plan);

/// "launch 2.1, math 30.0, loads 20.0, DRAM 10.0, epilogue 3.0, copies 0.0".
std::string parts_text(predicted_times const& t);

/// plan.why: the form, the work and the parts of the predicted time.
std::string why_text(gemm_plan const& plan, std::string_view work, std::string_view parts,
                     double total_us);

/// "loads from L2 into shared memory: 20.0 of 40.0 us; the tensor cores need 30.0". how: " by
/// cp.async", or empty.
std::string shared_memory_loads_text(gemm_plan const& plan, std::string_view how);

/// "math warpgroup 0", "math warpgroup 1", ...
std::vector<std::string> math_warpgroups(int count);

}  // namespace tw
