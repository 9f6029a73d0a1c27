// SPDX-License-Identifier: Apache-2.0
// block_scale_test.cpp  Block-scaled operands: which problems are accepted, where scales lie, and
//                       which order a tensor of scales has.
#include "tilewright/problem/block_scale_convention.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/block_quantize.hpp"
#include "tilewright/problem/block_scaled.hpp"
#include "tilewright/problem/reference.hpp"
#include "tilewright/tensor/scale_layout.hpp"

namespace tw::test {
namespace {

constexpr block_format formats[] = {block_format::mxfp8, block_format::mxfp4, block_format::nvfp4};

gemm_problem problem(block_format f, std::int64_t m = 100, std::int64_t n = 70,
                     std::int64_t k = 96) {
  elem const type = traits_of(f).value;
  gemm_problem p{m,
                 n,
                 k,
                 {type, order::row_major, k},
                 {type, order::col_major, k},
                 {elem::bf16, order::row_major, n},
                 std::nullopt,
                 1.0F,
                 0.0F};
  p.scale_a = make_block_scale({false, m, k}, f);
  p.scale_b = make_block_scale({true, n, k}, f, factor_order::linear);
  return p;
}

template <class Change>
std::string refused(block_format f, Change change) {
  gemm_problem p = problem(f);
  change(p);
  auto const r = accept(p);
  return r ? r->code : "";
}

TEST(BlockScale, TheFormatsAreAccepted) {
  for (block_format const f : formats) {
    for (elem const d : {elem::bf16, elem::f16, elem::f32})
      EXPECT_EQ(refused(f, [&](gemm_problem& p) { p.d.type = d; }), "") << traits_of(f).name;
    EXPECT_EQ(format_of(problem(f)), f);
    EXPECT_TRUE(is_block_scaled(problem(f)));
    // Any M, N and K; with two elements in a byte K is even.
    for (std::int64_t const k : {2, 6, 34, 1000})
      EXPECT_FALSE(accept(problem(f, 1, 1, k))) << traits_of(f).name << " " << k;
  }
  EXPECT_EQ(refused(block_format::mxfp8, [](gemm_problem& p) { p.b.type = elem::e5m2; }), "");
  EXPECT_FALSE(accept(problem(block_format::mxfp8, 3, 5, 33)));
}

TEST(BlockScale, OtherPairsOfTypesAndScalesAreRefused) {
  for (block_format const f : formats) {
    EXPECT_EQ(refused(f, [](auto& p) { p.scale_b.reset(); }), "TW0475");
    EXPECT_EQ(refused(f, [](auto& p) { p.scale_b->block_k = 128; }), "TW0475");
    EXPECT_EQ(refused(f, [](auto& p) { p.scale_a->type = elem::f32; }), "TW0475");
    EXPECT_EQ(refused(f, [](auto& p) { p.a.type = elem::bf16; }), "TW0475");
    EXPECT_EQ(refused(f, [](auto& p) { p.d.type = elem::e4m3; }), "TW0405");
    EXPECT_EQ(refused(f, [](auto& p) { p.scale_a->packed_k = 4; }), "TW0453");
    EXPECT_EQ(refused(f, [](auto& p) { p.scale_a->stride_k = -1; }), "TW0453");
    EXPECT_EQ(refused(f, [](auto& p) { p.scale_a->block_outer = 128; }), "TW0475");
    EXPECT_EQ(refused(f, [](auto& p) { p.scale_b->block_outer = 0; }), "TW0475");
    EXPECT_EQ(refused(f, [](auto& p) { p.k = 0; }), "TW0477");
  }
  auto const without_scales = [](auto& p) { p.scale_a.reset(), p.scale_b.reset(); };
  EXPECT_EQ(refused(block_format::nvfp4, without_scales), "TW0475");
  EXPECT_EQ(refused(block_format::nvfp4, [](auto& p) { p.scale_a->block_k = 32; }), "TW0475");
}

TEST(BlockScale, ASecondLevelIsNeverLostAndNeverInvented) {
  EXPECT_EQ(refused(block_format::nvfp4, [](auto& p) { p.scale_a->second_level = false; }),
            "TW0476");
  EXPECT_EQ(refused(block_format::nvfp4, [](auto& p) { p.scale_b->second_level = false; }),
            "TW0476");
  for (block_format const f : {block_format::mxfp8, block_format::mxfp4})
    EXPECT_EQ(refused(f, [](auto& p) { p.scale_b->second_level = true; }), "TW0476");
}

TEST(BlockScale, TwoElementsFillAByte) {
  for (block_format const f : {block_format::mxfp4, block_format::nvfp4}) {
    EXPECT_EQ(refused(f, [](auto& p) { p.k = 95; }), "TW0477");
    EXPECT_EQ(refused(f, [](auto& p) { p.a.pitch_elems = 97; }), "TW0477");
    EXPECT_EQ(refused(f, [](auto& p) { p.b.ord = order::row_major; }), "TW0477");
    EXPECT_EQ(refused(f, [](auto& p) { p.a.ord = order::col_major, p.a.pitch_elems = 100; }),
              "TW0477");
  }
}

/// The tensor core does not read the eighth bit of ue4m3, and neither does the reference.
TEST(BlockScale, AFactorHasNoSign) {
  scale_desc const s = make_block_scale({false, 1, 16}, block_format::nvfp4, factor_order::linear);
  for (int code = 0; code < 0x80; ++code) {
    auto const plain = static_cast<std::uint8_t>(code);
    std::uint8_t const with_bit = plain | 0x80U;
    double const want = load_scale(s, &plain, 0, 0), got = load_scale(s, &with_bit, 0, 0);
    EXPECT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << code;
    EXPECT_FALSE(want < 0);
  }
}

/// No rows, no scales: their tensors have no element, and any reading is right.
TEST(BlockScale, WithoutRowsAnyTensorIsRead) {
  for (block_format const f : formats)
    for (std::int64_t const k : {64, 128, 4096}) {
      std::int64_t const blocks = k / traits_of(f).block;
      for (auto const& shape : {std::vector<std::int64_t>{0, blocks}, {0}}) {
        auto const read = recognise_block_scale(dense_scales(elem::u8, shape), {false, 0, k}, f);
        EXPECT_TRUE(std::holds_alternative<scale_desc>(read)) << k;
      }
    }
}

/// torch's formula of SWIZZLE_32_4_4; each element's scale lies at one byte, each byte has one.
TEST(BlockScale, ScalesLieWhereTorchPutsThem) {
  for (block_format const f : formats)
    for (auto const& [outer, k] : {std::pair{1, 2}, {130, 520}, {300, 64}}) {
      int const block = traits_of(f).block;
      scaled_operand const x{false, outer, k};
      scale_desc const tiled = make_block_scale(x, f),
                       linear = make_block_scale(x, f, factor_order::linear);
      std::int64_t const blocks = (k + block - 1) / block, tiles = (blocks + 3) / 4;
      layout const of_tiled = scale_layout(tiled, outer, k),
                   of_linear = scale_layout(linear, outer, k);
      for (std::int64_t r = 0; r < outer; ++r)
        for (std::int64_t i = 0; i < k; ++i) {
          std::int64_t const b = i / block;
          std::int64_t const there =
              (r / 128 * tiles + b / 4) * 512 + r % 32 * 16 + r % 128 / 32 * 4 + b % 4;
          ASSERT_EQ(scale_offset(tiled, r, i), there);
          ASSERT_EQ(of_tiled(r, i), there);
          ASSERT_EQ(scale_offset(linear, r, i), r * blocks + b);
          ASSERT_EQ(of_linear(r, i), r * blocks + b);
          ASSERT_LT(there, scale_extent(tiled, outer, k));
        }
      block_quantize_problem const q{outer, k, {elem::f32, order::row_major, k}, f};
      EXPECT_EQ(q.factor_bytes(), scale_extent(tiled, outer, k));
      EXPECT_EQ(q.factor_at(outer - 1, blocks - 1), scale_offset(tiled, outer - 1, k - 1));
    }
}

TEST(BlockScale, ASecondLevelCanBeGiven) {
  constexpr std::int64_t rows = 4, k = 64;
  std::vector<float> x(rows * k);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50);
  block_quantize_problem p{rows, k, {elem::f32, order::row_major, k}};
  EXPECT_EQ(largest_magnitude(p, x.data()), 50.0F);
  auto const made = [&](block_quantize_problem const& q) {
    std::vector<std::uint8_t> bytes(
        static_cast<std::size_t>(rows * q.row_bytes() + q.factor_bytes()));
    float const level =
        quantize(q, x.data(), bytes.data(), bytes.data() + rows * q.row_bytes()).second_level;
    return std::pair{bytes, level};
  };
  auto const usual = made(p);
  p.second_level = usual.second;
  EXPECT_EQ(made(p), usual);  // that of the matrix
  p.second_level = 4 * usual.second;
  auto const larger = made(p);
  EXPECT_EQ(larger.second, 4 * usual.second);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t b = 0; b < p.blocks(); ++b) {
      auto const at = static_cast<std::size_t>(rows * p.row_bytes() + p.factor_at(r, b));
      EXPECT_EQ(to_float(ue4m3{larger.first[at]}) * 4, to_float(ue4m3{usual.first[at]}));
    }
  for (float const bad : {0.0F, -1.0F, INFINITY, NAN}) {
    p.second_level = bad;
    EXPECT_EQ(accept(p)->code, "TW0455") << bad;
  }
  p.second_level = 1.0F;
  EXPECT_FALSE(accept(p));
  p.format = block_format::mxfp4;
  EXPECT_EQ(accept(p)->code, "TW0455");
}

