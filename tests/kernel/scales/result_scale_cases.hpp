// SPDX-License-Identifier: Apache-2.0
// result_scale_cases.hpp  Random GEMMs whose D has 8 bits and scales, on numbers for which sums in
//                         float32 are exact.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/kernel/gemm_cases.hpp"
#include "tests/problem/activation_formulas.hpp"
#include "tilewright/problem/scale_convention.hpp"

namespace tw::test {

/// The operands of a GEMM that quantises D and computes the scales of D.
struct scaled_result : product {
  matrix bias, col_scale;
  std::vector<std::byte> scales;  // with bytes around them
  std::vector<float> scale_a;     // 1x128, powers of two
  static constexpr std::size_t margin = 4096;

  gemm_operands operands() {
    gemm_operands o = product::operands();
    o.bias = bias.bytes.empty() ? nullptr : bias.data();
    o.col_scale = col_scale.bytes.empty() ? nullptr : static_cast<float const*>(col_scale.data());
    o.scale_a = scale_a.empty() ? nullptr : scale_a.data();
    o.scale_d = scales.data() + margin;
    return o;
  }
  std::string text() const {
    output_scales const& s = *problem.scale_d;
    return product::text() + " act " + std::to_string(int(problem.epilogue.act)) + " gate " +
           std::to_string(int(problem.epilogue.gate)) + " scales of D " +
           std::to_string(s.desc.block_outer) + "x" + std::to_string(s.desc.block_k) + " " +
           name(s.desc.type) + (s.given ? " given" : "") + (s.power_of_two ? " 2^n" : "") +
           (scale_a.empty() ? "" : ", scales of A");
  }
};

struct scaled_result_request {
  elem ab, d;
  bool scaled = false;   // scales of A in the main loop
  bool special = false;  // NaN and infinities in C
};

inline scaled_result random_case(std::mt19937_64& rng, scaled_result_request const& r) {
  auto const any = [&](int lo, int hi) {
    return lo + static_cast<int>(rng() % static_cast<unsigned>(hi - lo + 1));
  };
  scaled_result x;
  gemm_epilogue e;
  auto const& all_gates = all_accepted_gates();
  e.gate = all_gates[static_cast<std::size_t>(any(0, 4)) % all_gates.size()];
  bool const gated = e.gate != gating::none;
  int const m = any(1, 160), k = r.scaled ? any(129, 300) : any(1, 200),
            batch = any(0, 5) == 0 ? 2 : 1;
  int n = any(1, 3) * 128 + (any(0, 1) == 0 ? 0 : any(-127, 127));
  if (gated) n = (n + 15) / 16 * 16;
  int const d_cols = gated ? n / 2 : n;
  int zero_rows = any(0, 3) == 0 ? 3 : 1000;  // every third row of A is zeros
  int at = 0;
  auto const small = [&] {
    bool const zero = at++ / k % zero_rows == zero_rows - 1;
    return zero ? 0.0F : static_cast<float>(any(-4, 4));
  };
  x.a = make_matrix(r.ab, order::row_major, m, k, any(0, 2) == 0 ? 5 : 0, small, batch);
  zero_rows = 1000;
  x.b = make_matrix(r.ab, order::col_major, k, n, 0, small, batch);
  order const d_order = any(0, 5) == 0 ? order::col_major : order::row_major;
  x.d = make_matrix(r.d, d_order, m, d_cols, any(0, 1) == 0 ? any(0, 17) : 0, nullptr, batch);
  x.problem = {m, n, k, x.a.desc, x.b.desc, x.d.desc, std::nullopt, 1.0F, 0.0F, batch, e};
  if (any(0, 1) == 0) {
    e.bias = along::cols;
    x.bias = make_matrix(elem::f32, order::row_major, 1, n, 0, small);
  }
  if (any(0, 2) == 0) {
    e.col_scale = along::cols;
    x.col_scale = make_matrix(elem::f32, order::row_major, 1, n, 0,
                              [&] { return std::ldexp(1.0F, any(-3, 3)); });
  }
  do e.act = activation(any(0, activation_count - 1));
  while (e.gate == gating::none && is_gate_only(e.act));
  if (r.special || any(0, 2) == 0) {
    x.c = make_matrix(
        elem::f32, order::row_major, m, d_cols, 0,
        [&] {
          int const kind = r.special ? any(0, 60) : 9;
          float const big = std::ldexp(1.0F, any(-120, 120));
          return kind == 0   ? NAN
                 : kind == 1 ? INFINITY
                 : kind == 2 ? -INFINITY
                 : kind == 3 ? big
                             : static_cast<float>(any(-9, 9));
        },
        batch);
    x.problem.c = x.c.desc;
    x.problem.beta = 1;
    e.c_last = gated || any(0, 1) == 0;
  }
  x.problem.epilogue = e;
  if (r.scaled) {
    x.problem.scale_a = make_scale({false, m, k, batch}, scaling::block_1x128);
    x.scale_a.resize(static_cast<std::size_t>(m * ((k + 127) / 128) * batch));
    for (float& s : x.scale_a) s = std::ldexp(1.0F, any(-4, 4));
  }
  scaled_operand const over{false, m, d_cols};
  int const kind = any(0, 5);
  output_scales s;
  if (kind == 0) {
    s.given = true;
  } else {
    elem const type = kind == 1 ? elem::ue8m0 : kind == 2 ? elem::s32 : elem::f32;
    s.power_of_two = type != elem::f32 || any(0, 2) == 0;
    std::vector<scale_convention> all = scale_conventions(over, type);
    std::erase_if(all, [&](scale_convention const& c) {
      return c.kind != scaling::block_1x128 && (c.kind != scaling::row || kind < 5);
    });
    s.desc = all[rng() % all.size()].desc;
    if (batch > 1) s.desc.batch_stride = scale_extent(s.desc, m, d_cols) + any(0, 3);
  }
  x.problem.scale_d = s;
  std::int64_t const count = scale_extent(s.desc, m, d_cols) + (batch - 1) * s.desc.batch_stride;
  x.scales.assign(static_cast<std::size_t>(count * size_bytes(s.desc.type)) + 2 * x.margin,
                  std::byte{0x5A});
  float const given = std::ldexp(1.0F + static_cast<float>(any(0, 99)) / 100, any(-8, 4));
  if (s.given) std::memcpy(x.scales.data() + x.margin, &given, sizeof given);
  return x;
}

/// The first difference of two results; NaN of either sign is the same.
inline std::optional<std::size_t> difference(std::vector<std::byte> const& x,
                                             std::vector<std::byte> const& y, elem type) {
  auto const nan = [&](std::byte b) {
    int const magnitude = static_cast<int>(b) & 0x7F;
    return type == elem::e4m3 ? magnitude == 0x7F : type == elem::e5m2 && magnitude > 0x7C;
  };
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x[i] != y[i] && !(nan(x[i]) && nan(y[i]))) return i;
  return std::nullopt;
}

/// The numbers of x in operands of bf16, for which the build has all epilogues: small integers,
/// times powers of two.
inline void in_bf16(scaled_result& x) {
  auto const widened = [&](matrix const& from, float const* scales) {
    std::size_t at = 0;
    return make_matrix(
        elem::bf16, from.desc.ord, from.rows, from.cols, 0,
        [&] {
          auto const i = static_cast<std::int64_t>(at);
          std::int64_t const row = i / from.cols % from.rows, batch = i / from.cols / from.rows;
          scale_desc const s = x.problem.scale_a.value_or(scale_desc{});
          double const scale =
              scales == nullptr ? 1 : scales[scale_offset(s, row, i % from.cols, batch)];
          return static_cast<float>(from.value[at++] * scale);
        },
        from.matrices);
  };
  x.a = widened(x.a, x.scale_a.empty() ? nullptr : x.scale_a.data());
  x.b = widened(x.b, nullptr);
  x.problem.a = x.a.desc, x.problem.b = x.b.desc;
  x.problem.scale_a.reset();
  x.problem.precision = {};
}

}  // namespace tw::test
