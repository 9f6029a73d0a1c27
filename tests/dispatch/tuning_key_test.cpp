// SPDX-License-Identifier: Apache-2.0
// tuning_key_test.cpp  A key has all of a problem that its speed depends on, and is read back.
#include "dispatch/tuning/tuning_key.hpp"

#include <gtest/gtest.h>

#include <set>

#include "dispatch/tuning/tuning_store.hpp"
#include "tests/dispatch/problems.hpp"
#include "tilewright/problem/block_result.hpp"
#include "tilewright/problem/scale_convention.hpp"

namespace tw::test {
namespace {

gemm_problem fp8() {
  gemm_problem p;
  p.m = 384, p.n = 512, p.k = 1024;
  p.a = {elem::e4m3, order::row_major, p.k};
  p.b = {elem::e4m3, order::col_major, p.k};
  p.d = {elem::bf16, order::row_major, p.n};
  return p;
}

/// Problems of the same extents that differ in one choice each.
std::vector<gemm_problem> variants() {
  std::vector<gemm_problem> all{fp8()};
  auto const add = [&](auto const& change) {
    all.push_back(fp8());
    change(all.back());
  };
  add([](gemm_problem& p) { p.precision.promote_k = 0; });
  add([](gemm_problem& p) { p.precision.promote_k = 64; });
  add([](gemm_problem& p) { p.reproducible = true; });
  add([](gemm_problem& p) { p.b.type = elem::e5m2; });
  add([](gemm_problem& p) { p.a.type = p.b.type = elem::f16; });
  add([](gemm_problem& p) { p.a.type = p.b.type = elem::f16, p.precision.f16_sums = true; });
  add([](gemm_problem& p) { p.scale_a = make_scale({false, p.m, p.k}, scaling::row); });
  for (scaling const s : {scaling::block_1x128, scaling::block_128x128})
    add([&](gemm_problem& p) {
      p.scale_a = make_scale({false, p.m, p.k}, scaling::block_1x128);
      p.scale_b = make_scale({true, p.n, p.k}, s, scale_library::cublaslt);
    });
  for (bool const tiled : {false, true})
    add([&](gemm_problem& p) {
      p.scale_a = scale_desc{.type = elem::ue8m0, .block_outer = 1, .block_k = 32};
      p.scale_a->stride_outer = p.scale_a->stride_k = 4;
      p.scale_a->tiled = tiled;
    });
  add([](gemm_problem& p) { p.d.type = elem::e4m3, p.scale_d.emplace().given = true; });
  for (block_format const f : {block_format::mxfp8, block_format::mxfp4, block_format::nvfp4})
    add([&](gemm_problem& p) {
      p.d.type = traits_of(f).value, p.scale_d = make_block_result(f, p.m, p.n);
    });
  add([](gemm_problem& p) { p.d.type = elem::e4m3, p.scale_d.emplace().power_of_two = true; });
  add([](gemm_problem& p) { p.c = p.d, p.beta = 1; });
  add([](gemm_problem& p) { p.aux = p.d; });
  add([](gemm_problem& p) { p.epilogue.act = activation::silu; });
  add([](gemm_problem& p) { p.epilogue.bias = along::cols, p.epilogue.bias.type = elem::bf16; });
  add([](gemm_problem& p) { p.batch = 3, p.a.batch_stride_elems = p.m * p.k; });
  for (group_axis const x : {group_axis::m, group_axis::n, group_axis::k})
    add([&](gemm_problem& p) { p.groups = group_desc{.axis = x, .count = 4}; });
  add([](gemm_problem& p) { p.groups = group_desc{.count = 4, .expected_size = 9}; });
  add([](gemm_problem& p) { p.groups = group_desc{.count = 4, .index_bits = 64}; });
  add([](gemm_problem& p) { p.groups = group_desc{.count = 4, .alpha = true}; });
  add([](gemm_problem& p) { p.groups = group_desc{.count = 4, .gather_from = 1}; });
  add([](gemm_problem& p) { p.groups = group_desc{.count = 4, .scatter_to = 1}; });
  for (gating const g : {gating::none, gating::split})
    add([&](gemm_problem& p) {
      p.weights_b = {weight_code::mxfp4, elem::ue8m0, weight_zeros::none, 32, true, g};
      p.epilogue.gate = g;
    });
  return all;
}

TEST(TuningKey, IsReadBack) {
  for (gemm_problem const& p : variants()) {
    std::string const key = problem_key(p);
    auto const back = problem_of_key(key);
    ASSERT_TRUE(back) << key;
    EXPECT_EQ(problem_key(*back), key);
    EXPECT_TRUE(back->scale_d == p.scale_d) << key;
    EXPECT_TRUE(back->groups == p.groups && back->weights_b == p.weights_b) << key;
  }
}

TEST(TuningKey, DiffersWhereProblemsDo) {
  std::set<std::string> keys;
  for (gemm_problem const& p : variants())
    EXPECT_TRUE(keys.insert(problem_key(p)).second) << problem_key(p);
}

TEST(TuningKey, LeavesOutTheTypeOfABiasThatIsNotThere) {
  gemm_problem p = fp8();
  p.epilogue.act = activation::silu;
  std::string const key = problem_key(p);
  p.epilogue.bias.type = elem::bf16;
  EXPECT_EQ(problem_key(p), key);
}

TEST(TuningKey, OtherTextsAreRefused) {
  std::string const key = problem_key(fp8());
  EXPECT_TRUE(problem_of_key(key));
  for (std::string const& text :
       {std::string(), key + " ", key + " z", key + " sa=f32,1", key + "x"})
    EXPECT_FALSE(problem_of_key(text)) << text;
}

}  // namespace
}  // namespace tw::test
