// SPDX-License-Identifier: Apache-2.0
// weights_a.hpp  A in registers from prepared weights of 4 bits: consumers read nibbles and scales
//                of a block, and decode them to the 16-bit type that wgmma multiplies.
//
// A thread has two rows, and of each K block 32 nibbles in 16 bytes, which are a word for each step
// of 16 elements (atom/weight_block.hpp). Register v of the fragment is two elements of a row:
// nibbles v and v + 4 of the word, rows and halves of k as v % 2 and v / 2.
//
//   e2m1   sign and magnitude are moved to the sign and to the bits around the exponent's last: a
//          subnormal number, 2^126 (bf16) or 2^14 (f16) times too small, which a multiplication
//          corrects. Exact with scales of ue8m0 (in bf16) and of ue4m3: at most 6 bits.
//   int4   q is put into the mantissa of 128 (bf16) or 1024 (f16); 128 + 8, or 128 + z, is
//          subtracted exactly, and the multiplication by the scale rounds once; with a float zero
//          point it is fused with the addition.
// A scale that is NaN makes its weights NaN. docs/decisions/0056 counts the instructions, and 0061
// has the order for activations of e4m3 (weights_e4m3).
#pragma once

#include <type_traits>

#include "tilewright/arch/packed.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/kernel/sm90/register_a.hpp"
#include "tilewright/problem/signed_nibble.hpp"

namespace tw {

template <gemm_config C>
class weights_a {
 public:
  using block = typename register_a<C>::block;

  /// For the rows from first_row of the CTA's tile.
  TW_DEVICE explicit weights_a(int first_row) {
    int const t = thread_id() % warpgroup_threads, pair = t / warp_threads * 8 + lane_id() / 4;
    int const begin = first_row / weight_block * f.block_bytes();
    nibbles_ = begin + t * 16;
    scales_ = begin + f.nibble_bytes() + pair * scales_bytes;
    zeros_ = begin + f.nibble_bytes() + f.scale_bytes() + pair * zeros_bytes;
  }

  /// Reads a K block from its stage, (tile_m, tile_k): the warpgroup's 64 rows.
  TW_DEVICE void read(block& to, std::byte const* stage) const {
    raw_block const raw = load(stage);
    unrolled<4>([&](auto step) { decode<step>(to.part[step], raw); });
  }

 private:
  static constexpr weight_format f = C.weights();
  static constexpr bool in_bf16 = C.a.multiplied == elem::bf16;
  using half2 = std::conditional_t<in_bf16, bf16x2, f16x2>;
  static constexpr int each = f.scales_per_row();                      // scales of a row in a block
  static constexpr int scales_bytes = 2 * each * size_bytes(f.scale);  // of a thread's rows
  static constexpr int zeros_bytes = 2 * each * f.zero_bytes_each();
  static constexpr std::uint32_t both_signs = 0x80008000U;
  // 128 and 1024, to which integers are added in the mantissa; the factor of e2m1's bits.
  static constexpr std::uint32_t integers_at = in_bf16 ? 0x43004300U : 0x64006400U;
  static constexpr std::uint32_t of_e2m1 = in_bf16 ? 0x7E807E80U : 0x74007400U;  // 2^126, 2^14
  static constexpr std::uint32_t nan = 0x7FFF7FFFU;

  template <int N>
  struct alignas(4 * N) words {
    std::uint32_t r[N];
  };

