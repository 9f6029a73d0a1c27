// SPDX-License-Identifier: Apache-2.0
// wgmma_kinds.cu  wgmma of f16 sums, tf32, 8-bit floats and integers on a GPU, at several N.
//                 Exit 0 all passed, 1 some failed, 77 no Hopper GPU.
#include "tests/arch/kernels/kind_checks.hpp"
#include "tests/gpu/gpu_machine.hpp"

int main() {
  using tw::test::gpu_machine;
  return tw::test::check_program(tw::test::kind_checks<gpu_machine>()).main();
}
