// SPDX-License-Identifier: Apache-2.0
// tensor_memory.hpp  The words of tcgen05 that both backends share: addresses of tensor memory,
//                    shapes of its loads, stores and copies, kinds of multiplies, descriptors.
//
// Tensor memory has 128 lanes of 512 columns of 32 bits; an address has the lane in bits 16-31 and
// the column in bits 0-15. Warp w of a warpgroup reaches lanes 32 (w % 4) to 32 (w % 4) + 31.
// Register r of thread t, of a load or store of count n:
//
//     shape       registers   lane                    column
//     l32x32b     n           t                       r
//     l16x64b     n           t / 4 + 8 (t % 2)       2 r + t / 2 % 2
//     l16x128b    2 n         t / 4 + 8 (r % 2)       t % 4 + 4 (r / 2)
//     l16x256b    4 n         t / 4 + 8 (r / 2 % 2)   2 (t % 4) + r % 2 + 8 (r / 4)
//     l16x32bx2   n           t % 16                  r, for t from 16 on r + split
//
// Packed forms join the low halves of two neighbouring columns in a register: column c above is
// then columns 2 c and 2 c + 1.
// Source: PTX ISA, "Tensor Memory", "Data Movement Shape", "tcgen05.ld", "tcgen05.st"
#pragma once

#include <cstdint>

#include "tilewright/arch/types.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

/// The address `lane` lanes and `column` columns further on.
TW_HD constexpr std::uint32_t tmem_at(std::uint32_t base, int lane, int column) {
  return base + (static_cast<std::uint32_t>(lane) << 16) + static_cast<std::uint32_t>(column);
}

enum class tmem_shape : std::uint8_t { l32x32b, l16x64b, l16x128b, l16x256b, l16x32bx2 };

/// Registers of a thread in a load or store of count n: the count of a shape counts 32, 64, 128 or
/// 256 bits.
TW_HD constexpr int tmem_registers(tmem_shape s, int n) {
  return s == tmem_shape::l16x256b ? 4 * n : s == tmem_shape::l16x128b ? 2 * n : n;
}
/// A power of two, with at most 128 registers.
TW_HD constexpr bool is_tmem_count(tmem_shape s, int n) {
  return n >= 1 && (n & (n - 1)) == 0 && tmem_registers(s, n) <= 128;
}

namespace detail {
template <tmem_shape S, int Count>
struct tmem_words_of {
  static_assert(is_tmem_count(S, Count),
                "[TW0312] the count of a load or store of tensor memory is a power of two, with at "
                "most 128 registers of a thread");
  using type = b32<tmem_registers(S, Count)>;
};
}  // namespace detail

/// A thread's registers in a load or store.
template <tmem_shape S, int Count>
using tmem_words = typename detail::tmem_words_of<S, Count>::type;

/// Lane and column of register r of thread t, relative to the address; split: of l16x32bx2.
struct tmem_cell {
  int lane, column;
};
TW_HD constexpr tmem_cell tmem_cell_of(tmem_shape s, int t, int r, int split = 0) {
  switch (s) {
    case tmem_shape::l16x64b: return {t / 4 + 8 * (t % 2), 2 * r + t / 2 % 2};
    case tmem_shape::l16x128b: return {t / 4 + 8 * (r % 2), t % 4 + 4 * (r / 2)};
    case tmem_shape::l16x256b: return {t / 4 + 8 * (r / 2 % 2), 2 * (t % 4) + r % 2 + 8 * (r / 4)};
    case tmem_shape::l16x32bx2: return {t % 16, r + (t < 16 ? 0 : split)};
    case tmem_shape::l32x32b: break;
  }
  return {t, r};
}

/// The value of a float32 in a word of tensor memory.
TW_HD constexpr float tmem_float(std::uint32_t word) { return __builtin_bit_cast(float, word); }

/// The kind of a multiply: the types of A and B (PTX ISA, "tcgen05.mma": .kind).
enum class umma_kind : std::uint8_t { f16, tf32, f8f6f4, mxf8f6f4, mxf4, mxf4nvf4 };

/// Multiplies with scale factors, one for every 16 or 32 elements along K.
TW_HD constexpr bool is_block_scaled(umma_kind k) { return k >= umma_kind::mxf8f6f4; }
/// The blocks that a kind has: .block32, and .block16 of mxf4nvf4 (PTX ISA, "tcgen05.mma":
/// .scale_vectorsize).
TW_HD constexpr bool has_scale_block(umma_kind k, int block) {
  return is_block_scaled(k) && (block == 32 || (block == 16 && k == umma_kind::mxf4nvf4));
}
/// Elements along K of one multiply.
TW_HD constexpr int umma_k(umma_kind k) {
  return k == umma_kind::f16 ? 16 : k == umma_kind::tf32 ? 8 : k >= umma_kind::mxf4 ? 64 : 32;
}
/// Columns of tensor memory with the scale factors of 128 rows: four bytes of a row in a column.
inline constexpr int scale_columns_of_128_rows = 4;

