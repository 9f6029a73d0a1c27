// SPDX-License-Identifier: Apache-2.0
// gemm_lab.cu  Measures one GEMM: ours, cuBLASLt's and DeepGEMM's, verified, then timed against
//             each other.
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "tilewright/dispatch/gemm.hpp"
#include "tools/command/bench/lab.hpp"
#include "tools/command/bench/separate_epilogue.hpp"
#include "tools/measure/gpu/cublaslt.hpp"
#include "tools/measure/gpu/deepgemm.hpp"
#include "tools/measure/gpu/device.hpp"
#include "tools/measure/gpu/graph_contender.hpp"
#include "tools/measure/gpu/operand_sets.hpp"
#include "tools/measure/gpu/plan_trial.hpp"
#include "tools/request/family_choice.hpp"

namespace tw::bench {
namespace {

constexpr int tuning_rounds = 3;
constexpr std::size_t deepgemm_candidates = 8;  // configurations that are compiled and tried

/// One shape: its buffers, its contenders, and the result that they fill.
class measurement {
 public:
  measurement(stopwatch& watch, measure_options const& o, gemm_problem const& p, shape_result& out)
      : watch_(watch),
        options_(o),
        problem_(p),
        plain_(with_decoded_b(p)),
        sets_(p, o, watch.stream(), sizes_of_groups(out.shape, o.seed)),
        out_(out) {
    watch_.wait();
    out_.buffer_sets = sets_.count();
    out_.cycle_bytes = sets_.cycle_bytes();
  }

  void add_ours() {
    device const& dev = gpu_device();
    auto const plans = plans_of_family(problem_, sets_.at(0), dev, options_.family);
    out_.why = plans[0].why;
    out_.hints = plans[0].hints;
    add("tilewright", plans[0].kernel, prepare(plans[0], options_.batch_s));
    for (bool const pdl : {true, false})
      if (options_.chain)
        add(pdl ? "tilewright_pdl" : "tilewright_no_pdl", plans[0].kernel, chain_of(plans[0], pdl));
    if (options_.invariant) add_invariant();
    for (std::string const& order : options_.orders)
      add("tilewright_" + order, plans[0].kernel,
          prepare(in_order(plans[0], order), options_.batch_s));
    if (problem_.scale_d) add_wide_d();
    if (problem_.weights_b) add_decoded();
    if (out_.shape.groups.pattern == group_pattern::equal && !has_weights(problem_)) add_batch();
    if (by_pointers_too()) {
      gemm_plan const plan = plan_gemm(with_pointers(problem_), sets_.at(0), dev);
      add("tilewright_pointers", plan.kernel, prepare(plan, options_.batch_s));
    }
    std::size_t const best = try_plans(plans);
    if (best != 0)
      add("tilewright_tuned", plans[best].kernel, prepare(plans[best], options_.batch_s));
  }

  /// The heuristic's first algorithm, and the fastest of its first `tune_candidates`.
  void add_cublaslt(cublaslt const& library) {
    if (problem_.groups)
      throw rejected({"TW0712", "cuBLASLt", "groups", "a GEMM without groups",
                      "their sizes are on the host in its version 13.1"});
    rest_.emplace(plain_);
    product_.emplace(library, cublaslt_part(plain_), sets_.second_levels());
    auto const algorithms = product_->algorithms(std::max(options_.tune_candidates, 1));
    add("cublaslt_heuristic", describe(algorithms[0]), prepare(algorithms[0]));
    provider_result same = out_.providers.back();
    if (by_pointers_too()) add_cublaslt_pointers(library);
    std::size_t const best = tune(
        out_.tuning, algorithms.size(),
        [&](std::size_t i) { return product_->describe(algorithms[i]); },
        [&](std::size_t i) { return prepare(algorithms[i]); });
    if (best != 0) {
      add("cublaslt_tuned", describe(algorithms[best]), prepare(algorithms[best]));
      return;
    }
    same.provider = "cublaslt_tuned";
    same.same_as = "cublaslt_heuristic";
    out_.providers.push_back(same);
  }

