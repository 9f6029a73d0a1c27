// SPDX-License-Identifier: Apache-2.0
// instructions.cu  The vocabulary but for wgmma on the card, and the rules of tensor maps against
// the
//                  driver. Exit 0 all passed, 1 some failed, 77 no Hopper GPU.
#include "tests/arch/kernels/tma_checks.hpp"
#include "tests/gpu/gpu_machine.hpp"

int main() {
  using namespace tw::test;
  std::vector<check<gpu_machine>> checks;
  for (auto const& some : {tma_checks<gpu_machine>()})
    checks.insert(checks.end(), some.begin(), some.end());
  return check_program(std::move(checks)).main();
}
