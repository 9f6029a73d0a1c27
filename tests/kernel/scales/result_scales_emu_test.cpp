// SPDX-License-Identifier: Apache-2.0
// result_scales_emu_test.cpp  D in 8 bits with scales, in the emulator with its checks of hazards:
//                             the bits of a GEMM with a float32 D that the host then quantises.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/effort.hpp"
#include "tests/kernel/built_kernels.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/scales/result_scale_cases.hpp"
#include "tilewright/problem/quantize.hpp"

namespace tw::test {
namespace {

class ResultScalesEmu : public testing::Test {
 protected:
  emu_workspace space;
  std::mt19937_64 rng{20261125};
  std::set<std::string> kernels;

  emu_options options_of(int i) {
    emu_options o;
    o.policy = static_cast<async_policy>(i % 3);
    o.seed = rng();
    o.random_warps = i % 2 != 0;
    o.sms = 2 + 2 * (i % 3);
    return o;
  }

  /// D and scales by a float32 D and the host, into copies of x's memory; false where the build has
  /// no kernel for that D.
  bool by_host(scaled_result x, std::vector<std::byte>& d, std::vector<std::byte>& scales) {
    output_scales const s = *x.problem.scale_d;
    matrix_desc const to = x.problem.d;
    std::int64_t const m = x.problem.m, cols = x.d.cols;
    scaled_result wide = x;
    wide.problem.scale_d.reset();
    in_bf16(wide);
    wide.d = make_matrix(elem::f32, order::row_major, m, cols, 0, nullptr, x.problem.batch);
    wide.problem.d = wide.d.desc;
    gemm_operands o = wide.operands();
    space.give(o);
    std::vector<gemm_plan> const plans = built_plans(wide.problem, o, 4);
    if (plans.empty()) return false;
    emulate(plans.front(), o, options_of(0));
    for (std::int64_t i = 0; i < x.problem.batch; ++i) {
      quantize_problem const q{.outer = m,
                               .k = cols,
                               .from = wide.d.desc,
                               .to = to,
                               .scale = s.desc,
                               .power_of_two = s.power_of_two,
                               .given = s.given};
      quantize(q, static_cast<float*>(wide.d.data()) + i * wide.d.stride,
               static_cast<std::byte*>(x.d.data()) + i * to.batch_stride_elems,
               x.scales.data() + x.margin + i * s.desc.batch_stride * size_bytes(s.desc.type));
    }
    d = x.d.bytes, scales = x.scales;
    return true;
  }

  /// By tcgen05 kernels that compute the scales.
  static std::vector<gemm_plan> blackwell_plans(gemm_problem const& p, gemm_operands const& o,
                                                int sms) {
    if (is_integer(p.a.type)) return {};  // sm90 has such kernels alone
    std::vector<gemm_plan> plans = built_plans(p, o, sms, "b200");
    std::erase_if(plans,
                  [](gemm_plan const& x) { return x.stage_d || x.family->id() != "sm100_gemm"; });
    return plans;
  }

