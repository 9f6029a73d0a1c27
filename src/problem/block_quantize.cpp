// SPDX-License-Identifier: Apache-2.0
// block_quantize.cpp  The second level of the matrix, then block by block: amax, factor, values.
#include "tilewright/problem/block_quantize.hpp"
#include "tilewright/base/elem_traits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tw {
namespace {

template <class From>
struct source {
  char const* base;
  std::int64_t outer_stride, k_stride;  // elements

  source(block_quantize_problem const& p, void const* from)
      : base(static_cast<char const*>(from)),
        outer_stride(p.from.ord == order::row_major ? p.from.pitch_elems : 1),
        k_stride(p.from.ord == order::row_major ? 1 : p.from.pitch_elems) {}
  float at(std::int64_t outer, std::int64_t k) const {
    From x;
    std::memcpy(&x, base + (outer * outer_stride + k * k_stride) * std::int64_t{sizeof x},
                sizeof x);
    return to_float(x);
  }
};

float finite_magnitude(float x) { return std::isfinite(x) ? std::fabs(x) : 0.0F; }

template <class From>
float largest_of(block_quantize_problem const& p, void const* from) {
  source<From> const in(p, from);
  float amax = 0;
  for (std::int64_t i = 0; i < p.outer; ++i)
    for (std::int64_t k = 0; k < p.k; ++k) amax = std::max(amax, finite_magnitude(in.at(i, k)));
  return amax;
}

template <class From>
block_quantize_counts quantize_from(block_quantize_problem const& p, void const* from, void* to,
                                    void* factors) {
  source<From> const in(p, from);
  block_format_traits const t = traits_of(p.format);
  auto* const values = static_cast<std::uint8_t*>(to);
  auto* const scales = static_cast<std::uint8_t*>(factors);
  std::memset(values, 0, static_cast<std::size_t>(p.outer * p.row_bytes()));
  std::memset(scales, 0, static_cast<std::size_t>(p.factor_bytes()));
  block_quantize_counts counts;
  if (p.second_level)
    counts.second_level = *p.second_level;
  else if (p.format == block_format::nvfp4)
    counts.second_level = second_level_of(p.format, largest_of<From>(p, from));
  for (std::int64_t i = 0; i < p.outer; ++i)
    for (std::int64_t b = 0; b < p.blocks(); ++b) {
      std::int64_t const first = b * t.block, end = std::min(first + t.block, p.k);
      float amax = 0;
      bool any_nan = false;
      for (std::int64_t k = first; k < end; ++k) {
        float const x = in.at(i, k);
        amax = std::max(amax, finite_magnitude(x));
        any_nan = any_nan || std::isnan(x);
        counts.nan += std::isnan(x) ? 1 : 0;
        counts.infinite += std::isinf(x) ? 1 : 0;
      }
      counts.zero_blocks += amax == 0 ? 1 : 0;
      std::uint8_t const factor = p.rule == scale_rule::floor
                                      ? floor_factor(p.format, amax)
                                      : block_factor(p.format, amax, counts.second_level);
      bool const lost = any_nan && !has_nan(t.value);
      scales[p.factor_at(i, b)] = lost ? nan_code(t.factor) : factor;
      float const scale = is_exponent(t.factor) ? to_float(ue8m0{factor})
                                                : to_float(ue4m3{factor}) * counts.second_level;
      for (std::int64_t k = first; k < end; ++k) {
        float const y = in.at(i, k) / scale;
        if (!packs_in_pairs(t.value)) {
          values[i * p.row_bytes() + k] = to_e4m3(y, saturation::finite).bits;
          continue;
        }
        std::uint8_t const code = to_e2m1(y).bits;
        std::uint8_t& byte = values[i * p.row_bytes() + (p.packed ? k / 2 : k)];
        byte = static_cast<std::uint8_t>(byte | code << (p.packed ? k % 2 * 4 : 0));
      }
    }
  return counts;
}

}  // namespace

std::optional<rejection> accept(block_quantize_problem const& p) {
  auto const refused = [](std::string what, std::string got, std::string need,
                          std::string hint = {}) {
    return rejection{"TW0455", std::move(what), std::move(got), std::move(need), std::move(hint)};
  };
  if (p.outer < 1 || p.k < 1)
    return refused("matrix to quantise", fmt::format("{}x{}", p.outer, p.k),
                   "at least one row and one column");
  elem const from = p.from.type;
  if (!is_wide_float(from)) return refused("type to quantise", name(from), "bf16, f16 or f32");
  std::int64_t const line = p.from.ord == order::row_major ? p.k : p.outer;
  if (p.from.pitch_elems < line)
    return refused("leading dimension", fmt::format("{} elements", p.from.pitch_elems),
                   fmt::format("at least {}", line));
  if (p.rule == scale_rule::floor && p.format == block_format::nvfp4)
    return refused("scale rule", "floor with nvfp4", "mxfp8 or mxfp4",
                   "the factors of nvfp4 are no powers of two");
  if (p.second_level && p.format != block_format::nvfp4)
    return refused("second level that is given", traits_of(p.format).name, "nvfp4");
  if (p.second_level && !(std::isfinite(*p.second_level) && *p.second_level >= 0x1p-126F))
    return refused("second level that is given", fmt::format("{}", *p.second_level),
                   "a finite number of at least 2^-126");
  return std::nullopt;
}

float largest_magnitude(block_quantize_problem const& p, void const* from) {
  if (auto const why = accept(p)) throw rejected(*why);
  return with_wide_float(p.from.type,
                         [&](auto t) { return largest_of<typename decltype(t)::type>(p, from); });
}

block_quantize_counts quantize(block_quantize_problem const& p, void const* from, void* to,
                               void* factors) {
  if (auto const why = accept(p)) throw rejected(*why);
  return with_wide_float(p.from.type, [&](auto t) {
    return quantize_from<typename decltype(t)::type>(p, from, to, factors);
  });
}

}  // namespace tw
