// SPDX-License-Identifier: Apache-2.0
// plan_meter.cu  Times plans on the current GPU.
#include <algorithm>
#include <optional>
#include <utility>

#include "tools/measure/gpu/device.hpp"
#include "tools/measure/gpu/plan_trial.hpp"
#include "tools/measure/plan_meter.hpp"
#include "tools/measure/watchdog.hpp"

namespace tw::bench {
namespace {

constexpr unsigned product_limit_s = 600;

class gpu_meter final : public plan_meter {
 public:
  tuning_identity identity() const override { return identity_here().value(); }

  std::vector<gemm_plan> begin(gemm_problem const& p,
                               std::vector<std::int64_t> const& sizes) override {
    guard_.emplace(product_limit_s);
    sets_.reset();  // before the next GEMM takes its memory
    sets_.emplace(p, options_, device_.watch().stream(), sizes);
    device_.watch().wait();
    idle_ = true;
    std::vector<gemm_plan> plans = plan_candidates(p, sets_->at(0), gpu_device());
    bursts_ = trial_bursts_of(plans[0]);
    return plans;
  }

  double trial(gemm_plan const& plan) override {
    bool const warm_up = std::exchange(idle_, false);
    return trial_us(device_.watch(), *sets_, plan, bursts_, warm_up);
  }

  std::vector<burst_times> compare(std::vector<gemm_plan> const& plans) override {
    std::vector<std::unique_ptr<graph_contender>> programs;
    std::vector<contender*> contenders;
    for (gemm_plan const& p : plans) {
      programs.push_back(program_of(device_.watch(), *sets_, p, options_.batch_s));
      contenders.push_back(programs.back().get());
    }
    std::vector<burst_times> times;
    for (auto const& samples : measure_bursts(contenders, options_.protocol, pause))
      times.push_back({median_us(samples), std::ranges::max(figures(samples, &sample::us))});
    return times;
  }

 private:
  measure_options const options_{};
  measured_device device_;
  std::optional<operand_sets> sets_;
  std::optional<watchdog> guard_;
  trial_bursts bursts_{};
  bool idle_ = true;
};

}  // namespace

std::unique_ptr<plan_meter> open_plan_meter() { return std::make_unique<gpu_meter>(); }

}  // namespace tw::bench
