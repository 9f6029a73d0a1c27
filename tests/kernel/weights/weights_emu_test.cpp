// SPDX-License-Identifier: Apache-2.0
// weights_emu_test.cpp  GEMMs with prepared 4-bit weights in the emulator against float64.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>
#include <set>

#include "tests/effort.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/guarded_memory.hpp"
#include "tests/kernel/weights/weights_cases.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/problem/accept.hpp"

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
        // Nothing is read beyond the last block of the weights.
        guarded const weights(p.prepared.data(), p.prepared.size(), true);
        gemm_operands given = p.operands();
        given.b = weights.data();
        gemm_operands operands = given;
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
        emulate(plan, given, o);
        expect_right_weights(p);
        if (HasFailure()) return;
      }
    }
  EXPECT_FALSE(wanted.empty());
  EXPECT_EQ(ran, wanted);
}

/// Each group multiplies its weights; with a kernel that has them, bias, activation, a gate of rows
/// that are 8 apart, C, gathered rows and their weights.
TEST(WeightsEmu, GroupsAndEpiloguesKeepTheBound) {
  std::mt19937_64 rng(20261130);
  int ran = 0, gated = 0, gathered = 0, scattered = 0;
  for (gemm_family const* f : families())
    for (int i = 0; i < f->kernel_count(); ++i) {
      kernel_facts const x = f->facts(i);
      bool const grouped = x.groups != group_axis::none, fused = x.epilogue.ops;
      if (!f->built(i) || !x.weights || (!grouped && !fused)) continue;
      ++ran, gated += x.epilogue.gate;
      for (int round = 0; round < sample(40, 8); ++round) {
        fused_weights t = random_fused_weights(rng, x);
        gemm_operands const o = t.operands();
        gathered += !t.gather.empty(), scattered += !t.scatter.empty();
        emu_options options;
        options.policy = static_cast<async_policy>(rng() % 3);
        options.seed = rng();
        options.sms = 1 + static_cast<int>(rng() % 8);
        emu_workspace workspace;
        gemm_operands with_space = o;
        workspace.give(with_space);
        std::vector<gemm_plan> plans = plan_candidates(
            t.problem, with_space, with_sm_count(known_device("h200"), options.sms));
        std::erase_if(plans, [&](gemm_plan const& c) { return c.instance != i || c.family != f; });
        ASSERT_FALSE(plans.empty()) << f->name(i);
        SCOPED_TRACE(f->name(i) + ", emulator seed " + std::to_string(options.seed));
        emulate(plans.front(), o, options);
        t.expect_right();
        if (HasFailure()) return;
      }
    }
  EXPECT_GE(ran, 2);
  EXPECT_GE(gated, 1);
  EXPECT_GE(gathered, 1);
  EXPECT_GE(scattered, 1);
}

/// Consumers that take K blocks in turn add their sums in the order of the blocks, whichever stage
/// a tile begins with. C is minus the results of two runs before: D has the last bits of the sums.
TEST(WeightsEmu, BitsDoNotDependOnTheFirstStage) {
  std::mt19937_64 rng(20261201);
  int kernels = 0, compared = 0;
  for (gemm_family const* f : families())
    for (int i = 0; i < f->kernel_count(); ++i) {
      kernel_facts const x = f->facts(i);
      if (!f->built(i) || !x.weights || x.epilogue.ops || x.groups != group_axis::none) continue;
      if (f->name(i).find("_t") == std::string::npos) continue;  // has one consumer for each row
      ++kernels;
      for (int round = 0, done = 0; done < 2 && round < 60; ++round) {
        weights_product p = random_weights_product(rng, x);
        if (p.problem.k <= 6 * x.weights.block_k() || p.problem.n <= 128) continue;
        std::int64_t const batch = p.problem.batch;
        p.c = make_matrix(
            elem::f32, order::row_major, p.d.rows, p.d.cols, 0, [] { return 0.0F; }, batch);
        p.problem.c = p.c.desc, p.problem.alpha = 1, p.problem.beta = 1;
        auto const run = [&](int sms) {
          gemm_operands const operands = p.operands();
          std::vector<gemm_plan> plans =
              plan_candidates(p.problem, operands, with_sm_count(known_device("h200"), sms));
          std::erase_if(plans, [&](gemm_plan const& plan) {
            return plan.instance != i || plan.family != f || plan.schedule.split_k_tiles > 0;
          });
          if (plans.empty()) return false;
          emu_options o;
          o.sms = sms;
          emulate(plans.front(), operands, o);
          return true;
        };
        bool ran = true;
        for (int pass = 0; pass < 2 && ran; ++pass) {
          ran = run(8);
          for (std::int64_t of = 0; of < batch; ++of)
            for (std::int64_t row = 0; row < p.d.rows; ++row)
              for (std::int64_t col = 0; col < p.d.cols; ++col)
                p.c.store(row, col, of,
                          static_cast<float>(p.c.load(row, col, of) - p.d.load(row, col, of)));
        }
        if (!ran || !run(8)) continue;
        std::vector<std::byte> const many = p.d.bytes;
        ASSERT_TRUE(run(1));
        EXPECT_EQ(many, p.d.bytes) << f->name(i) << " " << p.text();
        ++done, ++compared;
      }
    }
  EXPECT_GT(kernels, 2);
  EXPECT_GE(compared, kernels);
}

