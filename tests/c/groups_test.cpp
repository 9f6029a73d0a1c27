// SPDX-License-Identifier: Apache-2.0
// groups_test.cpp  Groups with numbers of rows, factors and 4-bit weights through the C library,
//                  against sums in float64.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <random>

#include "tests/c/tensors.hpp"
#include "tilewright/kernel/weights/weights.hpp"

namespace tw_c_test {
namespace {

using tw::elem;

constexpr std::int64_t tokens = 24, pairs = 48, n = 64, k = 128, groups = 3;

/// Rows of two experts for each token: pair i is of group 0, 0 or 2 by its place, and group 1 is
/// empty; row i of A is token source(i) / 2, and row source(i) of D.
struct layer {
  tensor a{elem::bf16, {tokens, k}}, b{elem::bf16, {groups, k, n}, {n * k, 1, k}};
  tensor d{elem::bf16, {pairs, n}}, ends{elem::s32, {groups}};
  tensor gather{elem::s32, {pairs}}, scatter{elem::s32, {pairs}};
  tensor weight{elem::f32, {pairs}}, alpha{elem::f32, {groups}};
  static constexpr std::int64_t end[groups] = {29, 29, 45};  // three rows belong to no group

  layer() {
    std::mt19937_64 rng(5);
    auto const normal = [&] { return std::normal_distribution<float>()(rng); };
    a.fill(normal), b.fill(normal);
    d.fill([] { return 7.0F; });
    for (std::int64_t g = 0; g < groups; ++g) {
      ends.set(g, static_cast<float>(end[g]));
      alpha.set(g, 0.5F + static_cast<float>(g));
    }
    for (std::int64_t i = 0; i < pairs; ++i) {
      gather.set(i, static_cast<float>(source(i))), scatter.set(i, static_cast<float>(source(i)));
      weight.set(i, 0.25F * static_cast<float>(i % 5));
    }
  }
  static std::int64_t source(std::int64_t i) { return i * 29 % pairs; }
  static std::int64_t group(std::int64_t i) { return i < end[0] ? 0 : 2; }

