// SPDX-License-Identifier: Apache-2.0
// wgmma_bf16_mn.cu  bf16 wgmma on a GPU, A MN-major in shared memory: all N and swizzles.
//                   Exit 0 all passed, 1 some failed, 77 no Hopper GPU.
#include "tests/arch/kernels/wgmma_checks.hpp"
#include "tests/gpu/gpu_machine.hpp"

int main() {
  using namespace tw::test;
  return check_program(wgmma_checks_of_smem<tw::elem::bf16, tw::operand_major::mn, gpu_machine>())
      .main();
}
