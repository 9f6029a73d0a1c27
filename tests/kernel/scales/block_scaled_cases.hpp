// SPDX-License-Identifier: Apache-2.0
// block_scaled_cases.hpp  Random GEMMs of MXFP8, MXFP4 and NVFP4 operands, in every order and with
//                         every gap, and an independent reference in float64.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tests/kernel/gemm_cases.hpp"
#include "tilewright/problem/block_scale_convention.hpp"
#include "tilewright/problem/block_scaled.hpp"

namespace tw::test {

/// An operand: rows of A or columns of B, contiguous along K, and its scales. Whatever is not an
/// element is 1s in all bits: NaN as e4m3, -6 as e2m1.
struct scaled_operand_data {
  std::int64_t rows = 0, k = 0, matrices = 1;
  int block = 32;
  std::vector<double> value, factor;  // (matrix, row, k) and (matrix, row, block)
  std::vector<std::byte> bytes, factors;
  std::size_t first = 0, first_factor = 0;
  matrix_desc desc;
  scale_desc scale;

  std::int64_t blocks() const { return (k + block - 1) / block; }
  double of(std::int64_t matrix, std::int64_t row, std::int64_t i) const {
    auto const at = static_cast<std::size_t>(((matrices == 1 ? 0 : matrix) * rows + row));
    auto const length = static_cast<std::size_t>(k), count = static_cast<std::size_t>(blocks());
    return value[at * length + static_cast<std::size_t>(i)] *
           factor[at * count + static_cast<std::size_t>(i / block)];
  }
};

struct scaled_draw {
  block_format format = block_format::nvfp4;
  elem type = elem::e2m1;
  bool is_b = false;
  bool exact = false;  // sums of such numbers are exact in float32
};

template <class Any>
scaled_operand_data draw_operand(scaled_draw const& d, std::int64_t rows, std::int64_t k,
                                 std::int64_t batch, Any const& any) {
  scaled_operand_data x;
  x.rows = rows, x.k = k, x.block = traits_of(d.format).block;
  x.matrices = batch == 1 || any(0, 3) == 0 ? 1 : batch;
  bool const four = d.type == elem::e2m1;
  std::int64_t const pitch = k + (any(0, 1) == 0 ? (32 - k % 32) % 32 : 2 * any(0, 9));
  std::int64_t const stride = x.matrices == 1 ? 0 : rows * pitch + 2 * any(0, 20);
  x.desc = {d.type, d.is_b ? order::col_major : order::row_major, pitch, stride};
  auto const bytes_of = [&](std::int64_t n) { return static_cast<std::size_t>(four ? n / 2 : n); };
  x.bytes.assign(bytes_of(rows * pitch + stride * (x.matrices - 1)) + 64, std::byte{0xFF});
  auto const at_16 = [](std::vector<std::byte> const& v) {
    return (16 - reinterpret_cast<std::uintptr_t>(v.data()) % 16) % 16;
  };
  x.first = at_16(x.bytes) + static_cast<std::size_t>(any(0, 3) == 0 ? any(0, 15) : 0);
  static constexpr float few[] = {0, 0.5F, 1, -1, 1.5F, -2, 3};
  for (std::int64_t m = 0; m < x.matrices; ++m)
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t i = 0; i < k; ++i) {
        std::int64_t const at = m * stride + r * pitch + i;
        std::byte& to = x.bytes[x.first + bytes_of(at)];
        float const f = few[any(0, 6)];
        if (four) {
          std::uint8_t const code =
              d.exact ? to_e2m1(f).bits : static_cast<std::uint8_t>(any(0, 15));
          unsigned const old = std::to_integer<unsigned>(to);
          to =
              static_cast<std::byte>(at % 2 == 0 ? (old & 0xF0U) | code : (old & 0xFU) | code << 4);
          x.value.push_back(static_cast<double>(to_float(e2m1{code})));
        } else if (d.type == elem::e4m3) {
          auto code = static_cast<std::uint8_t>(any(0, 255));
          if (d.exact) code = to_e4m3(f, saturation::none).bits;
          if ((code & 0x7FU) == 0x7FU) code = 0;  // NaN
          to = static_cast<std::byte>(code);
          x.value.push_back(static_cast<double>(to_float(e4m3{code})));
        } else {
          auto code = static_cast<std::uint8_t>(any(0, 255));
          if (d.exact) code = to_e5m2(f, saturation::none).bits;
          if ((code & 0x7CU) == 0x7CU) code = 0;  // infinities and NaN
          to = static_cast<std::byte>(code);
          x.value.push_back(static_cast<double>(to_float(e5m2{code})));
        }
      }
  // Scales: 32x4x4 as torch has it, or rows with a gap.
  std::int64_t const blocks = x.blocks(), tiles = (blocks + 3) / 4;
  bool const tiled = any(0, 1) == 0;
  std::int64_t const row_pitch = blocks + (any(0, 1) == 0 ? 0 : any(0, 5));
  std::int64_t const gap = any(0, 2) == 0 ? any(0, 40) : 0;
  std::int64_t const one = tiled ? (rows + 127) / 128 * tiles * 512 : rows * row_pitch;
  bool const same_scales = x.matrices == 1 && (batch == 1 || any(0, 1) == 0);
  std::int64_t const sets = same_scales ? 1 : batch;
  // The values of one matrix may have other scales in each of a batch: then they are repeated.
  if (sets > x.matrices) {
    std::vector<double> const once = x.value;
    for (std::int64_t m = 1; m < sets; ++m) x.value.insert(x.value.end(), once.begin(), once.end());
    x.matrices = sets;
  }
  x.scale.type = traits_of(d.format).factor;
  x.scale.block_outer = 1, x.scale.block_k = x.block;
  x.scale.tiled = tiled;
  x.scale.stride_outer = tiled ? tiles * 512 : row_pitch;
  x.scale.stride_k = tiled ? 512 : 1;
  x.scale.batch_stride = sets == 1 ? 0 : one + gap;
  x.scale.second_level = d.format == block_format::nvfp4;
  // Bytes of no block: anything but NaN where the kernel reads them.
  x.factors.assign(static_cast<std::size_t>(one + (one + gap) * (sets - 1)) + 64, std::byte{0x31});
  x.first_factor = at_16(x.factors) + static_cast<std::size_t>(any(0, 3) == 0 ? any(0, 15) : 0);
  for (std::int64_t m = 0; m < x.matrices; ++m)
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t b = 0; b < blocks; ++b) {
        std::int64_t const in =
            tiled ? (r / 128 * tiles + b / 4) * 512 + r % 32 * 16 + r % 128 / 32 * 4 + b % 4
                  : r * row_pitch + b;
        std::int64_t const at = (sets == 1 ? 0 : m) * (one + gap) + in;
        std::byte& to = x.factors[x.first_factor + static_cast<std::size_t>(at)];
        if (sets == 1 && m > 0) {
          // set by the first matrix
        } else if (d.format == block_format::nvfp4) {
          static constexpr float some[] = {0.5F, 1, 2, 0.75F, 1.5F};
          to = static_cast<std::byte>(d.exact ? to_ue4m3(some[any(0, 4)]).bits : any(1, 0x7E));
        } else {
          to = static_cast<std::byte>(d.exact ? any(126, 128) : any(112, 140));
        }
        std::uint8_t const code = std::to_integer<std::uint8_t>(to);
        x.factor.push_back(static_cast<double>(
            d.format == block_format::nvfp4 ? to_float(ue4m3{code}) : to_float(ue8m0{code})));
      }
  return x;
}

