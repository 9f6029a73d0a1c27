// SPDX-License-Identifier: Apache-2.0
// types.hpp  The words both backends share: swizzles, majors, scopes, descriptors, coordinates.
#pragma once

#include <cstdint>

#include "tilewright/base/hd.hpp"

namespace tw {

/// Shared-memory swizzle. Values are those of the Hopper matrix descriptor, bits 62-63
/// (PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory Layout", Matrix Descriptor Format).
/// b128_base32, 128 bytes in atoms of 32, is of Blackwell alone: MN-major operands of 32 bits
/// (PTX ISA, "Shared Memory Descriptor" of tcgen05, layout type 1).
enum class swizzle_mode : std::uint8_t { none = 0, b128 = 1, b64 = 2, b32 = 3, b128_base32 = 4 };

/// Span of a swizzle atom's row in bytes; 16 if there is no swizzle.
TW_HD constexpr int swizzle_span_bytes(swizzle_mode s) {
  return s == swizzle_mode::b128 || s == swizzle_mode::b128_base32 ? 128
         : s == swizzle_mode::b64                                  ? 64
         : s == swizzle_mode::b32                                  ? 32
                                                                   : 16;
}

/// Swizzle of a shared-memory byte address: bits 4-6 xor bits 7-9, as many as the span holds; in
/// atoms of 32 bytes bits 5-6 xor bits 7-8.
TW_HD constexpr std::uint32_t swizzled(std::uint32_t byte_address, swizzle_mode s) {
  if (s == swizzle_mode::b128_base32) return byte_address ^ ((byte_address >> 2) & 0x60U);
  return byte_address ^
         ((byte_address >> 3) & (static_cast<std::uint32_t>(swizzle_span_bytes(s)) - 16U));
}

/// Which index of a wgmma operand is contiguous in shared memory. Values are the instruction's
/// imm-trans-a, imm-trans-b (PTX ISA, "wgmma.mma_async").
enum class operand_major : std::uint8_t { k = 0, mn = 1 };

/// Memory-model scope: the threads among which an operation orders memory (PTX ISA, "Scope").
/// Barriers know cta and cluster; gpu is for flags and counters in global memory, sys for what
/// the host or another GPU accesses too.
enum class scope : std::uint8_t { cta, cluster, gpu, sys };

/// The memory order of an atomic operation (PTX ISA, "Memory Consistency Model").
enum class mem_order : std::uint8_t { relaxed, acquire, release, acq_rel };

/// Operations of bulk reductions. inc: old >= x ? 0 : old + 1; dec: old == 0 or old > x ? x :
/// old - 1 (PTX ISA, "cp.reduce.async.bulk").
enum class reduce_op : std::uint8_t { add, min, max, inc, dec, bit_and, bit_or, bit_xor };

/// Extents of a grid, or a place in one. An int is a grid of one dimension.
struct extents3 {
  int x = 1, y = 1, z = 1;

  constexpr extents3() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): launch<K>(8, ...) and launch<K>({8, 4}, ...)
  TW_HD constexpr extents3(int in_x, int in_y = 1, int in_z = 1) : x(in_x), y(in_y), z(in_z) {}
  /// Of the grid; -1 where that is no int.
  TW_HD constexpr int count() const {
    auto const n = static_cast<long long>(x) * y;
    return n > 0x7FFFFFFF || n * z > 0x7FFFFFFF ? -1 : static_cast<int>(n * z);
  }
  constexpr bool operator==(extents3 const&) const = default;
};

/// The mask of all lanes of a warp.
inline constexpr std::uint32_t all_lanes = 0xFFFFFFFFU;

/// 64-bit shared-memory matrix descriptor of wgmma (PTX ISA, "Matrix Descriptor Format"):
/// address/16 in bits 0-13, leading byte offset/16 in 16-29, stride byte offset/16 in 32-45,
/// swizzle in 62-63. Bit 61, which wgmma reserves, stands for b128_base32, which it does not have.
struct smem_desc {
  std::uint64_t bits = 0;

