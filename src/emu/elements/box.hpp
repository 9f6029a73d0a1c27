// SPDX-License-Identifier: Apache-2.0
// box.hpp  The elements that one TMA instruction copies: the box of a tensor at some coordinates.
//
// In shared memory the box lies innermost index first. Without a swizzle its rows (inner extents)
// follow each other densely; with one, each begins at a multiple of the swizzle span, and what a
// narrower row leaves free is not touched. The swizzle acts on shared-memory addresses.
// Padded elements of 4 and 6 bits come as 8 or 12 bytes of data and 8 or 4 of padding, which the
// emulator fills with ones.
// Coordinates may reach beyond the tensor: loads fill elements outside with zero; stores and
// additions leave them out, except the chunk of 16 bytes with a row's end, which they cover whole.
// Sources: PTX ISA, "Tensors": "Tiled Mode"; and, for narrow rows, whole chunks, tf32 and the
// coordinates that trap, measurements on an H200: tests/gpu/emu_box.cu, docs/decisions/0006.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tilewright/arch/reduce_operand.hpp"
#include "tilewright/arch/tensor_map.hpp"

namespace tw::emu {

/// How much of a box lies in the tensor.
enum class coverage : std::uint8_t { inside, clipped, outside };
coverage box_coverage(tensor_map_desc const& d, int const* at);

/// Why the hardware stops at these coordinates, or null. "Illegal instruction": the first must be a
/// multiple of 16 bytes, and none may be negative if the tensor is written. "Illegal memory
/// access": a load by a map over all memory (in_all_memory) whose box lies wholly outside of the
/// matrix; measured on an H100, where the same box of another map is filled with zeros.
char const* coordinates_that_trap(tensor_map_desc const& d, int const* at, bool writes_tensor);

/// Of a map over all memory (in_all_memory): the address that tma_place_of made these coordinates
/// of and that TMA cannot use; nothing elsewhere.
std::optional<std::string> bad_address_of_place(tensor_map_desc const& d, int const* at);

/// Shared memory of a row of the box, with the padding of its elements.
inline int box_row_bytes(tensor_map_desc const& d) { return d.box[0] * d.smem_bits() / 8; }
/// Distance in shared memory from one row of the box to the next.
inline int box_row_pitch_bytes(tensor_map_desc const& d) {
  return d.swizzle == swizzle_mode::none ? box_row_bytes(d) : swizzle_span_bytes(d.swizzle);
}
/// Shared memory from the box's start to its end. An mbarrier is credited with d.box_bytes(), which
/// is less if rows are narrower than the swizzle span.
inline int box_smem_bytes(tensor_map_desc const& d) {
  int rows = 1;
  for (int i = 1; i < d.rank; ++i) rows *= d.box[i];
  return rows * box_row_pitch_bytes(d);
}
/// True if a load writes all of that.
inline bool box_fills_smem(tensor_map_desc const& d) {
  return box_row_bytes(d) == box_row_pitch_bytes(d);
}

/// cp.async.bulk.tensor, global to shared; rounds tf32. dst is the box in emulated shared memory,
/// smem_address its 32-bit address; at: innermost coordinate first.
void load_box(tensor_map_desc const& d, int const* at, std::byte* dst, std::uint32_t smem_address);

/// cp.async.bulk.tensor, shared to global. Writes exactly the chunks of 16 bytes of the box that
/// begin in the tensor, so stores of neighbouring chunks by several OS threads do not race.
void store_box(tensor_map_desc const& d, int const* at, std::byte const* src,
               std::uint32_t smem_address);

/// cp.reduce.async.bulk.tensor and cp.reduce.async.bulk: each element of the tensor is combined
/// with that of the box (reduce.hpp). Atomic with respect to other calls in any OS thread.
void reduce_box(tensor_map_desc const& d, int const* at, reduce_op op, tw::detail::reduce_type type,
                std::byte const* src, std::uint32_t smem_address);
/// reduce_box() with .add, in the tensor's type.
void reduce_add_box(tensor_map_desc const& d, int const* at, std::byte const* src,
                    std::uint32_t smem_address);

}  // namespace tw::emu
