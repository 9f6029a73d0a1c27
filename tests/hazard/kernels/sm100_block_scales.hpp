// SPDX-License-Identifier: Apache-2.0
// sm100_block_scales.hpp  Runs the Blackwell GEMM with block scales on small integers, and
//                         compares D.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/hazard/hazard_kernels.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/kernel/sm100/gemm.hpp"

namespace tw::test {

struct scaled_problem_size {
  int m, n, k;
  int b_block;            // rows of B with one scale: 1 or 128
  bool d_by_tma = false;  // the leading dimension of D is a multiple of 16 bytes, or odd
};
struct scaled_run {
  emu::report report;
  std::string wrong;  // the first element of D that is wrong; empty: none
};

inline tensor_map scaled_map(void* base, elem type, int rows, int columns, int box_rows,
                             int box_columns) {
  tensor_map_desc d;
  d.base = base;
  d.type = type;
  d.rank = 4;  // the last two: a tma_place, or (batch, 0)
  d.dim[0] = columns, d.dim[1] = rows, d.dim[2] = d.dim[3] = 1;
  d.stride_bytes[0] = d.stride_bytes[1] = d.stride_bytes[2] =
      std::int64_t{columns} * size_bytes(type);
  d.box[0] = box_columns, d.box[1] = box_rows, d.box[2] = d.box[3] = 1;
  d.swizzle = swizzle_mode::b128;
  return make_tensor_map(d, target::emu);
}

/// D (m, n) = A (m, k) B (n, k)^T of bf16, with scales that are powers of two: 1x128 of A, and of B
/// for b_block rows by 128. One cluster computes all tiles; with cluster launch control there is
/// one for each tile, and the first ones take the work of others.
template <sm100_config C>
scaled_run run_scaled(scaled_problem_size const& s, int schedule) {
  static_assert(C.d == elem::bf16 && (C.a.stored == elem::e4m3 || C.a.stored == elem::e5m2));
  using store = typename gemm_sm100<C>::store;
  int const blocks = s.k / 128, d_pitch = s.d_by_tma ? s.n : s.n + 1;
  std::mt19937 random(static_cast<unsigned>(schedule));
  auto const fill = [&](int rows) {
    std::vector<std::uint8_t> x(static_cast<std::size_t>(rows * s.k));
    for (std::uint8_t& v : x) {
      float const f = static_cast<float>(random() % 7) - 3;
      v = C.a.stored == elem::e4m3 ? to_e4m3(f, saturation::finite).bits
                                   : to_e5m2(f, saturation::finite).bits;
    }
    return x;
  };
  auto const scales = [&](int count) {
    std::vector<float> x(static_cast<std::size_t>(count));
    for (float& v : x) v = std::ldexp(1.0F, static_cast<int>(random() % 3) - 1);
    return x;
  };
  std::vector<std::uint8_t> a = fill(s.m), b = fill(s.n);
  std::vector<float> const a_scales = scales(s.m * blocks),
                           b_scales = scales(s.n / s.b_block * blocks);
  std::vector<std::uint16_t> d(static_cast<std::size_t>(s.m * d_pitch), 0x7FFF);
  auto const tiles_of = [](int extent, int tile) { return (extent + tile - 1) / tile; };
  int const tiles = tiles_of(s.m, C.tile_m()) * tiles_of(s.n, C.tile_n);
  sm100_params p{};
  p.walk = tile_walk({tiles_of(s.m, C.tile_m()), tiles_of(s.n, C.tile_n), 1});
  p.k_blocks = blocks;
  p.a = scaled_map(a.data(), C.a.stored, s.m, s.k, 128, 128);
  p.b = scaled_map(b.data(), C.a.stored, s.n, s.k, C.b_share(), 128);
  p.a_scales = {a_scales.data(), blocks, 1, 0, 0, 0, 0};
  p.b_scales = {b_scales.data(), blocks, 1, 0, s.b_block == 1 ? 0 : 7, 0, 0};
  epilogue_params& e = p.epilogue;
  e.data = d.data();
  e.pitch = d_pitch;
  e.m = s.m, e.n = s.n, e.alpha = 1;
  if (s.d_by_tma) {
    e.d = scaled_map(d.data(), C.d, s.m, s.n, store::rows, store::cols);
    e.tma_end = s.n;
  }
  emu::options o = scheduled(schedule);
  if (C.dynamic) o.live_clusters = 1;
  scaled_run result{emu::run(gemm_sm100<C>{}, C.ctas * (C.dynamic ? tiles : 1), p, o), ""};
  auto const at = [&](std::vector<std::uint8_t> const& x, int row, int i) {
    std::uint8_t const bits = x[static_cast<std::size_t>(row * s.k + i)];
    return C.a.stored == elem::e4m3 ? to_float(e4m3{bits}) : to_float(e5m2{bits});
  };
  for (int i = 0; i < s.m; i += 5)
    for (int j = 0; j < s.n; ++j) {
      float sum = 0;  // exact
      for (int x = 0; x < s.k; ++x)
        sum += at(a, i, x) * at(b, j, x) *
               a_scales[static_cast<std::size_t>(i * blocks + x / 128)] *
               b_scales[static_cast<std::size_t>(j / s.b_block * blocks + x / 128)];
      std::uint16_t const got = d[static_cast<std::size_t>(i * d_pitch + j)];
      if (got != to_bf16(sum).bits && result.wrong.empty())
        result.wrong = "D(" + std::to_string(i) + ", " + std::to_string(j) + ")";
    }
  return result;
}

}  // namespace tw::test