  /// The operand that begins `bytes` later (bytes: a multiple of 16 that stays inside 256 KiB).
  TW_HD constexpr smem_desc operator+(int bytes) const {
    return {bits + static_cast<std::uint64_t>(bytes >> 4)};
  }
  /// operator+ in the low word alone, which holds the address: one instruction.
  TW_HD constexpr smem_desc further(int bytes) const {
    auto const low = static_cast<std::uint32_t>(bits) + static_cast<std::uint32_t>(bytes >> 4);
    return {bits >> 32 << 32 | low};
  }
  TW_HD constexpr std::uint32_t address() const {
    return static_cast<std::uint32_t>(bits & 0x3FFFU) << 4;
  }
  TW_HD constexpr std::uint32_t leading_bytes() const {
    return static_cast<std::uint32_t>((bits >> 16) & 0x3FFFU) << 4;
  }
  TW_HD constexpr std::uint32_t stride_bytes() const {
    return static_cast<std::uint32_t>((bits >> 32) & 0x3FFFU) << 4;
  }
  TW_HD constexpr swizzle_mode swizzle() const {
    return static_cast<swizzle_mode>(bits >> 62 | (bits >> 61 & 1U) << 2);
  }
};

/// Packs a descriptor. For K-major SW128 operands: leading 16 (ignored), stride 1024 = 8 rows of
/// 128. For MN-major: leading = bytes between neighbouring spans along M or N, stride = between
/// groups of 8 along K.
TW_HD constexpr smem_desc make_smem_desc(std::uint32_t smem_address, std::uint32_t leading_bytes,
                                         std::uint32_t stride_bytes, swizzle_mode s) {
  return {(static_cast<std::uint64_t>(smem_address & 0x3FFFFU) >> 4) |
          (static_cast<std::uint64_t>(leading_bytes >> 4) << 16) |
          (static_cast<std::uint64_t>(stride_bytes >> 4) << 32) |
          (static_cast<std::uint64_t>(s) << 62) | (static_cast<std::uint64_t>(s) >> 2 << 61)};
}

/// 128 opaque bytes: CUtensorMap on the GPU, a packed tensor_map_desc in the emulator. Made by
/// make_tensor_map (arch/tensor_map.hpp, which device code does not need).
struct alignas(64) tensor_map {
  std::uint64_t words[16];
};

/// Start of a TMA box, innermost coordinate first, in elements. R = rank of the tensor map.
template <int R>
struct tma_coord {
  int c[R];
};
template <class... I>
tma_coord(I...) -> tma_coord<sizeof...(I)>;

/// Where in global memory a matrix begins: the last two coordinates of a map that reaches all of it
/// (in_all_memory, arch/tensor_map.hpp), in units of 16 bytes and spans of 2^31 of those.
struct tma_place {
  int units, spans;
  static constexpr int unit_bytes = 16, units_log2 = 31, spans_log2 = 18;
  static constexpr std::uint64_t first_byte = unit_bytes;  // that of {0, 0}
  /// The last span, at 2^53 bytes, where no memory is; spans above it tell how odd an address is.
  static constexpr int nowhere = (1 << spans_log2) - 1;
};

/// The place of a matrix at a multiple of 16 bytes. Any other address, and null, has a place where
/// no memory is, so that the copy that uses it stops the kernel: a trap would cost registers, even
/// in kernels that never come to it (docs/decisions/0026). In the emulator that is E0013.
TW_HD inline tma_place tma_place_of(void const* matrix) {
  std::uint64_t const from = reinterpret_cast<std::uint64_t>(matrix) - tma_place::first_byte;
  std::uint64_t const units = from / tma_place::unit_bytes, spans = units >> tma_place::units_log2;
  auto const odd_bytes = static_cast<int>(from % tma_place::unit_bytes);
  return {static_cast<int>(units & ((1U << tma_place::units_log2) - 1)),
          static_cast<int>(spans < tma_place::nowhere ? spans : tma_place::nowhere) |
              odd_bytes << tma_place::spans_log2};
}

/// Count 32-bit registers: one thread's part of `Count` 8x8 matrices of 16-bit elements.
template <int Count>
struct b32 {
  std::uint32_t r[Count];
};

}  // namespace tw
