// SPDX-License-Identifier: Apache-2.0
// gemm_bench.cpp  Times of GEMMs: shapes in, table and JSON out.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "bench/environment.hpp"
#include "bench/gemm_json.hpp"
#include "bench/gemm_table.hpp"
#include "bench/lab.hpp"
#include "bench/questions.hpp"
#include "bench/shapes.hpp"
#include "bench/watchdog.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tools/gemm_run.hpp"

namespace tw::bench {
namespace {

constexpr unsigned shape_limit_s = 300;

void settle(gemm_bench_options& o) {
  o.measure.burst = o.mode != "sustained";
  o.measure.sustained = o.mode != "burst";
  o.measure.baseline = o.baseline == "cublaslt";
  o.measure.data = o.data == "normal" ? data_kind::normal : data_kind::uniform;
  if (o.quick) {
    o.measure.protocol = quick_protocol;
    o.measure.tune_candidates = std::min(o.measure.tune_candidates, 4);
  }
  if (o.rounds > 0) o.measure.protocol.burst_rounds = o.rounds;
}

nlohmann::json protocol_json(gemm_bench_options const& o) {
  auto const& p = o.measure.protocol;
  return {{"quick", o.quick},
          {"mode", o.mode},
          {"baseline", o.baseline},
          {"data", o.data},
          {"seed", o.measure.seed},
          {"tune_candidates", o.measure.tune_candidates},
          {"batch_s", o.measure.batch_s},
          {"cycle_bytes", o.measure.cycle_bytes},
          {"burst_rounds", p.burst_rounds},
          {"burst_pause_s", p.burst_pause_s},
          {"windows", p.windows},
          {"warm_up_s", p.warm_up_s},
          {"timed_s", p.timed_s}};
}

bool is_good(shape_result const& r) { return r.state == outcome::unsupported || is_right(r); }

void print(std::string const& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace

exit_status run_gemm_bench(gemm_bench_options o) {
  settle(o);
  auto const shapes = select_shapes(read_shapes(o.shapes_path), o.categories, o.names);
  if (!gpu().usable) throw no_usable_gpu(gpu().why_not);
  auto const lab = open_gemm_lab(o.measure);
  device_facts const facts = lab->facts();
  print(fmt::format("{}, driver {}, CUDA {}, cuBLASLt {}, power limit {} W, data {}\n", facts.card,
                    facts.driver, facts.cuda_runtime, facts.cublaslt.empty() ? "-" : facts.cublaslt,
                    cell(facts.power_limit_w, 0), o.data));

  nlohmann::json report = {{"schema", "tilewright.bench.gemm/1"},
                           {"environment", environment_json(o.commit)},
                           {"device", to_json(facts)},
                           {"protocol", protocol_json(o)},
                           {"shapes", nlohmann::json::array()}};
  auto const save = [&] {
    if (!o.json_path.empty()) write_json(o.json_path, report);
  };
  save();  // an unwritable file is refused before anything is measured
  auto const columns = gemm_columns(shapes);
  print(table_head(columns) + "\n");
  std::vector<shape_result> results;
  for (auto const& shape : shapes) {
    watchdog const guard(shape_limit_s);
    results.push_back(lab->measure(shape));
    print(gemm_rows(columns, results.back()));
    report["shapes"].push_back(to_json(results.back(), facts.sms));
    save();
  }
  std::string const summary = gemm_summary(results);
  if (!summary.empty())
    print("\nbaseline time / our time (above 1: faster than the baseline)\n" + summary);
  bool const good = std::all_of(results.begin(), results.end(), is_good);
  return good ? exit_status::done : exit_status::wrong;
}

}  // namespace tw::bench
