// SPDX-License-Identifier: Apache-2.0
// layouts_test.cpp  Every row of tests/conform/layouts*.jsonl.gz whose operation exists, with
//                   counts.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/packed.hpp"
#include "tilewright/atom/call.hpp"
#include "tilewright/base/check.hpp"
#include "tools/io/crc32.hpp"

namespace {

using nlohmann::json;
using tw::answer;
using tw::i64;
using tw::layout;

std::vector<json> rows_of(std::string const& name) {
  std::istringstream in = tw::unpacked("tests/conform/" + name);
  std::vector<json> rows;
  for (std::string line; std::getline(in, line);) rows.push_back(json::parse(line));
  return rows;
}

/// Without spaces and the marks of static integers: _4 is 4, _ alone stays.
std::string normal(std::string const& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    bool const mark = text[i] == '_' && i + 1 < text.size() && std::isdigit(text[i + 1]) != 0;
    if (!mark) out += text[i];
  }
  return out;
}

/// Offsets as JSON values, joined by commas: coordinates are in quotes.
std::string offsets_of(answer const& a, i64 n) {
  std::string all;
  for (i64 i = 0; i < n; ++i) {
    if (i > 0) all += ',';
    all += a.is_coordinate() ? '"' + a.offset_text(i) + '"' : a.offset_text(i);
  }
  return all;
}

/// The row's offsets as one text, or its CRC.
bool same_function(answer const& a, json const& row) {
  if (!a.function || !row.contains("n")) return false;
  i64 const n = row["n"];
  if (size(*a.function) != n) return false;
  std::string ours = offsets_of(a, n);
  if (row.contains("offs_crc32")) return tw::crc32(ours) == row["offs_crc32"].get<std::uint32_t>();
  std::string theirs;
  for (json const& o : row["offs"]) {
    if (!theirs.empty()) theirs += ',';
    theirs += o.is_string() ? o.get<std::string>() : o.dump();
  }
  std::erase(ours, '"');
  return ours == theirs;
}

/// Where the modes of a layout end, as sizes of what lies before; modes of size 1 do not show.
std::set<i64> boundaries(layout const& l) {
  std::set<i64> ends;
  i64 product = 1;
  for (int i = 0; i < rank(l); ++i) ends.insert(product *= size(mode(l, i)));
  ends.erase(1);
  return ends;
}

/// Without tuples of one: (x) and x have the same coordinates.
tw::tree without_singles(tw::tree const& t) {
  if (t.is_leaf() || t.n == 0) return t;
  if (rank(t) == 1) return without_singles(mode(t, 0));
  tw::tree out;
  for (int i = 0; i < rank(t); ++i) tw::detail::append(out, without_singles(mode(t, i)));
  tw::detail::wrap(out);
  return out;
}

/// Static: coordinates of one are coordinates of the other. Otherwise the reference keeps modes
/// that it cannot see to be mergeable, so the modes of one may be finer than those of the other.
bool compatible_profile(layout ours, layout theirs, bool is_static) {
  ours.shape = without_singles(ours.shape);
  theirs.shape = without_singles(theirs.shape);
  if (compatible(ours.shape, theirs.shape) || compatible(theirs.shape, ours.shape)) return true;
  std::set<i64> const a = boundaries(ours);
  std::set<i64> const b = boundaries(theirs);
  return !is_static && (std::ranges::includes(a, b) || std::ranges::includes(b, a));
}

layout layout_of(json const& text) {
  return tw::call("layout", std::vector{text.get<std::string>()}).function.value();
}

std::multiset<i64> offsets_in(layout const& l) {
  std::multiset<i64> all;
  for (i64 i = 0; i < size(l); ++i) all.insert(l(i));
  return all;
}
std::set<i64> distinct_offsets(layout const& l) {
  std::multiset<i64> const all = offsets_in(l);
  return {all.begin(), all.end()};
}
bool repeats(layout const& l) { return std::ssize(distinct_offsets(l)) < size(l); }

