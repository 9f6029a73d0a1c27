// SPDX-License-Identifier: Apache-2.0
// measured.cpp  `tilewright ladder --device gpu` and `--from`: times of the rungs, measured now or
//               recorded, as a table, JSON and a chart.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tilewright/dispatch/gemm.hpp"
#include "tools/command/ladder/chart.hpp"
#include "tools/command/ladder/ladder.hpp"
#include "tools/command/ladder/request.hpp"
#include "tools/io/mapped_file.hpp"
#include "tools/io/refuse.hpp"
#include "tools/io/to_stderr.hpp"
#include "tools/measure/environment.hpp"
#include "tools/report/json_output.hpp"
#include "tools/request/device_choice.hpp"

namespace ladder {

namespace {

using namespace tw;
using bench::ladder_report;
using bench::ladder_time;

std::string title_of(ladder_time const& t) {
  return t.step.empty() ? t.name : fmt::format("{} ({})", t.name, t.step);
}

double tflops(double size, double us) { return 2 * size * size * size / us * 1e-6; }

double rate_of(ladder_time const& t, int size) { return tflops(size, bench::median_us(t.bursts)); }

/// Programs in the order in which they came, each with its time at every size that it computes.
struct table {
  std::vector<std::string> titles;
  std::map<std::string, std::map<int, ladder_time const*>> times;

