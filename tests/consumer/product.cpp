// SPDX-License-Identifier: Apache-2.0
// product.cpp  A program outside the library that computes a GEMM in the emulator.
#include <cstdio>
#include <vector>

#include "tilewright/base/convert.hpp"
#include "tilewright/dispatch/gemm.hpp"

int main() {
  int const m = 100, n = 70, k = 48;
  std::vector<tw::bf16> a(m * k, tw::to_bf16(0.5F));  // (m, k) row-major
  std::vector<tw::bf16> b(k * n, tw::to_bf16(2.0F));  // (k, n) column-major
  std::vector<float> d(m * n);                        // (m, n) row-major

  tw::gemm_problem const p{.m = m,
                           .n = n,
                           .k = k,
                           .a = {tw::elem::bf16, tw::order::row_major, k},
                           .b = {tw::elem::bf16, tw::order::col_major, k},
                           .d = {tw::elem::f32, tw::order::row_major, n}};
  tw::gemm_emulated(p, {.a = a.data(), .b = b.data(), .d = d.data()});
  // On a Hopper GPU, with device pointers: tw::gemm(p, {.a = a, .b = b, .d = d}, stream);

  for (float const value : d) {
    if (value != 48.0F) return 1;
  }
  std::printf("100x70x48: every element is 48\n");
}
