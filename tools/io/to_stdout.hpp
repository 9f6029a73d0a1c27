// SPDX-License-Identifier: Apache-2.0
// to_stdout.hpp  Reports for people that name files. Throws where stdout is closed or full, as
//                fmt::print does.
#pragma once

#include <fmt/format.h>

#include <utility>

#include "tilewright/base/check.hpp"
#include "tools/io/printable.hpp"

namespace tw {

/// A report with what it quotes made printable.
template <class... Args>
void to_stdout(fmt::format_string<Args...> format, Args&&... args) {
  fmt::print("{}", printable(fmt::format(format, std::forward<Args>(args)...)));
}

/// The refusal (TW0612) of an output that could not be printed, for this value of errno.
rejection no_room_on_stdout(int error);

/// Throws `rejected` TW0612 if stdout could not be written.
void flush_stdout();

}  // namespace tw
