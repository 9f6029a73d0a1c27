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
  /// Elements of 4 bits: 16 of them come to 16 bytes of shared memory, 8 bytes of data and 8 of
  /// padding that hold anything, as f8f6f4 and mxf8f6f4 read them; without it two to a byte, as
  /// mxf4 and mxf4nvf4 do. Elements of 6 bits are always padded: 12 bytes and 4. Global memory has
  /// no padding. cuTensorMapEncodeTiled: 16U4_ALIGN16B, 16U4_ALIGN8B, 16U6_ALIGN16B.
  bool padded = false;

  bool is_padded() const { return size_bits(type) == 6 || (size_bits(type) == 4 && padded); }
  /// Bits of an element in shared memory, with padding.
  int smem_bits() const { return is_padded() ? 8 : size_bits(type); }
  /// Bytes of `elements` neighbours in global memory.
  std::int64_t row_bytes(std::int64_t elements) const {
    return (elements * size_bits(type) + 7) / 8;
  }

  /// Bytes of the box's elements: what an mbarrier is credited with. With a swizzle, rows narrower
  /// than its span are padded to the span in shared memory, which then holds more; so it does with
  /// padded elements.
  int box_bytes() const {
    int n = size_bits(type);
    for (int i = 0; i < rank; ++i) n *= box[i];
    return n / 8;
  }
};

/// Nothing, or the first rule of cuTensorMapEncodeTiled that the description breaks (TW03xx): base
/// 16-byte aligned, strides multiples of 16 below 2^40, extents 1..2^32, box 1..256, inner box a
/// multiple of 16 bytes and no wider than the swizzle span. Both backends check with this function.
/// swizzle_mode::b128_base32 is CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B, of Blackwell.
/// Source: CUDA driver API, "Tensor Map Object Management", cuTensorMapEncodeTiled.
std::optional<rejection> check_tensor_map(tensor_map_desc const& d);

/// The tensor of `d` at any multiple of 16 bytes but 0: with two dimensions more, whose coordinates
/// are a tma_place. `d` has 3 dimensions at most; its base does not matter. One map then does for
/// many tensors of one shape. The driver and the GPU accept such a map (docs/decisions/0026).
tensor_map_desc in_all_memory(tensor_map_desc d);

/// Where a tensor map will be used.
enum class target : std::uint8_t { gpu, emu };

/// Encodes a tensor map: a driver call for the GPU (TW0310 if it is refused), packed for the
/// emulator. Throws `rejected`.
tensor_map make_tensor_map(tensor_map_desc const& d, target t);

}  // namespace tw
