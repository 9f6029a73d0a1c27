// SPDX-License-Identifier: Apache-2.0
// invariant_cases.hpp  Reproducible GEMMs of every operand type and epilogue, and parts of them:
//                      other M, other first rows, other columns of B. A row of a part has the bits
//                      that it has in the whole (docs/invariance.md).
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tilewright/base/convert.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/problem/scale.hpp"

namespace tw::test {

/// Memory at a multiple of 256 bytes that host and device of a test can read.
using memory_block = std::shared_ptr<std::byte>;
using allocate_memory = std::function<memory_block(std::size_t)>;

struct invariant_case {
  std::string name;
  elem a = elem::bf16, b = elem::bf16, d = elem::bf16;
  int k = 200;
  gemm_precision precision = {};
  gemm_epilogue epilogue = {};
  float alpha = 1, beta = 0;                                   // beta: C, of f32
  scaling scale_a = scaling::other, scale_b = scaling::other;  // other: none
  bool aux = false;
  bool a_by_cols = false, b_by_rows = false;  // not K-major
};

inline std::vector<invariant_case> invariant_cases() {
  using enum elem;
  gemm_epilogue const bias{.bias = {along::cols, f32}, .act = activation::gelu_tanh};
  gemm_epilogue const row_bias{.bias = {along::rows, f32}};
  gemm_epilogue const all{.bias = along::cols,
                          .row_scale = along::rows,
                          .col_scale = along::cols,
                          .act = activation::silu};
  gemm_epilogue const gate{.act = activation::silu, .gate = gating::interleaved};
  gemm_precision const fast{.promote_k = 0}, every_64{.promote_k = 64};
  auto const block = scaling::block_1x128, square = scaling::block_128x128;
  return {
      {.name = "bf16"},
      {.name = "bf16_to_f32", .d = f32, .alpha = 0.3F, .beta = 0.7F},
      {.name = "f16", .a = f16, .b = f16, .d = f16, .precision = {.f16_sums = true}},
      {.name = "e4m3", .a = e4m3, .b = e4m3, .k = 400},
      {.name = "e4m3_every_64", .a = e4m3, .b = e4m3, .k = 400, .precision = every_64},
      {.name = "e4m3_fast", .a = e4m3, .b = e4m3, .k = 400, .precision = fast},
      {.name = "e4m3_e5m2", .a = e4m3, .b = e5m2, .k = 400},
      {.name = "s8_to_s32", .a = s8, .b = s8, .d = s32},
      {.name = "s8", .a = s8, .b = s8, .alpha = 0.01F},
      {.name = "tf32", .a = tf32, .b = tf32, .d = f32, .k = 100},
      {.name = "f32", .a = f32, .b = f32, .d = f32, .k = 100},
      {.name = "bias_gelu", .epilogue = bias, .alpha = 0.3F},
      {.name = "bias_of_rows", .epilogue = row_bias, .alpha = 0.3F},
      {.name = "scales_bias_silu_c", .epilogue = all, .alpha = 0.3F, .beta = 0.7F},
      {.name = "swiglu", .epilogue = gate, .alpha = 0.3F},
      {.name = "bias_aux", .epilogue = bias, .alpha = 0.3F, .aux = true},
      {.name = "e4m3_bias", .a = e4m3, .b = e4m3, .k = 400, .epilogue = bias, .alpha = 0.3F},
      {.name = "e4m3_bias_every_64",
       .a = e4m3,
       .b = e4m3,
       .k = 400,
       .precision = every_64,
       .epilogue = bias},
      {.name = "e4m3_blocks_every_64",
       .a = e4m3,
       .b = e4m3,
       .k = 400,
       .precision = every_64,
       .scale_a = block,
       .scale_b = block},
      {.name = "e4m3_rows",
       .a = e4m3,
       .b = e4m3,
       .k = 400,
       .scale_a = scaling::row,
       .scale_b = scaling::row},
      {.name = "e4m3_blocks", .a = e4m3, .b = e4m3, .k = 400, .scale_a = block, .scale_b = square},
      {.name = "e4m3_one_block",
       .a = e4m3,
       .b = e4m3,
       .k = 96,
       .scale_a = block,
       .scale_b = square},
      {.name = "tf32_nn", .a = tf32, .b = tf32, .d = f32, .k = 100, .a_by_cols = true},
      {.name = "tf32_tt", .a = tf32, .b = tf32, .d = f32, .k = 100, .b_by_rows = true},
      {.name = "s8_nn", .a = s8, .b = s8, .alpha = 0.01F, .a_by_cols = true},
      {.name = "s8_to_s32_nt", .a = s8, .b = s8, .d = s32, .a_by_cols = true, .b_by_rows = true},
      {.name = "e4m3_tt", .a = e4m3, .b = e4m3, .k = 400, .b_by_rows = true},
      {.name = "e4m3_fast_nn",
       .a = e4m3,
       .b = e4m3,
       .k = 400,
       .precision = fast,
       .a_by_cols = true},
  };
}

/// Rows [row, row + m) of D and columns [col, col + n) of A B.
struct invariant_part {
  int row = 0, m = 1, col = 0, n = 1;
};

class invariant_data {
 public:
  invariant_data(invariant_case const& c, int m, int n, allocate_memory allocate)
      : case_(c),
        m_(m),
        n_(n),
        allocate_(std::move(allocate)) {
    std::mt19937_64 rng(7);
    a_pitch_ = up(c.a_by_cols ? m : c.k);
    b_pitch_ = up(c.b_by_rows ? n : c.k);
    a_ = filled(c.a, a_pitch_ * (c.a_by_cols ? c.k : m), rng);
    b_ = filled(c.b, b_pitch_ * (c.b_by_rows ? c.k : n), rng);
    c_ = filled(elem::f32, m * n, rng);
    bias_ = filled(elem::f32, std::max(m, n), rng);
    rows_ = filled(elem::f32, m, rng);
    cols_ = filled(elem::f32, n, rng);
    scale_a_ = filled(elem::f32, m * blocks(), rng);
    scale_b_ = filled(elem::f32, n * blocks(), rng);
  }

