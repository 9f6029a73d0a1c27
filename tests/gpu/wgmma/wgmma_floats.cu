// SPDX-License-Identifier: Apache-2.0
// wgmma_floats.cu  wgmma of f16 sums, tf32 and 8-bit floats on a GPU, at several N.
//                  Exit 0 all passed, 1 some failed, 77 no Hopper GPU.
#include "tests/arch/kernels/kind_checks.hpp"
#include "tests/gpu/gpu_machine.hpp"

int main() {
  using namespace tw::test;
  return check_program(float_kind_checks<gpu_machine>()).main();
}
