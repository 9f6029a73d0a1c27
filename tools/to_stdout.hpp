// SPDX-License-Identifier: Apache-2.0
// to_stdout.hpp  Reports for people that name files. Throws where stdout is closed or full, as
//                fmt::print does.
#pragma once

#include <fmt/format.h>

#include <utility>

#include "tools/io/printable.hpp"

namespace tw {

/// A report with what it quotes made printable.
template <class... Args>
void to_stdout(fmt::format_string<Args...> format, Args&&... args) {
  fmt::print("{}", printable(fmt::format(format, std::forward<Args>(args)...)));
}

}  // namespace tw
