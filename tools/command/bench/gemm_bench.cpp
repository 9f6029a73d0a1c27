// SPDX-License-Identifier: Apache-2.0
// gemm_bench.cpp  Times of GEMMs: shapes in, table and JSON out.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "tilewright/dispatch/gemm.hpp"
#include "tools/command/bench/gemm_csv.hpp"
#include "tools/command/bench/gemm_json.hpp"
#include "tools/command/bench/gemm_table.hpp"
#include "tools/command/bench/lab.hpp"
#include "tools/command/bench/questions.hpp"
#include "tools/io/output_file.hpp"
#include "tools/measure/environment.hpp"
#include "tools/measure/support.hpp"
#include "tools/measure/watchdog.hpp"
#include "tools/request/device_choice.hpp"

namespace tw::bench {
namespace {

constexpr unsigned shape_limit_s = 300;

bool has_baseline(gemm_bench_options const& o, char const* name) {
  return std::ranges::find(o.baselines, name) != o.baselines.end();
}

void settle_baselines(gemm_bench_options& o) {
  bool const deepgemm = has_baseline(o, "deepgemm");
  std::string const given = fmt::format("{}", fmt::join(o.baselines, ","));
  if (has_baseline(o, "none") && o.baselines.size() > 1)
    throw rejected({"TW0615", "--baseline", given, "none alone, or cublaslt,deepgemm", ""});
  if (deepgemm == o.deepgemm.empty() || (o.deepgemm.empty() && !o.cutlass.empty()))
    throw rejected({"TW0615", "command line of `tilewright bench gemm`",
                    fmt::format("--baseline {} {} --deepgemm{}", given,
                                o.deepgemm.empty() ? "without" : "with",
                                o.cutlass.empty() ? "" : ", and --cutlass"),
                    "--baseline deepgemm and --deepgemm DIR together",
                    "DIR is a checkout of DeepGEMM, whose headers Tilewright does not contain"});
  o.measure.baseline = has_baseline(o, "cublaslt");
  if (deepgemm) o.measure.deepgemm = find_deepgemm(o.deepgemm, o.cutlass);
}

/// Refuses a list of which DeepGEMM computes no shape.
void check_deepgemm(gemm_bench_options const& o, std::vector<gemm_shape> const& shapes) {
  std::string first;
  for (gemm_shape const& s : shapes) {
    if (!o.measure.deepgemm) return;
    auto const why = why_unsupported(s) ? why_unsupported(s) : why_not_deepgemm(problem_of(s));
    if (!why) return;
    if (first.empty()) first = s.name + ": " + *why;
  }
  throw rejected({"TW0716", "shapes for DeepGEMM's kernel", first, "one that it computes",
                  "--dtype fp8_block, or --category fp8_block of bench/shapes_block_scales.json"});
}

void settle(gemm_bench_options& o) {
  o.measure.burst = o.mode != "sustained";
  o.measure.sustained = o.mode != "burst";
  settle_baselines(o);
  o.measure.data = o.data == "normal" ? data_kind::normal : data_kind::uniform;
  if (o.quick) {
    o.measure.protocol = quick_protocol;
    o.measure.tune_candidates = std::min(o.measure.tune_candidates, 4);
  }
  if (o.rounds > 0) o.measure.protocol.burst_rounds = o.rounds;
}

void check_outputs(gemm_bench_options const& o) {
  check_json_file(o.json_path);
  check_own_file(o.csv_path, "--csv", csv_mark);
  if (!o.json_path.empty() && !o.csv_path.empty() && same_file(o.json_path, o.csv_path))
    throw rejected({"TW0612", "output " + o.csv_path, "the path of --json and of --csv",
                    "a separate file for each", ""});
}

nlohmann::json protocol_json(gemm_bench_options const& o) {
  auto const& p = o.measure.protocol;
  return {{"quick", o.quick},
          {"mode", o.mode},
          {"baseline", fmt::format("{}", fmt::join(o.baselines, ","))},
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

/// Refuses a list with sizes, and neither.
void check_shapes(shape_request const& r) {
  if (r.list.empty() == r.sizes.empty())
    throw rejected({"TW0615", "command line of `tilewright bench gemm`",
                    r.sizes.empty() ? "neither sizes nor --shapes" : "sizes and --shapes",
                    "M N K (or MxNxK ...), or --shapes FILE", ""});
}

/// A file that grows by the lines of each shape.
class csv_file {
 public:
  explicit csv_file(std::string const& path) : path_(path) {
    if (path.empty()) return;
    out_.open(path, std::ios::binary | std::ios::trunc);
    add(csv_head());
  }
  void add(std::string const& lines) {
    if (path_.empty()) return;
    if (!(out_ << lines << std::flush))
      throw rejected(
          {"TW0612", "output " + path_, "an error in writing", "a file that can be written", ""});
  }

 private:
  std::string path_;
  std::ofstream out_;
};

bool is_good(shape_result const& r) { return r.state == outcome::unsupported || is_right(r); }

void print(std::string const& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace

exit_status run_gemm_bench(gemm_bench_options o) {
  settle(o);
  check_outputs(o);
  check_shapes(o.shapes);
  auto const shapes = shapes_of(o.shapes);
  check_deepgemm(o, shapes);
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
  csv_file csv(o.csv_path);
  save();  // an unwritable file is refused before anything is measured
  auto const columns = gemm_columns(shapes, o.measure.deepgemm.has_value());
  print(table_head(columns) + "\n");
  std::vector<shape_result> results;
  for (auto const& shape : shapes) {
    watchdog const guard(shape_limit_s);
    results.push_back(lab->measure(shape));
    print(gemm_rows(columns, results.back()));
    csv.add(csv_rows(results.back()));
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