  explicit table(ladder_report const& report) {
    for (auto const& s : report.sizes)
      for (ladder_time const& t : s.times) {
        if (!times.contains(title_of(t))) titles.push_back(title_of(t));
        times[title_of(t)][s.size] = &t;
      }
    std::ranges::stable_sort(titles, {}, [&](std::string const& title) {
      int const rung = times[title].begin()->second->rung;
      return rung == 0 ? 100 : rung;  // the baseline last
    });
  }
};

void print(ladder_report const& report, table const& all) {
  fmt::print(
      "TFLOP/s of M = N = K, bf16 where no type is named, on {}, {} SMs, medians of "
      "bursts\n\n{:<40}",
      report.facts.card, report.facts.sms, "");
  for (auto const& s : report.sizes) fmt::print(" {:>7}", s.size);
  fmt::print("\n");
  for (std::string const& title : all.titles) {
    fmt::print("{:<40}", title);
    auto const& row = all.times.at(title);
    for (auto const& s : report.sizes) {
      auto const found = row.find(s.size);
      if (found == row.end())
        fmt::print(" {:>7}", "-");
      else
        fmt::print(" {:>6.{}f}{}", rate_of(*found->second, s.size),
                   rate_of(*found->second, s.size) < 10 ? 2 : 0,
                   found->second->check.passed ? ' ' : '!');
    }
    fmt::print("\n");
  }
  fmt::print("\n! the result is wrong; - the size is no multiple of the rung's tile\n");
  if (!report.no_baseline.empty()) fmt::print("no baseline: {}\n", report.no_baseline);
}

/// The reason for status 1.
void tell_wrong(ladder_report const& report) {
  for (auto const& s : report.sizes)
    for (ladder_time const& t : s.times)
      if (!t.check.passed)
        to_stderr("tilewright: {} of {} is wrong: {} elements not written, {:.3g} of the bound\n",
                  title_of(t), s.size, t.check.unwritten, t.check.error_over_bound);
}

nlohmann::ordered_json json_of(ladder_report const& report, table const& all, bool& good) {
  auto rungs = nlohmann::ordered_json::array();
  for (std::string const& title : all.titles) {
    auto const& row = all.times.at(title);
    ladder_time const& any = *row.begin()->second;
    bool correct = true;
    nlohmann::ordered_json sizes = nlohmann::ordered_json::object();
    for (auto const& [size, t] : row) {
      correct = correct && t->check.passed;
      sizes[std::to_string(size)] = {
          {"us", bench::median_us(t->bursts)},
          {"tflops", rate_of(*t, size)},
          {"sm_mhz", bench::median(bench::figures(t->bursts, &bench::sample::sm_mhz))},
          {"correct", t->check.passed},
          {"error_over_bound", t->check.error_over_bound},
          {"kernel", t->kernel}};
    }
    good = good && correct;
    rungs.push_back({{"rung", any.rung},
                     {"name", any.name},
                     {"step", any.step},
                     {"correct", correct},
                     {"diagnoses", nlohmann::ordered_json::array()},
                     {"sizes", sizes}});
  }
  return {{"device", "gpu"},
          {"gpu", nlohmann::ordered_json(bench::to_json(report.facts))},
          {"environment", nlohmann::ordered_json(bench::environment_json(""))},
          {"rungs", rungs}};
}

chart chart_of(ladder_report const& report, table const& all) {
  int const size = report.sizes.size() == 1 ? report.sizes[0].size : 4096;
  chart c{fmt::format("TFLOP/s at M = N = K = {}, {}", size, report.facts.card), "TFLOP/s", {}, {}};
  for (std::string const& title : all.titles) {
    auto const& row = all.times.at(title);
    ladder_time const& any = *row.begin()->second;
    if (!any.step.empty() && all.times.contains(any.name)) continue;  // on the way to a rung
    if (any.rung == 0) c.reference = title;
    auto const found = row.find(size);
    c.names.push_back(title);
    c.values.push_back(found == row.end() ? -1 : rate_of(*found->second, size));
  }
  return c;
}

/// The times of a record that json_of() made; the burst of each is its median. Throws
/// nlohmann::json::exception if a field is missing.
ladder_report report_of(nlohmann::ordered_json const& record) {
  ladder_report report;
  record.at("gpu").at("card").get_to(report.facts.card);
  record.at("gpu").at("sms").get_to(report.facts.sms);
  std::map<int, std::vector<ladder_time>> sizes;
  for (auto const& rung : record.at("rungs"))
    for (auto const& [size, measured] : rung.at("sizes").items()) {
      ladder_time t;
      t.rung = rung.at("rung");
      t.name = rung.at("name");
      t.step = rung.at("step");
      t.kernel = measured.at("kernel");
      t.check.passed = measured.at("correct");
      bench::sample burst;
      burst.us = measured.at("us");
      burst.sm_mhz = measured.at("sm_mhz");
      t.bursts.push_back(burst);
      sizes[std::stoi(size)].push_back(t);
    }
  for (auto const& [size, times] : sizes) report.sizes.push_back({size, times});
  return report;
}

ladder_report read_record(std::string const& path) {
  mapped_file const file(path);
  auto const* const text = reinterpret_cast<char const*>(file.content().data());
  auto const record =
      nlohmann::ordered_json::parse(text, text + file.content().size(), nullptr, false);
  char const* const need = "the output of ladder --device gpu --json";
  if (record.is_discarded()) refuse("TW0682", "record " + path, "no valid JSON", need);
  try {
    return report_of(record);
  } catch (std::exception const&) {  // of JSON or of the number of a size
    refuse("TW0682", "record " + path, "another JSON record", need);
  }
}

/// Status 1 if a result is wrong.
exit_status show(request const& r, ladder_report const& report) {
  table const all(report);
  bool good = true;
  nlohmann::ordered_json const record = json_of(report, all, good);
  if (!r.plot.empty()) plot(r.plot, chart_of(report, all));
  if (r.json)
    print_json("tilewright.ladder/1", record);
  else
    print(report, all);
  if (!good) tell_wrong(report);
  return good ? exit_status::done : exit_status::wrong;
}

}  // namespace

exit_status run_on_gpu(request const& r) {
  if (!gpu().usable) throw no_usable_gpu(gpu().why_not);
  bench::ladder_options o;
  o.rung = r.rung;
  o.side = r.side;
  o.sms = r.sms;
  if (r.size > 0) o.sizes = {r.size};
  o.measure.baseline = r.baseline;
  if (r.quick) o.measure.protocol = bench::quick_protocol;
  return show(r, bench::measure_ladder(o));
}

exit_status show_record(request const& r) {
  ladder_report report = read_record(r.from);
  if (r.size > 0)
    std::erase_if(report.sizes, [&](bench::ladder_size const& s) { return s.size != r.size; });
  if (report.sizes.empty())
    refuse("TW0682", "record " + r.from,
           r.size > 0 ? fmt::format("no size {}", r.size) : "no sizes", "a recorded size");
  return show(r, report);
}

}  // namespace ladder