  tw_gemm_args args() {
    tw_gemm_args g = args_of(a, b, d);
    g.groups = ends.dl();
    return g;
  }
  double sum(std::int64_t row, std::int64_t g, std::int64_t j) {
    double s = 0;
    for (std::int64_t x = 0; x < k; ++x) s += a.get(a.at(0, row, x)) * b.get(b.at(g, x, j));
    return s;
  }
};

TEST(CGroups, RowsAreGatheredWeightedAndScattered) {
  layer l;
  tw_gemm_args g = l.args();
  g.gather = l.gather.dl(), g.gather_choices = 2, g.scatter = l.scatter.dl();
  g.row_weight = l.weight.dl(), g.group_alpha = l.alpha.dl();
  ASSERT_EQ(refusal(tw_gemm(&g)), "");
  std::vector<bool> written(pairs);
  for (std::int64_t i = 0; i < layer::end[2]; ++i) {
    std::int64_t const to = layer::source(i), of = layer::group(i);
    written[static_cast<std::size_t>(to)] = true;
    for (std::int64_t j = 0; j < n; ++j) {
      double const want = l.sum(to / 2, of, j) * l.alpha.get(of) * l.weight.get(to);
      ASSERT_NEAR(l.d.get(to * n + j), want, 0.02 + std::abs(want) / 128) << i << " " << j;
    }
  }
  for (std::int64_t i = 0; i < pairs; ++i)
    if (!written[static_cast<std::size_t>(i)]) EXPECT_EQ(l.d.get(i * n), 7) << i;
  EXPECT_EQ(l.d.changed_outside(), 0);
  tw_result r{};
  r.size = sizeof r;
  ASSERT_EQ(refusal(tw_result_shape(&g, &r)), "");
  EXPECT_EQ(r.shape[0], pairs);
}

TEST(CGroups, APlanRunsThem) {
  layer l;
  tw_gemm_args g = l.args();
  g.gather = l.gather.dl(), g.gather_choices = 2;
  ASSERT_EQ(refusal(tw_gemm(&g)), "");
  std::vector<double> first;
  for (std::int64_t i = 0; i < pairs * n; ++i) first.push_back(l.d.get(i));
  l.d.fill([] { return 7.0F; });
  DLTensor ends = *l.ends.dl(), gather = *l.gather.dl();
  ends.data = gather.data = nullptr;
  g.groups = &ends, g.gather = &gather;
  tw_plan* plan = nullptr;
  ASSERT_EQ(refusal(tw_plan_make(&g, &plan)), "");
  g.groups = l.ends.dl(), g.gather = l.gather.dl();
  EXPECT_EQ(refusal(tw_plan_run(plan, &g)), "");
  for (std::int64_t i = 0; i < pairs * n; ++i)
    ASSERT_EQ(l.d.get(i), first[static_cast<std::size_t>(i)]);
  g.gather_choices = 1;
  EXPECT_EQ(refusal(tw_plan_run(plan, &g)), "TW0488 arguments of tw_plan_run()");
  tw_plan_free(plan);
}

TEST(CGroups, TheFormRowsHasTheGroupOfEachRow) {
  constexpr std::int64_t m = 384;
  tensor a(elem::bf16, {m, k}), b(elem::bf16, {2, k, n}, {n * k, 1, k}), d(elem::bf16, {m, n});
  tensor rows(elem::s32, {m});
  std::mt19937_64 rng(6);
  auto const normal = [&] { return std::normal_distribution<float>()(rng); };
  a.fill(normal), b.fill(normal);
  d.fill([] { return 7.0F; });
  auto const group = [](std::int64_t i) { return i < 100 ? 1 : i >= 128 && i < 300 ? 0 : -1; };
  for (std::int64_t i = 0; i < m; ++i) rows.set(i, static_cast<float>(group(i)));
  tw_gemm_args g = args_of(a, b, d);
  g.groups = rows.dl(), g.groups_as = "rows";
  ASSERT_EQ(refusal(tw_gemm(&g)), "");
  for (std::int64_t i = 0; i < m; ++i) {
    double want = 7;
    if (group(i) >= 0) {
      want = 0;
      for (std::int64_t x = 0; x < k; ++x) want += a.get(i * k + x) * b.get(b.at(group(i), x, 3));
    }
    ASSERT_NEAR(d.get(i * n + 3), want, 0.02 + std::abs(want) / 128) << i;
  }
}

TEST(CGroups, BadNumbersAndArgumentsAreRefusedByName) {
  layer l;
  struct wrong {
    char const* text;
    std::function<void(layer&, tw_gemm_args&)> change;
  };
  tensor short_gather(elem::f32, {pairs}), alphas(elem::f32, {groups + 1});
  tensor weights(elem::f32, {pairs - 1}), floats(elem::f32, {pairs});
  for (wrong const &w : std::initializer_list<wrong>{
           {"TW0496 number 4 of gather",
            [](layer&x, tw_gemm_args&g) { x.gather.set(4, 48), g.gather = x.gather.dl(); }},
           {"TW0496 number 3 of scatter",
            [](layer&x, tw_gemm_args&g) {
              x.scatter.set(3, static_cast<float>(layer::source(2))), g.scatter = x.scatter.dl();
            }},
           {"TW0483 type of gather", [&](layer&, tw_gemm_args&g) { g.gather = floats.dl(); }},
           {"TW0616 shape of group_alpha",
            [&](layer&, tw_gemm_args&g) { g.group_alpha = alphas.dl(); }},
           {"TW0616 shape of row_weight",
            [&](layer&, tw_gemm_args&g) { g.row_weight = weights.dl(); }},
           {"TW0484 gather", [](layer&, tw_gemm_args&g) { g.gather_choices = 2; }},
           {"TW0484 groups",
            [](layer&x, tw_gemm_args&g) { g.groups = nullptr, g.row_weight = x.weight.dl(); }},
           {"TW0616 shape of groups (rows)", [](layer&, tw_gemm_args&g) { g.groups_as = "rows"; }},
       }) {
    layer fresh;
    tw_gemm_args g = fresh.args();
    if (std::string(w.text).find("row_weight") == std::string::npos &&
        std::string(w.text) != "TW0484 gather" && std::string(w.text) != "TW0484 groups")
      g.gather = fresh.gather.dl(), g.gather_choices = 2;
    w.change(fresh, g);
    std::string const found = refusal(tw_gemm(&g));
    std::string const code(w.text, 6);
    EXPECT_EQ(found.substr(0, 6), code) << w.text << ": " << found;
  }
  tw_gemm_args g = l.args();
  g.gather = l.gather.dl(), g.gather_choices = 2;
  l.gather.set(4, 48);
  EXPECT_EQ(refusal(tw_gemm(&g)), "TW0496 number 4 of gather");
}

/// Weights (n, k) as int4, prepared.
struct prepared {
  explicit prepared(tensor& w, std::int32_t group) {
    tw_weights_args args{};
    args.size = sizeof args;
    args.values = w.dl(), args.to = "int4", args.group = group;
    EXPECT_EQ(refusal(tw_weights_make(&args, &made)), "");
  }
  ~prepared() { tw_weights_free(made); }
  prepared(prepared const&) = delete;
  prepared& operator=(prepared const&) = delete;

