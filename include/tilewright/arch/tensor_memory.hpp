// SPDX-License-Identifier: Apache-2.0
// tensor_memory.hpp  The words of tcgen05 that both backends share: addresses of tensor memory,
//                    shapes of its loads and stores, kinds of multiplies, operand descriptors.
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

/// 64-bit shared-memory descriptor of tcgen05 (PTX ISA, "Shared Memory Descriptor"): address / 16
/// in bits 0-13, leading byte offset / 16 in 16-29, stride byte offset / 16 in 32-45, 0b001 in
/// 46-48, layout type in 61-63.
struct umma_desc {
  std::uint64_t bits = 0;

  /// The same operand `bytes` further on (bytes: a multiple of 16 that stays inside 256 KiB).
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

/// The layout type of a swizzle in chunks of 16 bytes.
TW_HD constexpr int umma_layout_type(swizzle_mode s) {
  return s == swizzle_mode::b128 ? 2 : s == swizzle_mode::b64 ? 4 : s == swizzle_mode::b32 ? 6 : 0;
}

/// Packs a descriptor, as make_smem_desc does for wgmma; the offsets have the same meaning.
TW_HD constexpr umma_desc make_umma_desc(std::uint32_t smem_address, std::uint32_t leading_bytes,
                                         std::uint32_t stride_bytes, swizzle_mode s) {
  return {(static_cast<std::uint64_t>(smem_address & 0x3FFFFU) >> 4) |
          (static_cast<std::uint64_t>(leading_bytes >> 4) << 16) |
          (static_cast<std::uint64_t>(stride_bytes >> 4) << 32) | (std::uint64_t{1} << 46) |
          (static_cast<std::uint64_t>(umma_layout_type(s)) << 61)};
}

}  // namespace tw