  gemm_problem problem(invariant_part const& part) const {
    gemm_problem p;
    p.m = part.m, p.n = part.n, p.k = case_.k;
    p.a = {case_.a, case_.a_by_cols ? order::col_major : order::row_major, a_pitch_};
    p.b = {case_.b, case_.b_by_rows ? order::row_major : order::col_major, b_pitch_};
    p.d = {case_.d, order::row_major, d_pitch(part.n)};
    p.alpha = case_.alpha, p.beta = case_.beta;
    if (case_.beta != 0) p.c = {elem::f32, order::row_major, n_};
    p.epilogue = case_.epilogue;
    p.precision = case_.precision;
    p.scale_a = scales(case_.scale_a, m_);
    p.scale_b = scales(case_.scale_b, n_);
    if (case_.aux) p.aux = {case_.d, order::row_major, d_pitch(part.n)};
    p.reproducible = true;
    return p;
  }

  gemm_operands operands(invariant_part const& part, memory_block const& d,
                         memory_block const& aux) const {
    auto const at = [](memory_block const& block, elem type, std::int64_t i) {
      return block.get() + i * size_bytes(type);
    };
    auto const f32 = [&](memory_block const& block, std::int64_t i) {
      return reinterpret_cast<float const*>(at(block, elem::f32, i));
    };
    gemm_operands o;
    o.a = at(a_, case_.a, part.row * (case_.a_by_cols ? 1 : a_pitch_));
    o.b = at(b_, case_.b, part.col * (case_.b_by_rows ? 1 : b_pitch_));
    if (case_.beta != 0) o.c = f32(c_, std::int64_t{part.row} * n_ + part.col);
    o.d = d.get();
    if (case_.epilogue.bias != along::none)
      o.bias = f32(bias_, case_.epilogue.bias == along::rows ? part.row : part.col);
    if (case_.epilogue.row_scale) o.row_scale = f32(rows_, part.row);
    if (case_.epilogue.col_scale) o.col_scale = f32(cols_, part.col);
    auto const scale = [&](scaling kind, memory_block const& of, int first) {
      return f32(of, kind == scaling::block_128x128 ? first / 128 : first);
    };
    if (case_.scale_a != scaling::other) o.scale_a = scale(case_.scale_a, scale_a_, part.row);
    if (case_.scale_b != scaling::other) o.scale_b = scale(case_.scale_b, scale_b_, part.col);
    if (case_.aux) o.aux = aux.get();
    return o;
  }

  /// Bytes of the part's D, or of its auxiliary output, row by row.
  std::size_t row_bytes(int n) const {
    return static_cast<std::size_t>(cols_of_d(n)) * static_cast<std::size_t>(bytes());
  }
  int cols_of_d(int n) const { return static_cast<int>(result_cols(case_.epilogue, n)); }
  int bytes() const { return size_bytes(case_.d); }
  std::int64_t d_pitch(int n) const { return up(n); }
  memory_block results(invariant_part const& part) const {
    return allocate_(static_cast<std::size_t>(part.m * d_pitch(part.n) * bytes()));
  }

 private:
  std::int64_t blocks() const { return (case_.k + 127) / 128; }
  static std::int64_t up(int n) { return (n + 15) / 16 * 16; }

