// SPDX-License-Identifier: Apache-2.0
// promotion_emu_test.cpp  Sums of 8-bit floats begin anew after the requested interval, whatever
//                         the epilogue and the scales: a small term beside a large one is kept by
//                         the tensor core's arithmetic only in another interval.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/kernel/built_kernels.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/gemm_cases.hpp"
#include "tilewright/problem/scale_convention.hpp"

namespace tw::test {
namespace {

struct form {
  char const* name;
  bool bias, gate, blocks;
};
constexpr form forms[] = {{"plain", false, false, false},      {"bias", true, false, false},
                          {"gate", true, true, false},         {"blocks", false, false, true},
                          {"blocks, bias", true, false, true}, {"blocks, gate", true, true, true}};

/// A B is 256 + 2^-6 in each gate or only column, and 1 in each other: k = 0 has the large term,
/// k = `small` the small one, 2^-14 of it. The tensor core keeps 2^-13 of its largest term.
class PromotionEmu : public testing::Test {
 protected:
  static constexpr std::int64_t m = 40, n = 48, k = 256;
  static constexpr float large = 256, tiny = 0x1p-6F;
  emu_workspace space;
  std::set<std::string> kernels;

  /// None if no kernel has the combination, or none of this build.
  static std::vector<gemm_plan> plans_of(gemm_problem const& p, gemm_operands const& o, int sms) {
    try {
      return built_plans(p, o, sms);
    } catch (rejected const& r) {
      EXPECT_EQ(r.why().code, "TW0414");
      return {};
    }
  }

  /// D, from which the large term is taken away, by each plan of the build; each has one value.
  std::set<float> results(form const& f, int promote_k, std::int64_t small) {
    std::int64_t at = 0;
    auto const row_of_a = [&] {
      std::int64_t const i = at++ % k;
      return i == 0 ? 16.0F : i == 1 ? 1.0F : i == small ? tiny : 0.0F;
    };
    product p;
    p.a = make_matrix(elem::e4m3, order::row_major, m, k, 0, row_of_a);
    at = 0;
    auto const column_of_b = [&] {
      std::int64_t const i = at / n, col = at++ % n;
      if (f.gate && col % 2 == 1) return i == 1 ? 1.0F : 0.0F;
      return i == 0 ? 16.0F : i == small ? 1.0F : 0.0F;
    };
    p.b = make_matrix(elem::e4m3, order::col_major, k, n, 0, column_of_b);
    std::int64_t const cols = f.gate ? n / 2 : n;
    p.d = make_matrix(elem::bf16, order::row_major, m, cols, 0, nullptr);
    p.problem = {m, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F};
    gemm_problem& q = p.problem;
    q.precision.promote_k = promote_k;
    std::vector<float> bias(static_cast<std::size_t>(n), -large), scale_a, scale_b;
    if (f.gate)
      for (std::size_t i = 1; i < bias.size(); i += 2) bias[i] = 0;
    if (f.bias) {
      q.epilogue.bias = along::cols;
      if (f.gate) q.epilogue.gate = gating::interleaved;
    } else {
      p.c = make_matrix(elem::f32, order::row_major, m, n, 0, [] { return -large; });
      q.c = p.c.desc, q.beta = 1;
    }
    if (f.blocks) {
      q.scale_a = make_scale({false, m, k}, scaling::block_1x128);
      q.scale_b = make_scale({true, n, k}, scaling::block_128x128);
      scale_a.assign(static_cast<std::size_t>(scale_extent(*q.scale_a, m, k)), 2.0F);
      scale_b.assign(static_cast<std::size_t>(scale_extent(*q.scale_b, n, k)), 0.5F);
    }
    gemm_operands o = p.operands();
    o.bias = bias.data(), o.scale_a = scale_a.data(), o.scale_b = scale_b.data();
    space.give(o);
    emu_options e;
    e.exact_sums = true, e.sms = 4;
    std::set<float> found;
    for (gemm_plan const& plan : plans_of(q, o, e.sms)) {
      if (plan.schedule.split_k_tiles > 0) continue;  // its parts of K begin anew too
      kernels.insert(plan.kernel);
      emulate(plan, o, e);
      for (std::int64_t r = 0; r < m; ++r)
        for (std::int64_t c = 0; c < cols; ++c) found.insert(static_cast<float>(p.d.load(r, c, 0)));
    }
    return found;
  }
};

TEST_F(PromotionEmu, ASmallTermIsKeptInAnotherIntervalAlone) {
  std::set<float> const kept{tiny}, lost{0.0F};
  std::map<std::string, int> planned;
  for (form const& f : forms)
    for (int const promote_k : {0, 64, 128}) {
      int const interval = f.blocks && promote_k == 0 ? 128 : promote_k;  // blocks are promoted
      for (std::int64_t const small : {40, 64, 128}) {
        std::set<float> const found = results(f, promote_k, small);
        if (found.empty()) continue;  // a kernel of the full set
        ++planned[f.name];
        EXPECT_EQ(found, interval != 0 && small >= interval ? kept : lost)
            << f.name << ", promoted every " << promote_k << ", small term at " << small;
      }
    }
  EXPECT_EQ(planned["plain"], 9);
  EXPECT_GE(planned["bias"], 6);    // 64 and 128
  EXPECT_EQ(planned["blocks"], 9);  // 0 is 128 there
  EXPECT_GE(kernels.size(), 7U);
}

TEST_F(PromotionEmu, ARefusalNamesAnIntervalWithAKernel) {
  gemm_problem p;
  p.m = p.n = 64, p.k = 256;
  p.a = {elem::e4m3, order::row_major, p.k};
  p.b = {elem::e5m2, order::col_major, p.k};
  p.d = {elem::e4m3, order::row_major, 32};
  p.epilogue.gate = gating::split;
  p.precision.promote_k = 64;
  gemm_operands o;
  space.give(o);
  try {
    plan_candidates(p, o, known_device("h200"), kernel_set::all);
    ADD_FAILURE() << "there is a kernel now: choose another combination";
  } catch (rejected const& r) {
    EXPECT_EQ(r.why().code, "TW0414");
    EXPECT_EQ(r.why().what, "promotion interval with a gate");
    EXPECT_EQ(r.why().need, "128");
    EXPECT_NE(r.why().hint.find("gemm_problem::precision.promote_k = 128"), std::string::npos)
        << r.why().hint;
    EXPECT_NE(r.why().hint.find("D of bf16, f16, or f32"), std::string::npos) << r.why().hint;
  }
}

}  // namespace
}  // namespace tw::test
