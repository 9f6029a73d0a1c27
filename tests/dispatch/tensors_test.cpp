// SPDX-License-Identifier: Apache-2.0
// tensors_test.cpp  Tensors read as a GEMM: each element of an operand lies where the shape and
//                   the strides say, and each refusal names its argument.
#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <vector>

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/dispatch/tensors.hpp"
#include "tilewright/problem/block_result.hpp"
#include "tilewright/problem/block_scaled.hpp"
#include "tilewright/problem/scale_convention.hpp"

namespace tw::test {
namespace {

using extents = std::vector<std::int64_t>;

/// Tensors that own their shapes and strides.
class tensors {
 public:
  tensor_argument* add(extents shape, tensor_type type, extents strides = {}) {
    extents const& s = lists_.emplace_back(std::move(shape));
    extents const& d = lists_.emplace_back(std::move(strides));
    return &all_.emplace_back(tensor_argument{
        &byte_, static_cast<int>(s.size()), s.data(), d.empty() ? nullptr : d.data(), type, {}});
  }
  tensor_argument* bf16(extents shape, extents strides = {}) {
    return add(std::move(shape), type_in_tensors(elem::bf16), std::move(strides));
  }

 private:
  char byte_ = 0;
  std::deque<extents> lists_;
  std::deque<tensor_argument> all_;
};

rejection refused(gemm_arguments const& g) {
  try {
    gemm_of_tensors(g);
  } catch (rejected const& r) {
    return r.why();
  }
  return {};
}

/// Offset of an element by the description, in elements.
std::int64_t offset(matrix_desc const& m, std::int64_t i, std::int64_t j, std::int64_t batch) {
  return batch * m.batch_stride_elems +
         (m.ord == order::row_major ? i * m.pitch_elems + j : i + j * m.pitch_elems);
}

TEST(Tensors, EachElementLiesWhereItsStridesSay) {
  std::mt19937_64 rng(46);
  auto const any = [&](int lo, int hi) {
    return lo + static_cast<std::int64_t>(rng() % static_cast<unsigned>(hi - lo + 1));
  };
  for (int round = 0; round < 2000; ++round) {
    tensors t;
    std::int64_t const m = any(1, 5), n = any(1, 5), k = any(1, 5), batch = any(1, 3);
    auto const random = [&](std::int64_t rows, std::int64_t cols, bool may_share) {
      bool const row_major = any(0, 1) != 0, stack = batch > 1 && (!may_share || any(0, 1) != 0);
      std::int64_t const pitch = (row_major ? cols : rows) + any(0, 3);
      std::int64_t const whole = pitch * (row_major ? rows : cols) + any(0, 4);
      extents shape = {rows, cols};
      extents strides = row_major ? extents{pitch, 1} : extents{1, pitch};
      if (rows == 1 && any(0, 1) != 0) strides[0] = any(-9, 9);  // of an extent of 1: any number
      if (cols == 1 && any(0, 1) != 0 && row_major) strides[1] = any(-9, 9);
      if (stack) shape.insert(shape.begin(), batch), strides.insert(strides.begin(), whole);
      return t.bf16(shape, strides);
    };
    gemm_arguments g;
    g.a = random(m, k, true), g.b = random(k, n, true), g.d = random(m, n, false);
    if (batch > 1 && g.a->rank == 2 && g.b->rank == 2) continue;
    tensor_gemm const from = gemm_of_tensors(g);
    gemm_problem const& p = from.problem;
    ASSERT_EQ(p.m, m);
    ASSERT_EQ(p.n, n);
    ASSERT_EQ(p.k, k);
    ASSERT_EQ(p.batch, batch);
    struct one {
      tensor_argument const* t;
      matrix_desc const* desc;
      std::int64_t rows, cols;
    };
    for (one const& x : {one{g.a, &p.a, m, k}, {g.b, &p.b, k, n}, {g.d, &p.d, m, n}}) {
      EXPECT_GE(x.desc->pitch_elems, x.desc->ord == order::row_major ? x.cols : x.rows);
      int const r = x.t->rank;
      for (std::int64_t z = 0; z < batch; ++z)
        for (std::int64_t i = 0; i < x.rows; ++i)
          for (std::int64_t j = 0; j < x.cols; ++j) {
            std::int64_t const want = (r == 3 ? z * x.t->strides[0] : 0) + i * x.t->strides[r - 2] +
                                      j * x.t->strides[r - 1];
            ASSERT_EQ(offset(*x.desc, i, j, z), want) << round;
          }
    }
  }
}

TEST(Tensors, RefusalsOfShapesAndStridesNameTheArgument) {
  tensors t;
  gemm_arguments const good{.a = t.bf16({4, 6}), .b = t.bf16({6, 8}), .d = t.bf16({4, 8})};
  EXPECT_EQ(refused(good).code, "");
  auto const with = [&](tensor_argument const* gemm_arguments::*x, tensor_argument const* y) {
    gemm_arguments g = good;
    g.*x = y;
    rejection const r = refused(g);
    return r.code + " " + r.what;
  };
  using g = gemm_arguments;
  EXPECT_EQ(with(&g::a, nullptr), "TW0484 a");
  EXPECT_EQ(with(&g::d, nullptr), "TW0484 d");
  EXPECT_EQ(with(&g::a, t.bf16({24})), "TW0481 dimensions of a");
  EXPECT_EQ(with(&g::b, t.bf16({1, 1, 6, 8})), "TW0481 dimensions of b");
  EXPECT_EQ(with(&g::b, t.bf16({6, -8})), "TW0481 shape of b");
  EXPECT_EQ(with(&g::b, t.bf16({5, 8})), "TW0616 inner dimensions of a b");
  EXPECT_EQ(with(&g::d, t.bf16({8, 4})), "TW0616 shape of d");
  EXPECT_EQ(with(&g::c, t.bf16({4, 9})), "TW0616 shape of c");
  EXPECT_EQ(with(&g::d, t.bf16({2, 4, 8})), "TW0616 matrices in d");
  EXPECT_EQ(with(&g::a, t.bf16({4, 6}, {12, 2})), "TW0482 strides of a");
  EXPECT_EQ(with(&g::a, t.bf16({4, 6}, {-6, 1})), "TW0482 strides of a");
  EXPECT_EQ(with(&g::a, t.bf16({4, 6}, {0, 1})), "TW0482 strides of a");
  EXPECT_EQ(with(&g::b, t.bf16({6, 8}, {1, 1})), "TW0402 strides of b");
  EXPECT_EQ(with(&g::bias, t.bf16({4})), "TW0616 shape of bias");
  EXPECT_EQ(with(&g::bias, t.bf16({8}, {2})), "TW0482 strides of bias");
  EXPECT_EQ(with(&g::bias, t.bf16({8})), " ");
  EXPECT_EQ(with(&g::bias, t.bf16({4, 1})), " ");
  EXPECT_EQ(with(&g::a, t.add({4, 6}, {2, 64, 1})), "TW0483 type of a");
  EXPECT_EQ(with(&g::b, t.add({6, 8}, {5, 64, 1})), "TW0483 type of b");
  EXPECT_EQ(with(&g::b, t.add({6, 8}, {4, 16, 4})), "TW0483 type of b");
  tensor_argument* const far = t.bf16({6, 8});
  far->place = {2, 0};
  EXPECT_EQ(with(&g::b, far), "TW0485 device of b");
  EXPECT_EQ(with(&g::second_a, t.add({}, {2, 32, 1})), "TW0484 second_a");
}

TEST(Tensors, RefusalsOfWordsNameTheArgument) {
  tensors t;
  gemm_arguments const good{.a = t.bf16({4, 6}), .b = t.bf16({6, 8}), .d = t.bf16({4, 8})};
  gemm_arguments g = good;
  g.activation = "swoosh";
  EXPECT_EQ(refused(g).what, "activation");
  g = good, g.gate = "half";
  EXPECT_EQ(refused(g).what, "gate");
  g = good, g.format = "mxfp5", g.scale_a = t.add({4, 1}, {2, 32, 1});
  EXPECT_EQ(refused(g).what, "format");
  g = good, g.scale_d_as = "2x2", g.scale_d = t.add({4, 1}, {2, 32, 1});
  EXPECT_EQ(refused(g).what, "scale_d_as");
  g = good, g.scale_d_as = "row";
  EXPECT_EQ(refused(g).code, "TW0484");
  g = good, g.scale_b_as = "5x5", g.scale_b = t.add({8}, {2, 32, 1});
  EXPECT_EQ(refused(g).what, "scale_b_as");
  EXPECT_EQ(refused(g).code, "TW0486");
}

TEST(Tensors, ScalesAreThoseOfTheConventionsAndAmbiguousOnesNameTheArgument) {
  tensors t;
  tensor_type const e4m3 = type_in_tensors(elem::e4m3), f32 = type_in_tensors(elem::f32);
  gemm_arguments g{
      .a = t.add({64, 512}, e4m3), .b = t.add({512, 512}, e4m3, {1, 512}), .d = t.bf16({64, 512})};
  g.scale_a = t.add({64, 4}, f32), g.scale_b = t.add({4, 4}, f32);
  rejection const r = refused(g);
  EXPECT_EQ(r.code, "TW0451");
  EXPECT_EQ(r.what, "scale_b");
  EXPECT_NE(r.hint.find("scale_b_as = torch:128x128"), std::string::npos) << r.hint;
  g.scale_b_as = "torch:128x128";
  gemm_problem const p = gemm_of_tensors(g).problem;
  EXPECT_EQ(scaling_of(*p.scale_a), scaling::block_1x128);
  EXPECT_EQ(scaling_of(*p.scale_b), scaling::block_128x128);
  EXPECT_EQ(p.scale_b->stride_k, 1);
  g.scale_a = t.add({64, 5}, f32);
  EXPECT_EQ(refused(g).code, "TW0450");
  EXPECT_EQ(refused(g).what, "scale_a");
}

TEST(Tensors, FormatsFollowFromTypesAndShapesOfScales) {
  tensors t;
  tensor_type const pair = {17, 4, 2}, half = {17, 4, 1}, u8 = {1, 8, 1};
  tensor_type const e4m3 = type_in_tensors(elem::e4m3), e8m0 = type_in_tensors(elem::ue8m0);
  auto const nvfp4 = [&](tensor_type values, std::int64_t in_byte) {
    gemm_arguments g{.a = t.add({130, 64 / in_byte}, values),
                     .b = t.add({64 / in_byte, 40}, values, {1, 64 / in_byte}),
                     .d = t.bf16({130, 40})};
    g.scale_a = t.add({130, 4}, e4m3), g.scale_b = t.add({40, 4}, e4m3);
    g.second_a = g.second_b = t.add({1}, type_in_tensors(elem::f32));
    return g;
  };
  for (gemm_arguments g : {nvfp4(pair, 2), nvfp4(half, 1), nvfp4(u8, 2)}) {
    if (g.a->type == u8) g.format = "nvfp4";
    gemm_problem const p = gemm_of_tensors(g).problem;
    EXPECT_EQ(p.k, 64);
    EXPECT_EQ(p.a, (matrix_desc{elem::e2m1, order::row_major, 64, 0}));
    EXPECT_EQ(p.b, (matrix_desc{elem::e2m1, order::col_major, 64, 0}));
    EXPECT_EQ(format_of(p), block_format::nvfp4);
    EXPECT_TRUE(p.scale_a->second_level && !p.scale_a->tiled);
  }
  gemm_arguments g = nvfp4(pair, 2);
  g.b = t.add({32, 40}, pair);
  EXPECT_EQ(refused(g).what, "strides of b");
  g = nvfp4(pair, 2);
  g.scale_a = t.add({130, 2}, e8m0), g.scale_b = t.add({128, 4}, e8m0);
  g.second_a = g.second_b = nullptr;
  EXPECT_EQ(format_of(gemm_of_tensors(g).problem), block_format::mxfp4);
  // MXFP8 has 2 factors in a row, scales of 1x128 one.
  g = {.a = t.add({130, 64}, e4m3), .b = t.add({64, 40}, e4m3, {1, 64}), .d = t.bf16({130, 40})};
  g.scale_a = t.add({130, 2}, e8m0), g.scale_b = t.add({40, 2}, e8m0);
  EXPECT_EQ(format_of(gemm_of_tensors(g).problem), block_format::mxfp8);
  g.scale_a = t.add({130, 1}, e8m0), g.scale_b = t.add({40, 1}, e8m0);
  EXPECT_FALSE(is_block_scaled(gemm_of_tensors(g).problem));
}

TEST(Tensors, NothingToScaleIsAccepted) {
  tensors t;
  tensor_type const e4m3 = type_in_tensors(elem::e4m3), f32 = type_in_tensors(elem::f32);
  for (auto const& [m, n, k] : {std::array<std::int64_t, 3>{0, 8, 256}, {8, 0, 256}, {8, 8, 0}}) {
    gemm_arguments g{
        .a = t.add({m, k}, e4m3), .b = t.add({k, n}, e4m3, {1, k}), .d = t.bf16({m, n})};
    g.scale_a = t.add({m, (k + 127) / 128}, f32), g.scale_b = t.add({n, (k + 127) / 128}, f32);
    gemm_problem const p = gemm_of_tensors(g).problem;
    EXPECT_EQ(p.m, m);
    EXPECT_EQ(p.n, n);
    EXPECT_EQ(p.k, k);
  }
}

TEST(Tensors, ResultsHaveTheUsualTypeAndTheShapeOfTheirScales) {
  tensors t;
  tensor_type const s8 = type_in_tensors(elem::s8), e4m3 = type_in_tensors(elem::e4m3);
  gemm_arguments g{.a = t.bf16({3, 70, 32}), .b = t.bf16({32, 96})};
  tensor_result r = result_of_tensors(g);
  EXPECT_EQ(r.rank, 3);
  EXPECT_EQ(r.shape[0], 3);
  EXPECT_EQ(r.shape[1], 70);
  EXPECT_EQ(r.shape[2], 96);
  EXPECT_EQ(r.type, type_in_tensors(elem::bf16));
  g = {.a = t.add({70, 32}, s8), .b = t.add({32, 96}, s8)};
  EXPECT_EQ(result_of_tensors(g).type, type_in_tensors(elem::s32));
  g = {.a = t.add({70, 32}, e4m3), .b = t.add({32, 256}, e4m3, {1, 32})};
  EXPECT_EQ(result_of_tensors(g).type, type_in_tensors(elem::bf16));
  g.scale_d_as = "1x128";
  r = result_of_tensors(g);
  EXPECT_EQ(r.type, e4m3);
  EXPECT_EQ(r.scale_shape[0], 70);
  EXPECT_EQ(r.scale_shape[1], 2);
  EXPECT_EQ(r.scale_strides[0], 1);
  EXPECT_EQ(r.scale_strides[1], 70);
  EXPECT_EQ(r.scale_bytes, 70 * 2 * 4);
  g.scale_d_as = "nvfp4";
  r = result_of_tensors(g);
  EXPECT_EQ(r.shape[1], 128);
  EXPECT_EQ(r.type, (tensor_type{17, 4, 2}));
  EXPECT_EQ(r.scale_bytes, 128 * 16 + 4);
  EXPECT_EQ(r.second_offset, 128 * 16);
  g.gate = "split", g.activation = "silu", g.scale_d_as = "";
  EXPECT_EQ(result_of_tensors(g).shape[1], 128);
}

}  // namespace
}  // namespace tw::test
