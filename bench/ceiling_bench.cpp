// SPDX-License-Identifier: Apache-2.0
// ceiling_bench.cpp  Peak rates of the GPU: the rows of ceiling.cu as table and JSON.
#include <fmt/format.h>

#include <cstdio>

#include "bench/environment.hpp"
#include "bench/lab.hpp"
#include "bench/questions.hpp"
#include "bench/samples_json.hpp"
#include "bench/table.hpp"
#include "bench/watchdog.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tools/gemm_run.hpp"

namespace tw::bench {
namespace {

constexpr unsigned limit_s = 300;

std::vector<column> const columns = {
    {"what", 24, true}, {"data", 7, true}, {"mode", 12, true}, {"us", 8},   {"rate", 6}, {"min", 6},
    {"max", 6},         {"unit", 7, true}, {"MHz", 5},         {"util", 5}, {"W", 4}};

std::string line(ceiling_row const& row) {
  bool const computes = row.per_launch.flop > 0;
  auto const us = figures(row.samples, &sample::us);
  double const mhz = median(figures(row.samples, &sample::sm_mhz));
  auto const rate = [&](double time_us) {
    return computes ? cell(tflops(row.per_launch, time_us), 1)
                    : cell(gb_per_s(row.per_launch, time_us) * 1e-3, 3);
  };
  return table_line(
      columns, {row.name, row.data, row.mode, cell_us(median(us)), rate(median(us)),
                rate(largest(us)), rate(smallest(us)), computes ? "TFLOP/s" : "TB/s", cell(mhz, 0),
                computes ? cell(utilisation(row.per_launch, median(us), mhz), 3) : "-",
                cell(median(figures(row.samples, &sample::power_w)), 0)});
}

}  // namespace

exit_status run_ceiling_bench(ceiling_options o) {
  if (!gpu().usable) throw no_usable_gpu(gpu().why_not);
  if (o.quick) o.protocol = quick_protocol;
  watchdog const guard(limit_s);
  ceiling_report const report = measure_ceilings(o);
  fmt::print("{}, driver {}, power limit {} W\n{}\n", report.facts.card, report.facts.driver,
             cell(report.facts.power_limit_w, 0), table_head(columns));
  nlohmann::json rows = nlohmann::json::array();
  for (auto const& row : report.rows) {
    fmt::print("{}\n", line(row));
    nlohmann::json one = samples_json(row.samples, row.per_launch);
    one["name"] = row.name;
    one["mode"] = row.mode;
    if (!row.data.empty()) one["data"] = row.data;
    rows.push_back(std::move(one));
  }
  if (!o.json_path.empty())
    write_json(o.json_path, {{"schema", "tilewright.bench.ceiling/1"},
                             {"environment", environment_json(o.commit)},
                             {"device", to_json(report.facts)},
                             {"quick", o.quick},
                             {"rows", std::move(rows)}});
  return exit_status::done;
}

}  // namespace tw::bench
