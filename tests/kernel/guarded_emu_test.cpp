// SPDX-License-Identifier: Apache-2.0
// guarded_emu_test.cpp  No kernel reads or writes outside of its operands: each lies between pages
//                       without access, its last element directly before one or its first directly
//                       after one. A kernel that goes one element too far ends the program.
#include <map>
#include <memory>
#include <string_view>

#include "tests/effort.hpp"
#include "tests/kernel/built_kernels.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/epilogue/fused_cases.hpp"
#include "tests/kernel/gemv_cases.hpp"
#include "tests/kernel/guarded_memory.hpp"
#include "tests/kernel/scales/block_scaled_cases.hpp"
#include "tests/kernel/scales/result_scale_cases.hpp"
#include "tests/kernel/scales/scaled_cases.hpp"

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
    memory_ = std::make_unique<guarded>(of.data(), bytes_, at_end);
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
  for (int i = 0; i < sample(80) && !HasFailure(); ++i) {
    fused_product p = random_fused(rng, i % 4 == 0 ? 300 : 140);
    runs += run_guarded(p, space, rng, i % 2 == 0);
  }
  EXPECT_GE(runs, sample(60));
}

/// All vectors, along rows too, with rows that fill no tile: lanes beyond D must stay inside.
TEST(GuardedEmu, VectorsEndWithTheirLastValue) {
  std::mt19937_64 rng(20261128);
  std::normal_distribution<float> normal;
  auto const fill = [&] { return normal(rng); };
  emu_workspace space;
  int runs = 0;
  for (int i = 0; i < sample(200) && !HasFailure(); ++i) {
    fused_product p = random_fused(rng, 100);
    gemm_epilogue& e = p.problem.epilogue;
    e.bias = i % 3 == 0 ? along::cols : along::rows;
    if (i % 2 == 0) e.row_scale = along::rows, e.col_scale = along::cols;
    std::int64_t const m = p.problem.m, n = p.problem.n;
    auto const vector = [&](elem type, std::int64_t size) {
      return make_matrix(type, order::row_major, 1, size, 0, fill);
    };
    p.bias = vector(e.bias.type, e.bias == along::rows ? m : n);
    p.row_scale = e.row_scale ? vector(elem::f32, m) : matrix{};
    p.col_scale = e.col_scale ? vector(elem::f32, n) : matrix{};
    runs += run_guarded(p, space, rng, true, 8);
  }
  EXPECT_GE(runs, sample(100));
}

TEST(GuardedEmu, GemmAndGemvKernelsStayInsideTheirOperands) {
  std::mt19937_64 rng(20261127);
  emu_workspace space;
  int runs = 0;
  for (int i = 0; i < sample(80) && !HasFailure(); ++i) {
    fused_product p;
    static_cast<product&>(p) = i % 3 == 0 ? random_few(rng, 100, 600) : random_product(rng, 140);
    runs += run_guarded(p, space, rng, i % 2 == 0);
  }
  EXPECT_GE(runs, sample(60));
}

/// Runs `most` of the plans of a device, or all; `judge` looks at each result.
template <class Judge>
int run_plans(std::vector<gemm_plan> const& plans, gemm_operands const& o, std::mt19937_64& rng,
              int sms, std::size_t most, Judge const& judge) {
  int runs = 0;
  for (std::size_t i = 0; i < std::min(most, plans.size()); ++i) {
    gemm_plan const& plan = plans[plans.size() <= most ? i : rng() % plans.size()];
    emu_options options;
    options.seed = rng();
    options.policy = static_cast<async_policy>(rng() % 3);
    options.sms = sms;
    SCOPED_TRACE(plan.kernel + ", " + plan.why);
    emulate(plan, o, options);
    judge();
    ++runs;
    if (testing::Test::HasFailure()) break;
  }
  return runs;
}

/// Scales of A and B, of blocks and of rows, with the plain epilogue: of rows that fill no tile and
/// of a last block of K that is not whole no other scale is read.
TEST(GuardedEmu, ScalesOfAAndBEndWithTheirLastValue) {
  std::mt19937_64 rng(20261201);
  emu_workspace space;
  int runs = 0, by_blocks = 0;
  for (int i = 0; i < sample(36, 10) && !HasFailure(); ++i) {
    scaled_product p =
        random_scaled(rng, {elem::e4m3, elem::e4m3, elem::bf16, i % 4 != 0}, finite_scale);
    gemm_operands o = p.operands();
    bool const at_end = i % 5 != 0;
    std::unique_ptr<guarded> a, b;
    if (p.of_a) {
      a = std::make_unique<guarded>(p.of_a->memory.data(), p.of_a->memory.size(), at_end);
      o.scale_a = a->data();
    }
    if (p.of_b) {
      b = std::make_unique<guarded>(p.of_b->memory.data(), p.of_b->memory.size(), at_end);
      o.scale_b = b->data();
    }
    space.give(o);
    for (char const* const device : {"h200", "b200"}) {
      int const done =
          run_plans(built_plans(p.problem, o, 4, device), o, rng, 4, 3, [&] { expect_right(p); });
      runs += done;
      if (scales_in_main_loop(p.problem)) by_blocks += done;
    }
  }
  EXPECT_GE(runs, sample(60));
  EXPECT_GE(by_blocks, sample(30));
}

