// SPDX-License-Identifier: Apache-2.0
// random_weights.hpp  Random prepared 4-bit weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tilewright/base/convert.hpp"
#include "tilewright/kernel/weights/weights.hpp"

namespace tw {

/// All nibbles, scales around 1 (of floats 2^-4 to 2), zero points 0 to 16 or floats of -1 to 1.
template <class Random>
std::vector<std::byte> random_weights(weights_desc w, Random& random) {
  auto const count = static_cast<std::size_t>(w.matrices * w.n * w.groups());
  std::vector<std::uint8_t> nibbles(static_cast<std::size_t>(w.matrices * w.n * w.k / 2));
  for (auto& x : nibbles) x = static_cast<std::uint8_t>(random());
  bool const floats = w.format.code == weight_code::int4;
  std::vector<float> wide(count), zeros(count);
  std::vector<std::uint8_t> narrow(count), integers(count);
  for (std::size_t i = 0; i < count; ++i) {
    wide[i] = static_cast<float>(random() % 1024 + 32) / 512;
    zeros[i] = static_cast<float>(random() % 1024) / 512 - 1;
    narrow[i] = static_cast<std::uint8_t>(w.format.scale == elem::ue8m0 ? 122 + random() % 7
                                                                        : 32 + random() % 48);
    integers[i] = static_cast<std::uint8_t>(random() % 17);
  }
  std::vector<std::byte> prepared(static_cast<std::size_t>(w.bytes()));
  void const* const scales = floats ? static_cast<void const*>(wide.data()) : narrow.data();
  void const* const points = w.format.zeros == weight_zeros::floats
                                 ? static_cast<void const*>(zeros.data())
                                 : integers.data();
  static_cast<void>(prepare_weights(
      w, {nibbles.data(), scales, points, floats ? elem::f32 : w.format.scale}, prepared.data()));
  return prepared;
}

}  // namespace tw
