// SPDX-License-Identifier: Apache-2.0
// plan_text_test.cpp  A plan is the same after it was a text; texts that are changed are refused.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/dispatch/problems.hpp"
#include "tilewright/dispatch/plan_text.hpp"

namespace tw::test {
namespace {

using json = nlohmann::ordered_json;

std::string refusal_of_text(std::string const& text, gemm_problem const& p, gemm_operands const& o,
                            device const& dev) {
  try {
    plan_from_text(text, p, o, dev);
    return "";
  } catch (rejected const& r) {
    return r.why().code + " " + r.why().what;
  }
}

void expect_equal(gemm_plan const& x, gemm_plan const& y) {
  EXPECT_EQ(x.kernel, y.kernel);
  EXPECT_EQ(x.family, y.family);
  EXPECT_EQ(x.instance, y.instance);
  EXPECT_EQ(x.swapped, y.swapped);
  EXPECT_TRUE(x.normal == y.normal) << x.kernel;
  EXPECT_TRUE(x.schedule == y.schedule) << x.kernel;
  EXPECT_EQ(x.workspace_bytes, y.workspace_bytes) << x.kernel;
  EXPECT_EQ(x.starts_early, y.starts_early) << x.kernel;
  EXPECT_EQ(x.stage_d, y.stage_d) << x.kernel;
  EXPECT_EQ(x.predicted_us, y.predicted_us) << x.kernel;
}

TEST(PlanText, EachPlanOfAProblemComesBack) {
  gemm_problem odd = tn(1000, 999, 512);
  odd.a.pitch_elems = 515;  // is copied first
  gemm_problem columns = tn(333, 4096, 4096);
  columns.d.ord = order::col_major, columns.d.pitch_elems = columns.m;
  int plans = 0;
  for (gemm_problem const& p : {tn(4096, 4096, 4096), tn(64, 7168, 16384), odd, columns,
                                batch_of(tn(256, 512, 128), 5), tn(1, 4096, 4096)})
    for (gemm_plan const& x : plan_candidates(p, with_workspace(), h200())) {
      ++plans;
      expect_equal(plan_from_text(plan_text(x), p, with_workspace(), h200()), x);
    }
  EXPECT_GE(plans, 6);
}

TEST(PlanText, ItsScheduleMayBeChanged) {
  gemm_problem const p = tn(4096, 4096, 4096);
  gemm_plan plan = plan_gemm(p, with_workspace(), h200());
  plan.schedule.raster = order_kind::hilbert, plan.schedule.band = 3;
  plan.schedule.l2.b = l2_load::evict_first, plan.schedule.l2.d_evict_first = true;
  plan.starts_early = !plan.starts_early;
  gemm_plan const again = plan_from_text(plan_text(plan), p, with_workspace(), h200());
  EXPECT_TRUE(again.schedule == plan.schedule);
  EXPECT_EQ(again.starts_early, plan.starts_early);
  EXPECT_EQ(again.why.find("from a text"), 0U);
}

TEST(PlanText, OtherProblemsDevicesAndOperandsAreRefused) {
  gemm_problem const p = tn(512, 512, 512);
  std::string const text = plan_text(plan_gemm(p, with_workspace(), h200()));
  EXPECT_EQ(refusal_of_text(text, p, with_workspace(), h200()), "");
  EXPECT_EQ(refusal_of_text(text, tn(512, 512, 1024), with_workspace(), h200()),
            "TW0499 problem of a plan in a text");
  EXPECT_EQ(refusal_of_text(text, p, with_workspace(), h200(100)),
            "TW0499 device of a plan in a text");
  gemm_operands unaligned = with_workspace();
  unaligned.a = static_cast<char const*>(unaligned.a) + 2;
  EXPECT_EQ(refusal_of_text(text, p, unaligned, h200()), "TW0499 copies of a plan in a text");
  json other = json::parse(text);
  other["kernel"] = "sm90_bf16_bf16_tn_1x1x1_1x1_s1";
  EXPECT_EQ(refusal_of_text(other.dump(), p, with_workspace(), h200()),
            "TW0499 kernel of a plan in a text");
}

/// The groups are part of the problem: another number of groups is another problem.
TEST(PlanText, GroupsAreCompared) {
  gemm_problem p = tn(4096, 1024, 512);
  p.b.batch_stride_elems = p.n * p.k;
  p.groups = group_desc{.count = 8};
  gemm_operands const o = with_workspace();
  std::string const text = plan_text(plan_gemm(p, o, h200()));
  EXPECT_EQ(refusal_of_text(text, p, o, h200()), "");
  p.groups->count = 256;
  EXPECT_EQ(refusal_of_text(text, p, o, h200()), "TW0499 problem of a plan in a text");
}

TEST(PlanText, EachMemberIsNeededAndChecked) {
  gemm_problem const p = tn(512, 512, 512);
  json const whole = json::parse(plan_text(plan_gemm(p, with_workspace(), h200())));
  auto const code_of = [&](json const& text) {
    return refusal_of_text(text.dump(), p, with_workspace(), h200()).substr(0, 6);
  };
  auto const each_member = [&](json const& object, auto const& with) {
    for (auto const& [name, value] : object.items()) {
      json less = object, wrong = object;
      less.erase(name);
      wrong[name] = json::array();
      EXPECT_EQ(code_of(with(less)), "TW0498") << name;
      EXPECT_EQ(code_of(with(wrong)), "TW0498") << name;
    }
  };
  each_member(whole, [](json const& x) { return x; });
  each_member(whole["schedule"], [&](json const& x) {
    json all = whole;
    all["schedule"] = x;
    return all;
  });
  each_member(whole["schedule"]["l2"], [&](json const& x) {
    json all = whole;
    all["schedule"]["l2"] = x;
    return all;
  });
  json other = whole;
  other["schema"] = "tilewright.plan/1";
  EXPECT_EQ(code_of(other), "TW0498");
  other = whole, other["schedule"]["band"] = -1;
  EXPECT_EQ(code_of(other), "TW0498");
  other = whole, other["schedule"]["raster"] = "diagonal";
  EXPECT_EQ(code_of(other), "TW0498");
  for (std::string const text : {"", "{", "[]", "7", "kernel"})
    EXPECT_EQ(refusal_of_text(text, p, with_workspace(), h200()).substr(0, 6), "TW0498") << text;
}

}  // namespace
}  // namespace tw::test
