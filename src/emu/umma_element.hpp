// SPDX-License-Identifier: Apache-2.0
// umma_element.hpp  One element of an operand of tcgen05.mma in shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "emu/operand.hpp"
#include "emu/umma.hpp"
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

/// Element i of a chunk of 16 bytes. Elements of 4 and 6 bits lie packed, 16 to a chunk, and
/// padding follows them; dense ones of 4 bits fill the chunk.
inline float umma_value(elem type, std::byte const* chunk, int i) {
  if (size_bits(type) < 8) {
    std::uint8_t const code = narrow_bits(chunk, i, size_bits(type));
    return with_elem(type, [&](auto t) {
      if constexpr (size_bits(t.value) < 8)
        return to_float(typename decltype(t)::type{code});
      else
        return 0.0F;
    });
  }
  std::uint32_t word = 0;
  std::memcpy(&word, chunk + size_bytes(type) * i, static_cast<std::size_t>(size_bytes(type)));
  return with_elem(type, [&](auto t) {
    using T = typename decltype(t)::type;
    if constexpr (size_bits(t.value) < 32 && !is_integer(t.value))
      return to_float(T{static_cast<decltype(T::bits)>(word)});
    else
      return __builtin_bit_cast(float, word & ~std::uint32_t{0x1FFF});  // tf32
  });
}

/// Element (mn, k) of an operand in shared memory.
inline float umma_element(std::uint64_t descriptor, operand_major major, elem type, bool dense,
                          int mn, int k, std::byte const* smem, std::uint32_t base) {
  operand_layout const l(as_wgmma_desc(descriptor), major);
  int const per_chunk = dense ? 32 : size_bits(type) < 8 ? 16 : 16 / size_bytes(type);
  int const row = major == operand_major::k ? mn : k;
  int const along = major == operand_major::k ? k : mn;
  std::uint32_t const at =
      swizzled(l.start + l.row_offset(static_cast<std::uint32_t>(row)) +
                   l.column_offset(static_cast<std::uint32_t>(along / per_chunk)),
               l.swizzle);
  return umma_value(type, smem + (at - base), along % per_chunk);
}

}  // namespace tw::emu
