// SPDX-License-Identifier: Apache-2.0
// wgmma_bf16_registers.cu  bf16 wgmma on a GPU, A in registers: all N, majors and swizzles of B.
//                          Exit 0 all passed, 1 some failed, 77 no Hopper GPU.
#include "tests/arch/kernels/wgmma_checks.hpp"
#include "tests/gpu/gpu_machine.hpp"

int main() {
  using namespace tw::test;
  return check_program(wgmma_checks_of_registers<tw::elem::bf16, gpu_machine>()).main();
}
