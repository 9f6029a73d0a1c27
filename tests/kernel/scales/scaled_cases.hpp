// SPDX-License-Identifier: Apache-2.0
// scaled_cases.hpp  Random GEMMs with scales of A and B, and the bound that D must keep.
#pragma once

#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/kernel/gemm_cases.hpp"
#include "tilewright/problem/scale_convention.hpp"
#include "tilewright/problem/scale_place.hpp"

namespace tw::test {

/// Scales of an operand: values by block, and the same in memory as a convention has them. What
/// lies between is NaN.
struct scales {
  scaled_operand x;
  scale_desc desc;
  std::string text;
  std::vector<float> value;  // (outer blocks, K blocks)
  std::vector<std::byte> memory;

  std::int64_t k_blocks() const { return scale_blocks(desc.block_k, x.k); }
  float of(std::int64_t outer, std::int64_t k) const {
    std::int64_t const i = desc.block_outer == 0 ? 0 : outer / desc.block_outer;
    std::int64_t const kb = desc.block_k == 0 ? 0 : k / desc.block_k;
    return value[static_cast<std::size_t>(i * k_blocks() + kb)];
  }
};

using draw_value = float (*)(std::mt19937_64&);

/// From 2^-6 to 2^6, now and then 0.
inline float finite_scale(std::mt19937_64& rng) {
  if (rng() % 20 == 0) return 0;
  return std::ldexp(1.0F + static_cast<float>(rng() % 1000) / 1000,
                    static_cast<int>(rng() % 12) - 6);
}

inline scales make_scales(scaled_operand const& x, scale_convention const& c, std::mt19937_64& rng,
                          draw_value draw) {
  scales s{x, c.desc, std::string(name(c.kind)) + " " + c.name, {}, {}};
  int const width = size_bytes(c.desc.type);
  s.memory.assign(static_cast<std::size_t>(scale_extent(c.desc, x.outer, x.k) * width),
                  std::byte{0xFF});
  std::int64_t const rows = scale_blocks(c.desc.block_outer, x.outer);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t kb = 0; kb < s.k_blocks(); ++kb) {
      float f = draw(rng);
      auto const at = static_cast<std::size_t>(
          width * scale_offset(c.desc, i * c.desc.block_outer, kb * c.desc.block_k));
      if (c.desc.type == elem::ue8m0) {
        auto const code = static_cast<std::uint8_t>(121 + rng() % 13);
        f = std::ldexp(1.0F, code - 127);
        std::memcpy(&s.memory[at], &code, 1);
      } else {
        std::memcpy(&s.memory[at], &f, 4);
      }
      s.value.push_back(f);
    }
  return s;
}

struct scaled_product : product {
  std::optional<scales> of_a, of_b;
  gemm_operands operands() {
    gemm_operands o = product::operands();
    if (of_a) o.scale_a = of_a->memory.data();
    if (of_b) o.scale_b = of_b->memory.data();
    return o;
  }
  std::string text() const {
    return product::text() + (of_a ? " A " + of_a->text : "") + (of_b ? " B " + of_b->text : "");
  }
};

struct random_request {
  elem a, b, d;
  bool blocks;  // block scales on one side at least, else of tensors and rows
};

