// SPDX-License-Identifier: Apache-2.0
// cache_line.hpp  Units in which L2 and DRAM move data.
// Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory": transactions of 32
//         bytes, a sector; a line has four.
#pragma once

namespace tw {

inline constexpr int l2_sector_bytes = 32, l2_line_bytes = 128;

}  // namespace tw
