// SPDX-License-Identifier: Apache-2.0
// wgmma.cu  Every wgmma on the card: all N, both types, all majors and swizzles, A from both
// places.
//           Exit 0 all passed, 1 some failed, 77 no Hopper GPU.
#include "tests/arch/kernels/wgmma_checks.hpp"
#include "tests/gpu/gpu_machine.hpp"

int main() {
  return tw::test::check_program(tw::test::wgmma_checks<tw::test::gpu_machine>()).main();
}
