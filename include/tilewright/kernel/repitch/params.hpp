// SPDX-License-Identifier: Apache-2.0
// params.hpp  Parameters of the launches that copy operands to padded lines.
#pragma once

#include <cstdint>

namespace tw {

/// The matrices of one operand, of a 16-bit type: `outer` lines of `inner` contiguous elements. In
/// the copy lines follow each other without a gap, and matrices too.
struct repitch_of {
  void const* from;                  // at a multiple of 2 bytes
  void const* const* addresses;      // of each matrix; nullptr: from and batch_stride
  void* to;                          // at a multiple of 16 bytes; nullptr: no copy wanted
  std::int64_t pitch, batch_stride;  // of `from`, elements
  std::uint32_t inner, outer, matrices;
  std::uint32_t chunks;  // of 8 elements: the pitch of the copy
};

struct repitch_params {
  repitch_of operand[2];
};

/// The matrices of one operand of 8 or 32 bits, whose copy is K-major: `lines` lines (rows of A,
/// columns of B) of `k` elements at a pitch of whole 16 bytes.
struct rearrange_of {
  void const* from;                  // at a multiple of an element
  void const* const* addresses;      // of each matrix; nullptr: from and batch_stride
  void* to;                          // at a multiple of 16 bytes; nullptr: no copy wanted
  std::int64_t pitch, batch_stride;  // of `from`, elements
  std::int64_t to_pitch;             // elements; matrices follow each other
  std::uint32_t k, lines, matrices;
  int element_bytes;  // 1 or 4
  bool transpose;     // in `from` elements of a line are a pitch apart, else contiguous
};

struct rearrange_params {
  rearrange_of operand[2];
};

/// The scales of a block-scaled operand, copied to the order 32x4x4 (problem/scale.hpp), without
/// gaps; bytes of no block become 0.
struct factors_of {
  void const* from;
  void* to;    // at a multiple of 16 bytes; nullptr: no copy wanted
  bool tiled;  // `from` is in that order already
  std::int64_t stride_outer, stride_k, batch_stride;  // of `from`
  std::uint32_t rows, blocks, matrices;               // rows: of `to`, with a gate in two halves
  /// half > 0: B has a gate, of `half` columns. The first half of the rows of `to` has the scales
  /// of the gates, from rows 0, gate_step, 2 gate_step, ... of `from`; the second half has those of
  /// the columns that the gates multiply, from rows up_offset, up_offset + gate_step, ...
  std::uint32_t half, gate_step, up_offset;
};

struct factor_params {
  factors_of operand[2];
};

}  // namespace tw
