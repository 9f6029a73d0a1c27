// SPDX-License-Identifier: Apache-2.0
// explain_kernels.cu  Recommendations of explain for a tile of 192 x 192, on a GPU. Exit 0 all
//                     passed, 1 some failed, 77 no Hopper GPU.
#include "tests/golden/registers_checks.hpp"
#include "tests/gpu/gpu_machine.hpp"

int main() {
  using tw::test::gpu_machine;
  return tw::test::check_program(tw_test::writing_checks<gpu_machine>()).main();
}
