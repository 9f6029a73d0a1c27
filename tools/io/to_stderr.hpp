// SPDX-License-Identifier: Apache-2.0
// to_stderr.hpp  Messages for people. fmt::print throws where stderr is closed or full; this does
//                not, because a message that cannot be read must not change what a verb does.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "tools/io/printable.hpp"

namespace tw {

/// A message with what it quotes made printable.
template <class... Args>
void to_stderr(fmt::format_string<Args...> format, Args&&... args) {
  std::string const text = printable(fmt::format(format, std::forward<Args>(args)...));
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace tw