inline scaled_product random_scaled(std::mt19937_64& rng, random_request const& r,
                                    draw_value draw) {
  auto const any = [&](int lo, int hi) {
    return lo + static_cast<int>(rng() % static_cast<unsigned>(hi - lo + 1));
  };
  std::normal_distribution<float> normal;
  scaled_product p;
  int const m = any(0, 2) == 0 ? any(1, 20) : any(1, 300), n = any(1, 300);
  int const k = any(0, 3) == 0 ? any(1, 128) : any(100, 700);
  auto const number = [&] {
    return is_integer(r.a) ? static_cast<float>(any(-127, 127)) : normal(rng);
  };
  auto const up = [](int x) { return (x + 15) / 16 * 16 - x; };
  // 8-bit operands in any order; those of blocks are K-major, as their conventions want.
  bool const any_order = !r.blocks && size_bytes(r.a) == 1;
  bool const by_cols = any_order && any(0, 2) == 0, by_rows = any_order && any(0, 2) == 0;
  p.a = make_matrix(r.a, by_cols ? order::col_major : order::row_major, m, k, up(by_cols ? m : k),
                    number);
  p.b = make_matrix(r.b, by_rows ? order::row_major : order::col_major, k, n, up(by_rows ? n : k),
                    number);
  order const od = any(0, 1) == 0 ? order::row_major : order::col_major;
  p.d = make_matrix(r.d, od, m, n, any(0, 1) == 0 ? up(od == order::row_major ? n : m) : any(0, 3),
                    nullptr);
  p.problem = {m, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F};
  if (any(0, 2) == 0) p.problem.alpha = 0.25F;
  auto const side = [&](bool is_b, std::optional<scales>& to, std::optional<scale_desc>& desc,
                        bool blocks) {
    scaled_operand const x{is_b, is_b ? n : m, k};
    int const type = blocks ? any(0, 4) : 0;
    std::vector<scale_convention> all = scale_conventions(x, type < 3    ? elem::f32
                                                             : type == 3 ? elem::ue8m0
                                                                         : elem::s32);
    std::erase_if(all, [&](scale_convention const& c) {
      return blocks != (c.kind == scaling::block_1x128 || c.kind == scaling::block_128x128);
    });
    to = make_scales(x, all[rng() % all.size()], rng, draw);
    desc = to->desc;
  };
  int const which = any(0, 3);  // blocks of both, of A, of B; or A alone has scales
  side(false, p.of_a, p.problem.scale_a, r.blocks && which != 2);
  if (which != 3) side(true, p.of_b, p.problem.scale_b, r.blocks && which != 1);
  return p;
}

/// float32(sa sb) of the K block of element k.
inline double scale_of(scaled_product const& p, std::int64_t row, std::int64_t col,
                       std::int64_t k) {
  float const a = p.of_a ? p.of_a->of(row, k) : 1.0F, b = p.of_b ? p.of_b->of(col, k) : 1.0F;
  return a * b;
}

/// Sums of blocks of 128 of K times their scale, promoted every 128 or 64. `unit`, relative to the
/// sum of the magnitudes: 33 of 2^-13 for each instruction, which adds 32 terms, and the additions
/// in float32.
inline void expect_right(scaled_product const& p) {
  gemm_problem const& q = p.problem;
  double const interval = q.precision.promote_k == 64 ? 64 : 128;
  double const steps = std::ceil(std::min(static_cast<double>(q.k), interval) / 32);
  bool const fp8 = size_bytes(q.a.type) == 1 && !is_integer(q.a.type);
  double const unit = fp8 ? std::pow(1 + 33 * 0x1p-13, steps) - 1 +
                                (static_cast<double>(q.k) / interval + 4) * 0x1p-22
                          : static_cast<double>(q.k) * 0x1p-22;
  double const rounding = q.d.type == elem::f32    ? 0x1p-24
                          : q.d.type == elem::bf16 ? 0x1p-8
                                                   : 0x1p-11;
  for (std::int64_t r = 0; r < q.m; ++r)
    for (std::int64_t c = 0; c < q.n; ++c) {
      double s = 0, t = 0;
      for (std::int64_t k0 = 0; k0 < q.k; k0 += 128) {
        double const scale = scale_of(p, r, c, k0);
        for (std::int64_t k = k0; k < std::min(q.k, k0 + 128); ++k) {
          double const x = p.a.value[static_cast<std::size_t>(r * q.k + k)] *
                           p.b.value[static_cast<std::size_t>(k * q.n + c)];
          s += scale * x, t += std::fabs(scale * x);
        }
      }
      double const want = q.alpha * s, error = std::fabs(q.alpha) * (unit + 0x1p-22) * t;
      double const bound = error + rounding * (std::fabs(want) + error) + 0x1p-25;
      double const got = p.d.load(r, c, 0);
      if (std::isnan(want) ? !std::isnan(got) : !(std::fabs(got - want) <= bound))
        FAIL() << p.text() << ": D(" << r << "," << c << ") = " << got << ", want " << want
               << " within " << bound;
    }
}

}  // namespace tw::test
