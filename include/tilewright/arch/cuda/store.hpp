// SPDX-License-Identifier: Apache-2.0
// store.hpp  Stores to global memory with a cache operator.
#pragma once

#include <cstdint>

#include "tilewright/base/hd.hpp"

namespace tw {

/// Stores 4, 8 or 16 bytes that are not read again soon: the caches evict them first. PTX ISA,
/// "st": .cs.
template <class T>
TW_DEVICE void store_streaming(T* to, T const& value) {
  static_assert((sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16) && alignof(T) <= sizeof(T),
                "store_streaming writes 4, 8 or 16 bytes");
  auto const at = __cvta_generic_to_global(to);
  if constexpr (sizeof(T) == 4) {
    std::uint32_t w;
    __builtin_memcpy(&w, &value, 4);
    asm volatile("st.global.cs.b32 [%0], %1;" ::"l"(at), "r"(w) : "memory");
  } else if constexpr (sizeof(T) == 8) {
    std::uint64_t w;
    __builtin_memcpy(&w, &value, 8);
    asm volatile("st.global.cs.b64 [%0], %1;" ::"l"(at), "l"(w) : "memory");
  } else {
    std::uint32_t w[4];
    __builtin_memcpy(w, &value, 16);
    asm volatile("st.global.cs.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(w[0]), "r"(w[1]),
                 "r"(w[2]), "r"(w[3])
                 : "memory");
  }
}

}  // namespace tw
