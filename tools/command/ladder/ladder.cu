// SPDX-License-Identifier: Apache-2.0
// ladder.cu  Verifies and times the rungs of ladder against the library and the baseline.
#include "tools/command/ladder/ladder.hpp"

#include <memory>
#include <optional>

#include "ladder/ladder.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/problem/scale_convention.hpp"
#include "tools/command/ladder/ladder_rungs.hpp"
#include "tools/measure/gpu/cublaslt.hpp"
#include "tools/measure/gpu/device.hpp"
#include "tools/measure/gpu/graph_contender.hpp"
#include "tools/measure/gpu/operand_sets.hpp"
#include "tools/measure/gpu/plan_trial.hpp"
#include "tools/measure/gpu/verify.hpp"

namespace tw::bench {

namespace {

constexpr int library_rung = 12, baseline = 0;

/// scaled: e4m3 with scales of 1x128 for A and B.
gemm_problem problem_of(int size, bool scaled) {
  elem const ab = scaled ? elem::e4m3 : elem::bf16;
  gemm_problem p;
  p.m = p.n = p.k = size;
  p.a = {ab, order::row_major, size};
  p.b = {ab, order::col_major, size};
  p.d = {elem::bf16, order::row_major, size};
  if (scaled) {
    scaled_operand const of_a{.is_b = false, .outer = size, .k = size};
    scaled_operand const of_b{.is_b = true, .outer = size, .k = size};
    p.scale_a = make_scale(of_a, scaling::block_1x128, scale_library::cublaslt);
    p.scale_b = make_scale(of_b, scaling::block_1x128, scale_library::cublaslt);
  }
  return p;
}

/// All programs of one size and one type of operands, over the same operands.
class size_measurement {
 public:
  size_measurement(stopwatch& watch, ladder_options const& o, bool scaled, ladder_size& out)
      : watch_(watch),
        options_(o),
        scaled_(scaled),
        first_(out.times.size()),
        problem_(problem_of(out.size, scaled)),
        sets_(problem_, o.measure, watch.stream()),
        out_(out) {
    watch_.wait();
  }

  void add_rung(gpu_rung const& r, int sms) {
    int const size = out_.size;
    for (int const tile : r.tile)
      if (size % tile != 0) return;
    std::vector<rung_launch> launches;
    for (int set = 0; set < sets_.count(); ++set)
      launches.push_back(r.prepare(sets_.at(set), size, sms));
    add({r.number, r.name, r.step, "", {}, {}}, [launches](int set, cudaStream_t stream) {
      launches[static_cast<std::size_t>(set)](stream);
    });
  }
  void add_library() {
    gemm_plan const plan = plan_gemm(problem_, sets_.at(0), gpu_device());
    add({library_rung, "12_library", step_of(""), plan.kernel, {}, {}},
        [this, plan](int set, cudaStream_t stream) { gemm(plan, sets_.at(set), stream); });
  }
  void add_baseline(cublaslt const& library) {
    product_.emplace(library, problem_);
    lt_algorithm const first = product_->algorithms(1)[0];
    add({baseline, "cublaslt", step_of("heuristic"), product_->describe(first), {}, {}},
        [this, first](int set, cudaStream_t stream) {
          product_->enqueue(first, sets_.at(set), stream);
        });
  }

  void time() {
    std::vector<contender*> contenders;
    for (auto const& program : programs_) contenders.push_back(program.get());
    watch_.expects("the programs of " + std::to_string(out_.size) + " in turn");
    auto const samples = measure_bursts(contenders, options_.measure.protocol, pause);
    for (std::size_t i = 0; i < samples.size(); ++i) out_.times[first_ + i].bursts = samples[i];
  }

 private:
  std::string step_of(char const* usual) const { return scaled_ ? "e4m3, scales of 1x128" : usual; }

  /// Runs the graph that will be timed on poisoned results, and compares the last set's.
  void add(ladder_time entry, graph_contender::enqueue const& launch) {
    watch_.expects(std::string(entry.name) + " of " + std::to_string(out_.size));
    auto program =
        std::make_unique<graph_contender>(watch_, sets_.count(), launch, options_.measure.batch_s);
    sets_.poison(watch_.stream());
    program->run();
    result_scan const found = scan(problem_, sets_.results(), watch_);
    entry.check = compare(problem_, sets_.at(sets_.count() - 1), watch_, entry.rung == baseline);
    entry.check.unwritten = found.nans;
    entry.check.passed = entry.check.passed && found.nans == 0;
    out_.times.push_back(std::move(entry));
    programs_.push_back(std::move(program));
  }

  stopwatch& watch_;
  ladder_options const& options_;
  bool const scaled_;
  std::size_t const first_;  // of its programs in out_.times
  gemm_problem const problem_;
  operand_sets const sets_;
  ladder_size& out_;
  std::optional<lt_product> product_;
  std::vector<std::unique_ptr<graph_contender>> programs_;
};

}  // namespace

ladder_report measure_ladder(ladder_options const& o) {
  if (!gpu().usable) throw rejected(gpu().why_not);
  measured_device device;
  ladder_report report;
  report.facts = device.facts();
  std::unique_ptr<cublaslt> library;
  if (o.measure.baseline) try {
      library = std::make_unique<cublaslt>(o.measure.cublaslt);
      report.facts.cublaslt = library->version();
      report.facts.cublaslt_path = library->path();
    } catch (rejected const& e) {
      report.no_baseline = e.what();
    }
  std::vector<gpu_rung> const& rungs = o.side ? gpu_side_rungs() : gpu_rungs();
  for (int const size : o.sizes) {
    ladder_size& out = report.sizes.emplace_back();
    out.size = size;
    for (bool const scaled : {false, true}) {
      std::vector<gpu_rung> asked;
      for (gpu_rung const& r : rungs)
        if (r.scaled == scaled && (o.rung == 0 || o.rung == r.number)) asked.push_back(r);
      if (scaled && asked.empty()) continue;
      size_measurement run(device.watch(), o, scaled, out);
      for (gpu_rung const& r : asked) run.add_rung(r, o.sms > 0 ? o.sms : device.facts().sms);
      run.add_library();
      if (library != nullptr) run.add_baseline(*library);
      run.time();
    }
  }
  return report;
}

}  // namespace tw::bench
