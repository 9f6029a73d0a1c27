// SPDX-License-Identifier: Apache-2.0
// umma_element.hpp  Single elements of the operands and of D of tcgen05.mma.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "emu/elements/operand.hpp"
#include "emu/umma/umma.hpp"
#include "tilewright/base/convert.hpp"

namespace tw::emu {

/// Element i, of fewer than 8 bits, of packed ones.
inline std::uint8_t narrow_bits(std::byte const* packed, int i, int bits) {
  int const at = bits * i;
  std::uint8_t low = 0, high = 0;
  std::memcpy(&low, packed + at / 8, 1);
  if (at % 8 + bits > 8) std::memcpy(&high, packed + at / 8 + 1, 1);
  return static_cast<std::uint8_t>((low | high << 8) >> at % 8 & ((1 << bits) - 1));
}

/// The bits of element i of a chunk of 16 bytes. Elements of 4 and 6 bits lie packed, 16 to a
/// chunk, and padding follows them; dense ones of 4 bits fill the chunk.
inline std::uint32_t umma_bits(elem type, std::byte const* chunk, int i) {
  if (size_bits(type) < 8) return narrow_bits(chunk, i, size_bits(type));
  std::uint32_t word = 0;
  std::memcpy(&word, chunk + size_bytes(type) * i, static_cast<std::size_t>(size_bytes(type)));
  return word;
}

/// The lowest bit of an element of 4 or 6 bits in its byte of tensor memory, as .kind::f8f6f4 and
/// .kind::mxf8f6f4 read A and as a copy unpacks it. That each has a byte and four bytes fill a word
/// are the words of PTX ISA, "Packing format used for matrix A by .kind::mxf8f6f4 in Tensor
/// Memory"; the bits are in its pictures alone. e2m1 in bits 2 to 5: Triton's pull request 10202,
/// whose kernels store A so. Elements of 6 bits in bits 0 to 5: as mma.sync reads them (CUTLASS,
/// traits of SM120). Copies are assumed to be alike: their pictures have equal parts.
constexpr int lowest_bit_in_tmem(int bits) { return bits == 4 ? 2 : 0; }
/// The bits of a word of tensor memory that hold no part of its four elements.
constexpr std::uint32_t padding_in_tmem(int bits) {
  return ~((((1U << bits) - 1) << lowest_bit_in_tmem(bits)) * 0x01010101U);
}

/// The bits of element k of a row of A, which begins at this column.
inline std::uint32_t element_in_tmem(tensor_memory& t, elem type, bool dense, int lane, int column,
                                     int k) {
  int const bits = size_bits(type);
  int const step = dense ? bits : 8 * container_bytes(type);
  int const per_word = 32 / step;
  int const shift = step * (k % per_word) + (step > bits ? lowest_bit_in_tmem(bits) : 0);
  std::uint32_t const word = t.at(lane, column + k / per_word) >> shift;
  return bits == 32 ? word : word & ((1U << bits) - 1);
}

/// The number that these bits are for the tensor core.
inline float umma_value(elem type, std::uint32_t bits) {
  return with_elem(type, [&](auto t) {
    using T = typename decltype(t)::type;
    if constexpr (size_bits(t.value) < 32 && !is_integer(t.value))
      return to_float(T{static_cast<decltype(T::bits)>(bits)});
    else
      return __builtin_bit_cast(float, bits & ~std::uint32_t{0x1FFF});  // tf32
  });
}

/// The bits of element (mn, k) of an operand in shared memory.
inline std::uint32_t umma_element(std::uint64_t descriptor, operand_major major, elem type,
                                  bool dense, int mn, int k, std::byte const* smem,
                                  std::uint32_t base) {
  operand_layout const l(as_wgmma_desc(descriptor), major);
  int const per_chunk = dense ? 32 : size_bits(type) < 8 ? 16 : 16 / size_bytes(type);
  int const row = major == operand_major::k ? mn : k;
  int const along = major == operand_major::k ? k : mn;
  std::uint32_t const at =
      swizzled(l.start + l.row_offset(static_cast<std::uint32_t>(row)) +
                   l.column_offset(static_cast<std::uint32_t>(along / per_chunk)),
               l.swizzle);
  return umma_bits(type, smem + (at - base), along % per_chunk);
}

/// The lane of row r of a CTA's part of A or D, from the address's lane on.
inline int lane_of_row(umma_shape const& s, int r) {
  bool const gaps = s.ctas == 1 && s.m == 64;
  return gaps ? 32 * (r / 16) + r % 16 : r;
}

/// Rows of A that a CTA's multiply takes. Where both halves of the lanes have rows of D, both have
/// A in tensor memory.
inline int rows_of_a(umma_shape const& s, umma_call const& call) {
  return s.halves() && call.a_in_tmem ? 2 * s.rows() : s.rows();
}

/// The one of them that belongs to element (r, n) of D.
inline int row_of_a(umma_shape const& s, umma_call const& call, int r, int n) {
  return call.a_in_tmem && s.in_upper_lanes(n) ? s.rows() + r : r;
}

/// The bits of element (r, k) of A, wherever it lies; r: below rows_of_a().
inline std::uint32_t element_of_a(tensor_memory& t, umma_shape const& s, umma_call const& call,
                                  umma_memory const& smem, int r, int k) {
  if (!call.a_in_tmem)
    return umma_element(call.a, s.a_major, s.a, s.dense, r, k, smem.own, smem.base);
  auto const from = static_cast<std::uint32_t>(call.a);
  int const lane = static_cast<int>(from >> 16) + lane_of_row(s, r);
  return element_in_tmem(t, s.a, s.dense, lane, static_cast<int>(from & 0xFFFF), k);
}

/// The bits of element (n, k) of B; n: of all columns.
inline std::uint32_t element_of_b(umma_shape const& s, umma_call const& call,
                                  umma_memory const& smem, int n, int k) {
  int const of_cta = s.columns_of_b();
  return umma_element(call.b, s.b_major, s.b, s.dense, n % of_cta, k, smem.b[n / of_cta],
                      smem.base);
}

/// The word of element (r, n) of D.
inline std::uint32_t& element_of_d(tensor_memory& t, umma_shape const& s, umma_call const& call,
                                   int r, int n) {
  int const lane = static_cast<int>(call.d >> 16), column = static_cast<int>(call.d & 0xFFFF);
  bool const upper = s.in_upper_lanes(n);
  return t.at(lane + lane_of_row(s, r) + (upper ? 64 : 0), column + (upper ? n - s.n / 2 : n));
}

inline constexpr int lanes_of_group = 32;  // which have the same scale factors

/// The word with the scale factors of row r of A, or of column r of B for the rows of D in lanes of
/// this group of 32.
inline std::uint32_t factors_at(tensor_memory& t, std::uint32_t address, int r, int group) {
  return t.at(group * lanes_of_group + r % lanes_of_group,
              static_cast<int>(address & 0xFFFF) + r / lanes_of_group);
}

}  // namespace tw::emu
