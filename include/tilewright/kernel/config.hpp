// SPDX-License-Identifier: Apache-2.0
// config.hpp  The one parameter of a GEMM kernel: a struct of scalars. Bytes and counts follow.
#pragma once

#include "tilewright/arch/types.hpp"
#include "tilewright/base/elem.hpp"

namespace tw {

/// Configuration of kernel/gemm_sm90.hpp. tile_* in elements, cluster_* in CTAs.
struct gemm_config {
  elem ab = elem::bf16;  // operand type
  elem d = elem::bf16;   // output type
  operand_major a_major = operand_major::k;
  operand_major b_major = operand_major::k;
  int tile_m = 128, tile_n = 256, tile_k = 64;
  int cluster_m = 2, cluster_n = 1;
  int stages = 4;

  bool operator==(gemm_config const&) const = default;
};

}  // namespace tw