TEST(BlockScale, TensorsAreRecognisedByTheirShape) {
  for (block_format const f : formats) {
    elem const type = traits_of(f).factor;
    std::int64_t const block = traits_of(f).block, k = 6 * block;
    scaled_operand const x{true, 200, k};
    auto const found = [&](std::vector<std::int64_t> const& shape) {
      return recognise_block_scale(dense_scales(type, shape), x, f);
    };
    auto const linear = make_block_scale(x, f, factor_order::linear);
    EXPECT_EQ(std::get<scale_desc>(found({200, 6})), linear);
    EXPECT_EQ(std::get<scale_desc>(found({1200})), linear);
    EXPECT_EQ(std::get<scale_desc>(found({256, 8})), make_block_scale(x, f));
    EXPECT_EQ(std::get<scale_desc>(found({2048})), make_block_scale(x, f));
    for (std::vector<std::int64_t> const& shape :
         {std::vector<std::int64_t>{6, 200}, {200, 8}, {256, 6}, {200, 3}, {1}})
      EXPECT_EQ(std::get<rejection>(found(shape)).code, "TW0450");
    // Float32 is no scale of a block.
    auto const wide = recognise_block_scale(dense_scales(elem::f32, {200, 6}), x, f);
    EXPECT_EQ(std::get<rejection>(wide).code, "TW0450");
    // By columns: the first index contiguous.
    scale_tensor by_cols = dense_scales(type, {200, 6});
    by_cols.stride = {1, 200, 0};
    scale_desc const turned = std::get<scale_desc>(recognise_block_scale(by_cols, x, f));
    EXPECT_EQ(scale_offset(turned, 7, 2 * block), 7 + 2 * 200);
  }
}