struct block_scaled_product {
  gemm_problem problem;
  scaled_operand_data a, b;
  matrix c, d;
  float second_a = 1, second_b = 1;
  bool exact = false;

  gemm_operands operands() {
    gemm_operands o{a.bytes.data() + a.first, b.bytes.data() + b.first,
                    problem.c ? c.data() : nullptr, d.data()};
    o.scale_a = a.factors.data() + a.first_factor;
    o.scale_b = b.factors.data() + b.first_factor;
    if (problem.scale_a->second_level) o.second_level_a = &second_a, o.second_level_b = &second_b;
    return o;
  }
  std::string text() const {
    auto const scale = [](scale_desc const& s) { return s.tiled ? " 32x4x4" : " linear"; };
    return "m=" + std::to_string(problem.m) + " n=" + std::to_string(problem.n) +
           " k=" + std::to_string(problem.k) + " batch=" + std::to_string(problem.batch) + " A " +
           name(problem.a.type) + scale(a.scale) + " B " + name(problem.b.type) + scale(b.scale) +
           " " + traits_of(format_of(problem)).name + " D " + name(problem.d.type) +
           (problem.d.ord == order::row_major ? " row" : " col");
  }
};

inline block_scaled_product random_block_scaled(std::mt19937_64& rng, block_format format, int most,
                                                bool exact) {
  auto const any = [&](int lo, int hi) {
    return lo + static_cast<int>(rng() % static_cast<unsigned>(hi - lo + 1));
  };
  auto const extent = [&] { return any(0, 4) == 0 ? any(1, 20) : any(1, most); };
  block_scaled_product p;
  p.exact = exact;
  bool const mx8 = format == block_format::mxfp8;
  std::int64_t const m = extent(), n = extent();
  std::int64_t const k = mx8 ? any(1, 2 * most) : 2 * any(1, 2 * most);
  std::int64_t const batch = any(0, 3) == 0 ? any(2, 3) : 1;
  elem const a = mx8 ? elem::e4m3 : elem::e2m1;
  elem const b = mx8 && any(0, 2) == 0 ? elem::e5m2 : a;
  bool const mixed = a != b;
  p.a = draw_operand({format, a, false, exact}, m, k, batch, any);
  p.b = draw_operand({format, b, true, exact}, n, k, batch, any);
  elem const results[] = {elem::bf16, elem::f32, elem::f16};
  elem const type = mixed ? elem::bf16 : results[any(0, format == block_format::nvfp4 ? 2 : 1)];
  order const ord = any(0, 3) == 0 && !mixed ? order::col_major : order::row_major;
  p.d = make_matrix(type, ord, m, n, any(0, 1) == 0 ? 0 : any(0, 9), nullptr, batch);
  p.problem = {m, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F, batch};
  p.problem.scale_a = p.a.scale, p.problem.scale_b = p.b.scale;
  if (any(0, 1) == 0) p.problem.alpha = exact ? 2.0F : -0.37F;
  if (any(0, 2) == 0) {
    p.c = make_matrix(
        elem::bf16, ord, m, n, 0, [&] { return static_cast<float>(any(-8, 8)); }, batch);
    p.problem.c = p.c.desc;
    p.problem.beta = 0.5F;
  }
  if (format == block_format::nvfp4) {
    p.second_a = exact ? 0.5F : 0.0123F, p.second_b = exact ? 0.25F : 3.7F;
  }
  return p;
}

