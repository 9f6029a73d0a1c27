// SPDX-License-Identifier: Apache-2.0
// shapes_test.cpp  Shape files: what is read, what is refused with which code, what is unsupported.
#include "tools/measure/shapes.hpp"

#include <gtest/gtest.h>

#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/block_result.hpp"
#include "tilewright/problem/group_slices.hpp"
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
  for (auto const& [field, value] :
       std::vector<std::pair<std::string, nlohmann::json>>{{"epilogue", "softmax"}, {"alpha", 2}}) {
    auto entry = valid();
    entry[field] = value;
    EXPECT_TRUE(why_unsupported(parse(entry)[0])) << field;
  }
  auto entry = valid();
  entry["dtype"] = "bf16_f32", entry["epilogue"] = "residual";
  EXPECT_FALSE(why_unsupported(parse(entry)[0]));
  entry["epilogue"] = "bias_residual";
  EXPECT_TRUE(why_unsupported(parse(entry)[0]));
}

TEST(Shapes, ThePublicListIsReadWhole) {
  auto const shapes = read_shapes(TW_SOURCE_DIR "/bench/shapes_public.json");
  EXPECT_EQ(shapes.size(), 65U);
  std::size_t supported = 0;
  for (auto const& s : shapes) supported += why_unsupported(s) ? 0 : 1;
  EXPECT_EQ(supported, 65U);
}

/// The category "grouped": the batch is the number of groups, of `m` rows or of "group_m".
TEST(Shapes, GroupsOfOlderLists) {
  auto entry = valid();
  entry["category"] = "grouped", entry["batch"] = 4, entry["m"] = 64;
  gemm_shape s = parse(entry)[0];
  EXPECT_EQ(s.groups.count, 4);
  EXPECT_EQ(s.m, 256);
  EXPECT_EQ(s.batch, 1);
  EXPECT_EQ(sizes_of_groups(s, 1), (std::vector<std::int64_t>{64, 64, 64, 64}));
  entry["group_m"] = {7, 1, 120};
  s = parse(entry)[0];
  EXPECT_EQ(s.groups.count, 3);
  EXPECT_EQ(s.m, 128);
  EXPECT_EQ(sizes_of_groups(s, 1), (std::vector<std::int64_t>{7, 1, 120}));
  EXPECT_EQ(groups_text(s.groups), "3 given groups of m");
}

TEST(Shapes, GroupsHaveAnAxisAndAPattern) {
  auto entry = valid();
  entry["m"] = 640, entry["n"] = 64, entry["k"] = 320, entry["groups"] = 5;
  for (std::string const axis : {"m", "n", "k"})
    for (char const* const pattern : group_pattern_names) {
      entry["group_axis"] = axis, entry["group_pattern"] = pattern;
      gemm_shape const s = parse(entry)[0];
      EXPECT_FALSE(why_unsupported(s));
      gemm_problem const p = problem_of(s);
      ASSERT_TRUE(p.groups);
      EXPECT_EQ(group_axis_names[static_cast<int>(p.groups->axis)], axis);
      EXPECT_FALSE(accept(p)) << axis;
      EXPECT_EQ(p.a_matrices(), axis == "n" ? 5 : 1);
      EXPECT_EQ(p.b_matrices(), axis == "m" ? 5 : 1);
      EXPECT_EQ(p.d_matrices(), axis == "k" ? 5 : 1);
      EXPECT_EQ(groups_text(s.groups), std::string("5 ") + pattern + " groups of " + axis);
    }
  EXPECT_EQ(refusal_with("groups", "5"), "TW0702");
  EXPECT_EQ(refusal_with("groups", 0), "TW0704");
  EXPECT_EQ(refusal_with("group_axis", "m"), "TW0703");  // without groups
  entry = valid();
  entry["groups"] = 2, entry["group_pattern"] = "skewed";
  EXPECT_EQ(refusal(nlohmann::json::array({entry}).dump()), "TW0703");
  entry["group_pattern"] = "zipf", entry["group_axis"] = "slots";
  EXPECT_EQ(refusal(nlohmann::json::array({entry}).dump()), "TW0703");
  entry["group_axis"] = "m", entry["batch"] = 2;
  EXPECT_TRUE(why_unsupported(parse(entry)[0]));
}