 public:
  /// A thread's nibbles of a K block, and the scales and zero points of its rows.
  struct raw_block {
    words<4> nibbles;
    half2 scale[2 * each];  // of a row, then of the other, in both halves
    half2 zero[f.zeros == weight_zeros::none ? 1 : 2 * each];
  };
  TW_DEVICE raw_block load(std::byte const* stage) const {
    raw_block to;
    to.nibbles = *reinterpret_cast<words<4> const*>(stage + nibbles_);
    words<scales_bytes / 4> const raw =
        *reinterpret_cast<words<scales_bytes / 4> const*>(stage + scales_);
    unrolled<2 * each>([&](auto i) { to.scale[i] = scale_of<i>(raw); });
    if constexpr (f.zeros == weight_zeros::integers) {
      unrolled<2 * each>([&](auto i) {
        auto const z = static_cast<std::uint32_t>(stage[zeros_ + i]);
        to.zero[i] = half2{((z * 0x00010001U) | integers_at) ^ both_signs};
      });
    } else if constexpr (f.zeros == weight_zeros::floats) {
      words<scales_bytes / 4> const z =
          *reinterpret_cast<words<scales_bytes / 4> const*>(stage + zeros_);
      unrolled<2 * each>([&](auto i) { to.zero[i] = scale_of<i>(z); });
    }
    return to;
  }
  /// The fragment of step `Step` of the block.
  template <int Step>
  TW_DEVICE static void decode(b32<4>& to, raw_block const& raw) {
    unrolled<4>([&](auto v) {
      constexpr int i = v % 2 * each + Step * each / 4;
      to.r[v] = decoded<v>(raw.nibbles.r[Step], raw.scale[i],
                           raw.zero[f.zeros == weight_zeros::none ? 0 : i])
                    .bits;
    });
  }

 private:
  /// Scale i of a thread's rows, in both halves. Of mxfp4 with the factor that e2m1 needs.
  template <int I, int N>
  TW_DEVICE static half2 scale_of(words<N> const& raw) {
    if constexpr (size_bytes(f.scale) == 2) {
      return half2{prmt(raw.r[I / 2], 0, I % 2 == 0 ? 0x1010U : 0x3232U)};
    } else {
      std::uint32_t const byte = raw.r[I / 4] >> 8 * (I % 4) & 0xFFU;
      if constexpr (f.scale == elem::ue8m0 && in_bf16) {
        constexpr std::uint32_t one = 0x00800080U;  // of the exponents
        return half2{byte == 0xFFU ? nan : byte * one + 126U * one};
      } else if constexpr (f.scale == elem::ue8m0) {
        // 2^14 2^(byte - 127), at most 2^15: from 99 on normal, below 89 zero.
        std::uint32_t const bits = byte >= 99   ? (byte - 98) << 10
                                   : byte >= 89 ? 1U << (byte - 89)
                                                : 0;
        return half2{byte == 0xFFU ? nan : bits * 0x00010001U};
      } else {
        constexpr std::uint32_t place = in_bf16 ? 0x00100010U : 0x00800080U;
        constexpr std::uint32_t bias = in_bf16 ? 0x7B807B80U : 0x5C005C00U;  // 2^120, 2^8
        return half2{byte == 0x7FU ? nan : packed_mul(half2{byte * place}, half2{bias}).bits};
      }
    }
  }

  /// Nibbles V and V + 4 of a word.
  template <int V>
  TW_DEVICE static half2 decoded(std::uint32_t word, half2 scale, half2 zero) {
    if constexpr (f.code == weight_code::int4) {
      half2 const offset{f.zeros == weight_zeros::integers ? zero.bits : offset_of_8};
      half2 const q = packed_add(half2{masked_or(word >> 4 * V, 0x000F000FU, integers_at)}, offset);
      return f.zeros == weight_zeros::floats ? packed_fma(q, scale, zero) : packed_mul(q, scale);
    } else {
      std::uint32_t const sign = (word << (12 - 4 * V)) & both_signs;
      half2 const small{in_bf16 ? masked_or(shifted<6 - 4 * V>(word), 0x01C001C0U, sign)
                                : masked_or(shifted<9 - 4 * V>(word), 0x0E000E00U, sign)};
      if constexpr (f.code == weight_code::mxfp4)
        return packed_mul(small, scale);
      else
        return packed_mul(packed_mul(small, half2{of_e2m1}), scale);
    }
  }
  /// (x & mask) | bits. lop3, because ptxas makes two instructions of two constants.
  TW_DEVICE static std::uint32_t masked_or(std::uint32_t x, std::uint32_t mask,
                                           std::uint32_t bits) {
    return lop3<(0xF0 & 0xCC) | 0xAA>(x, mask, bits);
  }
  /// To the left, or to the right if N is negative.
  template <int N>
  TW_DEVICE static std::uint32_t shifted(std::uint32_t x) {
    if constexpr (N >= 0)
      return x << N;
    else
      return x >> -N;
  }
  static constexpr std::uint32_t offset_of_8 = (integers_at | 0x00080008U) ^ both_signs;

