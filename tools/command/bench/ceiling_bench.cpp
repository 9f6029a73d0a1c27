// SPDX-License-Identifier: Apache-2.0
// ceiling_bench.cpp  Peak rates of the GPU: the rows of ceiling.cu as table and JSON.
#include <fmt/format.h>

#include <cstdio>

#include "tilewright/dispatch/gemm.hpp"
#include "tools/command/bench/lab.hpp"
#include "tools/command/bench/questions.hpp"
#include "tools/command/bench/samples_json.hpp"
#include "tools/command/bench/table.hpp"
#include "tools/measure/environment.hpp"
#include "tools/measure/watchdog.hpp"
#include "tools/request/device_choice.hpp"

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

/// A widely copied table of an H100. Its 80 and 33 TB/s are marked "per SM" there; an SM reads 128
/// bytes of shared memory per clock, 0.25 TB/s, and 132 SMs together 33.
struct article_row {
  char const *bandwidth, *latency;
};
article_row article_of(std::string const& level) {
  if (level == "shared memory") return {"33", "23"};
  if (level == "DSMEM") return {"-", "-"};
  if (level == "L1") return {"33", "33"};
  if (level == "L2") return {"12", "200"};
  return {"3.35", "700"};
}

void print_memory(std::vector<memory_row> const& rows) {
  std::vector<column> const heads = {{"level", 13, true}, {"TB/s", 6},          {"B/clk/SM", 8},
                                     {"clocks", 7},       {"article TB/s", 12}, {"clocks", 6}};
  fmt::print("\nreads of all SMs, and the latency of a load\n{}\n", table_head(heads));
  for (memory_row const& row : rows) {
    article_row const a = article_of(row.level);
    fmt::print("{}\n", table_line(heads, {row.level, cell(row.gb_per_s * 1e-3, 2),
                                          cell(row.bytes_per_clock_sm, 1),
                                          cell(row.latency_clocks, 0), a.bandwidth, a.latency}));
  }
  fmt::print(
      "the article is about an H100; it calls 33 TB/s the rate of an SM, it is that of 132\n");
}

nlohmann::json memory_json(std::vector<memory_row> const& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (memory_row const& row : rows)
    list.push_back({{"level", row.level},
                    {"gb_per_s", row.gb_per_s},
                    {"bytes_per_clock_sm", row.bytes_per_clock_sm},
                    {"latency_clocks", row.latency_clocks}});
  return list;
}

}  // namespace

exit_status run_ceiling_bench(ceiling_options o) {
  check_json_file(o.json_path);
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
  print_memory(report.memory);
  if (!o.json_path.empty())
    write_json(o.json_path, {{"schema", "tilewright.bench.ceiling/1"},
                             {"environment", environment_json(o.commit)},
                             {"device", to_json(report.facts)},
                             {"quick", o.quick},
                             {"rows", std::move(rows)},
                             {"memory", memory_json(report.memory)}});
  return exit_status::done;
}

}  // namespace tw::bench
