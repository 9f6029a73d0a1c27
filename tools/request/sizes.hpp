// SPDX-License-Identifier: Apache-2.0
// sizes.hpp  M, N and K on a command line: numbers, MxNxK, ranges and lists.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tw {

struct gemm_size {
  std::int64_t m, n, k;
};

/// The GEMMs that these words name, in order:
///   M N K               three words
///   MxNxK ...           any number of words
/// Each extent is a number, a list (64,128,256), or a range FIRST:LAST:STEP (64:512:64, both ends
/// included), FIRST:LAST:xFACTOR (64:4096:x2). Several extents multiply: K varies fastest. Throws
/// `rejected` TW0803, also for more than 100,000 GEMMs.
std::vector<gemm_size> parse_sizes(std::vector<std::string> const& words);

}  // namespace tw