  int nibbles_, scales_, zeros_;  // bytes in the stage
};

/// Weights for activations of e4m3: nibbles become e4m3 exactly, and the sum of a K block is
/// multiplied by a factor for each row. A word's four nibbles are a selector of prmt in a table of
/// the eight magnitudes of e2m1 times 2^u, or of eight integers. Integers without zero points are
/// signed nibbles (problem/signed_nibble.hpp).
///
/// With a zero point z of int4, q - z is -16 to 15, which e4m3 holds. The codes of -16 to 15 are a
/// line of 32 bytes; the tables of z are the 16 bytes from 16 - z on. Lane l keeps bytes l to l + 3
/// of the line, so that a word of a table is a shuffle.
template <gemm_config C>
class weights_e4m3 {
 public:
  using block = typename register_a<C>::block;
  /// Of a thread's two rows.
  struct row_factors {
    float of[2];
  };

  /// For the rows from first_row of the CTA's tile.
  TW_DEVICE explicit weights_e4m3(int first_row) {
    int const t = thread_id() % warpgroup_threads, pair = t / warp_threads * 8 + lane_id() / 4;
    int const begin = first_row / weight_block * f.block_bytes();
    nibbles_ = begin + t * 16;
    scales_ = begin + f.nibble_bytes() + pair * 2 * f.scales_per_row();
    zeros_ = begin + f.nibble_bytes() + f.scale_bytes() + pair * 2;
    factors_ =
        begin + f.nibble_bytes() + f.scale_bytes() + f.zero_bytes() + pair * 2 * int{sizeof(float)};
    if constexpr (has_zeros) line_ = codes_of(lane_id() - largest_zero);
  }

  /// Reads a K block from its stage, (tile_m, tile_k): the warpgroup's 64 rows.
  TW_DEVICE void read(block& to, row_factors& factors, std::byte const* stage) const {
    raw_block const raw = load(factors, stage);
    unrolled<4>([&](auto step) { decode<step>(to.part[step], raw); });
  }

 private:
  static constexpr weight_format f = C.weights();
  static constexpr bool is_mxfp4 = f.code == weight_code::mxfp4;
  static constexpr bool has_zeros = f.zeros == weight_zeros::integers;
  static constexpr int largest_zero = 16;

  template <int N>
  struct alignas(4 * N) words {
    std::uint32_t r[N];
  };
  /// e4m3 of the magnitudes 0 to 1.5, and 2 to 6.
  struct table {
    std::uint32_t low, high;
  };

  /// times 2^(byte - 8). Adding to the exponents makes normal numbers; below 2^-9 8 a code is a
  /// multiple of the smallest number.
  TW_DEVICE static table table_of(std::uint32_t byte) {
    constexpr std::uint32_t ones = 0x08080808U, at_zero = 0x40404040U;  // 8 exponents
    table t{byte * (ones << 8) + (0x3C383000U - (at_zero << 8)),
            byte * ones + (0x4C484440U - at_zero)};
    if (byte < 3) t.low = 0x03020100U << byte;
    if (byte == 0) t.high = 0x0C080604U;
    return t;
  }

  /// e4m3 of q - z for q from 0 to 7, and from 8 to 15.
  struct integers {
    table low, high;
  };

