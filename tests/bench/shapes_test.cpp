// SPDX-License-Identifier: Apache-2.0
// shapes_test.cpp  Shape files: what is read, what is refused with which code, what is unsupported.
#include "tools/measure/shapes.hpp"

#include <gtest/gtest.h>

#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/block_result.hpp"
#include "tools/measure/support.hpp"

namespace tw::bench {
namespace {

nlohmann::json valid() {
  return {{"name", "s"}, {"category", "c"}, {"m", 2},         {"n", 3},
          {"k", 5},      {"dtype", "bf16"}, {"layout", "TN"}, {"batch", 1}};
}

std::vector<gemm_shape> parse(nlohmann::json const& entry) {
  return parse_shapes(nlohmann::json::array({entry}).dump(), "test");
}

/// The code with which a text is refused; "" when it is accepted.
std::string refusal(std::string const& text) {
  try {
    parse_shapes(text, "test");
  } catch (rejected const& e) {
    return e.why().code;
  }
  return "";
}

std::string refusal_with(std::string const& field, nlohmann::json const& value) {
  auto entry = valid();
  entry[field] = value;
  return refusal(nlohmann::json::array({entry}).dump());
}

TEST(Shapes, EveryRequiredFieldIsRequired) {
  for (std::string const field : {"name", "category", "m", "n", "k", "dtype", "layout"}) {
    auto entry = valid();
    entry.erase(field);
    EXPECT_EQ(refusal(nlohmann::json::array({entry}).dump()), "TW0702") << field;
  }
}

TEST(Shapes, AnotherKindOfValueIsRefused) {
  for (std::string const field : {"m", "n", "k", "batch"})
    for (auto const& value : {nlohmann::json("8"), nlohmann::json(8.0), nlohmann::json(nullptr),
                              nlohmann::json(1e300), nlohmann::json(true)})
      EXPECT_EQ(refusal_with(field, value), "TW0702") << field << " " << value;
  for (std::string const field : {"name", "category", "dtype", "layout", "epilogue", "group_m"})
    EXPECT_EQ(refusal_with(field, 8), "TW0702") << field;
  EXPECT_EQ(refusal("[7]"), "TW0702");
}

TEST(Shapes, UnknownWordsAreRefused) {
  EXPECT_EQ(refusal_with("dtype", "bf17"), "TW0703");
  for (char const* layout : {"", "T", "TX", "TNN", "tn"})
    EXPECT_EQ(refusal_with("layout", layout), "TW0703") << layout;
}

TEST(Shapes, AbsurdSizesAreRefused) {
  for (std::string const field : {"m", "n", "k", "batch"})
    for (auto const& value :
         {nlohmann::json(0), nlohmann::json(-1), nlohmann::json((std::int64_t{1} << 31) + 1),
          nlohmann::json(std::numeric_limits<std::int64_t>::min()),
          nlohmann::json(std::numeric_limits<std::uint64_t>::max())})
      EXPECT_EQ(refusal_with(field, value), "TW0704") << field << " " << value;
  EXPECT_EQ(refusal_with("group_m", {4, 0}), "TW0704");
  auto big = valid();
  big["m"] = big["n"] = 1 << 20;  // each extent is fine, the result is 4 TB
  EXPECT_EQ(refusal(nlohmann::json::array({big}).dump()), "TW0704");
}

TEST(Shapes, EveryBeginningOfAFileIsRefused) {
  std::string const text = nlohmann::json::array({valid()}).dump();
  ASSERT_EQ(refusal(text), "");
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_EQ(refusal(text.substr(0, length)), "TW0701") << length;
  EXPECT_EQ(refusal("[]"), "TW0701");
  EXPECT_EQ(refusal("{}"), "TW0701");
  EXPECT_THROW(read_shapes("no/such/file.json"), rejected);
}

TEST(Shapes, NamesAreUniqueAndSelectionsExist) {
  EXPECT_EQ(refusal(nlohmann::json::array({valid(), valid()}).dump()), "TW0705");
  auto other = valid();
  other["name"] = "t";
  other["category"] = "d";
  auto const two = parse_shapes(nlohmann::json::array({valid(), other}).dump(), "test");
  EXPECT_EQ(select_shapes(two, {}, {}).size(), 2U);
  EXPECT_EQ(select_shapes(two, {"d"}, {}).at(0).name, "t");
  EXPECT_EQ(select_shapes(two, {}, {"t", "s"}).at(0).name, "s");  // in file order
  auto const code = [&](std::vector<std::string> const& c, std::vector<std::string> const& n) {
    try {
      select_shapes(two, c, n);
    } catch (rejected const& e) {
      return e.why().code;
    }
    return std::string();
  };
  EXPECT_EQ(code({"x"}, {}), "TW0705");
  EXPECT_EQ(code({}, {"s", "x"}), "TW0705");
  EXPECT_EQ(code({"d"}, {"s"}), "TW0705");
}

TEST(Shapes, UnsupportedShapesStateTheReason) {
  EXPECT_FALSE(why_unsupported(parse(valid())[0]));
  for (auto const& [field, value] : std::vector<std::pair<std::string, nlohmann::json>>{
           {"group_m", {1, 2}}, {"epilogue", "softmax"}, {"category", "grouped"}, {"alpha", 2}}) {
    auto entry = valid();
    entry[field] = value;
    EXPECT_TRUE(why_unsupported(parse(entry)[0])) << field;
  }
}

TEST(Shapes, ThePublicListIsReadWhole) {
  auto const shapes = read_shapes(TW_SOURCE_DIR "/bench/shapes_public.json");
  EXPECT_EQ(shapes.size(), 65U);
  std::size_t supported = 0;
  for (auto const& s : shapes) supported += why_unsupported(s) ? 0 : 1;
  EXPECT_EQ(supported, 60U);
}

TEST(Shapes, ATypeOfDFollowsTheOperands) {
  for (dtype_row const& row : dtypes)
    for (elem const d : {elem::bf16, elem::f32, elem::e4m3, elem::s8}) {
      auto const with = find_dtype(std::string(row.name) + "_" + name(d));
      ASSERT_TRUE(with) << row.name;
      EXPECT_EQ(with->d, d) << row.name;
      EXPECT_EQ(with->ab, row.ab) << row.name;
      EXPECT_EQ(with->scales, row.scales) << row.name;
      EXPECT_EQ(find_dtype(dtype_name(std::string(row.name), name(d)))->d, d) << row.name;
    }
  for (char const* word :
       {"bf16_", "bf16_bf17", "_bf16", "bf17_f32", "bf16_f32_f32x", "fp8_block_"})
    EXPECT_FALSE(find_dtype(word)) << word;
  EXPECT_EQ(dtype_name("bf16", "bf16"), "bf16");
  EXPECT_EQ(dtype_name("fp8_block", "e4m3"), "fp8_block_e4m3");
  EXPECT_THROW(dtype_name("bf16", "bf17"), rejected);
  EXPECT_EQ(dtype_of_size("fp8_block", "", true), "fp8_block_e4m3");
  EXPECT_EQ(dtype_of_size("fp8_block", "", false), "fp8_block");
  EXPECT_EQ(dtype_of_size("int8", "", true), "int8_s8");
}

TEST(Shapes, ScalesOfD) {
  auto entry = valid();
  entry["dtype"] = "fp8_block_e4m3", entry["m"] = 300, entry["n"] = 400, entry["k"] = 512;
  for (auto const& [word, kind] :
       {std::pair{"given", scaling::tensor}, std::pair{"amax-row", scaling::row},
        std::pair{"amax-1x128", scaling::block_1x128}}) {
    entry["scale_d"] = word;
    for (std::string const epilogue : {"", "swiglu"}) {
      entry["epilogue"] = epilogue;
      gemm_shape const s = parse(entry)[0];
      EXPECT_EQ(why_unsupported(s), std::nullopt) << word;
      gemm_problem const p = problem_of(s);
      ASSERT_TRUE(p.scale_d) << word;
      EXPECT_EQ(scaling_of(p.scale_d->desc), kind) << word;
      EXPECT_EQ(p.scale_d->given, std::string(word) == "given");
      EXPECT_EQ(p.d.type, elem::e4m3);
      EXPECT_FALSE(accept(p)) << word;
    }
  }
  entry["batch"] = 2;
  EXPECT_TRUE(why_unsupported(parse(entry)[0]));
  EXPECT_EQ(refusal_with("scale_d", "amax"), "TW0703");
  EXPECT_EQ(refusal_with("scale_d", 7), "TW0702");
  entry = valid();
  entry["scale_d"] = "amax-row";  // of a D in bf16
  EXPECT_TRUE(accept(problem_of(parse(entry)[0])));
}

TEST(Shapes, BlockScaledFormats) {
  auto entry = valid();
  entry["m"] = 200, entry["n"] = 320, entry["k"] = 192;
  for (block_format const f : {block_format::mxfp8, block_format::mxfp4, block_format::nvfp4}) {
    std::string const word = traits_of(f).name;
    for (std::string const d : {"", "_f32", "_mxfp8", "_mxfp4", "_nvfp4"}) {
      entry["dtype"] = word + d;
      gemm_problem const p = problem_of(parse(entry)[0]);
      EXPECT_FALSE(accept(p)) << word << d;
      ASSERT_TRUE(is_block_scaled(p)) << word << d;
      EXPECT_EQ(format_of(p), f) << word << d;
      EXPECT_EQ(is_block_result(p), d.size() > 4) << word << d;
      if (is_block_result(p)) {
        EXPECT_EQ(traits_of(result_format(p)).name, d.substr(1));
      }
    }
    entry["dtype"] = word;
    double const bits = (200 + 320) * 192 * size_bits(traits_of(f).value) + 200 * 320 * 16;
    EXPECT_EQ(compulsory_bytes(parse(entry)[0]), bits / 8) << word;
  }
}

TEST(Shapes, LettersSayWhichIndexIsContiguous) {
  for (std::string const layout : {"TN", "TT", "NT", "NN"}) {
    auto entry = valid();
    entry["layout"] = layout;
    gemm_problem const p = problem_of(parse(entry)[0]);
    EXPECT_EQ(p.a.ord == order::row_major, layout[0] == 'T');  // [M,K]
    EXPECT_EQ(p.b.ord == order::row_major, layout[1] == 'T');  // [K,N]
    EXPECT_EQ(p.a.pitch_elems, layout[0] == 'T' ? p.k : p.m);
    EXPECT_EQ(p.b.pitch_elems, layout[1] == 'T' ? p.n : p.k);
    EXPECT_EQ(p.d.ord, order::row_major);
    EXPECT_EQ(p.d.pitch_elems, p.n);
  }
}

}  // namespace
}  // namespace tw::bench