TEST(BlockScale, ShapesOfBothOrdersNeedAName) {
  scaled_operand const x{false, 256, 128};
  scale_tensor const t = dense_scales(elem::ue8m0, {256, 4});
  auto const why = recognise_block_scale(t, x, block_format::mxfp8);
  EXPECT_EQ(std::get<rejection>(why).code, "TW0451");
  for (factor_order const order : {factor_order::linear, factor_order::swizzled}) {
    auto const named = recognise_block_scale(t, x, block_format::mxfp8, order);
    EXPECT_EQ(std::get<scale_desc>(named), make_block_scale(x, block_format::mxfp8, order));
    EXPECT_EQ(parse_factor_order(name(order)), order);
  }
  EXPECT_FALSE(parse_factor_order("tiled"));
}

TEST(BlockScale, ABatchAddsADimension) {
  scaled_operand const x{false, 10, 64, 3};
  auto const found =
      recognise_block_scale(dense_scales(elem::ue8m0, {3, 10, 2}), x, block_format::mxfp4);
  scale_desc const s = std::get<scale_desc>(found);
  EXPECT_EQ(s.batch_stride, 20);
  EXPECT_EQ(s, make_block_scale(x, block_format::mxfp4, factor_order::linear));
  EXPECT_EQ(block_scale_text(s, x), "ue8m0 for 32 elements, linear");
}

}  // namespace
}  // namespace tw::test
