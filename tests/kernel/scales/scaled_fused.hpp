// SPDX-License-Identifier: Apache-2.0
// scaled_fused.hpp  GEMMs with scales of A and B, and row and column scales, a bias, an
//                   activation and a gate in the epilogue, against float64.
#pragma once

#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/scales/scaled_cases.hpp"
#include "tilewright/problem/fused_bound.hpp"
#include "tilewright/problem/reference.hpp"

namespace tw::test {

/// Do kernels compute it with this gate?
inline bool takes_gate(scaled_product const& p, gating gate) {
  return gate == gating::none || (p.problem.n % 16 == 0 && p.d.desc.ord == order::row_major);
}

/// Computes it by a plan of plans_of(problem, operands), which the generator chooses, with such an
/// epilogue, and judges every element of some rows.
template <class Plans>
void check_fused(scaled_product& p, gating gate, std::mt19937_64& rng, emu_workspace& space,
                 emu_options const& options, Plans const& plans_of) {
  gemm_problem& q = p.problem;
  std::vector<float> vectors(static_cast<std::size_t>(q.m + 2 * q.n));
  for (float& x : vectors) x = finite_scale(rng);
  gemm_operands o = p.operands();
  o.row_scale = vectors.data(), o.col_scale = vectors.data() + q.m;
  o.bias = vectors.data() + q.m + q.n;
  q.epilogue.row_scale = rng() % 2 == 0 ? along::rows : along::none,
  q.epilogue.col_scale = rng() % 2 == 0 ? along::cols : along::none;
  q.epilogue.bias = along::cols;
  q.epilogue.act = activation::relu;
  q.epilogue.gate = gate;
  space.give(o);
  std::vector<gemm_plan> const plans = plans_of(q, o);
  ASSERT_FALSE(plans.empty()) << p.text();
  emulate(plans[rng() % plans.size()], o, options);
  fused_terms const terms = make_fused_terms(q);
  for (std::int64_t r = 0; r < q.m; r += 1 + q.m / 12)  // the reference takes its time
    for (std::int64_t c = 0; c < result_cols(q.epilogue, q.n); ++c) {
      exact_fused const x = reference_fused(q, o, r, c);
      double const got = p.d.load(r, c, 0);
      ASSERT_EQ(judge(got, expect_fused(x, terms), terms.out), verdict::right)
          << p.text() << " D(" << r << "," << c << ") = " << got << ", want "
          << expect_fused(x, terms).value;
    }
}

}  // namespace tw::test
