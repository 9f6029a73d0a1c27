// SPDX-License-Identifier: Apache-2.0
// wgmma_bf16.cu  Every bf16 wgmma on a GPU: all N, majors and swizzles, A from both places.
//               Exit 0 all passed, 1 some failed, 77 no Hopper GPU.
#include "tests/arch/kernels/wgmma_checks.hpp"
#include "tests/gpu/gpu_machine.hpp"

int main() {
  using tw::test::gpu_machine;
  return tw::test::check_program(tw::test::wgmma_checks<tw::elem::bf16, gpu_machine>()).main();
}