  DLTensor bytes() {
    size = tw_weights_bytes(made);
    DLTensor t{};
    t.data = const_cast<void*>(tw_weights_data(made));
    t.ndim = 1, t.shape = &size, t.dtype = {kDLUInt, 8, 1}, t.device = {kDLCPU, 0};
    return t;
  }
  tw_weights* made = nullptr;
  std::int64_t size = 0;
};

TEST(CWeights, AMatrixIsQuantisedPreparedAndMultiplied) {
  constexpr std::int64_t m = 40;
  std::mt19937_64 rng(7);
  auto const normal = [&] { return std::normal_distribution<float>()(rng); };
  tensor a(elem::bf16, {m, k}), w(elem::f32, {n, k}), d(elem::bf16, {m, n});
  a.fill(normal), w.fill(normal);
  prepared p(w, 64);
  ASSERT_NE(p.made, nullptr);
  DLTensor bytes = p.bytes();
  tw_gemm_args g = args_of(a, w, d);
  g.b = &bytes, g.weights_b = tw_weights_data(p.made);
  tw_result r{};
  r.size = sizeof r;
  ASSERT_EQ(refusal(tw_result_shape(&g, &r)), "");
  EXPECT_EQ(r.ndim, 2);
  EXPECT_EQ(r.shape[0], m);
  EXPECT_EQ(r.shape[1], n);
  ASSERT_EQ(refusal(tw_gemm(&g)), "");
  std::vector<tw::bf16> exact(static_cast<std::size_t>(n * k));
  auto const* const at = static_cast<std::byte const*>(tw_weights_data(p.made));
  tw::weights_desc const desc = tw::read_weights_header({at, static_cast<std::size_t>(p.size)});
  tw::decode_weights(desc, at + tw::weights_header_bytes, 0, elem::bf16, exact.data());
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0, apart = 0;
      for (std::int64_t x = 0; x < k; ++x) {
        double const one = tw::to_float(exact[static_cast<std::size_t>(j * k + x)]);
        sum += a.get(i * k + x) * one;
        apart = std::max(apart, std::abs(one - w.get(j * k + x)));
      }
      ASSERT_LT(apart, 0.4);  // half of amax / 7, and roundings
      ASSERT_NEAR(d.get(i * n + j), sum, std::abs(sum) / 256 + 0.002) << i << " " << j;
    }
  char* json = nullptr;
  ASSERT_EQ(refusal(tw_weights_json(p.made, &json)), "");
  EXPECT_NE(std::string(json).find("\"group\":64"), std::string::npos) << json;
  tw_free(json);
  ASSERT_EQ(refusal(tw_weights_describe(at, p.size, &json)), "");
  EXPECT_NE(std::string(json).find("\"format\":\"int4\""), std::string::npos) << json;
  tw_free(json);
}

TEST(CWeights, AreRefusedByName) {
  tensor a(elem::e4m3, {8, k}), w(elem::f32, {n, k}), d(elem::bf16, {8, n});
  a.fill([] { return 1.0F; }), w.fill([] { return 1.0F; });
  prepared p(w, 0);
  DLTensor bytes = p.bytes();
  tw_gemm_args g = args_of(a, w, d);
  g.b = &bytes, g.weights_b = tw_weights_data(p.made);
  EXPECT_EQ(refusal(tw_gemm(&g)), "TW0467 activations of a GEMM with 4-bit weights");
  std::int64_t const less = p.size - 1;
  bytes.shape = const_cast<std::int64_t*>(&less);
  EXPECT_EQ(refusal(tw_gemm(&g)), "TW0466 size of prepared weights");
  g.weights_b = w.address(0);
  EXPECT_EQ(refusal(tw_gemm(&g)), "TW0466 prepared weights");
  g.weights_b = tw_weights_data(p.made), g.b = w.dl();
  EXPECT_EQ(refusal(tw_gemm(&g)), "TW0616 shape of b");
  tw_weights* none = nullptr;
  tw_weights_args args{};
  args.size = sizeof args;
  args.values = w.dl();
  EXPECT_EQ(refusal(tw_weights_make(&args, &none)), "TW0484 scales");
  args.scales = w.dl();
  EXPECT_EQ(refusal(tw_weights_make(&args, &none)).substr(0, 6), "TW0468");
  args.scales = nullptr, args.to = "int3";
  EXPECT_EQ(refusal(tw_weights_make(&args, &none)), "TW0486 to");
  args.to = "int4", args.group = 48;
  EXPECT_EQ(refusal(tw_weights_make(&args, &none)).substr(0, 6), "TW0465");
  EXPECT_EQ(none, nullptr);
  char* json = nullptr;
  EXPECT_EQ(refusal(tw_weights_json(nullptr, &json)), "TW0484 weights");
  EXPECT_EQ(tw_weights_data(nullptr), nullptr);
  EXPECT_EQ(tw_weights_bytes(nullptr), 0);
}

}  // namespace
}  // namespace tw_c_test
