// SPDX-License-Identifier: Apache-2.0
// operand_bounds_emu_test.cpp  A launch whose operands are smaller than its problem says is
//                              reported, for each operand that TMA copies; a right one is not.
#include "tests/kernel/built_kernels.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/gemm_cases.hpp"

namespace tw::test {
namespace {

constexpr std::int64_t margin = 4096;

/// A K-major GEMM of these extents and the bounds of its arrays, one line too few of `shorter`.
emu_options bounds_of(product const& p, char shorter) {
  emu_options o;
  o.os_threads = 1;
  auto const add = [&](char name, matrix const& m, std::int64_t lines, std::int64_t inner) {
    std::int64_t const size = size_bytes(m.desc.type);
    std::int64_t const all = ((lines - 1) * m.desc.pitch_elems + inner) * size;
    std::int64_t const missing = name == shorter ? m.desc.pitch_elems * size : 0;
    o.arrays.push_back({m.bytes.data() + m.offset_bytes, static_cast<std::size_t>(all - missing),
                        static_cast<std::size_t>(margin)});
  };
  add('A', p.a, p.problem.m, p.problem.k);
  add('B', p.b, p.problem.n, p.problem.k);
  add('D', p.d, p.problem.m, p.problem.n);
  return o;
}

std::string code_of(gemm_plan const& plan, gemm_operands const& o, emu_options const& options) {
  try {
    emulate(plan, o, options);
  } catch (emu::fault const& f) {
    return f.diagnoses().front().code;
  }
  return "";
}

TEST(OperandBoundsEmu, ALineTooFewOfAnyOperandIsReported) {
  std::mt19937_64 rng(5);
  std::normal_distribution<float> normal;
  auto const fill = [&] { return normal(rng); };
  int const m = 200, n = 136, k = 96;
  product p;
  p.a = make_matrix(elem::bf16, order::row_major, m, k, 0, fill);
  p.b = make_matrix(elem::bf16, order::col_major, k, n, 0, fill);
  p.d = make_matrix(elem::bf16, order::row_major, m, n, 0, nullptr);
  p.problem = {m, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F, 1};
  gemm_operands const o = p.operands();
  int plans = 0;
  for (gemm_plan const& plan : built_plans(p.problem, o, 8)) {
    if (!sm90_config(plan)) continue;  // the loads of others are ordinary ones (gemv_test.cpp)
    ++plans;
    EXPECT_EQ(code_of(plan, o, bounds_of(p, ' ')), "") << plan.kernel;
    for (char const operand : {'A', 'B', 'D'})
      EXPECT_EQ(code_of(plan, o, bounds_of(p, operand)), "E0052") << operand << " " << plan.kernel;
    if (HasFailure() || plans == 6) break;
  }
  EXPECT_GE(plans, 2);
}

}  // namespace
}  // namespace tw::test
