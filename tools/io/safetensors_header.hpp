// SPDX-License-Identifier: Apache-2.0
// safetensors_header.hpp  The JSON header of a .safetensors file, read strictly.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/io/safetensors.hpp"

namespace tw {

/// Reads {"name": {"dtype": "F16", "shape": [..], "data_offsets": [begin, end]}, ...}; the key
/// __metadata__ holds an object of texts and is skipped. Nothing else is accepted, no key twice.
/// Throws `rejected` TW0608.
std::vector<tensor_entry> parse_safetensors_header(std::string_view json, std::string const& file);

}  // namespace tw
