// SPDX-License-Identifier: Apache-2.0
// check.cpp  A rejection as one line of text.
#include "tilewright/base/check.hpp"

#include <fmt/format.h>

namespace tw {

std::string to_string(rejection const& r) {
  std::string line = fmt::format("{}: {}: got {}, need {}", r.code, r.what, r.got, r.need);
  if (!r.hint.empty()) line += "; " + r.hint;
  return line;
}

}  // namespace tw
