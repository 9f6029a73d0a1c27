// SPDX-License-Identifier: Apache-2.0
// add_test.cpp  The addition of partial results: 8 elements at a time have the bits of one at a
//               time, with each vector, C, activation and type.
#include "tilewright/kernel/partials/add.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "tilewright/arch/emu/launch.hpp"

namespace tw::dist {
namespace {

using bytes = std::vector<std::byte>;

/// Random finite elements of a wide float type.
void fill(std::byte* at, std::int64_t count, elem type, std::mt19937_64& rng) {
  std::uniform_real_distribution<float> value(-2, 2);
  for (std::int64_t i = 0; i < count; ++i) {
    float const x = value(rng);
    std::uint16_t const half = type == elem::bf16 ? to_bf16(x).bits : to_f16(x).bits;
    if (type == elem::f32)
      std::memcpy(at + 4 * i, &x, 4);
    else
      std::memcpy(at + 2 * i, &half, 2);
  }
}

TEST(AddPartials, EightElementsHaveTheBitsOfOne) {
  constexpr elem wide_floats[] = {elem::f32, elem::bf16, elem::f16};
  constexpr int rows = 3, cols = 40, pitch = 48, most = 5;
  for (int i = 0; i < 300; ++i) {
    std::mt19937_64 rng(static_cast<std::uint64_t>(i));
    auto const one_of = [&](int n) { return static_cast<int>(rng() % static_cast<unsigned>(n)); };
    add_partials_params p = {};
    p.count = 1 + one_of(most), p.rows = rows, p.cols = cols;
    p.pitch = pitch, p.part_stride = rows * pitch;
    p.type = wide_floats[one_of(3)];
    elem const d_type = wide_floats[one_of(3)];
    alignas(16) static std::byte parts[most * rows * pitch * 4], own[rows * pitch * 4],
        c[rows * pitch * 4], bias[cols * 4];
    static float of_rows[rows], of_cols[cols];
    fill(parts, most * rows * pitch, p.type, rng), fill(own, rows * pitch, p.type, rng);
    p.parts = parts;
    if (one_of(2) == 0) p.own = own, p.own_index = one_of(p.count);
    epilogue_params& e = p.epilogue;
    fused_params& f = e.fused;
    e.alpha = std::vector<float>{1, 0.75F, 0}[static_cast<std::size_t>(one_of(3))];
    e.beta = 0.5F;
    if (one_of(2) == 0) {
      e.c = {c, pitch, 1, 0, wide_floats[one_of(3)], nullptr};
      fill(c, rows * pitch, e.c.type, rng);
      f.c_last = one_of(2) == 0;
    }
    if (one_of(2) == 0) {
      f.bias = bias, f.bias_type = wide_floats[one_of(3)], f.bias_rows = one_of(2) == 0;
      fill(bias, cols, f.bias_type, rng);
    }
    for (float& x : of_rows) fill(reinterpret_cast<std::byte*>(&x), 1, elem::f32, rng);
    for (float& x : of_cols) fill(reinterpret_cast<std::byte*>(&x), 1, elem::f32, rng);
    if (one_of(2) == 0) f.row_scale = of_rows, f.row_scale_step = one_of(2);
    if (one_of(2) == 0) f.col_scale = of_cols, f.col_scale_step = one_of(2);
    f.act = static_cast<activation>(one_of(5));  // the last one is for gates
    alignas(16) static std::byte d[2][rows * pitch * 4 + 16];
    for (int narrow = 0; narrow < 2; ++narrow) {
      std::memset(d[narrow], 0xFF, sizeof d[narrow]);
      // D at no multiple of 16 bytes: elements are added one at a time.
      p.d = {d[narrow] + 4 * narrow, pitch, 1, d_type};
      ASSERT_EQ(add_partials_kernel::takes_wide(p), narrow == 0);
      emu::options o;
      o.live_clusters = 1;
      launch<add_partials_kernel>(add_partials_kernel::ctas(p), p, o);
    }
    EXPECT_EQ(std::memcmp(d[0], d[1] + 4, rows * pitch * static_cast<std::size_t>(4)), 0)
        << "case " << i;
  }
}

}  // namespace
}  // namespace tw::dist
