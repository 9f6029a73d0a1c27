// SPDX-License-Identifier: Apache-2.0
// instructions.cu  The vocabulary but for wgmma on a GPU, and the rules of tensor maps against
//                  the driver. Exit 0 all passed, 1 some failed, 77 no Hopper GPU.
#include "arch/tensor_map_gpu.hpp"
#include "tests/arch/kernels/atomic_checks.hpp"
#include "tests/arch/kernels/bulk_checks.hpp"
#include "tests/arch/kernels/copy_checks.hpp"
#include "tests/arch/kernels/group_map_checks.hpp"
#include "tests/arch/kernels/launch_checks.hpp"
#include "tests/arch/kernels/map_cases.hpp"
#include "tests/arch/kernels/math_checks.hpp"
#include "tests/arch/kernels/matrix_checks.hpp"
#include "tests/arch/kernels/shuffle_checks.hpp"
#include "tests/arch/kernels/sync_checks.hpp"
#include "tests/arch/kernels/tma_checks.hpp"
#include "tests/arch/kernels/warp_checks.hpp"
#include "tests/gpu/gpu_machine.hpp"

namespace tw::test {
namespace {

/// The driver's opinion of a description that no rule of ours has seen.
std::string refusal_by_driver(tensor_map_desc const& d) {
  try {
    encode_tensor_map_gpu(d);
    return "";
  } catch (rejected const& e) {
    return e.why().code == "TW0310" ? "refused" : e.why().code;
  }
}

/// check_tensor_map and the driver agree at every edge.
std::string check_map_rules(gpu_machine&) {
  failures f;
  for (map_case const& c : accepted_maps())
    f.add(c.name, refusal_by_driver(c.desc).empty() ? "" : "accepted by us, refused by the driver");
  for (map_case const& c : refused_maps()) {
    if (!c.driver_too) continue;
    std::string const driver = refusal_by_driver(c.desc);
    f.add(c.name, driver == "refused" ? "" : text(c.code, " by us, accepted by the driver"));
  }
  return f.result();
}

}  // namespace
}  // namespace tw::test

int main() {
  using namespace tw::test;
  std::vector<check<gpu_machine>> checks{{"tensor map rules", check_map_rules}};
  for (auto const& some :
       {atomic_checks<gpu_machine>(), bulk_checks<gpu_machine>(), copy_checks<gpu_machine>(),
        group_map_checks<gpu_machine>(), launch_checks<gpu_machine>(), math_checks<gpu_machine>(),
        matrix_checks<gpu_machine>(), shuffle_checks<gpu_machine>(), sync_checks<gpu_machine>(),
        tma_checks<gpu_machine>(), warp_checks<gpu_machine>()})
    checks.insert(checks.end(), some.begin(), some.end());
  return check_program(std::move(checks)).main();
}
