// SPDX-License-Identifier: Apache-2.0
// invariant_emu_test.cpp  The bits of a row of a reproducible GEMM in the emulator, which adds as
//                         tensor cores do, with its checks of hazards. TW_INVARIANT_ALL=1: every M
//                         from 1 to 512 and all kernels (half an hour).
#include <cstdlib>
#include <new>

#include "tests/effort.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/invariant_cases.hpp"

namespace tw::test {
namespace {

memory_block from_heap(std::size_t bytes) {
  constexpr std::align_val_t line{256};
  return {static_cast<std::byte*>(::operator new(bytes + 256, line)),
          [](std::byte* p) { ::operator delete(p, line); }};
}

/// Host memory with room for parts of split-K tiles, zero where counters lie.
struct workspace {
  memory_block bytes = from_heap(std::size_t{16} << 20);
  workspace() { std::memset(bytes.get(), 0, gemm_workspace_zeros); }
  void give(gemm_operands& o) const {
    o.workspace = bytes.get();
    o.workspace_bytes = std::int64_t{16} << 20;
  }
};

void run_emulated(gemm_plan const& plan, gemm_operands o) {
  static workspace const space;
  space.give(o);
  emu_options options;
  options.policy = async_policy::random;
  options.os_threads = 1;
  emulate(plan, o, options);
}

class InvariantEmu : public testing::TestWithParam<invariant_case> {};

TEST_P(InvariantEmu, RowsHaveTheBitsOfTheWhole) {
  bool const all = std::getenv("TW_INVARIANT_ALL") != nullptr;
  int const m = all ? 512 : 150, n = all ? 384 : 144;
  std::vector<invariant_part> parts{{0, 1, 0, n},     {149, 1, 0, n},   {17, 3, 0, n},
                                    {60, 17, 0, 64},  {0, 65, 64, 80},  {20, 130, 0, n},
                                    {3, 40, 128, 16}, {100, 1, 128, 16}};
  if (!full_effort()) parts = {parts[0], parts[3], parts[5], parts[6]};
  std::vector<invariant_part> every_m;  // by all kernels in turn
  for (int i = 1; all && i <= m; ++i) every_m.push_back({(m - i) / 2, i, i % 3 * 128, 128});
  if (GetParam().name == "e4m3_one_block" || GetParam().name == "e4m3_blocks")
    std::erase_if(parts, [](invariant_part const& p) { return p.col % 128 != 0; });
  std::vector<device> const devices{with_sm_count(known_device("h200"), 2), known_device("h200")};
  std::set<std::string> kernels;
  // In a sample each part by one of two kernels, in turn.
  expect_invariant(GetParam(), m, n, parts, devices, all ? 1000 : 2, from_heap, run_emulated,
                   kernels, !full_effort());
  if (all && !HasFailure())
    expect_invariant(GetParam(), m, n, every_m, devices, 1000, from_heap, run_emulated, kernels,
                     true);
  EXPECT_GT(kernels.size(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Cases, InvariantEmu, testing::ValuesIn(invariant_cases()),
                         [](auto const& i) { return i.param.name; });

/// On an Ampere GPU the kernels of mma.sync serve the request.
TEST(InvariantAmpere, RowsHaveTheBitsOfTheWhole) {
  std::set<std::string> kernels;
  for (invariant_case const& c : invariant_cases())
    if (c.name == "bf16" || c.name == "bias_gelu" || c.name == "bias_of_rows")
      expect_invariant(c, 100, 136, {{0, 1, 0, 136}, {99, 1, 64, 72}, {10, 70, 0, 136}},
                       {known_device("a100")}, 2, from_heap, run_emulated, kernels);
  for (std::string const& k : kernels) EXPECT_EQ(k.rfind("sm80_", 0), 0U) << k;
  EXPECT_FALSE(kernels.empty());
}

/// Plans that do not serve the request have other bits: the law above is not true of all plans.
TEST(InvariantEmuControl, OtherOrdersHaveOtherBits) {
  invariant_case const c{.name = "bf16_to_f32", .d = elem::f32, .k = 2048};
  invariant_data const data(c, 2, 16, from_heap);
  invariant_part const whole{0, 2, 0, 16};
  memory_block const want = data.results(whole), none;
  gemm_operands o = data.operands(whole, want, none);
  static workspace const space;
  space.give(o);
  device const dev = known_device("h200");
  gemm_problem p = data.problem(whole);
  run_emulated(plan_gemm(p, o, dev), o);
  std::string const fixed(reinterpret_cast<char const*>(want.get()), 2 * 16 * 4);
  p.reproducible = false;
  int others = 0, differ = 0;
  for (gemm_plan& plan : plan_candidates(p, o, dev)) {
    if (plan.family->order_of_sums(plan, dev).fixed()) continue;
    // mma.sync adds 16 terms of K as wgmma does on a Hopper GPU, so the bits may be equal there.
    if (plan.family->id() == "sm80_gemm") continue;
    plan.problem.reproducible = true;  // with the arithmetic of tensor cores
    run_emulated(plan, o);
    ++others;
    differ += std::string(reinterpret_cast<char const*>(want.get()), 2 * 16 * 4) != fixed;
  }
  EXPECT_GT(others, 1);
  EXPECT_EQ(differ, others);
}

}  // namespace
}  // namespace tw::test
