// SPDX-License-Identifier: Apache-2.0
// scale_test.cpp  Scale tensors: every convention is recognised, its layout gives the places that
//                 the library's own description gives, and what fits none is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <functional>
#include <random>

#include "tilewright/problem/scale_convention.hpp"
#include "tilewright/tensor/scale_layout.hpp"

namespace tw {
namespace {

using i64 = std::int64_t;

i64 up(i64 a, i64 to) { return (a + to - 1) / to * to; }

/// A convention as its library describes it: the tensor, and the place of the scale of (i, k).
struct described {
  char const* choice;
  scale_tensor tensor;
  std::function<i64(i64 i, i64 k)> place;
};

scale_tensor strided(elem type, std::array<i64, 2> shape, std::array<i64, 2> stride) {
  return {type, 2, {shape[0], shape[1]}, {stride[0], stride[1]}};
}

std::vector<described> all_described(scaled_operand const& x) {
  i64 const o = x.outer, kb = up(x.k, 128) / 128, ob = up(o, 128) / 128, k4 = up(kb, 4);
  std::vector<described> all;
  all.push_back({"tensor", {elem::f32, 0, {}, {}}, [](i64, i64) { return 0; }});
  all.push_back({"tensor", dense_scales(elem::f32, {1}), [](i64, i64) { return 0; }});
  all.push_back({"tensor", dense_scales(elem::f32, {1, 1}), [](i64, i64) { return 0; }});
  all.push_back({"row", dense_scales(elem::f32, {o}), [](i64 i, i64) { return i; }});
  all.push_back({"torch:row",
                 x.is_b ? dense_scales(elem::f32, {1, o}) : dense_scales(elem::f32, {o, 1}),
                 [](i64 i, i64) { return i; }});
  for (elem const type : {elem::f32, elem::u8, elem::ue8m0}) {
    i64 const p = up(o, type == elem::f32 ? 4 : 16);
    auto const mn = [o](i64 i, i64 k) { return k / 128 * o + i; };
    auto const by_k = [kb](i64 i, i64 k) { return i * kb + k / 128; };
    auto const padded = [p](i64 i, i64 k) { return k / 128 * p + i; };
    all.push_back({"torch:1x128", strided(type, {o, kb}, {1, o}), mn});
    all.push_back({"cublaslt:1x128", strided(type, {o, kb}, {1, o}), mn});
    all.push_back({"deepgemm:1x128", strided(type, {o, kb}, {1, p}), padded});
    all.push_back({"deepgemm:1x128", dense_scales(type, {kb, p}), padded});
    all.push_back({"flashinfer-mn:1x128", dense_scales(type, {kb, o}), mn});
    all.push_back({"flashinfer-k:1x128", dense_scales(type, {o, kb}), by_k});
    auto const sq4 = [k4](i64 i, i64 k) { return i / 128 * k4 + k / 128; };
    auto const sq_k = [kb](i64 i, i64 k) { return i / 128 * kb + k / 128; };
    auto const sq_mn = [ob](i64 i, i64 k) { return k / 128 * ob + i / 128; };
    all.push_back({"torch:128x128", strided(type, {k4, ob}, {1, k4}), sq4});
    all.push_back({"cublaslt:128x128", strided(type, {k4, ob}, {1, k4}), sq4});
    all.push_back({"torch:128x128", strided(type, {ob, kb}, {k4, 1}), sq4});
    all.push_back({"flashinfer-mn:128x128", dense_scales(type, {kb, ob}), sq_mn});
    all.push_back({"flashinfer-k:128x128", dense_scales(type, {ob, kb}), sq_k});
    if (kb == 1 || ob == 1 || kb != ob)
      all.push_back({"deepgemm:128x128", dense_scales(type, {ob, kb}), sq_k});
    all.push_back({"deepgemm:128x128", strided(type, {ob, kb}, {1, ob}), sq_mn});
  }
  i64 const groups = up(kb, 4) / 4, p = up(o, 4);
  all.push_back({"deepgemm", strided(elem::s32, {o, groups}, {1, p}),
                 [p](i64 i, i64 k) { return 4 * (k / 512 * p + i) + k / 128 % 4; }});
  return all;
}

scaled_operand random_operand(std::mt19937& g) {
  auto const below = [&](int n) { return static_cast<i64>(g() % static_cast<unsigned>(n)); };
  auto const extent = [&] {
    switch (below(4)) {
      case 0: return 1 + below(6);
      case 1: return 128 * (1 + below(6));
      default: return 1 + below(1500);
    }
  };
  return {below(2) == 1, extent(), extent()};
}

std::string text_of(scale_tensor const& t) {
  return std::to_string(t.rank) + ": " + std::to_string(t.shape[0]) + "," +
         std::to_string(t.shape[1]) + " strides " + std::to_string(t.stride[0]) + "," +
         std::to_string(t.stride[1]);
}

TEST(Scale, EveryConventionGivesThePlacesOfItsLibrary) {
  std::mt19937 g(31);
  int ambiguous = 0, recognised = 0;
  for (int round = 0; round < 150; ++round) {
    scaled_operand const x = random_operand(g);
    for (described const& c : all_described(x)) {
      SCOPED_TRACE(std::string(c.choice) + " " + text_of(c.tensor) + " of " +
                   std::to_string(x.outer) + "x" + std::to_string(x.k));
      auto const named = recognise_scale(c.tensor, x, parse_scale_choice(c.choice).value());
      ASSERT_TRUE(std::holds_alternative<scale_desc>(named))
          << to_string(std::get<rejection>(named));
      scale_desc const s = std::get<scale_desc>(named), least = canonical(s, x.outer, x.k);
      layout const l = scale_layout(s, x.outer, x.k), of_least = scale_layout(least, x.outer, x.k);
      i64 end = 0;
      for (int sample = 0; sample < 40; ++sample) {
        i64 const i = sample == 0 ? x.outer - 1 : static_cast<i64>(g() % x.outer);
        i64 const k = sample == 0 ? x.k - 1 : static_cast<i64>(g() % x.k);
        i64 const want = c.place(i, k);
        ASSERT_EQ(scale_offset(s, i, k), want);
        ASSERT_EQ(scale_offset(least, i, k), want);
        ASSERT_EQ(l(i, k), want);
        ASSERT_EQ(of_least(i, k), want);
        end = std::max(end, want / s.packed_k * s.packed_k + s.packed_k);
      }
      EXPECT_EQ(scale_extent(s, x.outer, x.k), end);  // the last element has the last place
      // Without a name the reading is the same, or the tensor is refused.
      auto const unnamed = recognise_scale(c.tensor, x);
      if (std::holds_alternative<rejection>(unnamed)) {
        EXPECT_EQ(std::get<rejection>(unnamed).code, "TW0451");
        ++ambiguous;
        continue;
      }
      EXPECT_EQ(canonical(std::get<scale_desc>(unnamed), x.outer, x.k), least);
      ++recognised;
    }
  }
  EXPECT_GT(ambiguous, 40);
  EXPECT_GT(recognised, 5 * ambiguous);
}

TEST(Scale, DescriptionsAreEqualExactlyWhereAllScalesAre) {
  std::mt19937 g(32);
  for (int round = 0; round < 300; ++round) {
    scaled_operand x = random_operand(g);
    x.outer = 1 + x.outer % 300, x.k = 1 + x.k % 700;
    std::vector<scale_convention> const all = scale_conventions(x, elem::f32);
    scale_convention const &a = all[g() % all.size()], &b = all[g() % all.size()];
    bool same = true;
    for (i64 i = 0; i < x.outer; ++i)
      for (i64 k = 0; k < x.k; k += 64)
        same = same && scale_offset(a.desc, i, k) == scale_offset(b.desc, i, k);
    EXPECT_EQ(canonical(a.desc, x.outer, x.k) == canonical(b.desc, x.outer, x.k), same)
        << a.name << " " << b.name << " " << x.outer << "x" << x.k;
  }
}

rejection refused(scale_tensor const& t, scaled_operand const& x, char const* choice = nullptr) {
  auto const r = recognise_scale(t, x, choice ? *parse_scale_choice(choice) : scale_choice{});
  EXPECT_TRUE(std::holds_alternative<rejection>(r)) << text_of(t);
  return std::holds_alternative<rejection>(r) ? std::get<rejection>(r) : rejection{};
}

TEST(Scale, MisfitsNameTheNearestConvention) {
  scaled_operand const a{false, 300, 1000}, b{true, 512, 4096};
  rejection r = refused(dense_scales(elem::f32, {300, 9}), a);
  EXPECT_EQ(r.code, "TW0450");
  EXPECT_EQ(r.got, "f32 (300, 9), strides (9, 1)");
  EXPECT_EQ(r.need,
            "f32 (300, 8), strides (8, 1) for 1x128 (FlashInfer K), the nearest convention");
  r = refused(dense_scales(elem::f32, {4, 33}), b);
  EXPECT_NE(r.need.find("f32 (4, 32), strides (32, 1) for 128x128"), std::string::npos) << r.need;
  r = refused(dense_scales(elem::f16, {300, 8}), a);
  EXPECT_NE(r.need.find("f32 (300, 8)"), std::string::npos) << r.need;
  r = refused(dense_scales(elem::f32, {1, 300}), a);  // a row of scales is not for A
  EXPECT_NE(r.need.find("f32 (300,"), std::string::npos) << r.need;
  r = refused(strided(elem::f32, {300, 8}, {1, 100}), a);  // blocks that overlap
  EXPECT_EQ(r.code, "TW0450");
  r = refused(dense_scales(elem::f32, {3}), {false, 1, 300});  // a dimension of extent 1 is missing
  EXPECT_NE(r.need.find("f32 (1, 3), strides"), std::string::npos) << r.need;
  r = refused(dense_scales(elem::f32, {300, 8}), a, "torch:1x128");
  EXPECT_EQ(r.need,
            "f32 (300, 8), strides (1, 300) for 1x128 (torch BlockWise1x128), the nearest "
            "convention");
}

TEST(Scale, ReadingsThatDifferAreRefusedUntilNamed) {
  scaled_operand const square{true, 4096, 4096};
  scale_tensor const t = dense_scales(elem::f32, {32, 32});
  rejection const r = refused(t, square);
  EXPECT_EQ(r.code, "TW0451");
  EXPECT_NE(r.hint.find("torch:128x128 or flashinfer-mn:128x128"), std::string::npos) << r.hint;
  EXPECT_EQ(std::get<scale_desc>(recognise_scale(t, square, *parse_scale_choice("flashinfer-k"))),
            (scale_desc{elem::f32, 128, 128, 32, 1}));
  EXPECT_EQ(std::get<scale_desc>(recognise_scale(t, square, *parse_scale_choice("flashinfer-mn"))),
            (scale_desc{elem::f32, 128, 128, 1, 32}));
  // Four rows and one block of K: a scale per row, or one that torch pads to four.
  EXPECT_EQ(refused(dense_scales(elem::f32, {4, 1}), {false, 4, 100}).code, "TW0451");
  // Eight columns and eight blocks of K.
  EXPECT_EQ(refused(dense_scales(elem::f32, {1, 8}), {true, 8, 1024}).code, "TW0451");
  EXPECT_EQ(refused(dense_scales(elem::f32, {8}), {true, 8, 1024, 8}).code, "TW0451");
}

/// The words that a refusal with TW0451 offers.
std::vector<std::string> offered_words(rejection const& r) {
  std::string const begin = "name it: the argument `choice`, parse_scale_choice() of ";
  std::string const between = " or ";
  std::string text = r.hint;
  if (text.rfind(begin, 0) != 0) return {};
  text.erase(0, begin.size());
  std::vector<std::string> words;
  for (std::size_t at = 0; at != std::string::npos;) {
    std::size_t const end = text.find(between, at);
    words.push_back(text.substr(at, end == std::string::npos ? end : end - at));
    at = end == std::string::npos ? end : end + between.size();
  }
  return words;
}

/// As many rows (or blocks of rows) as blocks of K, in any storage order: rows first or blocks of K
/// first, no strides say. Both readings have a name, and each name has one reading.
TEST(Scale, SquareTensorsNeedANameInEveryOrder) {
  std::mt19937 g(33);
  auto const below_block = [&] { return static_cast<i64>(g() % 128); };
  for (i64 const n : {2, 3, 4, 5, 7, 8, 16, 23})
    for (elem const type : {elem::f32, elem::u8, elem::ue8m0, elem::s32})
      for (bool const vectors : {true, false}) {
        if (type == elem::s32 && !vectors) continue;
        i64 const in_group = type == elem::s32 ? 4 : 1;
        scaled_operand const x{g() % 2 == 0, vectors ? n : 128 * n - below_block(),
                               128 * in_group * n - below_block()};
        i64 const up4 = up(n, 4), up16 = up(n, 16);
        for (std::array<i64, 2> const stride : {std::array{n, i64{1}},
                                                {1, n},
                                                {up4, 1},
                                                {1, up4},
                                                {up16, 1},
                                                {1, up16},
                                                {2, 2 * n},
                                                {n + 5, 1},
                                                {0, 1}}) {
          scale_tensor const t = strided(type, {n, n}, stride);
          SCOPED_TRACE(text_of(t) + " of " + std::to_string(x.outer) + "x" + std::to_string(x.k));
          rejection const r = refused(t, x);
          ASSERT_EQ(r.code, "TW0451");
          std::vector<std::string> const words = offered_words(r);
          ASSERT_EQ(words.size(), 2U) << r.hint;
          std::vector<std::array<i64, 2>> read;
          for (std::string const& word : words) {
            auto const one = recognise_scale(t, x, parse_scale_choice(word).value());
            ASSERT_TRUE(std::holds_alternative<scale_desc>(one)) << word;
            scale_desc const& d = std::get<scale_desc>(one);
            read.push_back({d.stride_outer / in_group, d.stride_k / in_group});
          }
          std::array<i64, 2> const other{stride[1], stride[0]};
          EXPECT_TRUE(read == std::vector({stride, other}) || read == std::vector({other, stride}))
              << r.hint;
          // "flashinfer-mn" is (Kb, ...) at any strides.
          if (type == elem::s32) continue;
          auto const mn = recognise_scale(t, x, parse_scale_choice("flashinfer-mn").value());
          ASSERT_TRUE(std::holds_alternative<scale_desc>(mn));
          EXPECT_EQ(std::get<scale_desc>(mn).stride_k, stride[0]);
          EXPECT_EQ(std::get<scale_desc>(mn).stride_outer, stride[1]);
        }
        // Strides by which both readings are the same need no name.
        EXPECT_TRUE(
            std::holds_alternative<scale_desc>(recognise_scale(strided(type, {n, n}, {0, 0}), x)));
        // The name of a convention selects the reading of that convention.
        for (described const& c : all_described(x)) {
          if (c.tensor.rank != 2 || c.tensor.shape[0] != n || c.tensor.shape[1] != n) continue;
          scale_desc const d =
              std::get<scale_desc>(recognise_scale(c.tensor, x, *parse_scale_choice(c.choice)));
          for (i64 const i : {i64{0}, x.outer / 2, x.outer - 1})
            for (i64 const k : {i64{0}, x.k / 2, x.k - 1})
              EXPECT_EQ(scale_offset(d, i, k), c.place(i, k))
                  << c.choice << " " << text_of(c.tensor);
          EXPECT_EQ(refused(c.tensor, x).code, "TW0451") << c.choice << " " << text_of(c.tensor);
        }
      }
}

/// Slices, expanded scales and int32 in C order: each block has the place that its strides say.
TEST(Scale, AnyStridesOfBlocksAreTaken) {
  scaled_operand const a{false, 300, 1000}, square{false, 8, 1000};
  auto const read = [](scale_tensor const& t, scaled_operand const& x) {
    auto const r = recognise_scale(t, x);
    EXPECT_TRUE(std::holds_alternative<scale_desc>(r)) << text_of(t);
    return std::holds_alternative<scale_desc>(r) ? std::get<scale_desc>(r) : scale_desc{};
  };
  struct case_of {
    elem type;
    std::array<i64, 2> shape, stride;
    i64 outer, k;  // strides of the result, in scales
  };
  for (case_of const& c : {case_of{elem::f32, {300, 8}, {2, 600}, 2, 600},  // every second
                           {elem::f32, {300, 8}, {64, 1}, 64, 1},           // a slice
                           {elem::f32, {300, 8}, {1, 1000}, 1, 1000},       //
                           {elem::f32, {8, 300}, {512, 1}, 1, 512},         // MN-major slice
                           {elem::f32, {300, 8}, {0, 0}, 0, 0},             // expand()
                           {elem::f32, {300, 8}, {0, 1}, 0, 1},             //
                           {elem::f32, {300, 8}, {1, 0}, 1, 0},             //
                           {elem::f32, {3, 8}, {100, 3}, 100, 3},           // 128x128
                           {elem::s32, {300, 2}, {1, 400}, 4, 1600},        //
                           {elem::ue8m0, {300, 8}, {16, 1}, 16, 1}}) {
    scale_desc const d = read(strided(c.type, c.shape, c.stride), a);
    EXPECT_EQ(d.stride_outer, c.outer) << c.shape[0];
    EXPECT_EQ(d.stride_k, c.k) << c.shape[0];
    EXPECT_EQ(d.block_k, 128);
  }
  // Four K blocks in an int32, in C order: bytes beside each other.
  scale_desc const packed = read(dense_scales(elem::s32, {300, 2}), a);
  for (i64 const k : {0, 128, 640, 999}) EXPECT_EQ(scale_offset(packed, 7, k), 7 * 8 + k / 128);
  // As many rows as blocks of K: which is which, no unusual stride says.
  rejection const r = refused(strided(elem::f32, {8, 8}, {16, 1}), square);
  EXPECT_EQ(r.code, "TW0451");
  EXPECT_EQ(refused(strided(elem::f32, {300, 8}, {-8, 1}), a).code, "TW0450");
}

TEST(Scale, EqualReadingsAreOneWithAllNames) {
  scaled_operand const one_block{false, 300, 100}, one_row{false, 1, 1000};
  auto const text = [](scale_tensor const& t, scaled_operand const& x) {
    return scale_text(std::get<scale_desc>(recognise_scale(t, x)), x);
  };
  EXPECT_EQ(text(dense_scales(elem::f32, {300, 1}), one_block),
            "row, the same as 1x128 f32 (torch RowWise, cuBLASLt OUTER_VEC_32F, torch "
            "BlockWise1x128, cuBLASLt VEC128_32F, DeepGEMM, FlashInfer MN, FlashInfer K)");
  EXPECT_EQ(text(dense_scales(elem::f32, {1, 8}), one_row).rfind("1x128, the same as 128x128", 0),
            0U);
  EXPECT_EQ(text(strided(elem::f32, {300, 8}, {1, 400}), {false, 300, 1000}),
            "1x128 f32 (strides (1, 400))");
  EXPECT_EQ(text(strided(elem::f32, {300, 8}, {1, 300}), {false, 300, 1000}),
            "1x128 f32 (torch BlockWise1x128, cuBLASLt VEC128_32F, DeepGEMM, FlashInfer MN)");
}

TEST(Scale, BatchesHaveScalesPerMatrix) {
  scaled_operand const x{false, 300, 1000, 6};
  auto const s = std::get<scale_desc>(recognise_scale(dense_scales(elem::f32, {6, 300, 8}), x));
  EXPECT_EQ(s.batch_stride, 2400);
  EXPECT_EQ(scale_offset(s, 299, 999, 5), 5 * 2400 + 299 * 8 + 7);
  auto const each = std::get<scale_desc>(recognise_scale(dense_scales(elem::f32, {6}), x));
  EXPECT_EQ(scale_offset(each, 7, 8, 5), 5);
}

/// No rows, no scales: their tensors have no element, and any reading is right.
TEST(Scale, WithoutRowsAnyTensorIsRead) {
  for (i64 const k : {100, 1000, 4096}) {
    i64 const kb = (k + 127) / 128;
    for (scale_tensor const& t :
         {dense_scales(elem::f32, {0, 1}), dense_scales(elem::f32, {0}),
          dense_scales(elem::f32, {0, kb}), strided(elem::f32, {0, kb}, {1, 1}),
          dense_scales(elem::ue8m0, {0, kb}), dense_scales(elem::s32, {0, (kb + 3) / 4})})
      EXPECT_TRUE(std::holds_alternative<scale_desc>(recognise_scale(t, {false, 0, k})))
          << text_of(t);
    for (scaling const kind : {scaling::row, scaling::block_1x128, scaling::block_128x128})
      EXPECT_NO_THROW(make_scale({false, 0, k}, kind));
  }
}

/// A remembered answer is the first one to that question, whatever came in between.
TEST(Scale, AnswersThatAreRememberedAreThoseOfTheirQuestions) {
  std::mt19937 g(33);
  struct question {
    scale_tensor tensor;
    scaled_operand operand;
    scale_choice choice;
    std::variant<scale_desc, rejection> answer;
  };
  std::vector<question> all;
  for (int round = 0; round < 60; ++round) {
    scaled_operand const x = random_operand(g);
    for (described const& c : all_described(x)) {
      scale_choice const named = *parse_scale_choice(c.choice);
      for (scale_choice const& choice : {named, scale_choice{}})
        all.push_back({c.tensor, x, choice, recognise_scale(c.tensor, x, choice)});
    }
  }
  EXPECT_GT(all.size(), 1000U);  // more than are remembered
  for (int i = 0; i < 20000; ++i) {
    question const& q = all[g() % all.size()];
    ASSERT_EQ(recognise_scale(q.tensor, q.operand, q.choice), q.answer) << text_of(q.tensor);
  }
}

/// Processor time for a call, nanoseconds, of the fastest of some rounds.
double ns_of_recognise(std::vector<scaled_operand> const& operands) {
  std::vector<scale_tensor> tensors;
  for (scaled_operand const& x : operands)
    tensors.push_back(dense_scales(elem::f32, {x.outer / 128, x.k / 128}));
  std::size_t const calls = operands.size() / 5;
  double least = HUGE_VAL;
  for (std::size_t first = 0; first + calls <= operands.size(); first += calls) {
    std::clock_t const start = std::clock();
    for (std::size_t i = first; i < first + calls; ++i)
      EXPECT_TRUE(std::holds_alternative<scale_desc>(recognise_scale(tensors[i], operands[i])));
    double const ticks = static_cast<double>(std::clock() - start);
    least = std::min(least, 1e9 * ticks / CLOCKS_PER_SEC / static_cast<double>(calls));
  }
  return least;
}

/// Less than 100 ns on a quiet core; here the share of a first answer, which builds a table.
TEST(Scale, ARememberedAnswerTakesNoTime) {
  std::vector<scaled_operand> known(20000, {true, 4096, 7168}), others;
  for (i64 i = 0; i < 5000; ++i) others.push_back({true, 128 * (100 + i), 7168});
  double const first = ns_of_recognise(others), again = ns_of_recognise(known);
  EXPECT_LT(again, first / 8) << first << " ns first, " << again << " ns again";
}

TEST(Scale, LayoutIsOneLineOfTheAlgebra) {
  scale_desc const s = make_scale({false, 130, 300}, scaling::block_1x128);
  EXPECT_EQ(std::string(print(scale_layout(s, 130, 300)).text), "(130,(128,3)):(1,(0,130))");
  scale_desc const sq = make_scale({true, 300, 600}, scaling::block_128x128);
  EXPECT_EQ(std::string(print(scale_layout(sq, 300, 600)).text), "((128,3),(128,5)):((0,8),(0,1))");
  EXPECT_THROW(make_scale({}, scaling::tensor, scale_library::deepgemm), rejected);
  EXPECT_FALSE(parse_scale_choice("torch:torch"));
  EXPECT_FALSE(parse_scale_choice("mx"));
}

}  // namespace
}  // namespace tw