 public:
  /// A thread's nibbles of a K block, their scales, and the tables of zero points.
  struct raw_block {
    words<4> nibbles[2];  // of two steps of 32 each
    words<2> scales;
    integers of_row[2];
  };
  TW_DEVICE raw_block load(row_factors& factors, std::byte const* stage) const {
    factors = *reinterpret_cast<row_factors const*>(stage + factors_);
    if constexpr (f.is_signed()) unrolled<2>([&](auto r) { factors.of[r] *= signed_factor; });
    raw_block to;
    unrolled<2>([&](auto h) {
      to.nibbles[h] =
          *reinterpret_cast<words<4> const*>(stage + nibbles_ + h * f.nibble_bytes() / 2);
    });
    if constexpr (is_mxfp4) to.scales = *reinterpret_cast<words<2> const*>(stage + scales_);
    if constexpr (has_zeros)
      unrolled<2>([&](auto r) { to.of_row[r] = integers_of(static_cast<int>(stage[zeros_ + r])); });
    return to;
  }
  /// The fragment of step `Step` of the block.
  template <int Step>
  TW_DEVICE static void decode(b32<4>& to, raw_block const& raw) {
    table magnitudes[2]{};  // of the rows
    if constexpr (is_mxfp4)
      unrolled<2>([&](auto r) { magnitudes[r] = table_of(raw.scales.r[r] >> 8 * Step & 0xFFU); });
    unrolled<2>([&](auto j) {
      std::uint32_t const word = raw.nibbles[Step / 2].r[Step % 2 * 2 + j];
      if constexpr (f.is_signed()) {
        std::uint32_t const even = signed_codes(word), odd = signed_codes(word >> 4);
        to.r[2 * j] = prmt(even, odd, 0x5140U);
        to.r[2 * j + 1] = prmt(even, odd, 0x7362U);
        return;
      }
      unrolled<2>([&](auto r) {
        to.r[2 * j + r] =
            is_mxfp4 ? signed_of<r>(word, magnitudes[r]) : integer_of<r>(word, raw.of_row[r]);
      });
    });
  }

 private:
  /// e4m3 of the signed nibbles in the lower halves of the bytes.
  TW_DEVICE static std::uint32_t signed_codes(std::uint32_t word) {
    std::uint32_t const nibbles = word & 0x0F0F0F0FU;
    return (nibbles & 0x01010101U) * 0x81U + nibbles;
  }

  /// e4m3 of the integers from `first` to first + 3, in a word: up to 16. The words of the last
  /// three lanes are not read.
  TW_DEVICE static std::uint32_t codes_of(int first) {
    std::uint32_t word = 0;
    unrolled<4>([&](auto i) {
      int const x = first + i;
      auto const n = static_cast<std::uint32_t>(x < 0 ? -x : x);
      // From 8 to 16 the codes follow each other.
      std::uint32_t const code =
          n < 8 ? prmt(0x44403800U, 0x4E4C4A48U, n) & 0xFFU : n + (0x50U - 8);
      word |= (x < 0 ? code | 0x80U : code) << 8 * i;
    });
    return word;
  }

  /// The tables of a zero point, from the words of the lanes.
  TW_DEVICE integers integers_of(int zero) const {
    int const first = largest_zero - zero;
    return {{shuffle(line_, first), shuffle(line_, first + 4)},
            {shuffle(line_, first + 8), shuffle(line_, first + 12)}};
  }

  /// Four nibbles of a word, of row 0 the lower ones, of row 1 the upper ones: a selector of prmt.
  template <int Row>
  TW_DEVICE static std::uint32_t selector_of(std::uint32_t word) {
    return word >> 16 * Row & 0x7777U;
  }
  /// The top bit of each of the four nibbles, in all bits of a byte.
  template <int Row>
  TW_DEVICE static std::uint32_t top_of(std::uint32_t word) {
    return prmt(word, word << 4, Row == 0 ? 0x9D8CU : 0xBFAEU);
  }
  template <int Row>
  TW_DEVICE static std::uint32_t signed_of(std::uint32_t word, table const& t) {
    return prmt(t.low, t.high, selector_of<Row>(word)) | (top_of<Row>(word) & 0x80808080U);
  }
  template <int Row>
  TW_DEVICE static std::uint32_t integer_of(std::uint32_t word, integers const& of) {
    std::uint32_t const selector = selector_of<Row>(word), top = top_of<Row>(word);
    return (prmt(of.high.low, of.high.high, selector) & top) |
           (prmt(of.low.low, of.low.high, selector) & ~top);
  }

  int nibbles_, scales_, zeros_, factors_;  // bytes in the stage
  std::uint32_t line_ = 0;
};

/// How consumers read A.
template <gemm_config C>
using a_reader =
    std::conditional_t<C.weights().code == weight_code::none, register_a<C>,
                       std::conditional_t<C.weights().fp8, weights_e4m3<C>, weights_a<C>>>;

}  // namespace tw
