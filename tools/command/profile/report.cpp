// SPDX-License-Identifier: Apache-2.0
// report.cpp  Values, verdicts, what to do, and the limit of a kernel in one sentence.
#include "tools/command/profile/report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tools/command/profile/metrics.hpp"
#include "tools/io/printable.hpp"

namespace tw::profile {
namespace {

using json = nlohmann::ordered_json;

/// The value of a metric, also under its former name; NaN where the profile lacks it.
double value_of(launch const& l, metric const& m) {
  for (std::string_view const name : {m.name, m.formerly})
    if (auto const found = l.values.find(name); found != l.values.end()) return found->second;
  return NAN;
}

double share(launch const& l, std::string_view title) {
  for (metric const& m : metrics())
    if (m.title == title) return value_of(l, m);
  return NAN;
}

/// The limit of the kernel: compute, a level of memory, or waiting. Nothing without the figures.
std::string limit_of(launch const& l) {
  double const tensor = share(l, "tensor cores");
  for (char const* const level : {"DRAM", "L2", "L1 and shared memory"})
    if (share(l, level) >= 80 && !(tensor >= 80)) return level;
  if (std::isnan(tensor)) return "";
  return tensor >= 80 ? "tensor cores" : "waiting";
}

/// A figure of the tensor cores in a kernel that never uses them: nothing to improve.
bool without_instructions(launch const& l, metric const& m) {
  bool const of_tensor = m.title == "tensor cores" || m.title == "wgmma instructions";
  return of_tensor && share(l, "tensor cores") == 0 && value_of(l, m) == 0;
}

std::string limit_text(std::string const& limit) {
  if (limit == "tensor cores") return "limit: the tensor cores are near their peak\n";
  if (limit == "waiting")
    return "limit: no unit is near its peak; warps wait for each other, for loads or for the "
           "epilogue\n";
  return limit.empty() ? "" : fmt::format("limit: {}\n", limit);
}

bool acts_on(metric const& m, verdict v) {
  return v == verdict::low || v == verdict::limits || (v == verdict::fair && m.wants == wish::more);
}

}  // namespace

std::string report_text(std::vector<launch> const& launches) {
  std::string text;
  for (launch const& l : launches) {
    text +=
        fmt::format("{}kernel {}: {}\n  grid {}, CTA {}\n", text.empty() ? "" : "\n",
                    printable(l.id), printable(l.kernel), printable(l.grid), printable(l.block));
    for (metric const& m : metrics()) {
      double const value = value_of(l, m);
      if (std::isnan(value)) continue;
      if (without_instructions(l, m)) {
        text += fmt::format("  {:<21} {:>12}  {:<6}  no tensor instructions in this kernel\n",
                            m.title, value_text(m.measure, value), "-");
        continue;
      }
      verdict const v = judge(m, value);
      text += fmt::format("  {:<21} {:>12}  {:<6}  {}\n", m.title, value_text(m.measure, value),
                          word(v), m.meaning);
      if (acts_on(m, v)) text += fmt::format("  {:<43}  to do: {}\n", "", m.when_low);
    }
    for (auto const& [name, value] : l.values)
      if (find_metric(name) == nullptr)
        text += fmt::format("  {:<21} {:>12g}\n", printable(name), value);
    if (std::string const limit = limit_text(limit_of(l)); !limit.empty()) text += "  " + limit;
  }
  return text;
}

json report_json(std::vector<launch> const& launches) {
  json list = json::array();
  for (launch const& l : launches) {
    json figures = json::array();
    for (metric const& m : metrics()) {
      double const value = value_of(l, m);
      if (std::isnan(value)) continue;
      verdict const v = judge(m, value);
      bool const none = without_instructions(l, m);
      figures.push_back({{"metric", m.name},
                         {"title", m.title},
                         {"value", value},
                         {"verdict", none || v == verdict::shown ? json() : json(word(v))},
                         {"to_do", !none && acts_on(m, v) ? json(m.when_low) : json()}});
    }
    json others = json::object();
    for (auto const& [name, value] : l.values)
      if (find_metric(name) == nullptr) others[name] = value;
    std::string const limit = limit_of(l);
    list.push_back({{"id", l.id},
                    {"kernel", l.kernel},
                    {"grid", l.grid},
                    {"cta", l.block},
                    {"figures", figures},
                    {"others", others},
                    {"limit", limit.empty() ? json() : json(limit)}});
  }
  return {{"launches", list}};
}

std::string list_text() {
  std::string text;
  for (metric const& m : metrics()) {
    text += fmt::format("{}\n  {}: {}\n", m.name, m.title, m.meaning);
    if (m.wants == wish::more)
      text += fmt::format("  good from {}, low below {}\n", value_text(m.measure, m.good),
                          value_text(m.measure, m.low));
    if (m.wants == wish::less)
      text += fmt::format("  good up to {}\n", value_text(m.measure, m.good));
    if (m.wants == wish::limit)
      text += fmt::format("  limits from {}\n", value_text(m.measure, m.low));
    if (!m.when_low.empty()) text += fmt::format("  to do: {}\n", m.when_low);
    if (!m.formerly.empty()) text += fmt::format("  formerly {}\n", m.formerly);
  }
  return text;
}

json list_json() {
  json list = json::array();
  for (metric const& m : metrics())
    list.push_back({{"metric", m.name},
                    {"title", m.title},
                    {"meaning", m.meaning},
                    {"formerly", m.formerly.empty() ? json() : json(m.formerly)}});
  return {{"metrics", list}};
}

}  // namespace tw::profile
