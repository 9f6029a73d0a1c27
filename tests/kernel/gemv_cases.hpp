// SPDX-License-Identifier: Apache-2.0
// gemv_cases.hpp  Random GEMMs with up to 16 rows or columns, as GEMV kernels take them.
#pragma once

#include "tests/kernel/gemm_cases.hpp"

namespace tw::test {

/// A GEMM with `few` rows (or columns, then `transposed`), and operands that a GEMV can load.
inline product random_few(std::mt19937_64& rng, int most_rows, int most_k) {
  auto const any = [&](int lo, int hi) {
    return lo + static_cast<int>(rng() % static_cast<unsigned>(hi - lo + 1));
  };
  std::normal_distribution<float> normal;
  auto const fill = [&] { return normal(rng); };
  auto const ord = [&] { return any(0, 1) != 0 ? order::row_major : order::col_major; };
  int const few = any(0, 1) != 0 ? any(1, 2) : any(3, 16), many = any(1, most_rows),
            step = any(0, 2) == 0 ? 16 : 8,  // elements of 16 bytes
      k = step * any(1, most_k / step);
  bool const columns = any(0, 1) != 0;
  int const m = columns ? many : few, n = columns ? few : many;
  elem const ab = step == 16 ? elem::e4m3 : any(0, 1) != 0 ? elem::bf16 : elem::f16;
  elem const d = any(0, 1) != 0 ? elem::f32 : ab == elem::e4m3 ? elem::bf16 : ab;
  int const batch = any(0, 3) == 0 ? any(2, 4) : 1;
  auto const form = [&](int same) {
    return batch > 1 && any(0, 2) < same ? batch_form::same : batch_form::behind;
  };
  product p;
  p.a = make_matrix(ab, order::row_major, m, k, step * any(0, 2), fill, batch, form(1),
                    step * any(0, 3));
  p.b = make_matrix(ab, order::col_major, k, n, step * any(0, 2), fill, batch, form(1),
                    step * any(0, 3));
  p.d = make_matrix(d, ord(), m, n, any(0, 3), nullptr, batch, form(0), any(0, 9));
  p.problem = {m, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F, batch};
  if (any(0, 1) != 0) p.problem.alpha = normal(rng);
  if (any(0, 2) == 0) {
    elem const types[] = {elem::bf16, elem::f16, elem::f32};
    p.c = make_matrix(types[any(0, 2)], ord(), m, n, any(0, 3), fill, batch, form(1), any(0, 9));
    p.problem.c = p.c.desc;
    p.problem.beta = normal(rng);
  }
  return p;
}

/// The plans by such kernels.
inline std::vector<gemm_plan> gemv_plans(product& p, int sms) {
  std::vector<gemm_plan> plans =
      plan_candidates(p.problem, p.operands(), with_sm_count(known_device("h200"), sms));
  std::erase_if(plans, [](gemm_plan const& x) { return x.family->id() != "gemv"; });
  return plans;
}

}  // namespace tw::test
