// SPDX-License-Identifier: Apache-2.0
// quantize.hpp  Quantises a matrix on the GPU or in the emulator; problem/quantize.hpp has the
//               rules and the function for the host.
#pragma once

#include "tilewright/arch/emu/options.hpp"
#include "tilewright/problem/quantize.hpp"

typedef struct CUstream_st* cudaStream_t;  // same declaration as CUDA's own

namespace tw {

/// Addresses on the device that runs it. workspace: 4 bytes at a multiple of 4 where the whole
/// matrix has one scale, else not used.
struct quantize_operands {
  void const* from = nullptr;
  void* to = nullptr;
  void* scales = nullptr;
  void* workspace = nullptr;
};

/// Quantises on the current device, asynchronously on `stream`. Throws `rejected` before anything
/// is launched: TW0452, TW0408 and TW0409 for addresses, TW05xx without a GPU. Nothing is counted.
void quantize(quantize_problem const& p, quantize_operands const& o, cudaStream_t stream);

/// Quantises in the emulator; pointers are host pointers.
void quantize_emulated(quantize_problem const& p, quantize_operands const& o,
                       emu::options const& options = {});

}  // namespace tw
