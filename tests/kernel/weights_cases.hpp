// SPDX-License-Identifier: Apache-2.0
// weights_cases.hpp  Random GEMMs with prepared 4-bit weights.
#pragma once

#include <random>
#include <vector>

#include "tests/kernel/gemm_cases.hpp"
#include "tilewright/family/family.hpp"
#include "tilewright/kernel/weights/weights.hpp"
#include "tools/check/random_weights.hpp"

namespace tw::test {

inline float float_of_weight(elem type, std::uint16_t bits) {
  return type == elem::bf16 ? to_float(bf16{bits}) : to_float(f16{bits});
}

inline std::uint16_t weight_rounded(elem type, double x) {
  auto const f = static_cast<float>(x);  // exact but with float zero points
  return type == elem::bf16 ? to_bf16(f).bits : to_f16(f).bits;
}

/// A random GEMM whose B is prepared weights of a kernel's format.
struct weights_product : product {
  std::vector<std::byte> prepared;
  gemm_operands operands() {
    gemm_operands o = product::operands();
    o.b = prepared.data();
    return o;
  }
};

inline weights_product random_weights_product(std::mt19937_64& rng, kernel_facts const& facts) {
  auto const any = [&](int lo, int hi) {
    return lo + static_cast<int>(rng() % static_cast<unsigned>(hi - lo + 1));
  };
  std::normal_distribution<float> normal;
  auto const fill = [&] { return normal(rng); };
  weights_product p;
  weight_format f = facts.weights;
  int const m = any(1, 150), n = any(1, 300);
  int k = f.group * any(1, 384 / f.group);
  if (f.group == 64) {
    f.group = any(0, 3) == 0 ? 0 : 64 * any(1, 3);
    if (f.group > 0) k = f.group * any(1, 2);
  }
  std::int64_t const batch = any(0, 3) == 0 ? any(2, 3) : 1;
  int const matrices = batch > 1 && any(0, 1) != 0 ? static_cast<int>(batch) : 1;
  p.a = make_matrix(facts.ab, order::row_major, m, k, any(0, 1) * 8 + (8 - k % 8) % 8, fill, batch);
  p.d = make_matrix(facts.d, order::row_major, m, n, any(0, 2) == 0 ? any(0, 9) : (8 - n % 8) % 8,
                    nullptr, batch);
  weights_desc const w{n, k, matrices, f};
  p.prepared = random_weights(w, rng);
  std::vector<std::uint16_t> decoded(static_cast<std::size_t>(n * k));
  p.b = make_matrix(
      facts.ab, order::col_major, k, n, 0, [] { return 0.0F; }, matrices);
  for (int i = 0; i < matrices; ++i) {
    decode_weights(w, p.prepared.data() + weights_header_bytes, i, facts.ab, decoded.data());
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < k; ++c)
        p.b.value[static_cast<std::size_t>((i * k + c) * n + r)] =
            float_of_weight(facts.ab, decoded[static_cast<std::size_t>(r * k + c)]);
  }
  if (matrices == 1) p.b.desc.batch_stride_elems = 0;
  p.problem = {m, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F, batch};
  p.problem.weights_b = f;
  if (any(0, 2) == 0) p.problem.alpha = normal(rng);
  if (any(0, 2) == 0) {
    p.c = make_matrix(facts.d, order::row_major, m, n, any(0, 3), fill, batch);
    p.problem.c = p.c.desc;
    p.problem.beta = normal(rng);
  }
  return p;
}

}  // namespace tw::test