/// Scales of MXFP8, MXFP4 and NVFP4: linear ones to the byte, tiles of 512 bytes to the tile; and
/// the second levels.
TEST(GuardedEmu, ScalesOfBlocksOf16And32EndWithTheirLastByte) {
  std::mt19937_64 rng(20261202);
  emu_workspace space;
  int runs = 0;
  block_format const formats[] = {block_format::mxfp8, block_format::mxfp4, block_format::nvfp4};
  for (int i = 0; i < sample(45, 9) && !HasFailure(); ++i) {
    block_scaled_product p = random_block_scaled(rng, formats[i % 3], 140, false);
    gemm_operands o = p.operands();
    bool const at_end = i % 5 != 0;
    auto const bytes = [](scaled_operand_data const& x, std::int64_t batch) {
      std::int64_t const k_blocks = x.blocks();
      std::int64_t const one = x.scale.tiled ? (x.rows + 127) / 128 * ((k_blocks + 3) / 4) * 512
                                             : (x.rows - 1) * x.scale.stride_outer + k_blocks;
      return static_cast<std::size_t>(one + (batch - 1) * x.scale.batch_stride);
    };
    guarded const a(o.scale_a, bytes(p.a, p.problem.batch), at_end);
    guarded const b(o.scale_b, bytes(p.b, p.problem.batch), at_end);
    guarded const second_a(&p.second_a, sizeof(float), at_end);
    guarded const second_b(&p.second_b, sizeof(float), at_end);
    o.scale_a = a.data(), o.scale_b = b.data();
    if (p.problem.scale_a->second_level) {
      o.second_level_a = reinterpret_cast<float const*>(second_a.data());
      o.second_level_b = reinterpret_cast<float const*>(second_b.data());
    }
    space.give(o);
    runs += run_plans(built_plans(p.problem, o, 4, "b200"), o, rng, 4, 2, [&] { expect_right(p); });
  }
  EXPECT_GE(runs, sample(40));
}

/// Of one row, one column and few elements of K, also an odd number: every kernel of the build that
/// computes it, on every device. A row of one line is loaded as it lies, whatever its length.
TEST(GuardedEmu, ThinProblemsOfAnyKAreRightByEveryKernel) {
  std::mt19937_64 rng(20261203);
  std::normal_distribution<float> normal;
  auto const fill = [&] { return normal(rng); };
  emu_workspace space;
  std::map<std::string_view, int> runs;  // by family
  constexpr int shapes[][3] = {{1, 65, 1},  {1, 9, 33},  {1, 130, 71}, {1, 1, 5},  {2, 1, 129},
                               {67, 1, 31}, {129, 1, 7}, {3, 3, 257},  {1, 64, 64}};
  for (auto const& [m, n, k] : shapes)
    for (int form = 0; form < 8 && !HasFailure(); ++form) {
      fused_product p;
      elem const ab = form % 2 == 0 ? elem::bf16 : elem::f16;
      auto const ord = [](bool rows) { return rows ? order::row_major : order::col_major; };
      p.a = make_matrix(ab, ord(form & 2), m, k, 0, fill);
      p.b = make_matrix(ab, ord(form & 4), k, n, 0, fill);
      p.d = make_matrix(form % 3 == 0 ? elem::f32 : ab, order::row_major, m, n, 0, nullptr);
      p.problem = {m, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F};
      gemm_operands o = p.operands();
      space.give(o);
      for (char const* const device : {"h200", "b200", "a100"})
        for (gemm_plan const& plan : built_plans(p.problem, o, 4, device)) {
          if (device != std::string_view("h200") && plan.family->id() == "gemv") continue;
          std::fill(p.d.bytes.begin(), p.d.bytes.end(), std::byte{0xFF});
          runs[plan.family->id()] +=
              run_plans({plan}, o, rng, 4, 1, [&] { expect_right(static_cast<product&>(p)); });
          space.expect_zero();
          if (HasFailure()) return;
        }
    }
  for (char const* const family : {"sm90_gemm", "sm80_gemm", "sm100_gemm", "gemv"})
    EXPECT_GE(runs[family], 8) << family;
}

}  // namespace
}  // namespace tw::test
