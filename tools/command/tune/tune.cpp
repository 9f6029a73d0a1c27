// SPDX-License-Identifier: Apache-2.0
// tune.cpp  Short trials of all candidates, then the best few against each other.
#include "tools/command/tune/tune.hpp"

#include <algorithm>
#include <chrono>

#include "dispatch/tuning/tuned.hpp"
#include "tilewright/base/check.hpp"

namespace tw::bench {
namespace {

constexpr std::size_t finalists = 4;
constexpr double longest_early_us = 100;  // an early start saves a microsecond or two
constexpr double least_gain = 0.01;       // less is no difference

struct deadline {
  double minutes;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  bool passed() const {
    std::chrono::duration<double> const since = std::chrono::steady_clock::now() - start;
    return minutes > 0 && since.count() > 60 * minutes;
  }
};

struct candidate {
  gemm_plan plan;
  double us;
};

/// The plan that the planner put first, and the fastest by their trials.
std::vector<gemm_plan> best_of(std::vector<candidate> all) {
  gemm_plan const planned = all[0].plan;
  std::ranges::stable_sort(all, {}, &candidate::us);
  std::vector<gemm_plan> best{planned};
  for (candidate const& c : all)
    if (best.size() < finalists && !record_of(c.plan, 0).same_plan(record_of(planned, 0)))
      best.push_back(c.plan);
  return best;
}

/// Launches of the plan that start early against launches that do not. Keeps which is faster, and
/// its time if the plan had it otherwise. An early start must be faster in each burst: some are
/// faster in one burst and slower in the next (docs/decisions/0092).
void compare_starts(plan_meter& meter, gemm_plan const& plan, measured_plan& fastest) {
  gemm_plan early = plan, late = plan;
  early.starts_early = true, late.starts_early = false;
  std::vector<burst_times> const us = meter.compare({early, late});
  if (us[0].median <= us[1].median * (1 - least_gain))
    fastest.starts_early = us[0].most <= us[1].median;
  if (us[0].median >= us[1].median * (1 + least_gain)) fastest.starts_early = false;
  bool const better = fastest.starts_early.value_or(plan.starts_early);
  if (better != plan.starts_early) fastest.us = us[better ? 0 : 1].median;
}

/// False: out of time before the end.
bool tune_one(plan_meter& meter, tuning_store& store, tune_options const& o, deadline const& end,
              std::vector<std::int64_t> const& sizes, std::function<void(double)> const& progress,
              tune_result& result) {
  tuning_identity const id = meter.identity();
  std::vector<gemm_plan> plans = meter.begin(result.problem, sizes);
  if (plans.size() > static_cast<std::size_t>(o.top)) plans.resize(static_cast<std::size_t>(o.top));
  auto const known = o.again ? std::vector<measured_plan>() : store.measured(id, result.problem);
  std::vector<candidate> all;
  for (gemm_plan const& p : plans) {
    auto const before = std::ranges::find_if(
        known, [&](measured_plan const& m) { return m.same_plan(record_of(p, 0)); });
    if (before != known.end()) {
      all.push_back({p, before->us});
      continue;
    }
    if (end.passed()) return false;
    all.push_back({p, meter.trial(p)});
    store.add(id, result.problem, record_of(p, all.back().us));
    ++result.trials;
    progress(static_cast<double>(all.size()) / static_cast<double>(plans.size()));
  }
  if (end.passed()) return false;
  std::vector<gemm_plan> const best = best_of(all);
  std::vector<burst_times> const us = meter.compare(best);
  auto const fastest =
      static_cast<std::size_t>(std::ranges::min_element(us, {}, &burst_times::median) - us.begin());
  result.fastest = record_of(best[fastest], us[fastest].median);
  if (us[fastest].median < longest_early_us) compare_starts(meter, best[fastest], result.fastest);
  result.planned_us = us[0].median;
  result.tried = static_cast<int>(plans.size());
  store.finish(id, result.problem, result.fastest, result.tried);
  return true;
}

}  // namespace

tune_outcome tune(plan_meter& meter, tuning_store& store, tune_options const& o,
                  std::function<void(double)> const& progress,
                  std::function<void(tune_result const&)> const& on_result) {
  deadline const end{o.minutes};
  tuning_identity const id = meter.identity();
  tune_outcome outcome;
  std::vector<tuned_problem> const finished =
      o.again ? std::vector<tuned_problem>() : store.finished(&id);
  for (std::size_t i = 0; i < o.problems.size(); ++i) {
    auto const share = [&](double of_this) {
      progress((static_cast<double>(i) + of_this) / static_cast<double>(o.problems.size()));
    };
    auto const& [problem, sizes] = o.problems[i];
    std::string const key = problem_key(problem);
    if (std::ranges::any_of(finished, [&](tuned_problem const& t) { return t.key == key; })) {
      ++outcome.skipped;
      share(1);
      continue;
    }
    tune_result result;
    result.problem = problem;
    try {
      if (!tune_one(meter, store, o, end, sizes, share, result)) {
        outcome.out_of_time = true;
        return outcome;
      }
      ++outcome.finished;
    } catch (rejected const& r) {
      if (r.why().code.starts_with("TW080")) throw;  // the store: nothing can be kept
      ++outcome.failed;
      result.failure = r.what();
    }
    on_result(result);
    share(1);
  }
  return outcome;
}

}  // namespace tw::bench
