// SPDX-License-Identifier: Apache-2.0
// copy_row.hpp  A warp copies a row of global memory.
#pragma once

#include <cstdint>

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"

namespace tw {

struct alignas(16) chunk_of_row {
  std::uint32_t word[4];
};

/// Each lane loads `Together` words before it stores one. `count` words in all.
template <class Word, int Together>
TW_DEVICE void copy_words(std::byte* to, std::byte const* from, int count) {
  auto* const out = reinterpret_cast<Word*>(to);
  auto const* const in = reinterpret_cast<Word const*>(from);
  for (int first = lane_id(); first < count; first += Together * warp_threads) {
    Word x[Together];
    TW_UNROLL
    for (int i = 0; i < Together; ++i)
      if (int const at = first + i * warp_threads; at < count) x[i] = in[at];
    TW_UNROLL
    for (int i = 0; i < Together; ++i)
      if (int const at = first + i * warp_threads; at < count) out[at] = x[i];
  }
}

/// The whole warp copies `bytes` bytes, in chunks of 16 bytes if both addresses are multiples of
/// 16, the rest byte by byte; else in words of `elem_bytes`, of which both addresses and `bytes`
/// are multiples.
TW_DEVICE void copy_row(std::byte* to, std::byte const* from, std::int64_t bytes, int elem_bytes) {
  auto const bits = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  if (bits % sizeof(chunk_of_row) == 0) {
    int const whole = static_cast<int>(bytes / int{sizeof(chunk_of_row)});
    std::int64_t const copied = std::int64_t{whole} * int{sizeof(chunk_of_row)};
    copy_words<chunk_of_row, 8>(to, from, whole);
    copy_words<words::b8, 1>(to + copied, from + copied, static_cast<int>(bytes - copied));
  } else if (elem_bytes == 4) {
    copy_words<words::b32, 4>(to, from, static_cast<int>(bytes / 4));
  } else if (elem_bytes == 2) {
    copy_words<words::b16, 4>(to, from, static_cast<int>(bytes / 2));
  } else {
    copy_words<words::b8, 4>(to, from, static_cast<int>(bytes));
  }
}

}  // namespace tw
