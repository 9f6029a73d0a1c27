// SPDX-License-Identifier: Apache-2.0
// quantize.cpp  Two passes over each block: its amax, then its values.
#include "tilewright/problem/quantize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tilewright/base/elem_text.hpp"
#include "tilewright/base/elem_traits.hpp"

namespace tw {
namespace {

struct strides {
  std::int64_t outer, k;
};
strides strides_of(matrix_desc const& m) {
  return m.ord == order::row_major ? strides{m.pitch_elems, 1} : strides{1, m.pitch_elems};
}

template <class T>
T load(void const* base, std::int64_t i) {
  T x;
  std::memcpy(&x, static_cast<char const*>(base) + i * std::int64_t{sizeof(T)}, sizeof(T));
  return x;
}
template <class T>
void store(void* base, std::int64_t i, T x) {
  std::memcpy(static_cast<char*>(base) + i * std::int64_t{sizeof(T)}, &x, sizeof(T));
}

/// Elements [outer, outer_end) x [k, k_end).
struct block_of {
  std::int64_t outer, outer_end, k, k_end;
};

template <class From, class To>
void quantize_block(quantize_problem const& p, block_of const& b, void const* from, void* to,
                    void* scales, quantize_counts& counts) {
  strides const in = strides_of(p.from), out = strides_of(p.to);
  float amax = 0;
  for (std::int64_t i = b.outer; i < b.outer_end; ++i)
    for (std::int64_t k = b.k; k < b.k_end; ++k) {
      float const x = std::fabs(to_float(load<From>(from, i * in.outer + k * in.k)));
      if (std::isfinite(x)) amax = std::max(amax, x);
      counts.nan += std::isnan(x) ? 1 : 0;
      counts.infinite += std::isinf(x) ? 1 : 0;
    }
  std::int64_t const at = scale_offset(p.scale, b.outer, b.k);
  float const scale = p.given ? load<float>(scales, at)
                              : quantize_scale(amax, quantize_limit(p.to.type), p.power_of_two);
  counts.zero_blocks += amax == 0 && !p.given ? 1 : 0;
  if (!p.given && is_exponent(p.scale.type))
    store(scales, at, to_ue8m0_up(scale));
  else if (!p.given)
    store(scales, at, scale);
  for (std::int64_t i = b.outer; i < b.outer_end; ++i)
    for (std::int64_t k = b.k; k < b.k_end; ++k)
      store(to, i * out.outer + k * out.k,
            quantized<To>(to_float(load<From>(from, i * in.outer + k * in.k)), scale));
}

template <class From, class To>
quantize_counts quantize_all(quantize_problem const& p, void const* from, void* to, void* scales) {
  std::int64_t const rows = p.scale.block_outer == 0 ? p.outer : p.scale.block_outer;
  std::int64_t const cols = p.scale.block_k == 0 ? p.k : p.scale.block_k;
  quantize_counts counts;
  for (std::int64_t i = 0; i < p.outer; i += rows)
    for (std::int64_t k = 0; k < p.k; k += cols)
      quantize_block<From, To>(p, {i, std::min(i + rows, p.outer), k, std::min(k + cols, p.k)},
                               from, to, scales, counts);
  return counts;
}

template <class From>
quantize_counts quantize_from(quantize_problem const& p, void const* from, void* to, void* scales) {
  return with_elem(p.to.type, [&](auto t) {
    if constexpr (is_quantized(t.value))
      return quantize_all<From, typename decltype(t)::type>(p, from, to, scales);
    else
      return quantize_counts{};  // refused by accept()
  });
}

}  // namespace

std::optional<rejection> accept(quantize_problem const& p) {
  auto const refused = [](std::string what, std::string got, std::string need,
                          std::string hint = {}) {
    return rejection{"TW0452", std::move(what), std::move(got), std::move(need), std::move(hint)};
  };
  if (p.outer < 1 || p.k < 1)
    return refused("matrix to quantise", fmt::format("{}x{}", p.outer, p.k),
                   "at least one row and one column");
  elem const from = p.from.type, to = p.to.type, scale = p.scale.type;
  if (!is_wide_float(from)) return refused("type to quantise", name(from), "bf16, f16 or f32");
  if (!is_quantized(to))
    return refused("type of the values", name(to), list_of(elems_that(is_quantized)));
  if (!is_scale_type(scale)) return refused("type of the scales", name(scale), "f32 or ue8m0");
  if (is_exponent(scale) && !p.power_of_two)
    return refused("scales of type ue8m0", "any value", "powers of two",
                   "quantize_problem::power_of_two = true");
  if (p.given && (p.scale.block_outer != 0 || p.scale.block_k != 0 || is_exponent(scale)))
    return refused("scale that is given", "scales of blocks, or of ue8m0",
                   "one float32 scale for the matrix");
  if (p.given && p.power_of_two)
    return refused("scale that is given", "quantize_problem::power_of_two = true", "false",
                   "a scale that is given is taken as it is");
  if (p.scale.tiled || p.scale.second_level)
    return refused(p.scale.tiled
                       ? "order 32x4x4 of the scales (quantize_problem::scale.tiled)"
                       : "second level of the scales (quantize_problem::scale.second_level)",
                   "true", "false", "block_quantize_problem computes scales that have it");
  if (p.scale.block_outer < 0 || p.scale.block_k < 0)
    return refused("blocks of the scales (quantize_problem::scale.block_outer, block_k)",
                   fmt::format("{}x{}", p.scale.block_outer, p.scale.block_k), "0 (all) or more");
  bool const packed = p.scale.packed_k == 4 && is_exponent(scale) && p.scale.block_k != 0;
  if (p.scale.packed_k != 1 && !packed)
    return refused(
        "blocks along K that are adjacent, of the scales (quantize_problem::scale.packed_k)",
        fmt::format("{}", p.scale.packed_k), "1, or 4 of ue8m0");
  bool const many_rows = scale_blocks(p.scale.block_outer, p.outer) > 1;
  bool const many_cols = scale_blocks(p.scale.block_k, p.k) > p.scale.packed_k;
  if (p.scale.stride_outer < (many_rows ? 1 : 0) || p.scale.stride_k < (many_cols ? 1 : 0))
    return refused("strides of the scales (quantize_problem::scale.stride_outer, stride_k)",
                   fmt::format("{} and {}", p.scale.stride_outer, p.scale.stride_k),
                   "a separate place for each scale");
  for (matrix_desc const* m : {&p.from, &p.to}) {
    std::int64_t const line = m->ord == order::row_major ? p.k : p.outer;
    if (m->pitch_elems < line)
      return refused("leading dimension", fmt::format("{} elements", m->pitch_elems),
                     fmt::format("at least {}", line));
  }
  return std::nullopt;
}

quantize_counts quantize(quantize_problem const& p, void const* from, void* to, void* scales) {
  if (auto const why = accept(p)) throw rejected(*why);
  return with_wide_float(p.from.type, [&](auto t) {
    return quantize_from<typename decltype(t)::type>(p, from, to, scales);
  });
}

}  // namespace tw
