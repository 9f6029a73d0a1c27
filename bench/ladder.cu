// SPDX-License-Identifier: Apache-2.0
// ladder.cu  Verifies and times the rungs of examples/ladder against the library and the baseline.
#include "bench/ladder.hpp"

#include <memory>
#include <optional>

#include "bench/gpu/cublaslt.hpp"
#include "bench/gpu/device.hpp"
#include "bench/gpu/graph_contender.hpp"
#include "bench/gpu/ladder_rungs.hpp"
#include "bench/gpu/operand_sets.hpp"
#include "bench/gpu/plan_trial.hpp"
#include "bench/gpu/verify.hpp"
#include "examples/ladder/ladder.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw::bench {

namespace {

constexpr int library_rung = 12, baseline = 0;

gemm_problem problem_of(int size) {
  gemm_problem p;
  p.m = p.n = p.k = size;
  p.a = {elem::bf16, order::row_major, size};
  p.b = {elem::bf16, order::col_major, size};
  p.d = {elem::bf16, order::row_major, size};
  return p;
}

/// All programs of one size over the same operands.
class size_measurement {
 public:
  size_measurement(stopwatch& watch, ladder_options const& o, int size, ladder_size& out)
      : watch_(watch),
        options_(o),
        problem_(problem_of(size)),
        sets_(problem_, o.measure, watch.stream()),
        out_(out) {
    out_.size = size;
    watch_.wait();
  }

  void add_rung(gpu_rung const& r, int sms) {
    int const size = out_.size;
    for (int const tile : r.tile)
      if (size % tile != 0) return;
    std::vector<rung_launch> launches;
    for (int set = 0; set < sets_.count(); ++set) {
      gemm_operands const o = sets_.at(set);
      launches.push_back(r.prepare({static_cast<bf16 const*>(o.a), static_cast<bf16 const*>(o.b),
                                    static_cast<bf16*>(o.d), size, size, size, size, size, size,
                                    sms, target::gpu}));
    }
    add({r.number, r.name, r.step, "", {}, {}}, [launches](int set, cudaStream_t stream) {
      launches[static_cast<std::size_t>(set)](stream);
    });
  }
  void add_library() {
    gemm_plan const plan = plan_gemm(problem_, sets_.at(0), gpu_device());
    add({library_rung, "12_library", "", plan.kernel, {}, {}},
        [this, plan](int set, cudaStream_t stream) { gemm(plan, sets_.at(set), stream); });
  }
  void add_baseline(cublaslt const& library) {
    product_.emplace(library, problem_);
    lt_algorithm const first = product_->algorithms(1)[0];
    add({baseline, "cublaslt", "heuristic", product_->describe(first), {}, {}},
        [this, first](int set, cudaStream_t stream) {
          product_->enqueue(first, sets_.at(set), stream);
        });
  }

  void time() {
    std::vector<contender*> contenders;
    for (auto const& program : programs_) contenders.push_back(program.get());
    watch_.expects("the programs of " + std::to_string(out_.size) + " in turn");
    auto const samples = measure_bursts(contenders, options_.measure.protocol, pause);
    for (std::size_t i = 0; i < samples.size(); ++i) out_.times[i].bursts = samples[i];
  }

 private:
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
  for (int const size : o.sizes) {
    ladder_size& out = report.sizes.emplace_back();
    size_measurement run(device.watch(), o, size, out);
    for (gpu_rung const& r : o.side ? gpu_side_rungs() : gpu_rungs())
      if (o.rung == 0 || o.rung == r.number) run.add_rung(r, device.facts().sms);
    run.add_library();
    if (library != nullptr) run.add_baseline(*library);
    run.time();
  }
  return report;
}

}  // namespace tw::bench
