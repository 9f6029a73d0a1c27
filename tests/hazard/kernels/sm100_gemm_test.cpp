// SPDX-License-Identifier: Apache-2.0
// sm100_gemm_test.cpp  The Blackwell GEMM of one CTA and of a CTA pair: exact results, and no
//                      report, whenever its asynchronous operations complete.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/hazard/hazard_kernels.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/kernel/sm100/gemm.hpp"

namespace tw::test {
namespace {

struct size {
  int m, n, k;
};

tensor_map map_of(void* base, elem type, int rows, int columns, int box_rows, int box_columns) {
  tensor_map_desc d;
  d.base = base;
  d.type = type;
  d.rank = 4;  // the last two: a tma_place, or (batch, 0)
  d.dim[0] = columns;
  d.dim[1] = rows;
  d.dim[2] = d.dim[3] = 1;
  d.stride_bytes[0] = d.stride_bytes[1] = d.stride_bytes[2] =
      std::int64_t{columns} * size_bytes(type);
  d.box[0] = box_columns;
  d.box[1] = box_rows;
  d.box[2] = d.box[3] = 1;
  d.swizzle = swizzle_mode::b128;
  return make_tensor_map(d, target::emu);
}

float value_of(elem type, std::uint16_t bits) {
  return type == elem::bf16 ? to_float(bf16{bits}) : to_float(f16{bits});
}
std::uint16_t bits_of(elem type, float x) {
  return type == elem::bf16 ? to_bf16(x).bits : to_f16(x).bits;
}

/// D = A B in float64 of small integers, rounded once.
template <sm100_config C>
emu::report run(size const& s, emu::options const& o, int clusters) {
  using kernel = gemm_sm100<C>;
  std::mt19937 random(static_cast<unsigned>(s.m + s.n + s.k));
  auto const matrix = [&](int rows, int columns) {
    std::vector<std::uint16_t> x(static_cast<std::size_t>(rows * columns));
    for (std::uint16_t& e : x) e = bits_of(C.a.stored, static_cast<float>(random() % 9) - 4);
    return x;
  };
  std::vector<std::uint16_t> a = matrix(s.m, s.k), b = matrix(s.n, s.k);
  std::vector<std::uint16_t> d(static_cast<std::size_t>(s.m * s.n), 0x7FFF);
  auto const tiles_of = [](int extent, int tile) { return (extent + tile - 1) / tile; };
  constexpr int span = 64;
  sm100_params p{};
  p.walk = tile_walk({tiles_of(s.m, C.tile_m()), tiles_of(s.n, C.tile_n), 1});
  p.k_blocks = tiles_of(s.k, span);
  p.a = map_of(a.data(), C.a.stored, s.m, s.k, 128, span);
  p.b = map_of(b.data(), C.a.stored, s.n, s.k, C.b_share(), span);
  epilogue_params& e = p.epilogue;
  e.d = map_of(d.data(), C.a.stored, s.m, s.n, kernel::store::rows, kernel::store::cols);
  e.tma_end = 1 << 30;
  e.m = s.m, e.n = s.n, e.alpha = 1.0F;
  emu::report r = emu::run(kernel{}, clusters * C.ctas, p, o);
  if (!r.clean()) return r;
  int wrong = 0;
  for (int i = 0; i < s.m; ++i)
    for (int j = 0; j < s.n; ++j) {
      double sum = 0;
      for (int k = 0; k < s.k; ++k)
        sum += static_cast<double>(value_of(C.a.stored, a[static_cast<std::size_t>(i * s.k + k)])) *
               static_cast<double>(value_of(C.a.stored, b[static_cast<std::size_t>(j * s.k + k)]));
      std::uint16_t const expected = bits_of(C.a.stored, static_cast<float>(sum));
      std::uint16_t const got = d[static_cast<std::size_t>(i * s.n + j)];
      if (got != expected && ++wrong <= 3)
        ADD_FAILURE() << i << ", " << j << ": " << value_of(C.a.stored, got) << ", not " << sum;
    }
  return r;
}

class Sm100Gemm : public testing::TestWithParam<int> {
 protected:
  template <sm100_config C>
  void check(size const& s, int clusters) {
    emu::report const r = run<C>(s, scheduled(GetParam()), clusters);
    EXPECT_TRUE(r.clean()) << r.text();
    EXPECT_GT(r.counts.ummas, 0);
  }
};

TEST_P(Sm100Gemm, OneCta) {
  constexpr sm100_config c{.stages = 3};
  check<c>({256, 256, 256}, 2);  // two tiles each
  check<c>({136, 200, 72}, 1);   // parts of tiles; K that is not a multiple of a stage
}

TEST_P(Sm100Gemm, ManyTilesOfACta) {
  check<sm100_config{.tile_n = 64, .stages = 2}>({128, 320, 128}, 1);
}

TEST_P(Sm100Gemm, CtaPair) {
  constexpr sm100_config c{.ctas = 2, .stages = 3};
  check<c>({512, 256, 256}, 1);
  check<c>({264, 136, 72}, 2);
}

TEST_P(Sm100Gemm, CtaPairWithF16) {
  check<sm100_config{
      .a = {elem::f16}, .b = {elem::f16}, .d = elem::f16, .ctas = 2, .tile_n = 256, .stages = 2}>(
      {256, 256, 192}, 1);
}

INSTANTIATE_TEST_SUITE_P(Schedules, Sm100Gemm, testing::Range(0, 3));

}  // namespace
}  // namespace tw::test
