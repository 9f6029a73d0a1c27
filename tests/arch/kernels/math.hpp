// SPDX-License-Identifier: Apache-2.0
// math.hpp  Kernels of approximations, packed arithmetic, bytes and bits, and clocks.
#pragma once

#include "tilewright/arch/select.hpp"

namespace tw::test {

struct math_kernel {
  struct params {
    float const *x, *y;
    float* out;  // `words` per value
  };
  static constexpr int threads = 256, cluster = 1, smem_bytes = 0, words = 7;

  TW_DEVICE static void run(params const& p) {
    int const i = cta_id() * threads + thread_id();
    float const x = p.x[i], y = p.y[i];
    float const a = x < 0 ? -x : x;
    float const out[words] = {rsqrt_approx(a),      log2_approx(a), sin_approx(x),
                              cos_approx(x),        tanh_approx(x), divide_approx(x, y),
                              multiply_add(x, y, a)};
    for (int k = 0; k < words; ++k) p.out[words * i + k] = out[k];
  }
};

/// T: f16x2 or bf16x2.
template <class T>
struct packed_kernel {
  struct params {
    T const *a, *b, *c;
    T* out;  // `words` per value
  };
  static constexpr int threads = 256, cluster = 1, smem_bytes = 0, words = 5;

  TW_DEVICE static void run(params const& p) {
    int const i = cta_id() * threads + thread_id();
    T const a = p.a[i], b = p.b[i], c = p.c[i];
    T const out[words] = {packed_add(a, b), packed_mul(a, b), packed_fma(a, b, c), packed_min(a, b),
                          packed_max(a, b)};
    for (int k = 0; k < words; ++k) p.out[words * i + k] = out[k];
  }
};

struct bits_kernel {
  struct params {
    std::uint32_t const *a, *b, *c;
    std::uint32_t* out;  // 4 per value
  };
  static constexpr int threads = 256, cluster = 1, smem_bytes = 0;

  TW_DEVICE static void run(params const& p) {
    int const i = cta_id() * threads + thread_id();
    std::uint32_t const a = p.a[i], b = p.b[i], c = p.c[i];
    p.out[4 * i] = prmt(a, b, c);
    p.out[4 * i + 1] = lop3<(0xF0 & 0xCC) | 0xAA>(a, b, c);
    p.out[4 * i + 2] = lop3<0xF0 ^ 0xCC ^ 0xAA>(a, b, c);
    p.out[4 * i + 3] = lop3<0xD8>(a, b, c);  // c ? b : a
  }
};

/// Each thread waits until both clocks have gone on; no assertion fails.
struct clock_kernel {
  struct params {
    int* out;
  };
  static constexpr int threads = 32, cluster = 1, smem_bytes = 0;

  TW_DEVICE static void run(params const& p) {
    std::uint64_t const start = sm_clock(), ns = global_timer_ns();
    while (sm_clock() - start < 20000) {
    }
    while (global_timer_ns() - ns < 5000) {
    }
    device_assert(sm_clock() > start, "time goes on");
    if (sm_clock() < start) trap();
    p.out[thread_id()] = 1;
  }
};

}  // namespace tw::test
