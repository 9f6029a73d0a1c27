// SPDX-License-Identifier: Apache-2.0
// overlap.hpp  Whether two matrices in memory share a byte, and which operands of a GEMM may.
#pragma once

#include <cstdint>

#include "tilewright/problem/gemm.hpp"

namespace tw {

/// Runs of `run` bytes that begin at begin + i * step[0].stride + j * step[1].stride, with
/// 0 <= i < step[0].count and 0 <= j < step[1].count: the lines of the matrices of a batch.
struct strided_bytes {
  std::int64_t begin = 0, run = 0;
  struct repeat {
    std::int64_t stride = 0, count = 1;
  };
  repeat step[2] = {};
};

/// Exact for matrices side by side in one buffer, whose hulls overlap although they share nothing.
/// A search over strides that have no simple relation ends after a fixed number of steps; then the
/// answer is no.
bool share_a_byte(strided_bytes const& x, strided_bytes const& y);

/// Throws `rejected` where an output (D, the auxiliary output, the workspace) shares memory with
/// another output (TW0428) or with what the GEMM reads (TW0446). C may be D itself, element by
/// element. Batches by pointers are not looked at: their addresses are in the device's memory.
void check_apart(gemm_problem const& p, gemm_operands const& o);

}  // namespace tw
