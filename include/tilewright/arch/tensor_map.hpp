// SPDX-License-Identifier: Apache-2.0
// tensor_map.hpp  The host-made description of a tensor and a box that TMA copies.
#pragma once

#include <cstdint>
#include <optional>

#include "tilewright/arch/types.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/base/elem.hpp"

namespace tw {

/// A tensor in global memory and the box that one TMA instruction copies. Innermost first.
/// dim: extents in elements; stride_bytes[i]: bytes between neighbours along dimension i+1
/// (dimension 0 is contiguous); box: extents of the box in elements.
struct tensor_map_desc {
  void* base = nullptr;
  elem type = elem::bf16;
  int rank = 2;
  std::int64_t dim[5] = {1, 1, 1, 1, 1};
  std::int64_t stride_bytes[4] = {0, 0, 0, 0};
  std::int32_t box[5] = {1, 1, 1, 1, 1};
  swizzle_mode swizzle = swizzle_mode::none;
  /// A load that misses L2 brings 128 bytes there from memory, not 256; always where a stride is no
  /// multiple of 32 bytes. The emulator has no L2 and only keeps the word.
  bool l2_fetches_128 = false;

  /// Bytes of the box's elements: what an mbarrier is credited with. With a swizzle, rows narrower
  /// than its span are padded to the span in shared memory, which then holds more.
  int box_bytes() const {
    int n = size_bytes(type);
    for (int i = 0; i < rank; ++i) n *= box[i];
    return n;
  }
};

/// Nothing, or the first rule of cuTensorMapEncodeTiled that the description breaks (TW03xx): base
/// 16-byte aligned, strides multiples of 16 below 2^40, extents 1..2^32, box 1..256, inner box a
/// multiple of 16 bytes and no wider than the swizzle span. Both backends check with this function.
/// Source: CUDA driver API, "Tensor Map Object Management", cuTensorMapEncodeTiled.
std::optional<rejection> check_tensor_map(tensor_map_desc const& d);

/// The same tensor at any multiple of 16 bytes but 0: with two dimensions more, whose coordinates
/// are a tma_place. `d` has 3 dimensions at most; its base does not matter. One map then does for
/// many tensors of one shape. The driver and the GPU accept such a map (docs/decisions/0026).
tensor_map_desc in_all_memory(tensor_map_desc d);

/// Where a tensor map will be used.
enum class target : std::uint8_t { gpu, emu };

/// Encodes a tensor map: a driver call for the GPU (TW0310 if it is refused), packed for the
/// emulator. Throws `rejected`.
tensor_map make_tensor_map(tensor_map_desc const& d, target t);

}  // namespace tw
