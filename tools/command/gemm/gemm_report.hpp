// SPDX-License-Identifier: Apache-2.0
// gemm_report.hpp  The report of a GEMM: shapes, device, time and check, as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "tools/check/check.hpp"
#include "tools/command/gemm/gemm_run.hpp"
#include "tools/request/gemm_request.hpp"

namespace tw {

/// Several lines, the last one ended.
std::string text_report(gemm_request const& r, gemm_files const& f, gemm_run const& run,
                        std::optional<check_report> const& check);

/// One record. Infinite errors and ratios are null.
nlohmann::ordered_json json_report(gemm_request const& r, gemm_files const& f, gemm_run const& run,
                                   std::optional<check_report> const& check);

}  // namespace tw
