// SPDX-License-Identifier: Apache-2.0
// check.cpp  A rejection as one line of text; what refusals of the headers throw.
#include "tilewright/base/check.hpp"

#include <fmt/format.h>

#include "tilewright/base/refusal.hpp"

namespace tw {

namespace {

void throw_rejected(refusal_words const& w, std::int64_t got, std::int64_t need) {
  throw rejected({fmt::format("TW0{}", w.rule), w.what, fmt::format(fmt::runtime(w.got), got, need),
                  fmt::format(fmt::runtime(w.need), need), w.hint});
}

[[maybe_unused]] bool const throws_set = (detail::library_throws = throw_rejected, true);

}  // namespace

rejected::~rejected() = default;

std::string to_string(rejection const& r) {
  std::string line = fmt::format("{}: {}: got {}, need {}", r.code, r.what,
                                 r.got.empty() ? "nothing" : r.got, r.need);
  if (!r.hint.empty()) line += "; " + r.hint;
  return line;
}

}  // namespace tw
