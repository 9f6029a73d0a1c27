// SPDX-License-Identifier: Apache-2.0
// map_fields.hpp  A tensor map that a kernel changes: in global memory, or in shared memory and
//                 then copied to global memory. PTX ISA, "tensormap.replace",
//                 "tensormap.cp_fenceproxy".
//
// A grouped GEMM whose problems have different extents: a warp copies a map into shared memory,
// sets what is other for the next problem, calls tensor_map_copy_release, tensor_map_acquire, and
// then loads through the map in global memory. No copy through the map may be under way when it
// changes. CUDA C++ Programming Guide, "Encoding a Tensor Map on Device".
#pragma once

#include "tilewright/arch/cuda/target.hpp"
#include "tilewright/arch/cuda/tma.hpp"
#include "tilewright/arch/map_space.hpp"
#include "tilewright/base/elem.hpp"

namespace tw {

namespace detail {

/// The immediate of .elemtype. PTX ISA, "tensormap.replace", table of elemtype.
TW_HD constexpr int elemtype_of(elem e) {
  switch (e) {
    case elem::s32: return 3;
    case elem::f16: return 6;
    case elem::f32: return 7;
    case elem::bf16: return 10;
    case elem::tf32: return 11;
    default: return 0;  // .u8
  }
}
/// The immediate of .swizzle_mode. PTX ISA, "tensormap.replace", table of swizzle_mode.
TW_HD constexpr int map_swizzle_of(swizzle_mode s) {
  return s == swizzle_mode::b128 ? 3 : s == swizzle_mode::b64 ? 2 : s == swizzle_mode::b32 ? 1 : 0;
}

}  // namespace detail

/// The number of dimensions, 1 to 5.
template <map_space S = map_space::global>
TW_DEVICE void tensor_map_set_rank(tensor_map& map, int rank) {
  if constexpr (S == map_space::shared)
    asm volatile(
        "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%0], %1;" ::"r"(smem_addr(&map)),
        "r"(rank - 1)
        : "memory");
  else
    asm volatile("tensormap.replace.tile.rank.global.b1024.b32 [%0], %1;" ::"l"(
                     __cvta_generic_to_global(&map)),
                 "r"(rank - 1)
                 : "memory");
}

/// The extent of dimension I in elements.
template <int I, map_space S = map_space::global>
TW_DEVICE void tensor_map_set_dim(tensor_map& map, std::uint32_t elements) {
  if constexpr (S == map_space::shared)
    asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], %1, %2;" ::"r"(
                     smem_addr(&map)),
                 "n"(I), "r"(elements)
                 : "memory");
  else
    asm volatile("tensormap.replace.tile.global_dim.global.b1024.b32 [%0], %1, %2;" ::"l"(
                     __cvta_generic_to_global(&map)),
                 "n"(I), "r"(elements)
                 : "memory");
}

/// Bytes between neighbours along dimension I + 1, a multiple of 16.
template <int I, map_space S = map_space::global>
TW_DEVICE void tensor_map_set_stride(tensor_map& map, std::uint64_t bytes) {
  if constexpr (S == map_space::shared)
    asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], %1, %2;" ::"r"(
                     smem_addr(&map)),
                 "n"(I), "l"(bytes)
                 : "memory");
  else
    asm volatile("tensormap.replace.tile.global_stride.global.b1024.b64 [%0], %1, %2;" ::"l"(
                     __cvta_generic_to_global(&map)),
                 "n"(I), "l"(bytes)
                 : "memory");
}

/// The extent of the box along dimension I in elements.
template <int I, map_space S = map_space::global>
TW_DEVICE void tensor_map_set_box(tensor_map& map, std::uint32_t elements) {
  if constexpr (S == map_space::shared)
    asm volatile(
        "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], %1, %2;" ::"r"(smem_addr(&map)),
        "n"(I), "r"(elements)
        : "memory");
  else
    asm volatile("tensormap.replace.tile.box_dim.global.b1024.b32 [%0], %1, %2;" ::"l"(
                     __cvta_generic_to_global(&map)),
                 "n"(I), "r"(elements)
                 : "memory");
}

/// The swizzle of the box.
template <swizzle_mode W, map_space S = map_space::global>
TW_DEVICE void tensor_map_set_swizzle(tensor_map& map) {
  static_assert(W != swizzle_mode::b128_base32,
                "[TW0237] tensor_map_set_swizzle has no atoms of 32 bytes; make_tensor_map has");
  if constexpr (S == map_space::shared)
    asm volatile("tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], %1;" ::"r"(
                     smem_addr(&map)),
                 "n"(detail::map_swizzle_of(W))
                 : "memory");
  else
    asm volatile("tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%0], %1;" ::"l"(
                     __cvta_generic_to_global(&map)),
                 "n"(detail::map_swizzle_of(W))
                 : "memory");
}

/// The type of an element; those of 8 bits are bytes.
template <elem E, map_space S = map_space::global>
TW_DEVICE void tensor_map_set_elem(tensor_map& map) {
  if constexpr (S == map_space::shared)
    asm volatile(
        "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], %1;" ::"r"(smem_addr(&map)),
        "n"(detail::elemtype_of(E))
        : "memory");
  else
    asm volatile("tensormap.replace.tile.elemtype.global.b1024.b32 [%0], %1;" ::"l"(
                     __cvta_generic_to_global(&map)),
                 "n"(detail::elemtype_of(E))
                 : "memory");
}

/// tensor_map_set_address of a map in shared memory. PTX ISA, "tensormap.replace".
TW_DEVICE void tensor_map_set_address_shared(tensor_map& map, void const* tensor) {
  if (reinterpret_cast<std::uint64_t>(tensor) % 16 != 0) __trap();
  asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(
                   smem_addr(&map)),
               "l"(tensor)
               : "memory");
}

/// Copies a map from shared to global memory (128-byte aligned) and releases it, as
/// tensor_map_release does. All lanes of the warp call it together, after a warp_sync that follows
/// the changes. PTX ISA, "tensormap.cp_fenceproxy".
template <class Target = detail::this_target>
TW_DEVICE void tensor_map_copy_release(tensor_map& to, tensor_map const& from) {
  detail::need_sm90<Target>();
  asm volatile(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
      "[%0], "
      "[%1], 128;" ::"l"(__cvta_generic_to_global(&to)),
      "r"(smem_addr(&from))
      : "memory");
}

}  // namespace tw