  /// The fastest of the configurations that DeepGEMM estimates to be the best.
  void add_deepgemm(deepgemm_files const& files, int sms) {
    std::vector<gemm_operands> sets;
    for (int i = 0; i < sets_.count(); ++i) sets.push_back(sets_.at(i));
    deepgemm_.emplace(files, problem_, sms, deepgemm_candidates, sets, watch_.stream());
    auto const prepared = [this](std::size_t config) {
      return prepare([this, config](int set, cudaStream_t stream) {
        deepgemm_->enqueue(config, static_cast<std::size_t>(set), stream);
      });
    };
    auto const& configs = deepgemm_->configs();
    std::size_t const best = tune(
        out_.deepgemm, configs.size(), [&](std::size_t i) { return configs[i].text(); }, prepared);
    add("deepgemm", configs[best].text(), prepared(best));
  }

  void time() {
    std::vector<contender*> contenders;
    std::vector<provider_result*> results;
    for (provider_result& r : out_.providers)
      if (r.same_as.empty()) results.push_back(&r);
    for (contender_pointer const& c : contenders_) contenders.push_back(c.get());
    if (options_.burst) {
      auto const samples = measure_bursts(contenders, options_.protocol, pause);
      for (std::size_t i = 0; i < results.size(); ++i) results[i]->bursts = samples[i];
    }
    if (options_.sustained) {
      auto const samples = measure_sustained(contenders, options_.protocol);
      for (std::size_t i = 0; i < results.size(); ++i) results[i]->windows = samples[i];
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      result_scan const again = run_and_scan(*contenders_[i], problems_[i]);
      results[i]->repeatable = again.digest == digests_[i];
      results[i]->check.unwritten = std::max(results[i]->check.unwritten, again.nans);
      results[i]->check.passed = results[i]->check.passed && again.nans == 0;
    }
  }

 private:
  using contender_pointer = std::unique_ptr<graph_contender>;

  /// Batches are measured by pointers as well.
  bool by_pointers_too() const {
    return problem_.batch > 1 && !is_fused(problem_.epilogue) && !problem_.c &&
           !has_weights(problem_);
  }

  /// Our plan with the order of sums that all shapes share. GEMMs without one have no such line.
  void add_invariant() try {
    gemm_problem kept = problem_;
    kept.reproducible = true;
    auto const plans = plans_of_family(kept, sets_.at(0), gpu_device(), options_.family);
    add("tilewright_invariant", plans[0].kernel, prepare(plans[0], options_.batch_s));
  } catch (rejected const& e) {
    if (e.why().code != "TW0460") throw;
  }

  /// Our plan with a D of bf16 instead of 8 bits with scales. A build that lacks its kernel has no
  /// such line.
  void add_wide_d() try {
    gemm_problem const wide = with_wide_d(problem_);
    auto const plans = plans_of_family(wide, sets_.at(0), gpu_device(), options_.family);
    add("tilewright_bf16_d", plans[0].kernel, prepare(plans[0], options_.batch_s), wide);
  } catch (rejected const& e) {
    if (e.why().code != "TW0505") throw;
  }

  /// Our plan with the decoded weights, if the build has its kernel.
  void add_decoded() try {
    gemm_plan const plan =
        plans_of_family(plain_, sets_.decoded_at(0), gpu_device(), options_.family)[0];
    add("tilewright_decoded", plan.kernel, prepare([this, plan](int set, cudaStream_t stream) {
          gemm(plan, sets_.decoded_at(set), stream);
        }));
  } catch (rejected const& e) {
    if (e.why().code != "TW0505") throw;
  }

  /// Our plan for equal groups as a batch, if a batch has their operands.
  void add_batch() {
    auto const batch = groups_as_batch(problem_);
    if (!batch || accept(*batch)) return;
    gemm_plan const plan = plan_gemm(*batch, sets_.at(0), gpu_device());
    add("tilewright_batch", plan.kernel, prepare(plan, options_.batch_s), *batch);
  }

  void add_cublaslt_pointers(cublaslt const& library) try {
    by_pointers_.emplace(library, with_pointers(problem_));
    lt_algorithm const first = by_pointers_->algorithms(1)[0];
    add("cublaslt_pointers", by_pointers_->describe(first),
        prepare([this, first](int set, cudaStream_t stream) {
          by_pointers_->enqueue(first, sets_.at(set), stream);
        }));
  } catch (rejected const& e) {  // a batch that the library does not compute by pointers
    if (e.why().code != "TW0712") throw;
  }

