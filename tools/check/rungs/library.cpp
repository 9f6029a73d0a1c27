// SPDX-License-Identifier: Apache-2.0
// library.cpp  Rung 12: the library's plan for the problem of the ladder, in the emulator.
#include "tilewright/dispatch/gemm.hpp"
#include "tools/check/rungs/run.hpp"

namespace ladder {

run_result run_library(product const& x, emu::options o, std::string& kernel) {
  gemm_problem p;
  p.m = x.m(), p.n = x.n(), p.k = x.k();
  p.a = {elem::bf16, order::row_major, x.lda()};
  p.b = {elem::bf16, order::col_major, x.lda()};
  p.d = {elem::bf16, order::row_major, x.ldd()};
  return checked(x, o, false, [&](bf16* a, bf16* b, bf16* d, emu::options const& with) {
    emu::report report;
    gemm_operands operands;
    operands.a = a, operands.b = b, operands.d = d;
    emu::options counting = with;
    counting.counted = &report.counts;
    gemm_plan const plan = plan_gemm(p, operands, emulated_device(with));
    kernel = plan.kernel;
    try {
      gemm_emulated(plan, operands, counting);
    } catch (emu::fault const& f) {
      report.diagnoses = f.diagnoses();
    }
    return report;
  });
}

}  // namespace ladder
