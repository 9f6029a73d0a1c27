// SPDX-License-Identifier: Apache-2.0
// weight_parts.hpp  Parts of prepared weights in memory, and their order for e4m3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tilewright/base/convert.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/weights/weights.hpp"

namespace tw {

/// Element `at` of an array, in float32.
inline float float_of(elem type, void const* from, std::int64_t at) {
  return with_elem(type, [&](auto e) -> float {
    if constexpr (requires { to_float(typename decltype(e)::type{}); }) {
      typename decltype(e)::type x;
      std::memcpy(&x, static_cast<std::byte const*>(from) + at * std::int64_t{sizeof x}, sizeof x);
      return to_float(x);
    } else {
      return 0;
    }
  });
}

/// Where block (row, k) of a matrix begins, after the header.
inline std::int64_t block_at(weights_desc const& w, std::int64_t matrix, std::int64_t row_block,
                             std::int64_t k_block) {
  return ((matrix * w.row_blocks() + row_block) * w.k_blocks() + k_block) * w.format.block_bytes();
}

/// A nibble of a block, by its place.
inline unsigned nibble_at(std::uint8_t const* block, std::size_t at) {
  return block[at / 2] >> 4 * (at % 2) & 15U;
}
inline void put_nibble(std::uint8_t* block, std::size_t at, unsigned q) {
  block[at / 2] = static_cast<std::uint8_t>(block[at / 2] | q << 4 * (at % 2));
}

/// prepare_weights() and unprepare_weights() in the order for e4m3. `blocks`: after the header,
/// zeros before.
weight_counts prepare_e4m3(weights_desc const& w, weight_rows const& from, std::uint8_t* blocks);
void unprepare_e4m3(weights_desc const& w, void* blocks, weight_rows_out const& to);

}  // namespace tw