  /// As torch has them: neighbouring rows are adjacent.
  std::optional<scale_desc> scales(scaling kind, int outer) const {
    if (kind == scaling::other) return std::nullopt;
    scale_desc s;
    s.block_outer = kind == scaling::block_128x128 ? 128 : 1;
    s.block_k = kind == scaling::row ? 0 : 128;
    s.stride_outer = 1;
    s.stride_k = kind == scaling::row ? 0 : outer;
    return s;
  }

  memory_block filled(elem type, std::int64_t count, std::mt19937_64& rng) {
    memory_block block = allocate_(static_cast<std::size_t>(count * size_bytes(type)));
    std::normal_distribution<float> normal;
    for (std::int64_t i = 0; i < count; ++i) {
      float const x = normal(rng);
      std::byte* const to = block.get() + i * size_bytes(type);
      auto const put = [&](auto value) { std::memcpy(to, &value, sizeof(value)); };
      switch (type) {
        case elem::bf16: put(to_bf16(x)); break;
        case elem::f16: put(to_f16(x)); break;
        case elem::e4m3: put(to_e4m3(x, saturation::finite)); break;
        case elem::e5m2: put(to_e5m2(x, saturation::finite)); break;
        case elem::s8: put(static_cast<std::int8_t>(rng())); break;
        default: put(x);
      }
    }
    return block;
  }

  invariant_case case_;
  int m_, n_;
  std::int64_t a_pitch_ = 0, b_pitch_ = 0;
  allocate_memory allocate_;
  memory_block a_, b_, c_, bias_, rows_, cols_, scale_a_, scale_b_;
};

/// Runs a plan; its D and auxiliary output can be read afterwards.
using run_plan = std::function<void(gemm_plan const&, gemm_operands const&)>;

/// Each part, by up to `most` kernels for a device of few SMs and one of many, has the bits of the
/// whole, m x n. `in_turn`: each part by one of them. The kernels that ran are added to `kernels`.
inline void expect_invariant(invariant_case const& c, int m, int n,
                             std::vector<invariant_part> const& parts, std::vector<device> devices,
                             int most, allocate_memory const& allocate, run_plan const& run,
                             std::set<std::string>& kernels, bool in_turn = false) {
  invariant_data const data(c, m, n, allocate);
  auto const plans_of = [&](invariant_part const& part, gemm_operands const& o) {
    std::vector<gemm_plan> plans;
    std::set<std::string> names;
    for (device const& dev : devices)
      for (gemm_plan& p : plan_candidates(data.problem(part), o, dev, kernel_set::all)) {
        sum_order const order = p.family->order_of_sums(p, dev);
        EXPECT_TRUE(order.fixed()) << p.kernel << ": " << order.why_not;
        if (p.built && static_cast<int>(names.size()) < most && names.insert(p.kernel).second)
          plans.push_back(std::move(p));
      }
    return plans;
  };
  invariant_part const whole{0, m, 0, n};
  memory_block const want = data.results(whole), want_aux = data.results(whole);
  gemm_operands const o = data.operands(whole, want, want_aux);
  std::vector<gemm_plan> const first = plans_of(whole, o);
  ASSERT_FALSE(first.empty()) << "this build has no kernel for it";
  run(first.front(), o);
  std::string const order =
      first.front().family->order_of_sums(first.front(), devices.front()).text;
  std::size_t turn = 0;
  for (invariant_part const& part : parts) {
    memory_block const got = data.results(part), got_aux = data.results(part);
    gemm_operands const of_part = data.operands(part, got, got_aux);
    std::vector<gemm_plan> plans = plans_of(part, of_part);
    ASSERT_FALSE(plans.empty());
    if (in_turn) plans = {plans[turn++ % plans.size()]};
    for (gemm_plan const& plan : plans) {
      EXPECT_EQ(plan.family->order_of_sums(plan, devices.front()).text, order) << plan.kernel;
      run(plan, of_part);
      kernels.insert(plan.kernel);
      auto const compare = [&](memory_block const& all, memory_block const& some, bool gated) {
        int const first_col = gated ? data.cols_of_d(part.col) : part.col;
        std::size_t const bytes =
            gated ? data.row_bytes(part.n) : static_cast<std::size_t>(part.n * data.bytes());
        for (int r = 0; r < part.m; ++r) {
          std::byte const* const x =
              all.get() + ((part.row + r) * data.d_pitch(n) + first_col) * data.bytes();
          std::byte const* const y = some.get() + r * data.d_pitch(part.n) * data.bytes();
          ASSERT_EQ(std::memcmp(x, y, bytes), 0)
              << c.name << ": row " << part.row + r << " differs in a GEMM of " << part.m << "x"
              << part.n << " from row " << part.row << ", column " << part.col << ": "
              << plan.kernel << ", " << plan.family->schedule_text(plan) << ", whole by "
              << first.front().kernel;
        }
      };
      compare(want, got, true);
      if (c.aux) compare(want_aux, got_aux, false);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace tw::test
