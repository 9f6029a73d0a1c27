// SPDX-License-Identifier: Apache-2.0
// store.hpp  Stores to global memory with a cache operator (emulated). PTX ISA, "st".
#pragma once

#include "tilewright/base/hd.hpp"

namespace tw {

/// The emulator has no caches: an ordinary store.
template <class T>
TW_DEVICE void store_streaming(T* to, T const& value) {
  static_assert((sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16) && alignof(T) <= sizeof(T),
                "store_streaming writes 4, 8 or 16 bytes");
  *to = value;
}

}  // namespace tw