/// The operation's law for the answer r to a row; nothing if no law is written here.
std::optional<bool> law_holds(layout const& r, json const& row) {
  std::string const op = row["op"];
  json const& args = row["args"];
  auto const is = [&op](char const* part) { return op.find(part) != std::string::npos; };
  if (op == "composition" || op == "identity_composition") {  // A(B(c)) for every c in B
    answer const a = tw::call("layout", std::vector{args[0].get<std::string>()});
    layout const b = layout_of(args[1]);
    if (size(r) != size(b)) return false;
    answer const ours = {.res = {}, .function = r, .origin = {}};
    for (i64 i = 0; i < size(b); ++i) {
      if (has_basis(*a.function) ? coordinate_at(r, i) != coordinate_at(*a.function, b(i))
                                 : r(i) != (*a.function)(b(i))) {
        return false;
      }
    }
    return true;
  }
  if (op == "composition_tiler") {  // as many cells as the tiler says
    std::string const tiler = args[1];
    if (tiler.find_first_of(":_") != std::string::npos) return {};
    return size(r) == size(tw::call("make_layout_left", std::vector{tiler}).function.value());
  }
  if (is("divide") && !is("identity")) {  // the offsets of the divided layout, as often as before
    return offsets_in(r) == offsets_in(layout_of(args[0]));
  }
  if (is("tiler") || is("tile_to_shape")) {  // copies of an injective block do not overlap
    return repeats(layout_of(args[0])) || !repeats(r);
  }
  if (is("product")) {  // as many offsets as the block has for each that the other layout has
    return distinct_offsets(r).size() == distinct_offsets(layout_of(args[0])).size() *
                                             distinct_offsets(layout_of(args[1])).size();
  }
  if (op == "make_ordered_layout" || op == "make_fragment_like") return !repeats(r);
  if (op == "make_layout_like") {  // repeats only what has stride 0
    layout const l = filter_zeros(layout_of(args[0]));
    return std::ssize(distinct_offsets(r)) == size(l);
  }
  if (op == "left_inverse") {  // L(R(L(i))) == L(i), and R(L(i)) == i where L is injective
    layout const l = layout_of(args[0]);
    for (i64 i = 0; i < size(l); ++i) {
      if (l(r(l(i))) != l(i) || (!repeats(l) && r(l(i)) != i)) return false;
    }
    return true;
  }
  if (op == "right_inverse" || op == "max_common_layout") {  // L(R(i)) == i
    layout const l = layout_of(args[0]);
    for (i64 i = 0; i < size(r); ++i) {
      if (l(r(i)) != i) return false;
    }
    return true;
  }
  if (op == "upcast") {  // the wide elements of L
    std::set<i64> wide;
    for (i64 const o : offsets_in(layout_of(args[0])))
      wide.insert(o / std::stoll(args[1].get<std::string>()));
    return distinct_offsets(r) == wide;
  }
  if (is("downcast")) {  // the narrow elements of L
    i64 const n = std::stoll(args[1].get<std::string>());
    std::set<i64> narrow;
    for (i64 const o : offsets_in(layout_of(args[0]))) {
      for (i64 k = 0; k < n; ++k) narrow.insert(o * n + k);
    }
    return distinct_offsets(r) == narrow;
  }
  return {};
}

enum class verdict { same_text, same_function, law_holds, refused, reference_wrong, differs };

/// Static integers of a row are visible to the reference; only then must it merge and drop modes.
/// A slice of a tensor is at a coordinate known at run time only.
bool is_static(json const& row) {
  return row["mode"] == "s" && row["op"] != "swizzle_slice_tensor";
}

verdict judge(json const& row, std::string& detail) {
  std::vector<std::string> args = row["args"];
  bool const broken = row.contains("post") && row["post"] == false;
  bool const reference_breaks_law =
      row.contains("n") && row.contains("res") && law_holds(layout_of(row["res"]), row) == false;
  answer r;
  try {
    r = tw::call(row["op"].get<std::string>(), args);
  } catch (tw::rejected const& e) {
    detail = e.what();
    return broken                 ? verdict::refused
           : reference_breaks_law ? verdict::reference_wrong
                                  : verdict::differs;
  }
  detail = r.res;
  if (broken)
    return r.function && law_holds(*r.function, row) == true ? verdict::law_holds
                                                             : verdict::differs;
  bool const function_matches = !row.contains("n") || same_function(r, row);
  if (!row.contains("res")) return function_matches ? verdict::same_function : verdict::differs;
  if (normal(r.res) == normal(row["res"]) && function_matches) return verdict::same_text;
  if (row["op"] == "max_common_vector" && !is_static(row)) {  // longer than the reference can see
    answer const c = tw::call("max_common_layout", args);
    bool const holds =
        size(*c.function) >= std::stoll(r.res) &&
        law_holds(*c.function, {{"op", "max_common_layout"}, {"args", args}}) == true;
    return holds && std::stoll(r.res) >= std::stoll(row["res"].get<std::string>())
               ? verdict::law_holds
               : verdict::differs;
  }
  if (!row.contains("n")) return verdict::differs;
  layout const theirs = layout_of(row["res"]);
  if (function_matches && compatible_profile(*r.function, theirs, is_static(row))) {
    return verdict::same_function;
  }
  if (reference_breaks_law && law_holds(*r.function, row) == true) return verdict::reference_wrong;
  // Runs end for the reference where it cannot see that they continue.
  bool const longer = row["op"] == "right_inverse" || row["op"] == "max_common_layout";
  if (longer && !is_static(row) && law_holds(*r.function, row) == true &&
      size(*r.function) >= size(theirs)) {
    return verdict::law_holds;
  }
  // A stride 0 that the reference cannot see is kept there and dropped here.
  bool const fewer = row["op"] == "filter" || row["op"] == "upcast";
  if (fewer && !is_static(row) && size(*r.function) <= size(theirs) &&
      distinct_offsets(*r.function) == distinct_offsets(theirs)) {
    return verdict::law_holds;
  }
  return verdict::differs;
}

struct count {
  int rows = 0, text = 0, function = 0, law = 0, refused = 0, wrong = 0;
};