/// Kernels multiply q 2^-8, which is subnormal for q of 1 to 3: small terms are cut as if q were 4,
/// and the bound counts that.
TEST(WeightsEmu, SmallSignedNibblesKeepTheBound) {
  constexpr int n = 128, k = 128;
  std::vector<std::uint8_t> nibbles(n * k / 2, 0x99);  // q = 1
  for (int row = 0; row < n; ++row)                    // and 7 of 1 to 31
    for (int i = 1; i < 32; ++i) {
      auto& byte = nibbles[static_cast<std::size_t>((row * k + i) / 2)];
      byte = static_cast<std::uint8_t>(i % 2 == 0 ? (byte & 0xF0) | 0xF : (byte & 0x0F) | 0xF0);
    }
  std::vector<float> const ones(n, 1.0F);
  weights_product p;
  p.weights = {n, k, 1, {weight_code::int4, elem::f32, weight_zeros::none, 128, true}};
  p.prepared.resize(static_cast<std::size_t>(p.weights.bytes()));
  static_cast<void>(prepare_weights(p.weights, {nibbles.data(), ones.data(), nullptr, elem::f32},
                                    p.prepared.data()));
  int at = 0;
  p.a = make_matrix(elem::e4m3, order::row_major, 1, k, 0, [&] {
    int const i = at++ % k;
    return i == 0 ? 256.0F : i < 32 ? 0x1.2p-6F : 0x1.Ep-6F;
  });
  p.d = make_matrix(elem::bf16, order::row_major, 1, n, 0, nullptr);
  p.b.desc = {elem::e4m3, order::col_major, k};
  p.problem = {1, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F};
  p.problem.weights_b = p.weights.format;
  emu_options o;
  o.exact_sums = true;
  std::vector<gemm_plan> const plans =
      plan_candidates(p.problem, p.operands(), with_sm_count(known_device("h200"), 4));
  ASSERT_FALSE(plans.empty());
  emulate(plans.front(), p.operands(), o);
  EXPECT_EQ(p.d.load(0, 0, 0), 256);  // 262.63 of exact sums
  expect_right_weights(p);
}

/// int4 for e4m3 without zero points: the factor of a row is multiplied by 2^8.
TEST(WeightsEmu, ScalesThatOverflowAreRefused) {
  std::vector<std::byte> const nibbles(64 * 128 / 2);
  std::vector<float> scales(64, 0x1p115F);
  weights_desc w{64, 128, 1, {weight_code::int4, elem::f32, weight_zeros::none, 128, true}};
  std::vector<std::byte> prepared(static_cast<std::size_t>(w.bytes()));
  weight_rows const rows{nibbles.data(), scales.data(), nullptr, elem::f32};
  EXPECT_EQ(prepare_weights(w, rows, prepared.data()).nan_scales, 0);
  scales[5] = -0x1p116F;
  try {
    static_cast<void>(prepare_weights(w, rows, prepared.data()));
    ADD_FAILURE();
  } catch (rejected const& r) {
    EXPECT_EQ(std::string(r.why().code), "TW0465");
  }
}

/// Weights of another problem: the emulator reads the header.
TEST(WeightsEmu, HeadersOfOtherProblemsAreRefused) {
  std::mt19937_64 rng(20261213);
  for (gemm_family const* f : families())
    for (int i = 0; i < f->kernel_count(); ++i) {
      kernel_facts const x = f->facts(i);
      if (!f->built(i) || !x.weights || x.epilogue.ops || x.groups != group_axis::none) continue;
      weights_product p = random_weights_product(rng, x);
      auto const with = [&](auto change) -> std::string {
        std::vector<std::byte> const before = p.prepared;
        weights_desc w = p.weights;
        change(w);
        if (w == p.weights)
          p.prepared[0] = std::byte{'?'};
        else
          write_weights_header(w, p.prepared.data());
        std::string code;
        try {
          gemm_emulated(p.problem, p.operands(), {});
        } catch (rejected const& r) {
          code = r.why().code;
          EXPECT_NE(r.what(), nullptr);
        }
        p.prepared = before;
        return code;
      };
      EXPECT_EQ(with([](weights_desc& w) { ++w.n; }), "TW0466") << f->name(i);
      EXPECT_EQ(with([](weights_desc& w) { w.k += 128; }), "TW0466");
      EXPECT_EQ(with([](weights_desc&) {}), "TW0466");  // no header
      EXPECT_EQ(with([](weights_desc& w) {
                  w.format = w.format.code == weight_code::mxfp4
                                 ? weight_format{weight_code::int4, elem::bf16, {}, 32}
                                 : weight_format{weight_code::mxfp4, elem::ue8m0, {}, 32};
                }),
                "TW0466");
      EXPECT_EQ(with([](weights_desc& w) { ++w.matrices; }), "");  // the first ones are multiplied
    }
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
  EXPECT_EQ(with([](auto& q) { q.weights_b.gate = gating::split; }), "TW0467");
  auto const gated = [&](gating prepared, gating wanted, std::int64_t n) {
    return with([&](auto& q) {
      q.weights_b.gate = prepared, q.epilogue.gate = wanted, q.n = n, q.d.pitch_elems = n / 2;
    });
  };
  EXPECT_EQ(gated(gating::split, gating::split, 128), "");
  EXPECT_EQ(gated(gating::interleaved, gating::interleaved, 128), "");
  EXPECT_EQ(gated(gating::interleaved, gating::split, 128), "TW0467");
  EXPECT_EQ(gated(gating::split, gating::split, 120), "TW0465");
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
  EXPECT_EQ(with([&](auto& q) { q.weights_b = int4, q.weights_b.zeros = weight_zeros::integers; }),
            "");
  for (auto const& change : {+[](weight_format& f) { f.group = 64; },
                             +[](weight_format& f) { f.zeros = weight_zeros::floats; },
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
