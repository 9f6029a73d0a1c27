// SPDX-License-Identifier: Apache-2.0
// metrics.hpp  The table of Nsight Compute metrics that `tilewright profile` collects, with what
//              their values mean for a GEMM.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tw::profile {

enum class unit { percent, count, bytes, us };

/// How a value is judged: more is better, less is better, or large values name a limit.
enum class wish { more, less, limit, none };

struct metric {
  std::string_view name;  // as ncu has it for sm_90
  std::string_view title;
  unit measure;
  wish wants;
  double good;  // more: from here on; less: up to here
  double low;   // more: below; limit: from here on the unit limits
  std::string_view meaning;
  std::string_view when_low;  // to do if it is not good, or if the unit limits
  std::string_view formerly;  // the name in guides for older GPUs; empty: the same
};

std::span<metric const> metrics();

/// The metric with this name or this former name, or nullptr.
metric const* find_metric(std::string_view name);

enum class verdict { good, fair, low, limits, shown };
char const* word(verdict v);
verdict judge(metric const& m, double value);

/// "84.1 %", "1,234", "134.2 MB", "173.2 us".
std::string value_text(unit u, double value);

}  // namespace tw::profile
