// SPDX-License-Identifier: Apache-2.0
// cache_line.hpp  Units in which L2 and DRAM move data. CUDA C++ Best Practices Guide, "Coalesced
//                 Access to Global Memory": sectors of 32 bytes; lines of four sectors.
#pragma once

namespace tw {

inline constexpr int l2_sector_bytes = 32, l2_line_bytes = 128;

}  // namespace tw
