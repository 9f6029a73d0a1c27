// SPDX-License-Identifier: Apache-2.0
// ncu_csv.cpp  Fields, heads, units and numbers with commas.
#include "tools/command/profile/ncu_csv.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "tools/io/refuse.hpp"

namespace tw::profile {
namespace {

using row = std::vector<std::string>;

/// The factor from a unit of ncu to percent, bytes or microseconds; other units are counts.
double factor_of(std::string_view unit) {
  struct known {
    std::string_view name;
    double factor;
  };
  constexpr known units[] = {{"nsecond", 1e-3}, {"ns", 1e-3},   {"usecond", 1},  {"us", 1},
                             {"msecond", 1e3},  {"ms", 1e3},    {"second", 1e6}, {"s", 1e6},
                             {"Kbyte", 1e3},    {"Mbyte", 1e6}, {"Gbyte", 1e9},  {"Tbyte", 1e12},
                             {"KB", 1e3},       {"MB", 1e6},    {"GB", 1e9},     {"TB", 1e12}};
  for (known const& k : units)
    if (k.name == unit) return k.factor;
  return 1;
}

/// "1,234.5" and "42 (3)" (a value and its instances); NaN for "n/a".
double number_in(std::string const& text) {
  std::string digits;
  for (char const c : text) {
    if (c == ' ') break;
    if (c != ',') digits += c;
  }
  double value = NAN;
  auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  bool const whole = error == std::errc() && end == digits.data() + digits.size();
  return whole ? value : NAN;
}

std::optional<std::size_t> column(row const& heads, std::string_view name) {
  auto const found = std::ranges::find(heads, name);
  if (found == heads.end()) return std::nullopt;
  return static_cast<std::size_t>(found - heads.begin());
}

std::string field(row const& r, std::optional<std::size_t> at) {
  return at && *at < r.size() ? r[*at] : std::string();
}

/// Metrics have two underscores after their unit's name: sm__throughput.avg...
/// Is this the name of a metric of the kernel? A raw page of ncu also has attributes of the device
/// and its links.
bool is_metric(std::string const& head) {
  for (char const* of_device : {"device__attribute_", "c2clink__", "nvlink__", "numa__"})
    if (head.starts_with(of_device)) return false;
  return head.find("__") != std::string::npos;
}

launch started(row const& heads, row const& r) {
  return {field(r, column(heads, "ID")),
          field(r, column(heads, "Kernel Name")),
          field(r, column(heads, "Block Size")),
          field(r, column(heads, "Grid Size")),
          {}};
}

std::vector<launch> read_raw(row const& heads, std::vector<row> const& rows, std::size_t first) {
  std::vector<launch> all;
  row units;
  for (std::size_t i = first; i < rows.size(); ++i) {
    if (rows[i].size() != heads.size()) continue;  // text of the program or of ncu
    launch l = started(heads, rows[i]);
    if (l.id.empty()) {
      units = rows[i];
      continue;
    }
    for (std::size_t c = 0; c < heads.size(); ++c)
      if (is_metric(heads[c]))
        l.values[heads[c]] = number_in(rows[i][c]) * (units.empty() ? 1 : factor_of(units[c]));
    all.push_back(std::move(l));
  }
  return all;
}

std::vector<launch> read_details(row const& heads, std::vector<row> const& rows,
                                 std::size_t first) {
  std::vector<launch> all;
  auto const name = column(heads, "Metric Name"), unit = column(heads, "Metric Unit"),
             value = column(heads, "Metric Value");
  for (std::size_t i = first; i < rows.size(); ++i) {
    if (rows[i].size() != heads.size()) continue;
    launch l = started(heads, rows[i]);
    if (all.empty() || all.back().id != l.id) all.push_back(std::move(l));
    if (std::string const metric = field(rows[i], name); is_metric(metric))
      all.back().values[metric] =
          number_in(field(rows[i], value)) * factor_of(field(rows[i], unit));
  }
  return all;
}

}  // namespace

std::vector<row> csv_rows(std::string_view text) {
  std::vector<row> rows;
  row current;
  std::string value;
  bool quoted = false;
  auto const end_row = [&] {
    current.push_back(std::move(value));
    value.clear();
    if (current.size() > 1 || !current.front().empty()) rows.push_back(std::move(current));
    current.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    char const c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"')
      value += text[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && c == ',')
      current.push_back(std::move(value)), value.clear();
    else if (!quoted && c == '\n')
      end_row();
    else if (quoted || c != '\r')
      value += c;
  }
  end_row();
  return rows;
}

std::vector<launch> read_ncu_csv(std::string const& path, std::string_view text) {
  // Text before the heads is no CSV: it may have a quote without its pair.
  std::size_t const begin = text.find("\"ID\",");
  if (begin == std::string_view::npos ||
      !column(csv_rows(text.substr(begin)).front(), "Kernel Name"))
    refuse("TW0655", "profile " + path, "no heads \"ID\", \"Kernel Name\", ...",
           "the output of ncu --csv", "ncu --csv --page raw --metrics ... COMMAND");
  std::vector<row> const rows = csv_rows(text.substr(begin));
  row const& heads = rows.front();
  std::vector<launch> all =
      column(heads, "Metric Name") ? read_details(heads, rows, 1) : read_raw(heads, rows, 1);
  if (all.empty())
    refuse("TW0655", "profile " + path, "no kernel", "at least one launch",
           "the command launched no kernel that --kernel-name accepts");
  return all;
}

}  // namespace tw::profile
