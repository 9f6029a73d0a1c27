// SPDX-License-Identifier: Apache-2.0
// gemm_product.hpp  The problem that the reference GEMM and its mutants compute, and its result.
#pragma once

#include <random>
#include <vector>

#include "tilewright/arch/tensor_map.hpp"
#include "tilewright/base/convert.hpp"
#include "tools/check/mutants/reference_gemm.hpp"

namespace tw::mutants {

/// 512 x 512 x 1024: 2 clusters' worth of tiles twice over, 16 K blocks each. Operands are small
/// fractions, whose sums are exact in float32.
struct gemm_product {
  static constexpr int m = 512, n = 512, k = 1024;
  std::vector<std::uint16_t> a, b, d, right;

  gemm_product() : a(m * k), b(n * k), d(m * n), right(m * n) {
    std::mt19937 random(1);
    std::vector<float> fa(a.size()), fb(b.size());
    auto const fill = [&](std::vector<std::uint16_t>& bits, std::vector<float>& values) {
      for (std::size_t i = 0; i < bits.size(); ++i) {
        values[i] = static_cast<float>(static_cast<int>(random() % 17) - 8) / 8.0F;
        bits[i] = to_bf16(values[i]).bits;
      }
    };
    fill(a, fa);
    fill(b, fb);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int x = 0; x < k; ++x)
          sum += fa[static_cast<std::size_t>(i * k + x)] * fb[static_cast<std::size_t>(j * k + x)];
        right[static_cast<std::size_t>(i * n + j)] = to_bf16(sum).bits;
      }
  }

  std::int64_t wrong_elements() const {
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < d.size(); ++i) wrong += d[i] != right[i];
    return wrong;
  }

  /// The kernel's parameters for operands at these addresses.
  gemm_params params(void* a_at, void* b_at, void* d_at, mutation broken, target where) const {
    return params_of(a_at, b_at, d_at, {m, n, k}, broken, where);
  }
  struct extents {
    int m, n, k;
  };
  static gemm_params params_of(void* a_at, void* b_at, void* d_at, extents e, mutation broken,
                               target where) {
    return {map_of(a_at, e.k, e.m, 128, where),
            map_of(b_at, e.k, e.n, 128, where),
            map_of(d_at, e.n, e.m, 64, where),
            e.m / 256,
            e.n / 256,
            e.k / 64,
            broken};
  }

 private:
  static tensor_map map_of(void* base, int inner, int outer, int box_outer, target where) {
    tensor_map_desc t;
    t.base = base;
    t.dim[0] = inner;
    t.dim[1] = outer;
    t.stride_bytes[0] = inner * 2;
    t.box[0] = 64;
    t.box[1] = box_outer;
    t.swizzle = swizzle_mode::b128;
    return make_tensor_map(t, where);
  }
};

}  // namespace tw::mutants
