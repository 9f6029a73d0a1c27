// SPDX-License-Identifier: Apache-2.0
// as_run.cpp  Each step of the normalisation, in order.
#include "family/as_run.hpp"

#include "family/folded.hpp"
#include "family/no_inner.hpp"
#include "family/normal_form.hpp"
#include "tilewright/problem/canonical.hpp"
#include "tilewright/problem/scale_place.hpp"

namespace tw {

operand_order operands_as_run(gemm_problem const& p, bool swapped) {
  operand_order from = as_given();
  auto const place = [&](role r) -> role& { return from[static_cast<std::size_t>(r)]; };
  if (p.k == 0) {
    for (role const x : a_and_b) place(x) = role::none;
  } else if (!scales_in_main_loop(p)) {
    for (role const x : a_and_b)
      if (scale(p, x)) place(epilogue_scale_of(x)) = scales_of(x);
  }
  return swapped ? transposed(from) : from;
}

run_form as_run(gemm_problem const& p) {
  return {folded(canonical(with_inner(with_epilogue_scales(p)))), operands_as_run(p, false)};
}

run_form transposed(run_form const& f) { return {transposed(f.problem), transposed(f.operands)}; }

}  // namespace tw
