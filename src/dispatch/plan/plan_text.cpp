// SPDX-License-Identifier: Apache-2.0
// plan_text.cpp  A plan's choices, written as JSON and found again among the plans of a problem.
#include "tilewright/dispatch/plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "dispatch/tuning/tuning_key.hpp"
#include "family/launcher_of.hpp"
#include "family/workspace.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/problem/operand.hpp"

namespace tw {
namespace {

using json = nlohmann::ordered_json;

constexpr char const* plan_text_schema = "tilewright.plan_text/1";
constexpr char const* load_names[] = {"plain", "evict_first", "evict_normal"};

/// The operands of the normal problem that are copied before the launch: "ab", "a", "sa sb".
std::string copies_of(gemm_plan const& plan) {
  std::string text;
  auto const add = [&](bool copied, std::string const& operand) {
    if (copied) text += (text.empty() ? "" : " ") + operand;
  };
  for (role const x : a_and_b) {
    std::string const word = row_of(x).word;
    add(plan.repitch[x], word);
    add(plan.from[x].has_value(), word + " in another order");
    add(plan.scales_from[x].has_value(), "scales of " + word);
    add(plan.ordered && plan.ordered->of == x, word + " in the order of the groups");
  }
  add(plan.stage_d, "d"), add(plan.direct_d, "d by plain stores");
  return text;
}

rejection no_plan_text(std::string const& got, std::string const& need) {
  return {"TW0498", "text of a plan", got, need, "plan_text() and tw_plan_text() write one"};
}

/// The members of a JSON object, each of which is read once.
class members {
 public:
  explicit members(json const& object) : object_(object) {}

  std::string text(char const* name) const {
    json const& x = at(name);
    if (!x.is_string()) throw rejected(no_plan_text(member(name, x), "a string"));
    return x.get<std::string>();
  }
  bool flag(char const* name) const {
    json const& x = at(name);
    if (!x.is_boolean()) throw rejected(no_plan_text(member(name, x), "true or false"));
    return x.get<bool>();
  }
  int number(char const* name) const {
    json const& x = at(name);
    bool const fits = x.is_number_integer() && x >= 0 && x <= std::numeric_limits<int>::max();
    if (!fits) throw rejected(no_plan_text(member(name, x), "a number of 0 to 2147483647"));
    return x.get<int>();
  }
  /// The place of a word in a list.
  template <std::size_t N>
  std::size_t word(char const* name, char const* const (&words)[N]) const {
    std::string const x = text(name);
    auto const* const found = std::ranges::find(words, x);
    if (found == std::end(words))
      throw rejected(
          no_plan_text(member(name, at(name)), fmt::format("one of {}", fmt::join(words, ", "))));
    return static_cast<std::size_t>(found - std::begin(words));
  }
  members object(char const* name) const {
    json const& x = at(name);
    if (!x.is_object()) throw rejected(no_plan_text(member(name, x), "an object"));
    return members(x);
  }

 private:
  json const& at(char const* name) const {
    auto const found = object_.find(name);
    if (found == object_.end())
      throw rejected(no_plan_text(fmt::format("no \"{}\"", name),
                                  "each member of " + std::string(plan_text_schema)));
    return *found;
  }
  static std::string member(char const* name, json const& x) {
    return fmt::format("\"{}\": {}", name, x.dump());
  }