  /// The plan with its tiles in another order, "serpentine:8".
  static gemm_plan in_order(gemm_plan plan, std::string const& order) {
    std::size_t const colon = order.find(':');
    for (int i = 0; i < 3; ++i)
      if (order.substr(0, colon) == order_names[i])
        plan.schedule.raster = static_cast<order_kind>(i);
    plan.schedule.band = std::stoi(order.substr(colon + 1));
    return plan;
  }

  /// Launches that may start while the one before ends, or not, whatever the plan says.
  contender_pointer chain_of(gemm_plan const& plan, bool pdl) {
    return prepare([this, plan, pdl](int set, cudaStream_t stream) {
      gemm(plan, sets_.at(set), stream, {.pdl = pdl});
    });
  }

  contender_pointer prepare(graph_contender::enqueue const& launch) {
    return std::make_unique<graph_contender>(watch_, sets_.count(), launch, options_.batch_s);
  }
  contender_pointer prepare(gemm_plan const& plan, double batch_s) {
    return program_of(watch_, sets_, plan, batch_s);
  }
  contender_pointer prepare(lt_algorithm const& algorithm) {
    return prepare([this, algorithm](int set, cudaStream_t stream) {
      gemm_operands const o = sets_.decoded_at(set);
      gemm_operands part = o;
      if (rest_->any()) part.d = rest_->x();
      product_->enqueue(algorithm, part, stream);
      if (rest_->any()) rest_->enqueue(o, stream);
    });
  }
  std::string describe(lt_algorithm const& algorithm) const {
    return product_->describe(algorithm) + rest_->text();
  }

  result_scan run_and_scan(graph_contender& program, gemm_problem const& p) {
    sets_.poison(watch_.stream());
    program.run();
    return scan(p, sets_.results(), watch_);
  }

  /// Runs the very graph that will be timed on poisoned results and compares the last set's.
  void add(std::string const& name, std::string const& kernel, contender_pointer program) {
    add(name, kernel, std::move(program), plain_);
  }
  /// Adds a contender that computes `p`.
  void add(std::string const& name, std::string const& kernel, contender_pointer program,
           gemm_problem const& p) {
    provider_result result;
    result.provider = name;
    result.kernel = kernel;
    result_scan const found = run_and_scan(*program, p);
    result.check =
        compare(p, sets_.decoded_at(sets_.count() - 1), watch_, name.starts_with("cublaslt"));
    result.check.unwritten = found.nans;
    result.check.passed = result.check.passed && found.nans == 0;
    out_.providers.push_back(result);
    contenders_.push_back(std::move(program));
    problems_.push_back(p);
    digests_.push_back(found.digest);
  }

  /// Index of the fastest of our first `our_plans` plans, by the best of a few short bursts.
  std::size_t try_plans(std::vector<gemm_plan> const& plans) {
    std::size_t best = 0;
    auto const count = static_cast<std::size_t>(options_.our_plans);
    for (std::size_t i = 0; count > 1 && i < std::min(count, plans.size()); ++i) {
      gemm_plan const& p = plans[i];
      plan_entry entry{p.kernel,
                       p.swapped,
                       p.schedule.clusters,
                       p.schedule.split_k_tiles,
                       p.schedule.split_k_clusters,
                       p.predicted_us,
                       not_measured};
      entry.us = trial_us(watch_, sets_, p, trial_bursts_of(plans[0]), i == 0);
      out_.plans.push_back(entry);
      if (entry.us < out_.plans[best].us) best = i;
    }
    return best;
  }

