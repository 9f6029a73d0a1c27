// SPDX-License-Identifier: Apache-2.0
// embedded_tuning.hpp  The tuning tables of data/tuning/*.csv as gen/tuning.py embeds them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tilewright/base/elem.hpp"
#include "tilewright/problem/scale.hpp"

namespace tw {

/// A row without pointers: the tables need no relocations.
struct tuning_row {
  std::int32_t m, n, k, batch;
  elem ab, d;
  std::int8_t layout;               // 0: TN, 1: TT, 2: NT, 3: NN
  std::int8_t scale_a, scale_b;     // scaling, of float32; -1: none
  std::int16_t promote_k;           // gemm_precision::promote_k, which 8-bit floats alone have
  std::int8_t start;                // 1: early is faster, 0: late, -1: no difference
  std::int16_t kernel, f16_kernel;  // tuning_kernel(); the latter is the same kernel for f16
  std::int32_t split_k_tiles, split_k_clusters;
  float us;
};

/// Rows in the order of m, n, k and batch.
struct tuning_table {
  std::string_view device;  // device::id
  std::span<tuning_row const> rows;
};

std::span<tuning_table const> tuning_tables();
std::string_view tuning_kernel(int index);

}  // namespace tw
