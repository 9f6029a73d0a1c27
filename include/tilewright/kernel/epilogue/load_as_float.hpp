// SPDX-License-Identifier: Apache-2.0
// load_as_float.hpp  Elements of C and of a bias, which have any wide float type, as float32.
#pragma once

#include <cstdint>

#include "tilewright/arch/select.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/base/elem_traits.hpp"

namespace tw {

/// The value of 16 bits of a wide float: bf16, or f16.
TW_DEVICE float half_as_float(std::uint16_t bits, elem type) {
  return type == elem::bf16 ? to_float<elem::bf16>(bits) : to_float<elem::f16>(bits);
}

/// The bits of element i of a global vector or matrix of a wide float type. A load alone: a thread
/// waits for it when it converts the bits.
TW_DEVICE std::uint32_t load_bits(void const* data, elem type, std::int64_t i) {
  if (wide_float_bytes(type) == 4) return static_cast<words::b32 const*>(data)[i];
  return static_cast<words::b16 const*>(data)[i];
}

/// The float32 value of an element of a wide float type, from the element's bits.
TW_DEVICE float bits_as_float(std::uint32_t bits, elem type) {
  if (wide_float_bytes(type) == 4) return float_of_bits(bits);
  return half_as_float(static_cast<std::uint16_t>(bits), type);
}

/// Element i of a global vector or matrix of a wide float type.
TW_DEVICE float load_as_float(void const* data, elem type, std::int64_t i) {
  return bits_as_float(load_bits(data, type, i), type);
}

}  // namespace tw