  /// Index of the fastest of `count` programs, by bursts under the protocol; their texts and times
  /// go to `entries`. Those that do not run drop out.
  std::size_t tune(std::vector<tuning_entry>& entries, std::size_t count,
                   std::function<std::string(std::size_t)> const& text,
                   std::function<contender_pointer(std::size_t)> const& program) {
    std::vector<contender_pointer> programs;
    std::vector<contender*> running;
    std::vector<std::size_t> index;
    for (std::size_t i = 0; i < count; ++i) {
      entries.push_back({text(i), not_measured});
      try {
        programs.push_back(program(i));
      } catch (rejected const& e) {
        if (e.why().code != "TW0712") throw;
        continue;
      }
      running.push_back(programs.back().get());
      index.push_back(i);
    }
    if (running.size() < 2) return 0;
    protocol_options rounds = options_.protocol;
    rounds.burst_rounds = tuning_rounds;
    auto const samples = measure_bursts(running, rounds, pause);
    for (std::size_t i = 0; i < running.size(); ++i) entries[index[i]].us = median_us(samples[i]);
    return *std::ranges::min_element(index, {}, [&](std::size_t i) { return entries[i].us; });
  }

  stopwatch& watch_;
  measure_options const& options_;
  gemm_problem const problem_;
  gemm_problem const plain_;  // with decoded weights: the reference's
  operand_sets const sets_;
  shape_result& out_;
  std::optional<lt_product> product_, by_pointers_;
  std::optional<separate_epilogue> rest_;  // of what cuBLASLt lacks
  std::optional<deepgemm_product> deepgemm_;
  std::vector<contender_pointer> contenders_;  // in the order of out_.providers with a time
  std::vector<gemm_problem> problems_;         // that it computes
  std::vector<std::uint64_t> digests_;
};

class gpu_lab final : public gemm_lab {
 public:
  explicit gpu_lab(measure_options const& options) : options_(options), facts_(device_.facts()) {
    if (!options_.baseline) return;
    library_ = std::make_unique<cublaslt>(options_.cublaslt);
    facts_.cublaslt = library_->version();
    facts_.cublaslt_path = library_->path();
  }

  device_facts facts() const override { return facts_; }

  shape_result measure(gemm_shape const& shape) override {
    shape_result result;
    result.shape = shape;
    if (auto const reason = why_unsupported(shape))
      return finish(result, outcome::unsupported, *reason);
    if (!broken_.empty())
      return finish(result, outcome::failed, "the device failed before: " + broken_);
    gemm_problem const problem = problem_of(shape);
    if (auto const refusal = accept(problem))
      return finish(result, outcome::unsupported, to_string(*refusal));
    try {
      measurement run(device_.watch(), options_, problem, result);
      run.add_ours();
      if (library_ != nullptr) add_baseline(run, result);
      if (options_.deepgemm) add_deepgemm(run, problem, result);
      run.time();
      result.state = outcome::measured;
    } catch (rejected const& e) {
      bool const no_kernel = e.why().code == "TW0471";  // on this device
      finish(result, no_kernel ? outcome::unsupported : outcome::failed, e.what());
    } catch (std::exception const& e) {
      finish(result, outcome::failed, e.what());
    }
    cudaGetLastError();  // an allocation that was refused must not be reported again
    cudaError_t const status = cudaDeviceSynchronize();
    if (status != cudaSuccess) broken_ = cudaGetErrorString(status);
    return result;
  }

 private:
  static shape_result& finish(shape_result& r, outcome state, std::string const& reason) {
    r.state = state;
    r.reason = reason;
    return r;
  }

  /// A GEMM that cuBLASLt does not compute is still measured, without the baseline.
  void add_baseline(measurement& run, shape_result& result) {
    try {
      run.add_cublaslt(*library_);
    } catch (rejected const& e) {
      if (e.why().code != "TW0712") throw;
      result.reason = e.what();
    }
  }

  /// A GEMM that DeepGEMM does not compute is still measured.
  void add_deepgemm(measurement& run, gemm_problem const& p, shape_result& result) {
    if (auto const reason = why_not_deepgemm(p))
      result.reason += (result.reason.empty() ? "" : "; ") + std::string("no DeepGEMM: ") + *reason;
    else
      run.add_deepgemm(*options_.deepgemm, facts_.sms);
  }

  measure_options const options_;
  measured_device device_;
  device_facts facts_;
  std::unique_ptr<cublaslt> library_;
  std::string broken_;
};

}  // namespace

std::unique_ptr<gemm_lab> open_gemm_lab(measure_options const& options) {
  return std::make_unique<gpu_lab>(options);
}

}  // namespace tw::bench
