// SPDX-License-Identifier: Apache-2.0
// box.hpp  What one TMA instruction copies: the box of a tensor at some coordinates.
//
// The box lies densely in shared memory, innermost index first, and the swizzle of the tensor map
// acts on shared-memory addresses. Coordinates may be negative or beyond the tensor: loads fill
// such elements with zero, stores leave them out (PTX ISA, "Tensor Dimension, Size and Format",
// "Tiled Mode"). Strides of dimensions 1 and up come from the description.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tilewright/arch/tensor_map.hpp"

namespace tw::emu {

/// How much of a box lies in the tensor.
enum class coverage : std::uint8_t { inside, clipped, outside };
coverage box_coverage(tensor_map_desc const& d, int const* at);

/// cp.async.bulk.tensor, global to shared. dst is the box in emulated shared memory, smem_address
/// its 32-bit address; at: innermost coordinate first.
void load_box(tensor_map_desc const& d, int const* at, std::byte* dst, std::uint32_t smem_address);

/// cp.async.bulk.tensor, shared to global. Writes exactly the elements of the box that lie in the
/// tensor, so stores of neighbouring elements by several OS threads do not race.
void store_box(tensor_map_desc const& d, int const* at, std::byte const* src,
               std::uint32_t smem_address);

/// cp.reduce.async.bulk.tensor .add: tensor += box in the element type (f32; f16 and bf16 rounded
/// to nearest even at each addition). Atomic with respect to other calls in any OS thread.
void reduce_add_box(tensor_map_desc const& d, int const* at, std::byte const* src,
                    std::uint32_t smem_address);

}  // namespace tw::emu