/// A copy from shared to tensor memory (PTX ISA, "tcgen05.cp": .shape and .multicast): rows of 16
/// (128b) or 32 bytes (256b) to lanes, 4 or 8 columns. Rows in shared memory lie as the canonical
/// K-major layout without a swizzle has them: 8 rows of 16 bytes one after another, such groups at
/// the stride offset, the second 16 bytes of a row at the leading offset.
///
///     c128x256b, c128x128b   row r to lane r
///     c64x128b_02_13         row r to lanes r and r + 64
///     c64x128b_01_23         rows 0-31 to lanes 0-31 and 32-63, rows 32-63 to 64-95 and 96-127
///     c32x128b_x4            row r to lanes r, r + 32, r + 64 and r + 96: scale factors
///     c4x256b                row r to lane 32 r; PTX ISA shows the lane in a picture, and this one
///                            is that of CUTLASS's layout
enum class tmem_copy_shape : std::uint8_t {
  c128x256b,
  c128x128b,
  c64x128b_02_13,
  c64x128b_01_23,
  c32x128b_x4,
  c4x256b
};
/// Elements of 4 or 6 bits in shared memory (PTX ISA, "tcgen05.cp": .b8x16.b4x16_p64, .b6x16_p32).
/// tmem_copy writes a byte for each: 4 bits to its bits 2-5, 6 bits to 0-5 (docs/blackwell.md).
enum class tmem_unpack : std::uint8_t { none, b4, b6 };

TW_HD constexpr int tmem_copy_rows(tmem_copy_shape s) {
  return s == tmem_copy_shape::c4x256b       ? 4
         : s == tmem_copy_shape::c32x128b_x4 ? 32
         : s <= tmem_copy_shape::c128x128b   ? 128
                                             : 64;
}
/// Of 16 bytes of a row: columns are 4 times as many.
TW_HD constexpr int tmem_copy_chunks(tmem_copy_shape s) {
  return s == tmem_copy_shape::c128x256b || s == tmem_copy_shape::c4x256b ? 2 : 1;
}
/// How often a row is written.
TW_HD constexpr int tmem_copy_repeats(tmem_copy_shape s) {
  return s == tmem_copy_shape::c4x256b ? 1 : 128 / tmem_copy_rows(s);
}
/// The lane of a row's copy number i.
TW_HD constexpr int tmem_copy_lane(tmem_copy_shape s, int row, int i) {
  if (s == tmem_copy_shape::c4x256b) return 32 * row;
  if (s == tmem_copy_shape::c64x128b_01_23) return row / 32 * 64 + row % 32 + 32 * i;
  return row + tmem_copy_rows(s) * i;
}

/// 64-bit shared-memory descriptor of tcgen05 (PTX ISA, "Shared Memory Descriptor"): address / 16
/// in bits 0-13, leading byte offset / 16 in 16-29, stride byte offset / 16 in 32-45, 0b001 in
/// 46-48, layout type in 61-63.
struct umma_desc {
  std::uint64_t bits = 0;

  /// The operand that begins `bytes` later (bytes: a multiple of 16 that stays inside 256 KiB).
  TW_HD constexpr umma_desc operator+(int bytes) const {
    return {bits + static_cast<std::uint64_t>(bytes >> 4)};
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
  TW_HD constexpr int layout_type() const { return static_cast<int>(bits >> 61); }
};

/// The layout type of a swizzle.
TW_HD constexpr int umma_layout_type(swizzle_mode s) {
  return s == swizzle_mode::b128_base32 ? 1
         : s == swizzle_mode::b128      ? 2
         : s == swizzle_mode::b64       ? 4
         : s == swizzle_mode::b32       ? 6
                                        : 0;
}

/// Packs a descriptor, as make_smem_desc does for wgmma; the offsets have the same meaning, but
/// that with b128_base32 the stride offset is between groups of 4 along K.
TW_HD constexpr umma_desc make_umma_desc(std::uint32_t smem_address, std::uint32_t leading_bytes,
                                         std::uint32_t stride_bytes, swizzle_mode s) {
  return {(static_cast<std::uint64_t>(smem_address & 0x3FFFFU) >> 4) |
          (static_cast<std::uint64_t>(leading_bytes >> 4) << 16) |
          (static_cast<std::uint64_t>(stride_bytes >> 4) << 32) | (std::uint64_t{1} << 46) |
          (static_cast<std::uint64_t>(umma_layout_type(s)) << 61)};
}

}  // namespace tw
