// SPDX-License-Identifier: Apache-2.0
// weights.hpp  Random 4-bit weights of a benchmark, prepared and decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tilewright/base/elem.hpp"
#include "tilewright/problem/weights_desc.hpp"

namespace tw::bench {

/// A matrix of weights. Others of a tensor have its rows, rotated by blocks of 64.
struct bench_weights {
  weights_desc matrix;  // one
  elem type = elem::bf16;
  std::uint64_t seed = 0;
  std::vector<std::byte> header;   // of the tensor
  std::vector<std::byte> blocks;   // prepared, of the matrix
  std::vector<std::byte> decoded;  // elements of `type`, (n, k)
};

/// All nibbles, and scales around 1, so that no factor remains; for e4m3 the factors of rows are 1.
/// The last matrix is kept: shapes that follow each other in a list often share it.
bench_weights const& random_bench_weights(weights_desc const& w, elem decoded, std::uint64_t seed);

/// By how many rows matrix i is rotated.
constexpr std::int64_t rotation_of(weights_desc const& w, std::int64_t i) {
  return w.n % weight_block == 0 && w.format.gate == gating::none ? i * weight_block % w.n : 0;
}

}  // namespace tw::bench
