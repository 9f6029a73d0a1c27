// SPDX-License-Identifier: Apache-2.0
// guarded_emu_test.cpp  No kernel reads or writes outside of its operands: each lies between pages
//                       without access, its last element directly before one or its first directly
//                       after one. A kernel that goes one element too far ends the program.
#include <memory>

#include "tests/kernel/built_kernels.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/fused_cases.hpp"
#include "tests/kernel/gemv_cases.hpp"
#include "tests/kernel/guarded_memory.hpp"

namespace tw::test {
namespace {

/// A copy of a matrix's memory from its first element to its last.
class guarded_matrix {
 public:
  guarded_matrix(matrix& of, bool at_end) : of_(of) {
    if (of.bytes.empty()) return;
    bool const by_rows = of.desc.ord == order::row_major;
    std::int64_t const inner = by_rows ? of.cols : of.rows, outer = by_rows ? of.rows : of.cols;
    std::int64_t const elems =
        (of.matrices - 1) * of.stride + (outer - 1) * of.desc.pitch_elems + inner;
    bytes_ = static_cast<std::size_t>(elems * size_bytes(of.desc.type));
    memory_ = std::make_unique<guarded>(bytes_, at_end);
    std::memcpy(memory_->data(), of.data(), bytes_);
  }
  void* data() const { return memory_ ? memory_->data() : nullptr; }
  /// Copies the results of the kernel to where the checks read them.
  void copy_back() const {
    if (memory_) std::memcpy(of_.data(), memory_->data(), bytes_);
  }

 private:
  matrix& of_;
  std::size_t bytes_ = 0;
  std::unique_ptr<guarded> memory_;
};

/// Returns the runs: `most` of the plans, the best one and any others.
int run_guarded(fused_product& p, emu_workspace& space, std::mt19937_64& rng, bool at_end,
                int most = 4) {
  matrix* const all[] = {&p.a, &p.b, &p.c, &p.d, &p.bias, &p.row_scale, &p.col_scale, &p.aux};
  std::vector<std::unique_ptr<guarded_matrix>> g;
  for (matrix* m : all) g.push_back(std::make_unique<guarded_matrix>(*m, at_end));
  auto const floats = [&](std::size_t i) { return static_cast<float const*>(g[i]->data()); };
  gemm_operands o{g[0]->data(), g[1]->data(), g[2]->data(), g[3]->data()};
  o.bias = g[4]->data(), o.row_scale = floats(5), o.col_scale = floats(6), o.aux = g[7]->data();
  space.give(o);
  std::vector<gemm_plan> const plans = built_plans(p.problem, o, 6);
  int const runs = plans.empty() ? 0 : most;
  for (int i = 0; i < runs; ++i) {
    gemm_plan const& plan = plans[i == 0 ? 0 : rng() % plans.size()];
    emu_options options;
    options.seed = rng();
    options.sms = 6;
    SCOPED_TRACE(plan.kernel);
    emulate(plan, o, options);
    g[3]->copy_back();
    g[7]->copy_back();
    if (is_fused(p.problem.epilogue) || p.problem.aux)
      expect_fused_right(p);
    else
      expect_right(p);
    if (testing::Test::HasFailure()) return i + 1;
  }
  return runs;
}

TEST(GuardedEmu, FusedKernelsStayInsideTheirOperands) {
  std::mt19937_64 rng(20261126);
  emu_workspace space;
  int runs = 0;
  for (int i = 0; i < 80 && !HasFailure(); ++i) {
    fused_product p = random_fused(rng, i % 4 == 0 ? 300 : 140);
    runs += run_guarded(p, space, rng, i % 2 == 0);
  }
  EXPECT_GT(runs, 60);
}

/// All vectors, along rows too, with rows that fill no tile: lanes beyond D must stay inside.
TEST(GuardedEmu, VectorsEndWithTheirLastValue) {
  std::mt19937_64 rng(20261128);
  std::normal_distribution<float> normal;
  auto const fill = [&] { return normal(rng); };
  emu_workspace space;
  int runs = 0;
  for (int i = 0; i < 200 && !HasFailure(); ++i) {
    fused_product p = random_fused(rng, 100);
    gemm_epilogue& e = p.problem.epilogue;
    e.bias = i % 3 == 0 ? along::cols : along::rows;
    e.row_scale = e.col_scale = i % 2 == 0;
    std::int64_t const m = p.problem.m, n = p.problem.n;
    auto const vector = [&](elem type, std::int64_t size) {
      return make_matrix(type, order::row_major, 1, size, 0, fill);
    };
    p.bias = vector(e.bias_type, e.bias == along::rows ? m : n);
    p.row_scale = e.row_scale ? vector(elem::f32, m) : matrix{};
    p.col_scale = e.col_scale ? vector(elem::f32, n) : matrix{};
    runs += run_guarded(p, space, rng, true, 8);
  }
  EXPECT_GT(runs, 100);
}

TEST(GuardedEmu, GemmAndGemvKernelsStayInsideTheirOperands) {
  std::mt19937_64 rng(20261127);
  emu_workspace space;
  int runs = 0;
  for (int i = 0; i < 80 && !HasFailure(); ++i) {
    fused_product p;
    static_cast<product&>(p) = i % 3 == 0 ? random_few(rng, 100, 600) : random_product(rng, 140);
    runs += run_guarded(p, space, rng, i % 2 == 0);
  }
  EXPECT_GT(runs, 60);
}

}  // namespace
}  // namespace tw::test