  json const& object_;
};

plan_schedule schedule_of(members const& s) {
  plan_schedule schedule;
  schedule.clusters = s.number("clusters");
  schedule.tile_cols = s.number("tile_cols");
  schedule.split_k_tiles = s.number("split_k_tiles");
  schedule.split_k_clusters = s.number("split_k_clusters");
  schedule.raster = static_cast<order_kind>(s.word("raster", order_names));
  schedule.band = s.number("band");
  members const l2 = s.object("l2");
  schedule.l2.a = static_cast<l2_load>(l2.word("a", load_names));
  schedule.l2.b = static_cast<l2_load>(l2.word("b", load_names));
  schedule.l2.a_by_128_bytes = l2.flag("a_by_128_bytes");
  schedule.l2.d_evict_first = l2.flag("d_evict_first");
  return schedule;
}

void check_equal(char const* what, std::string const& in_text, std::string const& here) {
  if (in_text != here)
    throw rejected({"TW0499", fmt::format("{} of a plan in a text", what), in_text, here,
                    "make a plan for this problem: plan_gemm()"});
}

}  // namespace

std::string plan_text(gemm_plan const& plan) {
  plan_schedule const& s = plan.schedule;
  auto const load = [](l2_load x) { return load_names[static_cast<int>(x)]; };
  json const l2 = {{"a", load(s.l2.a)},
                   {"b", load(s.l2.b)},
                   {"a_by_128_bytes", s.l2.a_by_128_bytes},
                   {"d_evict_first", s.l2.d_evict_first}};
  json const schedule = {{"clusters", s.clusters},
                         {"tile_cols", s.tile_cols},
                         {"split_k_tiles", s.split_k_tiles},
                         {"split_k_clusters", s.split_k_clusters},
                         {"raster", order_names[static_cast<int>(s.raster)]},
                         {"band", s.band},
                         {"l2", l2}};
  return json{{"schema", plan_text_schema},
              {"device", plan.predicted_for},
              {"problem", problem_key(plan.problem)},
              {"kernel", plan.kernel},
              {"swapped", plan.swapped},
              {"copies", copies_of(plan)},
              {"schedule", schedule},
              {"starts_early", plan.starts_early}}
      .dump();
}

gemm_plan plan_from_text(std::string_view text, gemm_problem const& p, gemm_operands const& o,
                         device const& dev) {
  json const parsed = json::parse(text, nullptr, false);
  if (!parsed.is_object())
    throw rejected(
        no_plan_text(parsed.is_discarded() ? "no JSON" : "JSON of another kind", "an object"));
  members const said(parsed);
  if (std::string const got = said.text("schema"); got != plan_text_schema)
    throw rejected(no_plan_text("schema " + got, plan_text_schema));
  std::string const kernel = said.text("kernel"), copies = said.text("copies");
  bool const swapped = said.flag("swapped"), starts_early = said.flag("starts_early");
  plan_schedule const schedule = schedule_of(said.object("schedule"));
  std::string const device_text = said.text("device"), problem_text = said.text("problem");

  check_equal("problem", problem_text, problem_key(p));
  check_equal("device", device_text, label(dev));
  std::vector<gemm_plan> plans = plan_candidates(p, o, dev, kernel_set::all);
  std::erase_if(plans,
                [&](gemm_plan const& x) { return x.kernel != kernel || x.swapped != swapped; });
  if (plans.empty())
    throw rejected({"TW0499", "kernel of a plan in a text", kernel + (swapped ? ", swapped" : ""),
                    "a kernel that computes this problem on " + label(dev),
                    "make a plan for this problem: plan_gemm()"});
  std::string const copies_here = copies_of(plans.front());
  std::erase_if(plans, [&](gemm_plan const& x) { return copies_of(x) != copies; });
  if (plans.empty())
    throw rejected({"TW0499", "copies of a plan in a text", copies.empty() ? "none" : copies,
                    copies_here.empty() ? "none" : copies_here,
                    "operands that begin at multiples of 16 bytes, if the plan's did"});
  // Of plans with one kernel the first that hands out tiles as the text says; else the first.
  auto const how = [](plan_schedule const& s) {
    return std::array{s.clusters, s.tile_cols, s.split_k_tiles, s.split_k_clusters};
  };
  auto const alike = std::ranges::find_if(
      plans, [&](gemm_plan const& x) { return how(x.schedule) == how(schedule); });
  gemm_plan plan = alike == plans.end() ? plans.front() : *alike;
  if (!plan.built) throw rejected(kernel_not_built(plan));
  plan.schedule = schedule;
  plan.starts_early = starts_early;
  plan.workspace_bytes = workspace_of(plan).bytes;
  plan.why = "from a text; " + plan.why;
  return plan;
}

}  // namespace tw