/// Every element within the bound, and bit for bit where the sums are exact; nothing else written.
inline void expect_right(block_scaled_product const& p) {
  gemm_problem const& q = p.problem;
  double const second = static_cast<double>(p.second_a * p.second_b);
  double const rounding = q.d.type == elem::f32    ? 0x1p-24
                          : q.d.type == elem::bf16 ? 0x1p-8
                                                   : 0x1p-11;
  for (std::int64_t i = 0; i < q.batch; ++i)
    for (std::int64_t r = 0; r < q.m; ++r)
      for (std::int64_t c = 0; c < q.n; ++c) {
        double s = 0, t = 0;
        for (std::int64_t k = 0; k < q.k; ++k) {
          double const x = p.a.of(i, r, k) * p.b.of(i, c, k) * second;
          s += x, t += std::fabs(x);
        }
        double const add = q.c ? static_cast<double>(q.beta) * p.c.load(r, c, i) : 0;
        double const want = static_cast<double>(q.alpha) * s + add;
        double const got = p.d.load(r, c, i);
        if (p.exact) {
          auto const f = static_cast<float>(want);
          double const bits = q.d.type == elem::f32    ? static_cast<double>(f)
                              : q.d.type == elem::bf16 ? static_cast<double>(to_float(to_bf16(f)))
                                                       : static_cast<double>(to_float(to_f16(f)));
          if (got != bits)
            FAIL() << p.text() << ": D(" << r << "," << c << ") of " << i << " = " << got
                   << ", not " << bits;
          continue;
        }
        double const error =
            std::fabs(static_cast<double>(q.alpha)) * static_cast<double>(q.k + 4) * 0x1p-22 * t +
            0x1p-22 * std::fabs(add);
        double const bound = error + rounding * (std::fabs(want) + error) + 0x1p-25;
        bool const overflows = q.d.type == elem::f16 && std::fabs(want) + bound >= 65504;
        if (!overflows && !(std::fabs(got - want) <= bound))
          FAIL() << p.text() << ": D(" << r << "," << c << ") of " << i << " = " << got << ", want "
                 << want << " within " << bound;
      }
}

}  // namespace tw::test
