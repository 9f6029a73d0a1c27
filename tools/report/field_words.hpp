// SPDX-License-Identifier: Apache-2.0
// field_words.hpp  Refusals of the library name members of its structs; those of the command its
//                  options, those of the C library its arguments.
#pragma once

#include <string>
#include <vector>

#include "tilewright/base/check.hpp"

namespace tw {

/// The refusal with an option of the command line for each field that it names.
rejection with_options(rejection r);

/// The hints of a plan, with options of the command line.
std::vector<std::string> with_options(std::vector<std::string> hints);

/// A refusal with arguments of the C library: its struct's members, and operands by their names.
rejection with_arguments(rejection r);
std::vector<std::string> with_arguments(std::vector<std::string> hints);

}  // namespace tw
