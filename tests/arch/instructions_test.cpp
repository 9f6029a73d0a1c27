// SPDX-License-Identifier: Apache-2.0
// instructions_test.cpp  The instruction checks in the emulator; tests/gpu runs the same on a GPU.
#include <gtest/gtest.h>

#include "tests/arch/kernels/atomic_checks.hpp"
#include "tests/arch/kernels/bulk_checks.hpp"
#include "tests/arch/kernels/copy_checks.hpp"
#include "tests/arch/kernels/emulated.hpp"
#include "tests/arch/kernels/group_map_checks.hpp"
#include "tests/arch/kernels/kind_checks.hpp"
#include "tests/arch/kernels/launch_checks.hpp"
#include "tests/arch/kernels/math_checks.hpp"
#include "tests/arch/kernels/matrix_checks.hpp"
#include "tests/arch/kernels/shuffle_checks.hpp"
#include "tests/arch/kernels/sync_checks.hpp"
#include "tests/arch/kernels/tma_checks.hpp"
#include "tests/arch/kernels/warp_checks.hpp"
#include "tests/arch/kernels/wgmma_checks.hpp"

namespace tw::test {
namespace {

/// A check as a GoogleTest, under every completion policy.
class InstructionTest : public testing::Test {
 public:
  explicit InstructionTest(check<emulated> c) : check_(std::move(c)) {}
  void TestBody() override {
    using enum emu::async_policy;
    for (emu::async_policy policy : {eager, lazy, random}) {
      emu::options o;
      o.policy = policy;
      o.random_warps = policy == random;
      o.os_threads = 1;
      o.hazards = false;  // what an instruction does, also in programs that nothing orders
      emulated machine(o);
      EXPECT_EQ(check_.run(machine), "") << "policy " << static_cast<int>(policy);
    }
  }

 private:
  check<emulated> check_;
};

void add(std::vector<check<emulated>> const& checks) {
  for (check<emulated> const& c : checks) {
    std::string name = c.name;
    for (char& ch : name)
      if (std::isalnum(static_cast<unsigned char>(ch)) == 0) ch = '_';
    testing::RegisterTest("Instructions", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [c]() -> testing::Test* { return new InstructionTest(c); });
  }
}

bool const added = [] {
  add(atomic_checks<emulated>());
  add(bulk_checks<emulated>());
  add(copy_checks<emulated>());
  add(group_map_checks<emulated>());
  add(launch_checks<emulated>());
  add(math_checks<emulated>());
  add(matrix_checks<emulated>());
  add(shuffle_checks<emulated>());
  add(sync_checks<emulated>());
  add(tma_checks<emulated>());
  add(warp_checks<emulated>());
  add(wgmma_checks<elem::bf16, emulated>());
  add(wgmma_checks<elem::f16, emulated>());
  add(kind_checks<emulated>());
  return true;
}();

}  // namespace
}  // namespace tw::test
