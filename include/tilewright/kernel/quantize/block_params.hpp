// SPDX-License-Identifier: Apache-2.0
// block_params.hpp  Parameters of the launches that make MXFP8, MXFP4 or NVFP4 of a matrix.
#pragma once

#include <cstdint>

#include "tilewright/base/elem.hpp"
#include "tilewright/problem/block_format.hpp"

namespace tw {

/// The launches: NVFP4 needs all three, since the scales of all blocks depend on the largest
/// element of the matrix; the others need the last one.
enum class block_quantize_pass : std::int32_t { amax, second_level, values };

struct block_quantize_params {
  void const* from;  // row-major
  void* to;
  void* factors;
  float* second_level;  // of NVFP4; before its pass the bits of amax, zero before that one
  std::int64_t from_pitch, to_pitch_bytes;
  std::int64_t factor_outer, factor_k;  // strides, of 128 rows and 4 blocks where they are tiled
  std::int64_t rows, cols;
  block_format format;
  block_quantize_pass pass;
  int tiled;       // order 32x4x4
  elem from_type;  // f32, bf16 or f16
  int by_words;    // a whole block of values is written in words of 4 bytes
};

}  // namespace tw
