// SPDX-License-Identifier: Apache-2.0
// weight_quantize.cpp  Group by group: amax, scale, values.
#include "tilewright/kernel/weights/weight_quantize.hpp"

#include <algorithm>
#include <cmath>

#include "tilewright/base/check.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/problem/weights_desc.hpp"

namespace tw {

int4_weights quantize_to_int4(float const* from, std::int64_t n, std::int64_t k, int group,
                              elem scale) {
  weights_desc const as_prepared{n, k, 1, {weight_code::int4, scale, weight_zeros::none, group}};
  if (auto const why = accept(as_prepared)) throw rejected(*why);
  int4_weights w{n, k, group, scale, {}, {}};
  w.values.resize(static_cast<std::size_t>(n * k / 2));
  std::int64_t const size = group == 0 ? k : group;
  for (std::int64_t first = 0; first < n * k; first += size) {
    float const* const x = from + first;
    float amax = 0;
    for (std::int64_t i = 0; i < size; ++i)
      if (std::isfinite(x[i])) amax = std::max(amax, std::fabs(x[i]));
    w.zero_groups += amax == 0.0F;
    float const wanted = amax == 0.0F ? 1.0F : amax / 7;
    std::uint16_t bits = scale == elem::bf16 ? to_bf16(wanted).bits : to_f16(wanted).bits;
    if (bits == 0) bits = 1;  // the smallest number
    w.scales.push_back(bits);
    float const s = scale == elem::bf16 ? to_float(bf16{bits}) : to_float(f16{bits});
    for (std::int64_t i = 0; i < size; ++i) {
      w.nan += std::isnan(x[i]), w.infinite += std::isinf(x[i]);
      float const q = std::isnan(x[i]) ? 0.0F : std::clamp(std::nearbyint(x[i] / s), -8.0F, 7.0F);
      auto const nibble = static_cast<unsigned>(static_cast<int>(q)) & 15U;
      std::uint8_t& byte = w.values[static_cast<std::size_t>((first + i) / 2)];
      byte = static_cast<std::uint8_t>(byte | nibble << 4 * ((first + i) % 2));
    }
  }
  return w;
}

}  // namespace tw