  /// By every kernel with scales of D that the build has for it, and by one in two launches.
  void run(scaled_result const& given, int i) {
    scaled_result x = given;
    gemm_operands o = x.operands();
    space.give(o);
    emu_options const options = options_of(i);
    std::vector<gemm_plan> plans = built_plans(x.problem, o, options.sms);
    for (gemm_plan const& plan : blackwell_plans(x.problem, o, options.sms)) plans.push_back(plan);
    if (plans.empty()) return;  // a second launch, after a kernel that this build lacks
    bool staged = i % 4 != 0;   // every fourth time
    std::erase_if(plans, [&](gemm_plan const& p) {
      if (!p.stage_d) return false;
      bool const another = staged;
      staged = true;
      return another;
    });
    if (plans.empty()) plans = {built_plans(x.problem, o, options.sms).front()};
    std::vector<std::byte> d, scales;
    if (!by_host(given, d, scales)) return;
    for (gemm_plan const& plan : plans) {
      x = given;
      o = x.operands();
      space.give(o);
      emulate(plan, o, options);
      kernels.insert((plan.stage_d ? "staged " : "") + plan.kernel);
      auto const in_d = difference(x.d.bytes, d, x.problem.d.type);
      ASSERT_FALSE(in_d) << x.text() << " " << plan.kernel << ": byte "
                         << static_cast<std::int64_t>(*in_d) - x.d.offset_bytes << " of D is "
                         << int(x.d.bytes[*in_d]) << ", not " << int(d[*in_d]);
      ASSERT_EQ(x.scales, scales) << x.text() << " " << plan.kernel;
    }
  }
};

/// The kernels of this build that compute scales of D in the launch that computes D.
std::set<std::string> kernels_with_scales() {
  std::set<std::string> names;
  for (char const* const id : {"sm90_gemm", "sm100_gemm"}) {
    gemm_family const& f = *find_family(id);
    for (int i = 0; i < f.kernel_count(); ++i)
      if (f.built(i) && f.facts(i).epilogue.scales) names.insert(f.name(i));
  }
  return names;
}

TEST_F(ResultScalesEmu, BitsOfAFloatResultThatTheHostQuantises) {
  using enum elem;
  scaled_result_request const requests[] = {{e4m3, e4m3}, {e4m3, e4m3, true}, {bf16, e4m3},
                                            {s8, s8},     {e4m3, e5m2},       {f16, s8},
                                            {e4m3, e4m3}};
  std::set<std::string> const at_once = kernels_with_scales();
  auto const all_ran = [&] { return std::ranges::includes(kernels, at_once); };
  for (int i = 0; runs_case(i, 126, all_ran()) && !HasFailure(); ++i) {
    scaled_result x = random_case(rng, requests[i % 7]);
    if (i % 7 == 6) x.problem.precision.promote_k = 0;
    run(x, i);
  }
  for (std::string const& k : at_once) EXPECT_TRUE(kernels.contains(k)) << k << " never ran";
  EXPECT_GE(at_once.size(), 7U);
  EXPECT_GT(kernels.size(), at_once.size());  // and in two launches
}

TEST_F(ResultScalesEmu, NanAndInfinitiesFollowTheRulesOfQuantize) {
  using enum elem;
  scaled_result_request const requests[] = {
      {e4m3, e4m3, false, true}, {bf16, e4m3, false, true}, {s8, s8, false, true}};
  for (int i = 0; i < sample(18, 6) && !HasFailure(); ++i)
    run(random_case(rng, requests[i % 3]), i);
}

TEST_F(ResultScalesEmu, AWorkspaceForTwoLaunchesIsPartOfThePlan) {
  scaled_result x = random_case(rng, {elem::e5m2, elem::e5m2});  // no kernel has these types
  x.problem.epilogue = {}, x.problem.n = x.d.cols, x.problem.c.reset(), x.problem.beta = 0;
  gemm_operands o = x.operands();
  o.workspace_bytes = gemm_workspace_bytes(x.problem, o, with_sm_count(known_device("h200"), 4));
  for (gemm_plan const& plan : built_plans(x.problem, o, 4)) {
    EXPECT_TRUE(plan.stage_d);
    EXPECT_LE(plan.workspace_bytes, o.workspace_bytes);
    EXPECT_FALSE(plan.hints.empty());
    gemm_operands less = x.operands();
    emu_workspace space;
    space.give(less);
    less.workspace_bytes = plan.workspace_bytes - 1;
    try {
      gemm_emulated(plan, less);
      ADD_FAILURE() << "ran with less than it needs";
    } catch (rejected const& r) {
      EXPECT_EQ(r.why().code, "TW0410");
    }
  }
  scaled_result at_once = random_case(rng, {elem::e4m3, elem::e4m3});
  at_once.problem.d.ord = order::row_major, at_once.problem.d.pitch_elems = at_once.d.cols;
  at_once.problem.epilogue = {};
  at_once.problem.n = at_once.d.cols, at_once.problem.c.reset(), at_once.problem.beta = 0;
  at_once.problem.scale_d = output_scales{{}, true, false};
  gemm_operands none = at_once.operands();
  std::vector<gemm_plan> const plans = built_plans(at_once.problem, none, 4);
  ASSERT_FALSE(plans.empty());
  for (gemm_plan const& plan : plans) EXPECT_FALSE(plan.stage_d) << plan.kernel;
}

/// One scale for all of D, which is computed and not given: its amax needs no workspace.
TEST_F(ResultScalesEmu, ARowOfOneBlockIsQuantisedByASecondLaunch) {
  for (int i = 0; i < 400 && kernels.empty(); ++i) {
    scaled_result x = random_case(rng, {elem::bf16, elem::s8});
    if (x.problem.scale_d->given || x.problem.epilogue.gate != gating::none) continue;
    if (x.problem.m > 1 && x.problem.batch == 1) {
      x.problem.m = 1, x.a.rows = x.d.rows = 1;
      if (x.problem.c) x.c.rows = 1;
    }
    if (x.problem.m != 1) continue;
    run(x, 0);
  }
  EXPECT_FALSE(kernels.empty());
}

TEST_F(ResultScalesEmu, RefusalsNameWhatIsMissing) {
  scaled_result x = random_case(rng, {elem::e4m3, elem::e4m3});
  x.problem.scale_d = output_scales{make_scale({false, x.problem.m, x.d.cols}, scaling::row)};
  x.problem.batch = 1;
  auto const code = [&](auto change) {
    gemm_problem q = x.problem;
    change(q);
    auto const why = accept(q);
    return why ? why->code : "";
  };
  EXPECT_EQ(code([](gemm_problem&) {}), "");
  EXPECT_EQ(code([](gemm_problem& q) { q.d.type = elem::bf16; }), "TW0405");
  EXPECT_EQ(code([](gemm_problem& q) { q.d.type = elem::s8, q.scale_d.reset(); }), "TW0405");
  EXPECT_EQ(code([](gemm_problem& q) { q.scale_d->desc.type = elem::f16; }), "TW0458");
  EXPECT_EQ(code([](gemm_problem& q) { q.scale_d->desc.type = elem::ue8m0; }), "TW0458");
  EXPECT_EQ(code([](gemm_problem& q) { q.scale_d->desc.block_outer = 128; }), "TW0458");
  EXPECT_EQ(code([](gemm_problem& q) { q.scale_d->desc.block_k = 64; }), "TW0458");
  EXPECT_EQ(code([](gemm_problem& q) { q.scale_d->given = true; }), "TW0458");
  EXPECT_EQ(code([](gemm_problem& q) { q.scale_d->desc.packed_k = 4; }), "TW0458");
  EXPECT_EQ(code([](gemm_problem& q) { q.scale_d->desc.tiled = true; }), "TW0458");
  EXPECT_EQ(code([](gemm_problem& q) { q.scale_d->desc.second_level = true; }), "TW0458");
  EXPECT_EQ(code([](gemm_problem& q) { q.scale_d = output_scales{{}, true, false}; }), "");
  EXPECT_EQ(code([](gemm_problem& q) { q.scale_d = output_scales{{}, true, true}; }), "TW0458");
  EXPECT_EQ(code([](gemm_problem& q) { q.m = 8, q.scale_d->desc.stride_outer = 0; }), "TW0458");
  EXPECT_EQ(code([](gemm_problem& q) {
              q.epilogue.gate = gating::none, q.c.reset(), q.beta = 0;
              q.d.pitch_elems = 1000, q.n = q.n / 16 * 16 + 16;
              q.b.pitch_elems = 1000, q.d.ord = order::row_major;
              q.aux = q.d;
            }),
            "TW0458");
  x.problem.epilogue = {}, x.problem.n = x.d.cols, x.problem.c.reset(), x.problem.beta = 0;
  gemm_operands o = x.operands();
  space.give(o);
  o.scale_d = nullptr;
  try {
    gemm_emulated(x.problem, o);
    ADD_FAILURE() << "no address of the scales";
  } catch (rejected const& r) {
    EXPECT_EQ(r.why().code, "TW0408");
  }
}

}  // namespace
}  // namespace tw::test
