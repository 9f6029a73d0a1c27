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
  bool a_mn = false;     // A is MN-major; bool keeps the kernel's symbol within 120 characters
  bool b_mn = false;     // B is MN-major
  int tile_m = 128, tile_n = 256, tile_k = 64;
  int cluster_m = 2, cluster_n = 1;
  int stages = 4;

  TW_HD constexpr operand_major a_major() const {
    return a_mn ? operand_major::mn : operand_major::k;
  }
  TW_HD constexpr operand_major b_major() const {
    return b_mn ? operand_major::mn : operand_major::k;
  }
  bool operator==(gemm_config const&) const = default;
};

}  // namespace tw
