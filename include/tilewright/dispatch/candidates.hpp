// SPDX-License-Identifier: Apache-2.0
// candidates.hpp  The kernels that are compiled in, as data.
#pragma once

#include "tilewright/kernel/config.hpp"

namespace tw {

/// The tile shapes every operand type, output type and major is compiled for.
/// Shared memory: stages * (128 + tile_n) * 64 * 2 bytes + 32 KiB of staging, at most 227 KiB.
struct tile_shape {
  int tile_n, cluster_m, cluster_n, stages;
};
inline constexpr int tile_shapes = 3;
TW_HD constexpr tile_shape tile_shape_at(int i) {
  tile_shape const shapes[tile_shapes] = {{256, 2, 1, 4}, {128, 1, 1, 6}, {64, 1, 1, 8}};
  return shapes[i];
}

TW_HD constexpr gemm_config config_of(tile_shape t, elem ab, elem d, operand_major a,
                                      operand_major b) {
  gemm_config c;
  c.ab = ab;
  c.d = d;
  c.a_mn = a == operand_major::mn;
  c.b_mn = b == operand_major::mn;
  c.tile_n = t.tile_n;
  c.cluster_m = t.cluster_m;
  c.cluster_n = t.cluster_n;
  c.stages = t.stages;
  return c;
}

}  // namespace tw
