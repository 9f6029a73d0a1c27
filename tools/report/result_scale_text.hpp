// SPDX-License-Identifier: Apache-2.0
// result_scale_text.hpp  The scales of D in words.
#pragma once

#include <cstdint>
#include <string>

#include "tilewright/problem/scale.hpp"

namespace tw {

/// "given", "1x128 f32 (torch ...), powers of two": for reports.
std::string result_scale_text(output_scales const& s, std::int64_t rows, std::int64_t cols,
                              std::int64_t batch = 1);

}  // namespace tw
