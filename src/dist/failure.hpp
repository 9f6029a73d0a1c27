// SPDX-License-Identifier: Apache-2.0
// failure.hpp  The records that launches write when a group breaks, as words and refusals.
#pragma once

#include <string>

#include "tilewright/kernel/ranks/arena.hpp"

namespace tw::dist {

/// A failure in words, and whether this rank found it. why = none: nothing failed.
struct failure_text {
  rank_failure why = rank_failure::none;
  bool found_here = false;
  std::uint32_t epoch = 0;
  std::string text;
};

/// A record that is whole, as rank `rank` reports it.
failure_text text_of(failure_record const& r, int rank);

/// Throws TW0905 or TW0901 on the rank that found a late rank or another problem, else TW0906.
[[noreturn]] void refuse_failure(failure_text const& f, double timeout_s);

}  // namespace tw::dist
