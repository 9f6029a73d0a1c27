// SPDX-License-Identifier: Apache-2.0
// stream.hpp  stdin, and pipes that a shell opened (<(...)): read to their end.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tw {

/// Is it "-", /dev/stdin or /dev/fd/N?
bool is_stream(std::string const& path);

/// All bytes of such a stream. Throws `rejected`: TW0601, also for stdin that was read before.
std::vector<std::byte> read_stream(std::string const& path);

}  // namespace tw
