// SPDX-License-Identifier: Apache-2.0
// printable.hpp  The part of a message that a terminal may be sent, where it quotes a file or the
// command line.
#pragma once

#include <string>
#include <string_view>

namespace tw {

/// The text with \xNN instead of control characters, except the end of a line, and instead of bytes
/// that are no UTF-8: a file cannot move the cursor, set colours or titles, or break the encoding.
std::string printable(std::string_view text);

}  // namespace tw
