// SPDX-License-Identifier: Apache-2.0
// packed.hpp  Two 16-bit floats in one register, which packed arithmetic and atomics take.
#pragma once

#include <cstdint>

#include "tilewright/base/elem.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

/// Two f16; the first lies in bits 0-15, at the lower address. pack2<elem::f16> returns the bits.
struct f16x2 {
  std::uint32_t bits;
  bool operator==(f16x2 const&) const = default;
};
/// Two bf16; the first lies in bits 0-15, at the lower address. pack2<elem::bf16> returns the bits.
struct bf16x2 {
  std::uint32_t bits;
  bool operator==(bf16x2 const&) const = default;
};

}  // namespace tw
