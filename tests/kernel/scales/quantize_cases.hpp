// SPDX-License-Identifier: Apache-2.0
// quantize_cases.hpp  Random matrices to quantise: types, orders, leading dimensions and scales.
#pragma once

#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "tilewright/problem/quantize.hpp"
#include "tilewright/problem/scale_convention.hpp"

namespace tw::test {

/// A random matrix of any bits, its order and pitch.
struct drawn {
  quantize_problem problem;
  std::vector<std::byte> from;
  std::size_t to_bytes = 0, scale_bytes = 0;
};

inline drawn draw(std::mt19937_64& rng) {
  auto const any = [&](int lo, int hi) {
    return lo + static_cast<int>(rng() % static_cast<unsigned>(hi - lo + 1));
  };
  drawn d;
  quantize_problem& p = d.problem;
  p.outer = any(1, 200);
  p.k = any(0, 1) == 0 ? 4 * any(1, 100) : any(1, 400);
  auto const matrix = [&](elem type, int pad) {
    order const ord = any(0, 2) != 0 ? order::row_major : order::col_major;
    return matrix_desc{type, ord, (ord == order::row_major ? p.k : p.outer) + pad};
  };
  p.from = matrix(std::array{elem::bf16, elem::f16, elem::f32}[any(0, 2)], 4 * any(0, 1));
  p.to = matrix(std::array{elem::e4m3, elem::e5m2, elem::s8}[any(0, 2)], 4 * any(0, 1));
  p.power_of_two = any(0, 1) == 0;
  elem const scale =
      !p.power_of_two ? elem::f32 : std::array{elem::f32, elem::ue8m0, elem::s32}[any(0, 2)];
  std::vector<scale_convention> const all = scale_conventions({false, p.outer, p.k}, scale);
  p.scale = all[rng() % all.size()].desc;
  auto const bytes = [&](matrix_desc const& m) {
    return static_cast<std::size_t>(m.pitch_elems * (m.ord == order::row_major ? p.outer : p.k) *
                                    size_bytes(m.type));
  };
  d.from.resize(bytes(p.from));
  d.to_bytes = bytes(p.to);
  d.scale_bytes =
      static_cast<std::size_t>(scale_extent(p.scale, p.outer, p.k) * size_bytes(p.scale.type));
  int const kind = any(0, 3);  // any bits; numbers near 1, with some that are special
  std::normal_distribution<float> normal;
  auto const width = static_cast<std::size_t>(size_bytes(p.from.type));
  for (std::size_t i = 0; i < d.from.size(); i += width) {
    float const x = any(0, 300) == 0 ? NAN : any(0, 300) == 0 ? INFINITY : normal(rng);
    std::uint32_t word = p.from.type == elem::bf16  ? to_bf16(x).bits
                         : p.from.type == elem::f16 ? to_f16(x).bits
                                                    : __builtin_bit_cast(std::uint32_t, x);
    if (kind == 0) word = static_cast<std::uint32_t>(rng());
    if (kind == 1 && any(0, 3) != 0) word = 0;
    std::memcpy(&d.from[i], &word, width);
  }
  return d;
}

}  // namespace tw::test
