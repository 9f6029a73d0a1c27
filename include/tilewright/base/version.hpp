// SPDX-License-Identifier: Apache-2.0
// version.hpp  The version of the library, written here once; CMakeLists.txt reads this file.
#pragma once

namespace tw {

inline constexpr char const* version_text = "0.1.0";

}  // namespace tw
