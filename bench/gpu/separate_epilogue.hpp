// SPDX-License-Identifier: Apache-2.0
// separate_epilogue.hpp  Epilogues that cuBLASLt lacks: an elementwise kernel after it.
#pragma once

#include <cuda_runtime.h>

#include "tilewright/problem/gemm.hpp"

namespace tw::bench {

/// The part of `p` that cuBLASLt computes by itself: a bias of columns, then relu or gelu (by tanh)
/// without a gate, and C where nothing follows it. The rest is left out; if there is a rest, D is
/// dense and (m, n).
gemm_problem cublaslt_part(gemm_problem const& p);

/// Does something of `p` remain?
inline bool has_rest(gemm_problem const& p) { return cublaslt_part(p) != p; }

/// The rest, from `x` = the result of cublaslt_part, to o.d: activation, gate, C. 16-bit types, D
/// dense and row-major, its columns a multiple of 8. Reads and writes 16 bytes at once.
void enqueue_rest(gemm_problem const& p, void const* x, gemm_operands const& o,
                  cudaStream_t stream);

}  // namespace tw::bench
