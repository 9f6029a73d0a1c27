// SPDX-License-Identifier: Apache-2.0
// block_code.hpp  A block of MXFP8, MXFP4 or NVFP4 from float32, by one thread, with the bits of
//                 problem/block_quantize.hpp.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/block_quantize.hpp"
#include "tilewright/problem/quantize.hpp"

namespace tw {

template <block_format F>
struct block_code {
  static constexpr block_format_traits traits = traits_of(F);
  static constexpr int elems = traits.block, bits = size_bits(traits.value);
  static constexpr int in_word = 32 / bits, words = elems / in_word;
  std::uint32_t value[words];
  std::uint8_t factor;
};

/// The code of elements x[0], x[1], ..., with the second level of NVFP4, else 1.
template <block_format F>
TW_DEVICE block_code<F> code_of_block(float const* x, float second) {
  using code = block_code<F>;
  constexpr block_format_traits t = code::traits;
  std::uint32_t amax = 0;
  bool any_nan = false;
  TW_UNROLL
  for (int j = 0; j < t.block; ++j) {
    std::uint32_t const bits = finite_magnitude_bits(x[j]);
    amax = amax > bits ? amax : bits;
    any_nan = any_nan || x[j] != x[j];
  }
  code c;
  c.factor = block_factor(F, float_of_bits(amax), second);
  float const scale =
      is_exponent(t.factor) ? to_float(ue8m0{c.factor}) : to_float(ue4m3{c.factor}) * second;
  TW_UNROLL
  for (int w = 0; w < code::words; ++w) {
    c.value[w] = 0;
    TW_UNROLL
    for (int j = 0; j < code::in_word; ++j) {
      float const y = x[w * code::in_word + j] / scale;
      std::uint32_t const bits =
          F == block_format::mxfp8 ? to_e4m3(y, saturation::finite).bits : to_e2m1(y).bits;
      c.value[w] |= bits << (code::bits * j);
    }
  }
  if (!has_nan(t.value) && any_nan) c.factor = nan_code(t.factor);
  return c;
}

/// Writes the bytes of the first `count` elements of a block.
template <block_format F>
TW_DEVICE void store_bytes(words::b8* to, block_code<F> const& c, int count) {
  using code = block_code<F>;
  TW_UNROLL
  for (int i = 0; i < 4 * code::words; ++i)
    if (i * 8 / code::bits < count) to[i] = static_cast<std::uint8_t>(c.value[i / 4] >> i % 4 * 8);
}

}  // namespace tw