TEST(Conform, Layouts) {
  auto const known = tw::operations();
  std::map<std::string, count> counts;
  std::vector<std::string> failures;
  int missing = 0;
  for (json const& row : rows_of("layouts.jsonl")) {
    std::string const op = row["op"];
    if (!std::ranges::binary_search(known, std::string_view(op))) {
      ++missing;
      continue;
    }
    if (!row.contains("args")) continue;  // the reference crashed
    count& c = counts[op];
    ++c.rows;
    std::string detail;
    verdict const v = judge(row, detail);
    if (v == verdict::same_text) {
      ++c.text;
    } else if (v == verdict::same_function) {
      ++c.function;
    } else if (v == verdict::law_holds) {
      ++c.law;
    } else if (v == verdict::refused) {
      ++c.refused;
    } else if (v == verdict::reference_wrong) {
      ++c.wrong;
      fmt::print("reference breaks the law: {} {} {} theirs {} ours {}\n",
                 row["id"].get<std::string>(), op, row["args"].dump(),
                 row["res"].get<std::string>(), detail);
    } else {
      failures.push_back(fmt::format("{} {} {} {} theirs {} ours {}", row["id"].get<std::string>(),
                                     op, row["mode"].get<std::string>(), row["args"].dump(),
                                     row.value("res", ""), detail));
    }
  }
  fmt::print("{:28} {:>5} {:>5} {:>9} {:>4} {:>8} {:>6}\n", "operation", "rows", "text", "function",
             "law", "refused", "theirs");
  count all;
  for (auto const& [op, c] : counts) {
    fmt::print("{:28} {:5} {:5} {:9} {:4} {:8} {:6}\n", op, c.rows, c.text, c.function, c.law,
               c.refused, c.wrong);
    all.rows += c.rows;
    all.text += c.text;
    all.function += c.function;
    all.law += c.law;
    all.refused += c.refused;
    all.wrong += c.wrong;
  }
  fmt::print("{:28} {:5} {:5} {:9} {:4} {:8} {:6}; rows of missing operations {}\n", "all",
             all.rows, all.text, all.function, all.law, all.refused, all.wrong, missing);
  for (std::string const& f : failures) fmt::print("{}\n", f);
  EXPECT_TRUE(failures.empty()) << failures.size() << " rows differ";
  EXPECT_EQ(missing, 0);
}

/// An input that the reference refuses is refused with a code, or answered as the law says.
TEST(Conform, Rejects) {
  auto const known = tw::operations();
  int refused = 0;
  int lawful = 0;
  int missing = 0;
  for (json const& row : rows_of("layouts.rejects.jsonl")) {
    if (!std::ranges::binary_search(known, std::string_view(row["op"].get<std::string>()))) {
      ++missing;
      continue;
    }
    try {
      answer const r =
          tw::call(row["op"].get<std::string>(), row["args"].get<std::vector<std::string>>());
      ++lawful;
      EXPECT_TRUE(r.function && law_holds(*r.function, row) == true)
          << row.dump() << " ours " << r.res;
    } catch (tw::rejected const& e) {
      EXPECT_TRUE(e.why().code.starts_with("TW01")) << e.what();
      ++refused;
    }
  }
  fmt::print("rejects: {} refused, {} answered by the law, {} of missing operations\n", refused,
             lawful, missing);
  EXPECT_EQ(missing, 0);
}

/// The reference's own unit cases: the same text or the same function. Their integers are partly
/// dynamic, so the reference keeps modes that ours merges.
TEST(Conform, UnitCases) {
  auto const known = tw::operations();
  int same_text = 0;
  int same_function = 0;
  int missing = 0;
  for (json const& row : rows_of("unit_cases.jsonl")) {
    if (!std::ranges::binary_search(known, std::string_view(row["op"].get<std::string>()))) {
      ++missing;
      continue;
    }
    answer ours;
    try {
      ours = tw::call(row["op"].get<std::string>(), row["args"].get<std::vector<std::string>>());
    } catch (tw::rejected const& e) {
      ADD_FAILURE() << row.dump() << " ours " << e.what();
      continue;
    }
    if (normal(ours.res) == normal(row["res"])) {
      ++same_text;
      continue;
    }
    ++same_function;
    layout const theirs = layout_of(row["res"]);
    if (row["op"] == "right_inverse") {  // ours may be longer
      EXPECT_TRUE(law_holds(*ours.function, row) == true) << row.dump() << " ours " << ours.res;
      EXPECT_GE(size(*ours.function), size(theirs)) << row.dump() << " ours " << ours.res;
      continue;
    }
    EXPECT_TRUE(compatible_profile(*ours.function, theirs, false))
        << row.dump() << " ours " << ours.res;
    EXPECT_EQ(size(*ours.function), size(theirs)) << row.dump() << " ours " << ours.res;
    for (i64 i = 0; i < size(theirs); ++i) ASSERT_EQ((*ours.function)(i), theirs(i)) << row.dump();
  }
  fmt::print(
      "unit cases: {} with the same text, {} with the same function, {} of missing operations\n",
      same_text, same_function, missing);
  EXPECT_EQ(missing, 0);
}

}  // namespace
