// SPDX-License-Identifier: Apache-2.0
// weights_emu_test.cpp  GEMMs with prepared 4-bit weights in the emulator against float64.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "tests/effort.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/weights_cases.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/group_slices.hpp"

namespace tw::test {
namespace {

TEST(WeightsEmu, RandomGemmsKeepTheBound) {
  std::mt19937_64 rng(20261129);
  std::set<std::string> ran, wanted;
  for (gemm_family const* f : families())
    for (int i = 0; i < f->kernel_count(); ++i) {
      kernel_facts const x = f->facts(i);
      if (!f->built(i) || !x.weights || x.epilogue.ops || x.groups != group_axis::none) continue;
      wanted.insert(f->name(i));
      for (int round = 0; round < sample(40); ++round) {
        weights_product p = random_weights_product(rng, x);
        emu_options o;
        o.policy = static_cast<async_policy>(rng() % 3);
        o.seed = rng();
        o.random_warps = rng() % 2 != 0;
        o.sms = 1 + static_cast<int>(rng() % 8);
        emu_workspace workspace;
        gemm_operands operands = p.operands();
        workspace.give(operands);
        std::vector<gemm_plan> const plans =
            plan_candidates(p.problem, operands, with_sm_count(known_device("h200"), o.sms));
        std::vector<gemm_plan> mine;
        for (gemm_plan const& plan : plans)
          if (plan.instance == i && plan.family == f) mine.push_back(plan);
        ASSERT_FALSE(mine.empty()) << f->name(i) << " " << p.text();
        gemm_plan const& plan = mine[rng() % mine.size()];
        ran.insert(f->name(i));
        SCOPED_TRACE(plan.kernel + ", emulator seed " + std::to_string(o.seed) + " " + p.text());
        emulate(plan, p.operands(), o);
        expect_right_weights(p);
        if (HasFailure()) return;
      }
    }
  EXPECT_FALSE(wanted.empty());
  EXPECT_EQ(ran, wanted);
}

/// Each group multiplies its weights; with a kernel that has them, bias and ReLU.
TEST(WeightsEmu, GroupsAndEpiloguesKeepTheBound) {
  std::mt19937_64 rng(20261130);
  auto const any = [&](int lo, int hi) {
    return lo + static_cast<int>(rng() % static_cast<unsigned>(hi - lo + 1));
  };
  std::normal_distribution<float> normal;
  int ran = 0;
  for (gemm_family const* f : families())
    for (int i = 0; i < f->kernel_count(); ++i) {
      kernel_facts const x = f->facts(i);
      bool const grouped = x.groups != group_axis::none, fused = x.epilogue.ops;
      if (!f->built(i) || !x.weights || (!grouped && !fused)) continue;
      ++ran;
      int const chunk = 16 / size_bytes(x.ab);
      for (int round = 0; round < sample(40); ++round) {
        std::vector<std::int32_t> ends;
        int m = 0;
        for (int g = 0; g < (grouped ? any(1, 6) : 1); ++g)
          ends.push_back(m += any(0, 2) == 0 ? 0 : any(1, 90));
        int const last = m, n = any(1, 300), k = x.weights.group * any(1, 4);
        m += any(1, 5);  // rows of no group
        auto const groups = static_cast<std::int64_t>(ends.size());
        auto const fill = [&] { return normal(rng); };
        matrix a = make_matrix(x.ab, order::row_major, m, k, (chunk - k % chunk) % chunk, fill);
        matrix d = make_matrix(x.d, order::row_major, m, n, any(0, 9), nullptr);
        weights_desc const w{n, k, groups, x.weights};
        std::vector<std::byte> const prepared = random_weights(w, rng);
        std::vector<float> bias(static_cast<std::size_t>(n));
        for (float& v : bias) v = 5 * normal(rng);
        gemm_problem p{m, n, k, a.desc, {x.ab, order::col_major, k, n * k}, d.desc, std::nullopt};
        if (groups == 1) p.b.batch_stride_elems = 0;
        p.weights_b = x.weights;
        if (grouped) p.groups = group_desc{.axis = group_axis::m, .count = groups};
        if (fused) p.epilogue.act = activation::relu, p.epilogue.bias = {along::cols, elem::f32};
        gemm_operands o{a.data(), prepared.data(), nullptr, d.data()};
        o.groups = ends.data(), o.bias = bias.data();
        emu_options options;
        options.policy = static_cast<async_policy>(rng() % 3);
        options.seed = rng();
        options.sms = any(1, 8);
        emu_workspace workspace;
        gemm_operands with_space = o;
        workspace.give(with_space);
        std::vector<gemm_plan> plans =
            plan_candidates(p, with_space, with_sm_count(known_device("h200"), options.sms));
        std::erase_if(plans, [&](gemm_plan const& c) { return c.instance != i || c.family != f; });
        ASSERT_FALSE(plans.empty()) << f->name(i);
        emulate(plans.front(), o, options);
        if (x.weights.fp8) {
          e4m3_codes const plain(p, o, w);
          if (!grouped) expect_right_by_reference(plain.problem, plain.operands);
          for (group_range const& r :
               grouped ? ranges_of_groups(p, ends.data()).of : std::vector<group_range>()) {
            group_slice const one = slice_of_group(plain.problem, plain.operands, r);
            if (r.size > 0) expect_right_by_reference(one.problem, one.operands);
          }
          for (int row = last; grouped && row < m; ++row)
            ASSERT_TRUE(std::isnan(d.load(row, 0, 0))) << "a row of no group was written";
          if (HasFailure()) FAIL() << f->name(i);
          continue;
        }
        for (int row = 0; row < m; ++row)
          for (int col = 0; col < n; ++col) {
            double const got = d.load(row, col, 0);
            if (grouped && row >= last) {
              ASSERT_TRUE(std::isnan(got)) << "a row of no group was written";
              continue;
            }
            std::int64_t g = 0;
            while (grouped && ends[static_cast<std::size_t>(g)] <= row) ++g;
            double sum = 0, size = 0;
            for (int j = 0; j < k; ++j) {
              double const term =
                  a.value[static_cast<std::size_t>(row * k + j)] *
                  static_cast<double>(float_of_weight(
                      x.ab,
                      weight_rounded(
                          x.ab, weight_at(w, prepared.data() + weights_header_bytes, g, col, j))));
              sum += term, size += std::fabs(term);
            }
            if (fused) {
              double const b = static_cast<double>(bias[static_cast<std::size_t>(col)]);
              sum = std::max(0.0, sum + b), size += std::fabs(b);
            }
            double const error = (k + 4) * 0x1p-23 * size;
            ASSERT_LE(std::fabs(got - sum), error + 0x1p-8 * (std::fabs(sum) + error))
                << f->name(i) << " group " << g << " (" << row << ", " << col << ")";
          }
      }
    }
  EXPECT_GE(ran, 2);
}

std::string weights_refusal(gemm_problem const& p) {
  auto const why = accept(p);
  return why ? std::string(why->code) : std::string();
}

TEST(WeightsEmu, OtherProblemsAreRefused) {
  gemm_problem p{16,
                 128,
                 256,
                 {elem::bf16, order::row_major, 256},
                 {elem::bf16, order::col_major, 256},
                 {elem::bf16, order::row_major, 128},
                 std::nullopt};
  p.weights_b = {weight_code::mxfp4, elem::ue8m0, weight_zeros::none, 32};
  EXPECT_EQ(weights_refusal(p), "");
  auto const with = [&](auto change) {
    gemm_problem q = p;
    change(q);
    return weights_refusal(q);
  };
  EXPECT_EQ(with([](auto& q) { q.a.type = q.b.type = elem::f16; }), "");
  EXPECT_EQ(with([](auto& q) { q.a.type = q.b.type = elem::e4m3; }), "TW0467");
  EXPECT_EQ(with([](auto& q) { q.weights_b.group = 16; }), "TW0465");
  EXPECT_EQ(with([](auto& q) { q.weights_b = {weight_code::int4, elem::f16, {}, 64}; }), "TW0467");
  EXPECT_EQ(with([](auto& q) { q.weights_a = q.weights_b; }), "TW0467");
  EXPECT_EQ(with([](auto& q) { q.b.pitch_elems = 320; }), "TW0467");
  EXPECT_EQ(with([](auto& q) { q.b.ord = order::row_major; }), "TW0467");
  EXPECT_EQ(with([](auto& q) { q.epilogue.gate = gating::split; }), "TW0467");
  EXPECT_EQ(with([](auto& q) { q.k = q.a.pitch_elems = q.b.pitch_elems = 240; }), "TW0465");
  EXPECT_EQ(with([](auto& q) { q.batch = 2, q.b.batch_stride_elems = 1; }), "TW0467");
  // In the order for e4m3.
  EXPECT_EQ(with([](auto& q) { q.weights_b.fp8 = true; }), "TW0467");
  p.a.type = p.b.type = elem::e4m3;
  p.weights_b.fp8 = true;
  EXPECT_EQ(weights_refusal(p), "");
  EXPECT_EQ(with([](auto& q) { q.a.type = elem::e5m2; }), "TW0467");
  EXPECT_EQ(with([](auto& q) { q.precision.promote_k = 64; }), "TW0467");
  EXPECT_EQ(with([](auto& q) { q.precision.promote_k = 0; }), "TW0467");
  weight_format const int4{weight_code::int4, elem::f32, {}, 128, true};
  EXPECT_EQ(with([&](auto& q) { q.weights_b = int4; }), "");
  for (auto const& change : {+[](weight_format& f) { f.group = 64; },
                             +[](weight_format& f) { f.zeros = weight_zeros::integers; },
                             +[](weight_format& f) { f.scale = elem::bf16; }}) {
    weight_format other = int4;
    change(other);
    EXPECT_EQ(with([&](auto& q) { q.weights_b = other; }), "TW0465");
  }
  weight_format const nvfp4{weight_code::nvfp4, elem::ue4m3, {}, 16, true};
  EXPECT_EQ(with([&](auto& q) { q.weights_b = nvfp4; }), "TW0465");
  auto const with_scale = [&](scaling kind) {
    return with([&](auto& q) { q.scale_a = make_scale({false, q.m, q.k}, kind); });
  };
  EXPECT_EQ(with_scale(scaling::row), "");
  EXPECT_EQ(with_scale(scaling::tensor), "");
  EXPECT_EQ(with_scale(scaling::block_1x128), "TW0467");
}

}  // namespace
}  // namespace tw::test
