// SPDX-License-Identifier: Apache-2.0
// random_elements.hpp  Random operands of any type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>

#include "tilewright/base/convert.hpp"
#include "tilewright/base/elem_traits.hpp"

namespace tw {

/// The bits of a number drawn from N(0, 1) as an element; integers use their whole range.
inline std::uint32_t bits_of_normal(elem type, float x) {
  if (is_8_bit_integer(type))
    return is_signed(type) ? static_cast<std::uint8_t>(to_integer<std::int8_t>(50 * x))
                           : to_integer<std::uint8_t>(127 + 50 * x);
  return with_elem(type, [x](auto t) -> std::uint32_t {
    if constexpr (size_bits(t.value) < 32 && !is_integer(t.value))
      return from_float<typename decltype(t)::type>(x).bits;
    else
      return __builtin_bit_cast(std::uint32_t, x);
  });
}

/// Fills whole elements with such numbers.
template <class Random>
void fill_normal(elem type, std::span<std::byte> bytes, Random& random) {
  if (size_bits(type) < 8) {  // packed: any bits are finite numbers
    for (std::byte& b : bytes) b = static_cast<std::byte>(random());
    return;
  }
  std::normal_distribution<float> normal;
  auto const width = static_cast<std::size_t>(size_bytes(type));
  for (std::size_t i = 0; i < bytes.size(); i += width) {
    std::uint32_t const bits = bits_of_normal(type, normal(random));
    for (std::size_t b = 0; b < width; ++b) bytes[i + b] = static_cast<std::byte>(bits >> (8 * b));
  }
}

}  // namespace tw
