// SPDX-License-Identifier: Apache-2.0
// field_words.hpp  Refusals of the library name members of its structs; the command, its options.
#pragma once

#include <string>
#include <vector>

#include "tilewright/base/check.hpp"

namespace tw {

/// The refusal with an option of the command line for each field that it names.
rejection with_options(rejection r);

/// The hints of a plan, with options of the command line.
std::vector<std::string> with_options(std::vector<std::string> hints);

}  // namespace tw
