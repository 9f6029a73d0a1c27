// SPDX-License-Identifier: Apache-2.0
// no_kernel_test.cpp  The types and orders that a refusal names if no compiled kernel fits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/dispatch/problems.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/problem/scale_convention.hpp"

namespace tw::test {
namespace {

std::string why(gemm_problem const& p, device const& dev = h200()) {
  try {
    plan_gemm(p, aligned(), dev);
  } catch (rejected const& r) {
    return fmt::format("{} {}: {} / {}", r.why().code, r.why().what, r.why().got, r.why().need);
  }
  return "planned";
}

/// Gates of 16-bit operands have kernels for every GPU, those of 8-bit floats not for Ampere, and
/// those of 8-bit integers for Hopper alone.
TEST(NoKernel, AGateHasKernelsForOtherArchitectures) {
  gemm_problem p = tn(64, 64, 64);
  p.epilogue.gate = gating::interleaved, p.epilogue.act = activation::silu;
  for (char const* const name : {"a100", "h200", "b200"})
    EXPECT_EQ(why(p, known_device(name)), "planned");
  p.a.type = p.b.type = p.d.type = elem::e4m3;
  p.precision.promote_k = 128;
  EXPECT_EQ(why(p), "planned");
  EXPECT_NE(why(p, known_device("b200")).substr(0, 6), "TW0471");  // TW0505 if it is not built
  EXPECT_EQ(why(p, known_device("a100")).substr(0, 6), "TW0471");
  p.a.type = p.b.type = elem::s8, p.d.type = elem::f32;
  EXPECT_EQ(why(p), "planned");
  for (char const* const name : {"a100", "b200"})
    EXPECT_EQ(why(p, known_device(name)).substr(0, 6), "TW0471");
}

/// Scales for blocks of K have kernels for Hopper and for Blackwell, in every order of D.
TEST(NoKernel, BlockScalesHaveKernelsForHopperAndBlackwell) {
  for (order const d : {order::row_major, order::col_major}) {
    gemm_problem p = tn(64, 64, 256);
    p.a.type = p.b.type = elem::e4m3;
    p.d.ord = d;
    p.precision.promote_k = 128;
    p.scale_a = make_scale({false, p.m, p.k}, scaling::block_1x128);
    p.scale_b = make_scale({true, p.n, p.k}, scaling::block_128x128);
    for (char const* const name : {"h200", "b200", "gb300"})
      EXPECT_EQ(why(p, known_device(name)), "planned");
    EXPECT_EQ(why(p, known_device("a100")).substr(0, 6), "TW0471");
  }
}

/// Of the matrices only what has to change is named.
TEST(NoKernel, ARefusedEpilogueNamesTheConditionThatFailed) {
  gemm_problem p = tn(64, 64, 64, elem::f32);
  p.aux = p.d;
  EXPECT_EQ(why(p), "TW0414 type of D with an auxiliary output: f32 / bf16, the type of A and B");
  p.d.type = p.aux->type = elem::bf16;
  EXPECT_EQ(why(p), "planned");
  p.b = {elem::bf16, order::row_major, 64};
  EXPECT_EQ(why(p),
            "TW0414 order of B with an auxiliary output: row-major / column-major: columns "
            "contiguous along K");
  p.b.ord = order::col_major, p.a.ord = order::col_major;
  EXPECT_EQ(why(p),
            "TW0414 order of A with an auxiliary output: column-major / row-major: rows "
            "contiguous along K");
  p.a.ord = order::row_major, p.epilogue.gate = gating::split;
  p.d.ord = p.aux->ord = order::col_major;
  EXPECT_EQ(why(p),
            "TW0414 order of D with a gate and an auxiliary output: column-major / row-major");
  p = tn(64, 64, 64, elem::e5m2);
  p.a.type = p.b.type = elem::e5m2, p.precision.promote_k = 0;
  p.epilogue.act = activation::relu;
  EXPECT_EQ(why(p), "TW0414 promotion interval with a fused epilogue: never / 128");
  p = batch_of(tn(64, 64, 64), 2);
  p.aux = p.d, p.a.batch_stride_elems = matrix_desc::by_pointers;
  EXPECT_EQ(why(p),
            "TW0414 batch with an auxiliary output: matrices by pointers / a batch by strides");
  p = tn(256, 256, 256);
  p.a.type = p.b.type = elem::e4m3;
  p.scale_a = make_scale({false, p.m, p.k}, scaling::block_1x128);
  p.scale_b = make_scale({true, p.n, p.k}, scaling::block_128x128);
  p.aux = p.d;
  for (char const* const name : {"h200", "b200"})
    EXPECT_EQ(why(p, known_device(name)),
              "TW0414 scales of A and B with an auxiliary output: scales for blocks of K / scales "
              "of tensors, rows or columns");
  p = batch_of(tn(64, 64, 64, elem::f32), 2);  // two conditions: the refusal names both
  p.aux = p.d, p.a.ord = order::col_major;
  EXPECT_EQ(why(p),
            "TW0414 matrices with an auxiliary output: A column-major, B column-major, D "
            "row-major f32 from bf16 / row-major A, column-major B, row-major D; types of D and of "
            "A and B: f16 from f16, bf16 from bf16, bf16 from e4m3");
}

/// Groups and 4-bit weights: each single change that has a kernel is named.
TEST(NoKernel, OfGroupsAndWeightsNamesTheChanges) {
  gemm_problem p = tn(64, 64, 64, elem::f32);
  p.groups = group_desc{.axis = group_axis::m, .count = 4};
  p.b.batch_stride_elems = 64 * 64;
  EXPECT_EQ(why(p), "planned");
  p.epilogue.bias = {along::cols, elem::f32};
  EXPECT_EQ(
      why(p),
      "TW0494 a GEMM of groups of m: A bf16 row-major, B bf16 column-major, D f32 row-major "
      "with a fused epilogue / D of bf16, or alpha and beta C alone, the epilogue separately");
  p.d.type = elem::bf16, p.a.ord = order::col_major;
  EXPECT_EQ(why(p),
            "TW0494 a GEMM of groups of m: A bf16 column-major, B bf16 column-major, D bf16 "
            "row-major with a fused epilogue / a row-major A");
  p.a.ord = order::row_major;
  EXPECT_EQ(why(p), "planned");
  EXPECT_EQ(why(p, known_device("a100")),
            "TW0494 a GEMM of groups of m: A bf16 row-major, B bf16 column-major, D bf16 row-major "
            "with a fused epilogue / a GPU of compute capability 9.0");

  p = tn(64, 64, 64, elem::f16);
  p.a.type = p.b.type = elem::f16;
  p.weights_b = {weight_code::int4, elem::f16, weight_zeros::integers, 16};
  p.epilogue.bias = {along::cols, elem::f32};
  EXPECT_EQ(
      why(p),
      "TW0467 a GEMM with 4-bit weights: int4, f16 scales of 16 elements, integer zero points "
      "weights, row-major f16 activations, D row-major f16 with a fused epilogue, compute "
      "capability 9.0 / alpha and beta C alone, the epilogue separately, or bf16 activations "
      "and D, and weights with scales of bf16");
  p.weights_b.group = 32;
  EXPECT_NE(why(p).substr(0, 6), "TW0467");  // TW0505 if it is not built
  p.d.type = elem::f32;
  EXPECT_EQ(why(p).substr(why(p).find('/')),
            "/ D of f16, or bf16 activations and D, and weights with scales of bf16");
  p.d.type = elem::f16, p.epilogue = {};
  p.weights_b = {weight_code::nvfp4, elem::ue4m3, {}, 16};
  p.groups = group_desc{.axis = group_axis::m, .count = 4};
  p.b.batch_stride_elems = 64 * 64;
  EXPECT_EQ(why(p).substr(why(p).find('/')), "/ bf16 activations and D, or a GEMM for each group");
}

}  // namespace
}  // namespace tw::test
