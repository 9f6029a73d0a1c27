// SPDX-License-Identifier: Apache-2.0
// shapes.hpp  Reads a list of GEMMs to measure: a JSON array of flat objects.
//
// {"name": "sq4096", "category": "square", "m": 4096, "n": 4096, "k": 4096,
//  "dtype": "bf16", "layout": "TN", "batch": 1}
// Optional: "group_m" (rows per group), "epilogue", "scale_d" (amax-row, amax-1x128 or given: the
// scales of a D in 8 bits). layout, letter 1: A is T = [M,K] or N = [K,M]
// in memory; letter 2: B is N = [N,K] or T = [K,N]. D is row-major.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/check.hpp"
#include "tools/measure/shape.hpp"
#include "tools/request/dtypes.hpp"
#include "tools/request/problem_request.hpp"

namespace tw::bench {

/// Largest extent, and largest operand in bytes, that is not taken for a mistake.
inline constexpr std::int64_t max_extent = std::int64_t{1} << 31;
inline constexpr double max_operand_bytes = 1e12;

namespace detail {

inline std::string text_field(nlohmann::json const& o, char const* key, std::string const& where) {
  auto const it = o.find(key);
  if (it == o.end())
    throw rejected({"TW0702", where, "no field \"" + std::string(key) + "\"", "a text", ""});
  if (!it->is_string())
    throw rejected({"TW0702", where + ", field \"" + key + "\"", it->dump(), "a text", ""});
  return it->get<std::string>();
}

inline std::int64_t count_field(nlohmann::json const& value, std::string const& what) {
  if (!value.is_number_integer())
    throw rejected({"TW0702", what, value.dump(), "a whole number", ""});
  bool const fits = !value.is_number_unsigned() || value.get<std::uint64_t>() <= max_extent;
  if (!fits || value.get<std::int64_t>() < 1 || value.get<std::int64_t>() > max_extent)
    throw rejected({"TW0704", what, value.dump(), "1 to " + std::to_string(max_extent), ""});
  return value.get<std::int64_t>();
}

inline std::int64_t extent(nlohmann::json const& o, char const* key, std::string const& where) {
  auto const it = o.find(key);
  if (it == o.end())
    throw rejected(
        {"TW0702", where, "no field \"" + std::string(key) + "\"", "a whole number", ""});
  return count_field(*it, where + ", field \"" + key + "\"");
}

inline void check_sizes(gemm_shape const& s, std::string const& where) {
  double const m = static_cast<double>(s.m), n = static_cast<double>(s.n);
  double const k = static_cast<double>(s.k), batch = static_cast<double>(s.batch);
  auto const matrices = [&](group_axis each) {
    bool const groups = s.groups.count > 0 && s.groups.axis == each;
    return groups ? static_cast<double>(s.groups.count) : batch;
  };
  double const bytes =
      4 * std::max({matrices(group_axis::n) * m * k, matrices(group_axis::m) * k * n,
                    matrices(group_axis::k) * m * n});
  if (bytes > max_operand_bytes)
    throw rejected({"TW0704", where + ", largest operand at 4 bytes an element",
                    std::to_string(bytes / 1e9) + " GB", "at most 1000 GB", ""});
}

/// "groups", "group_axis", "group_pattern" and "expected_size". In the category "grouped" of older
/// lists `batch` is the number of groups of `m` rows, or of the rows of "group_m".
inline void read_groups(nlohmann::json const& o, std::string const& where, gemm_shape& s) {
  auto const field = [&](char const* key) { return where + ", field \"" + key + "\""; };
  auto const refused = [&](char const* key, std::string const& got, std::string const& need) {
    throw rejected({"TW0703", field(key), got, need, ""});
  };
  if (o.contains("group_m")) {
    if (!o["group_m"].is_array())
      throw rejected({"TW0702", field("group_m"), o["group_m"].dump(), "a list", ""});
    std::int64_t total = 0;
    for (auto const& rows : o["group_m"]) {
      s.groups.sizes.push_back(count_field(rows, field("group_m")));
      total += s.groups.sizes.back();
    }
    s.groups.count = static_cast<std::int64_t>(s.groups.sizes.size());
    s.batch = 1, s.m = total;
  } else if (s.category == "grouped" && !o.contains("groups")) {
    s.groups.count = s.batch;
    s.m *= s.batch, s.batch = 1;
  }
  if (o.contains("groups")) {
    if (o.contains("group_m"))
      refused("groups", o["groups"].dump(), "groups with a pattern, or group_m");
    s.groups.count = extent(o, "groups", where);
  }
  for (char const* const key : {"group_axis", "group_pattern", "expected_size"})
    if (o.contains(key) && !o.contains("groups"))
      refused(key, o[key].dump(), "the field \"groups\" too");
  if (o.contains("group_axis")) {
    std::string const word = text_field(o, "group_axis", where);
    if (word != "m" && word != "n" && word != "k") refused("group_axis", word, "m, n or k");
    s.groups.axis = word == "m" ? group_axis::m : word == "n" ? group_axis::n : group_axis::k;
  }
  if (o.contains("expected_size")) s.groups.expected = extent(o, "expected_size", where);
  if (o.contains("group_pattern")) {
    std::string const word = text_field(o, "group_pattern", where);
    auto const pattern = find_group_pattern(word);
    if (!pattern) refused("group_pattern", word, "equal, uniform, zipf, one-hot or half-empty");
    s.groups.pattern = *pattern;
  }
}

inline gemm_shape shape_of(nlohmann::json const& o, std::string const& where_in_file) {
  if (!o.is_object()) throw rejected({"TW0702", where_in_file, o.dump(), "an object", ""});
  gemm_shape s;
  s.name = text_field(o, "name", where_in_file);
  std::string const where = where_in_file + " (" + s.name + ")";
  s.category = text_field(o, "category", where);
  s.m = extent(o, "m", where);
  s.n = extent(o, "n", where);
  s.k = extent(o, "k", where);
  s.dtype = text_field(o, "dtype", where);
  s.layout = text_field(o, "layout", where);
  if (o.contains("batch")) s.batch = extent(o, "batch", where);
  if (o.contains("epilogue")) s.epilogue = text_field(o, "epilogue", where);
  if (o.contains("scale_d")) {
    s.scale_d.text = text_field(o, "scale_d", where);
    if (!s.scale_d.computed() && s.scale_d.text != "given")
      throw rejected({"TW0703", where + ", field \"scale_d\"", s.scale_d.text,
                      "amax-row, amax-1x128 or given", ""});
  }
  if (o.contains("weights")) s.weights = text_field(o, "weights", where);
  read_groups(o, where, s);
  if (!find_dtype(s.dtype))
    throw rejected({"TW0703", where + ", field \"dtype\"", s.dtype, dtype_names(), ""});
  if (!s.weights.empty() && !parse_weights(s.weights, find_dtype(s.dtype)->ab))
    throw rejected({"TW0703", where + ", field \"weights\"", s.weights, weights_words, ""});
  if (s.layout != "TN" && s.layout != "TT" && s.layout != "NT" && s.layout != "NN")
    throw rejected({"TW0703", where + ", field \"layout\"", s.layout, "TN, TT, NT or NN", ""});
  std::set<std::string> const known = {
      "name",          "category", "m",        "n",       "k",      "dtype",      "layout",
      "batch",         "group_m",  "epilogue", "scale_d", "groups", "group_axis", "group_pattern",
      "expected_size", "weights"};
  for (auto const& [key, value] : o.items())
    if (!known.contains(key)) s.unknown_fields.push_back(key);
  check_sizes(s, where);
  return s;
}

}  // namespace detail

/// The shapes in `text`, in order. Throws `rejected` TW0701 to TW0705; `source` names the file.
inline std::vector<gemm_shape> parse_shapes(std::string_view text, std::string const& source) {
  nlohmann::json list;
  try {
    list = nlohmann::json::parse(text);
  } catch (nlohmann::json::parse_error const& e) {
    throw rejected({"TW0701", "shape file " + source, e.what(), "JSON", ""});
  }
  if (!list.is_array() || list.empty())
    throw rejected({"TW0701", "shape file " + source,
                    list.is_array() ? "an empty list" : list.type_name(), "a list of shapes", ""});
  std::vector<gemm_shape> shapes;
  std::set<std::string> names;
  for (auto const& entry : list) {
    shapes.push_back(detail::shape_of(entry, source + ", entry " + std::to_string(shapes.size())));
    if (!names.insert(shapes.back().name).second)
      throw rejected(
          {"TW0705", source, "the name " + shapes.back().name + " twice", "unique names", ""});
  }
  return shapes;
}

/// parse_shapes of a file's content.
inline std::vector<gemm_shape> read_shapes(std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf()))
    throw rejected({"TW0701", "shape file " + path, "unreadable or empty", "a JSON file", ""});
  return parse_shapes(text.str(), path);
}

/// The shapes of these categories and names, in file order; an empty list selects all. A word that
/// selects nothing is refused (TW0705).
inline std::vector<gemm_shape> select_shapes(std::vector<gemm_shape> const& shapes,
                                             std::vector<std::string> const& categories,
                                             std::vector<std::string> const& names) {
  auto const require = [&](std::vector<std::string> const& words, auto const& field,
                           char const* what) {
    for (auto const& word : words)
      if (std::none_of(shapes.begin(), shapes.end(),
                       [&](auto const& s) { return s.*field == word; }))
        throw rejected({"TW0705", what, word, "one that the shape file has", ""});
  };
  require(categories, &gemm_shape::category, "--category");
  require(names, &gemm_shape::name, "--names");
  auto const wanted = [](std::vector<std::string> const& words, std::string const& word) {
    return words.empty() || std::find(words.begin(), words.end(), word) != words.end();
  };
  std::vector<gemm_shape> selected;
  for (auto const& s : shapes)
    if (wanted(categories, s.category) && wanted(names, s.name)) selected.push_back(s);
  if (selected.empty())
    throw rejected(
        {"TW0705", "--category and --names", "no shape that has both", "at least one", ""});
  return selected;
}

}  // namespace tw::bench