/// Sizes add up to the total and are multiples of the step; each pattern keeps its description.
TEST(Shapes, SizesOfGroups) {
  for (std::int64_t const count : {1, 2, 5, 8, 256, 1000})
    for (std::int64_t const step : {1, 8})
      for (std::int64_t const units : {1, 7, 4096, 3000000})
        for (int i = 0; i < 5; ++i) {
          if (units > 4096 && count != 8) continue;
          auto const pattern = static_cast<group_pattern>(i);
          auto const sizes = group_sizes(pattern, units * step, count, step, 3);
          ASSERT_EQ(sizes.size(), static_cast<std::size_t>(count));
          std::int64_t sum = 0, used = 0, most = 0, least = units * step;
          for (std::int64_t const x : sizes) {
            EXPECT_GE(x, 0);
            EXPECT_EQ(x % step, 0);
            sum += x, used += x > 0 ? 1 : 0;
            most = std::max(most, x), least = std::min(least, x);
          }
          EXPECT_EQ(sum, units * step) << group_pattern_names[i] << " " << count;
          EXPECT_EQ(sizes, group_sizes(pattern, units * step, count, step, 3));
          if (pattern == group_pattern::equal) {
            EXPECT_LE(most - least, step);
          }
          if (pattern == group_pattern::one_hot) {
            EXPECT_EQ(used, 1);
          }
          if (pattern == group_pattern::half_empty) {
            EXPECT_LE(used, (count + 1) / 2);
          }
          if (count == 8 && units == 3000000) {
            // Parts of 1/8, and of 1/(8 H) to 1/H with H = 2.718.
            double const even = static_cast<double>(sum) / 8;
            double const h = 2.7178571;
            if (pattern == group_pattern::uniform) {
              EXPECT_LT(static_cast<double>(most - least), 0.02 * even);
            }
            if (pattern == group_pattern::zipf) {
              EXPECT_NEAR(static_cast<double>(most) / static_cast<double>(sum), 1 / h, 0.01);
              EXPECT_NEAR(static_cast<double>(least) / static_cast<double>(sum), 1 / (8 * h), 0.01);
            }
          }
        }
}

/// Equal groups as a batch have the operands of the groups.
TEST(Shapes, EqualGroupsAreABatch) {
  auto entry = valid();
  entry["m"] = 640, entry["n"] = 1280, entry["k"] = 320, entry["groups"] = 5;
  for (std::string const layout : {"TN", "TT", "NT", "NN"})
    for (std::string const axis : {"m", "n", "k"}) {
      entry["group_axis"] = axis, entry["layout"] = layout;
      gemm_shape const s = parse(entry)[0];
      gemm_problem const p = problem_of(s);
      auto const batch = groups_as_batch(p);
      ASSERT_TRUE(batch);
      EXPECT_FALSE(accept(*batch)) << layout << " " << axis;
      EXPECT_EQ(batch->batch, 5);
      std::vector<std::int32_t> ends;
      for (std::int64_t const x : sizes_of_groups(s, 1))
        ends.push_back(static_cast<std::int32_t>(x) + (ends.empty() ? 0 : ends.back()));
      for (group_range const& r : ranges_of_groups(p, ends.data()).of) {
        std::byte memory{};
        gemm_operands const o{&memory, &memory, nullptr, &memory};
        group_slice const one = slice_of_group(p, o, r);
        auto const distance = [&](void const* x) {
          return static_cast<std::byte const*>(x) - &memory;
        };
        EXPECT_EQ(one.problem.m, batch->m);
        EXPECT_EQ(one.problem.n, batch->n);
        EXPECT_EQ(one.problem.k, batch->k);
        EXPECT_EQ(distance(one.operands.a), r.group * batch->a.batch_stride_bytes());
        EXPECT_EQ(distance(one.operands.b), r.group * batch->b.batch_stride_bytes());
        EXPECT_EQ(distance(one.operands.d), r.group * batch->d.batch_stride_bytes());
      }
    }
  entry["m"] = 641, entry["group_axis"] = "m";
  EXPECT_FALSE(groups_as_batch(problem_of(parse(entry)[0])));
}

TEST(Shapes, PreparedWeights) {
  auto entry = valid();
  entry["m"] = 3, entry["n"] = 256, entry["k"] = 128;
  for (std::string const w : {"mxfp4", "nvfp4", "int4", "int4:32", "int4:64:integers"}) {
    entry["weights"] = w;
    gemm_shape const s = parse(entry)[0];
    gemm_problem const p = problem_of(s);
    EXPECT_TRUE(p.weights_b);
    EXPECT_FALSE(accept(p)) << w;
    EXPECT_FALSE(with_decoded_b(p).weights_b);
    weights_desc const of{p.n, p.k, 1, p.weights_b};
    EXPECT_EQ(compulsory_bytes(s),
              3 * 128 * 2 + static_cast<double>(of.matrix_bytes()) + 3 * 256 * 2);
  }
  EXPECT_EQ(refusal_with("weights", "int5"), "TW0703");
  EXPECT_EQ(refusal_with("weights", 4), "TW0702");
}

TEST(Shapes, TheListsOfGroupsAndWeightsAreAccepted) {
  for (char const* const file : {"shapes_groups.json", "shapes_weights4.json"})
    for (gemm_shape const& s : read_shapes(std::string(TW_SOURCE_DIR "/bench/") + file)) {
      EXPECT_FALSE(why_unsupported(s)) << s.name;
      EXPECT_FALSE(accept(problem_of(s))) << s.name << ": " << to_string(*accept(problem_of(s)));
    }
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
