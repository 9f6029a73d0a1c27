// SPDX-License-Identifier: Apache-2.0
// refused_text.hpp  Refusals of expressions: the text, a mark under the place, the text to write.
#pragma once

#include <string>
#include <string_view>

#include "tilewright/base/check.hpp"

namespace tw::detail {

/// The operation to use for a function of CuTe's that needs a program; empty for others.
std::string instead_of(std::string_view name);

/// For a word that is close to an operation's name by chance.
std::string if_of_program(std::string_view word);

/// A refusal of a swizzle (TW0237) with the swizzles as they are written.
rejection with_swizzles(rejection r);

/// A refusal of text (TW0101), with the text, a mark under the place, and what is read there.
rejection with_text(rejection r, std::string const& text);

}  // namespace tw::detail
