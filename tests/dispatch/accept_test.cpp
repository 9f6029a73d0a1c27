// SPDX-License-Identifier: Apache-2.0
// accept_test.cpp  Which problems are refused, and with which code.
#include "tilewright/problem/accept.hpp"

#include <gtest/gtest.h>

#include "tests/dispatch/problems.hpp"

namespace tw::test {
namespace {

struct bad_case {
  char const* code;
  void (*spoil)(gemm_problem&);
};

/// The longest K of which no sum of products can leave 32 bits, and one more.
TEST(Accept, SumsOfIntegersStayWithin32Bits) {
  struct row {
    elem a, b;
    std::int64_t product;
  };
  for (row const& r : {row{elem::s8, elem::s8, 128 * 128},
                       {elem::s8, elem::u8, 128 * 255},
                       {elem::u8, elem::s8, 255 * 128},
                       {elem::u8, elem::u8, 255 * 255}}) {
    gemm_problem p = tn(64, 64, ((std::int64_t{1} << 31) - 1) / r.product);
    p.a.type = r.a, p.b.type = r.b, p.d.type = elem::s32;
    EXPECT_FALSE(accept(p)) << name(r.a) << name(r.b);
    p.k = p.a.pitch_elems = p.b.pitch_elems = p.k + 1;
    EXPECT_EQ(accept(p).value().code, "TW0439");
    p.precision.wrapping_sums = true;
    EXPECT_FALSE(accept(p));
  }
}

TEST(Accept, RefusesWithTheCodeOfTheRule) {
  bad_case const cases[] = {
      {"TW0401", [](gemm_problem& p) { p.m = 0; }},
      {"TW0401", [](gemm_problem& p) { p.n = -4; }},
      {"TW0401", [](gemm_problem& p) { p.k = std::int64_t{1} << 31; }},
      {"TW0402", [](gemm_problem& p) { p.a.pitch_elems = p.k - 1; }},
      {"TW0402", [](gemm_problem& p) { p.b.pitch_elems = 0; }},
      {"TW0402", [](gemm_problem& p) { p.d.pitch_elems = p.n - 1; }},
      {"TW0403", [](gemm_problem& p) { p.a.pitch_elems = std::int64_t{1} << 45; }},
      {"TW0404", [](gemm_problem& p) { p.a.type = elem::f16; }},
      {"TW0404", [](gemm_problem& p) { p.a.type = elem::e4m3, p.b.type = elem::s8; }},
      {"TW0404", [](gemm_problem& p) { p.a.type = p.b.type = elem::s32; }},
      {"TW0405", [](gemm_problem& p) { p.a.type = p.b.type = elem::tf32, p.d.type = elem::e4m3; }},
      {"TW0405",
       [](gemm_problem& p) { p.a.type = elem::e4m3, p.b.type = elem::e5m2, p.d.type = elem::s32; }},
      {"TW0437",
       [](gemm_problem& p) {
         p.a.type = p.b.type = elem::e4m3;
         p.precision.promote_k = 256;
       }},
      {"TW0438",
       [](gemm_problem& p) {
         p.a.type = p.b.type = elem::s8, p.d.type = elem::s32;
         p.alpha = 0.5F;
       }},
      {"TW0438",
       [](gemm_problem& p) {
         p.a.type = p.b.type = elem::s8, p.d.type = elem::s32;
         p.epilogue.act = activation::relu;
       }},
      {"TW0439",
       [](gemm_problem& p) {
         p.a.type = p.b.type = elem::s8, p.d.type = elem::s32;
         p.k = p.a.pitch_elems = p.b.pitch_elems = 1 << 17;
       }},
      {"TW0405", [](gemm_problem& p) { p.d.type = elem::e4m3; }},
      {"TW0405",
       [](gemm_problem& p) {
         p.c = matrix_desc{elem::tf32, order::row_major, p.n};
       }},
      {"TW0406", [](gemm_problem& p) { p.alpha = 1e38F * 100; }},
      {"TW0407", [](gemm_problem& p) { p.beta = 1; }},
      {"TW0411",
       [](gemm_problem& p) {
         p.epilogue.gate = gating::split;
         p.n = 40;
       }},
      {"TW0411",
       [](gemm_problem& p) {
         p.epilogue.gate = gating::interleaved;
         p.b = {elem::bf16, order::row_major, p.n};
       }},
      {"TW0412",
       [](gemm_problem& p) {
         p.epilogue.bias = along::rows;
         p.epilogue.bias.type = elem::e4m3;
       }},
      {"TW0412",
       [](gemm_problem& p) {
         p.epilogue.bias = {along::cols, elem::f32, true};
       }},
      {"TW0412",
       [](gemm_problem& p) {
         p.epilogue.row_scale = {along::rows, elem::bf16};
       }},
      {"TW0412", [](gemm_problem& p) { p.epilogue.row_scale = along::cols; }},
      {"TW0412", [](gemm_problem& p) { p.epilogue.col_scale = along::rows; }},
      {"TW0415",
       [](gemm_problem& p) {
         p.aux = matrix_desc{elem::f32, order::row_major, p.n};
       }},
      {"TW0402",
       [](gemm_problem& p) {
         p.aux = matrix_desc{elem::bf16, order::row_major, p.n - 1};
       }},
      {"TW0479", [](gemm_problem& p) { p.epilogue.act = activation::clamped_quick_gelu; }},
      {"TW0413",
       [](gemm_problem& p) {
         p.epilogue.gate = gating::split;
         p.c = p.d;
       }},
      {"TW0420", [](gemm_problem& p) { p.batch = 0; }},
      {"TW0420", [](gemm_problem& p) { p.batch = std::int64_t{1} << 31; }},
      {"TW0421",
       [](gemm_problem& p) {
         p = tn(1 << 12, 1, 1);
         p.batch = 1 << 28;
         p.d.batch_stride_elems = 1 << 12;
       }},
      {"TW0403",
       [](gemm_problem& p) {
         p.batch = 2;
         p.d.batch_stride_elems = std::int64_t{1} << 43;
       }},
      {"TW0422", [](gemm_problem& p) { p.batch = 2, p.a.batch_stride_elems = -64; }},
      {"TW0423", [](gemm_problem& p) { p.batch = 2; }},
      {"TW0423",
       [](gemm_problem& p) {  // a row too close
         p.batch = 2, p.d.batch_stride_elems = 63 * 32;
       }},
      {"TW0423",
       [](gemm_problem& p) {  // each GEMM's aux in the same place
         p = batch_of(p, 4), p.aux = p.d, p.aux->batch_stride_elems = 0;
       }},
      {"TW0423",
       [](gemm_problem& p) {  // with a gate aux has all columns, D half of them
         p = batch_of(p, 4), p.epilogue.gate = gating::split;
         p.aux = p.d, p.aux->batch_stride_elems = 63 * 32 + 16;
       }},
      {"TW0415",
       [](gemm_problem& p) {
         p = batch_of(p, 4), p.aux = p.d, p.aux->batch_stride_elems = matrix_desc::by_pointers;
       }},
      {"TW0423",
       [](gemm_problem& p) {  // three side by side in a pitch for two
         p.batch = 3, p.d.pitch_elems = 64, p.d.batch_stride_elems = 32;
       }},
  };
  EXPECT_FALSE(accept(tn(64, 32, 16)));
  for (bad_case const& c : cases) {
    gemm_problem p = tn(64, 32, 16);
    c.spoil(p);
    auto const r = accept(p);
    ASSERT_TRUE(r) << c.code;
    EXPECT_EQ(r->code, c.code) << to_string(*r);
    EXPECT_FALSE(r->got.empty() || r->need.empty()) << to_string(*r);
    EXPECT_THROW(plan_gemm(p, aligned(), h200()), rejected);
  }
}

TEST(Accept, ResultsOfABatchMayLieSideBySide) {
  gemm_problem p = batch_of(tn(64, 32, 16), 3);
  EXPECT_FALSE(accept(p));
  p.d.pitch_elems = 96, p.d.batch_stride_elems = 32;
  EXPECT_FALSE(accept(p));
  p.aux = p.d;
  EXPECT_FALSE(accept(p));
  p.a.batch_stride_elems = p.b.batch_stride_elems = 0;  // operands may be the same for all
  EXPECT_FALSE(accept(p));
  p = batch_of(tn(64, 32, 16), 4), p.epilogue.gate = gating::split;
  p.d.batch_stride_elems = 63 * 32 + 16;  // half the columns end earlier in the last row
  EXPECT_FALSE(accept(p));
}

/// They name members of the API; the command says its options instead
/// (tools/report/field_words.hpp).
TEST(Accept, RefusalsSayWhatToDo) {
  gemm_problem p = tn(64, 32, 16);
  p.epilogue.gate = gating::split;
  p.b = {elem::bf16, order::row_major, p.n};
  std::string const b = accept(p)->hint;
  EXPECT_NE(b.find("gemm_problem::b.ord = order::col_major"), std::string::npos) << b;
  p.b = {elem::bf16, order::col_major, p.k};
  p.c = matrix_desc{elem::bf16, order::row_major, p.n / 2};
  EXPECT_NE(accept(p)->need.find("gemm_problem::epilogue.c_last = true"), std::string::npos)
      << to_string(*accept(p));
  p = batch_of(tn(64, 32, 16), 4);
  p.aux = p.d, p.aux->batch_stride_elems = matrix_desc::by_pointers;
  EXPECT_EQ(accept(p)->got, "a batch by pointers");
}

}  // namespace
}  // namespace tw::test
