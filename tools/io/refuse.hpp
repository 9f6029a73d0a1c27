// SPDX-License-Identifier: Apache-2.0
// refuse.hpp  Throws a rejection: what was looked at, what it was, what is needed.
#pragma once

#include <string>
#include <utility>

#include "tilewright/base/check.hpp"

namespace tw {

[[noreturn]] inline void refuse(char const* code, std::string what, std::string got,
                                std::string need, std::string hint = {}) {
  throw rejected({code, std::move(what), std::move(got), std::move(need), std::move(hint)});
}

}  // namespace tw
