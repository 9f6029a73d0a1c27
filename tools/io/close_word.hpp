// SPDX-License-Identifier: Apache-2.0
// close_word.hpp  "did you mean" for words that are not known.
#pragma once

#include <string>
#include <vector>

namespace tw {

/// The known word that a typo is closest to; empty if none is close.
std::string closest_word(std::string const& typed, std::vector<std::string> const& known);

std::string lower_case(std::string text);

/// "did you mean WORD?", or nothing.
std::string did_you_mean(std::string const& typed, std::vector<std::string> const& known);

}  // namespace tw
