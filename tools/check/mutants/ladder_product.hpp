// SPDX-License-Identifier: Apache-2.0
// ladder_product.hpp  The operands of the kernels without specialised warps, and what each of them
//                     computes: for the emulator and for a GPU.
#pragma once

#include <cstddef>
#include <vector>

#include "tilewright/arch/tensor_map.hpp"
#include "tilewright/base/convert.hpp"

namespace tw::mutants {

/// (64, 256) bf16 each; small integers, whose sums are exact.
struct ladder_product {
  static constexpr int k = 256;
  std::vector<std::uint16_t> a, b;

  ladder_product() : a(64 * k), b(64 * k) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = to_bf16(static_cast<float>(static_cast<int>(i * 7 % 13) - 6)).bits;
      b[i] = to_bf16(static_cast<float>(static_cast<int>(i * 5 % 11) - 5)).bits;
    }
  }

  /// Boxes (64, 64) of an operand at this address.
  static tensor_map map_of(void* base, target where) {
    tensor_map_desc d;
    d.base = base;
    d.dim[0] = k;
    d.dim[1] = 64;
    d.stride_bytes[0] = k * 2;
    d.box[0] = d.box[1] = 64;
    d.swizzle = swizzle_mode::b128;
    return make_tensor_map(d, where);
  }
};

/// Element i of what copy_pipeline, double_buffer and take_turns write.
inline float sum_of_tiles(ladder_product const& x, std::size_t i) {
  int sum = 0;
  for (std::size_t k = 0; k < 8; ++k) sum += x.a[k * 1024 + i];
  return static_cast<float>(sum);
}
inline float product(ladder_product const& x, std::size_t i) {
  float sum = 0;
  for (std::size_t k = 0; k < ladder_product::k; ++k)
    sum += to_float(bf16{x.a[i / 64 * ladder_product::k + k]}) *
           to_float(bf16{x.b[i % 64 * ladder_product::k + k]});
  return sum;
}
inline float turn(ladder_product const&, std::size_t i) {
  auto const c = i / 128 % 2, round = i / 256;
  return static_cast<float>(1000 * c + 100 * round + 127 - i % 128);
}

}  // namespace tw::mutants
