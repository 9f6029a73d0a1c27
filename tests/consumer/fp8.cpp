// SPDX-License-Identifier: Apache-2.0
// fp8.cpp  A program outside the library: 8-bit floats with 1x128 scales of A and 128x128 scales of
//          B, as DeepGEMM stores them.
#include <cstdio>
#include <vector>

#include "tilewright/base/convert.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/problem/scale_convention.hpp"

int main() {
  int const m = 100, n = 256, k = 512;
  std::vector<tw::e4m3> a(m * k, tw::to_e4m3(0.5F, tw::saturation::none));  // (m, k) row-major
  std::vector<tw::e4m3> b(n * k, tw::to_e4m3(2.0F, tw::saturation::none));  // (k, n) column-major
  std::vector<tw::bf16> d(m * n);                                           // (m, n)
  std::vector<float> scale_a(m * k / 128, 0.5F), scale_b(n / 128 * k / 128, 0.25F);

  tw::gemm_problem p;
  p.m = m, p.n = n, p.k = k;
  p.a = {tw::elem::e4m3, tw::order::row_major, k};
  p.b = {tw::elem::e4m3, tw::order::col_major, k};
  p.d = {tw::elem::bf16, tw::order::row_major, n};
  p.scale_a =
      tw::make_scale({.outer = m, .k = k}, tw::scaling::block_1x128, tw::scale_library::deepgemm);
  p.scale_b = tw::make_scale({.is_b = true, .outer = n, .k = k}, tw::scaling::block_128x128,
                             tw::scale_library::deepgemm);
  tw::gemm_emulated(p, {.a = a.data(),
                        .b = b.data(),
                        .d = d.data(),
                        .scale_a = scale_a.data(),
                        .scale_b = scale_b.data()});
  // On a Hopper GPU, with device pointers: tw::gemm(p, {.a = a, ...}, stream);

  for (tw::bf16 const value : d)
    if (tw::to_float(value) != 64.0F) return 1;
  std::printf("100x256x512 in e4m3: every element is 64\n");
}
