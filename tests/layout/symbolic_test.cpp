// SPDX-License-Identifier: Apache-2.0
// symbolic_test.cpp  The algebra on run-time arguments: for all their values it answers what it
// answers for numbers, or refuses. The mixed rows of tests/conform, and random layouts.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/effort.hpp"
#include "tests/layout/random.hpp"
#include "tests/packed.hpp"

namespace {

using namespace tw;
using namespace tw_test;
using nlohmann::json;

/// Result of an operation: a layout or a number, perhaps with an offset.
struct result {
  std::optional<layout> function;
  i64 value = 0;
};

/// A layout as it is, or with the values of its arguments.
struct operand {
  i64 const* values = nullptr;
  layout operator()(layout const& l) const { return values == nullptr ? l : bound(l, values); }
  tree operator()(tree const& t) const { return values == nullptr ? t : bound(t, values); }
  layout operator()(std::string const& t) const {
    return (*this)(parse_layout(t.data(), static_cast<int>(t.size())));
  }
};

/// An operation on texts of its arguments.
struct operation {
  std::function<result(std::vector<std::string> const&, operand const&)> apply;
  enum { same, run, divisor, inverse, set } compare = same;
};

tree tree_of(std::string const& t) { return parse_tree(t.data(), static_cast<int>(t.size())); }
tiler tiler_of(std::string const& t) { return parse_tiler(t.data(), static_cast<int>(t.size())); }

/// The coordinate with 0 for every number: which modes of a tile are kept does not depend on them.
tree zeros(tree c) {
  for (int i = 0; i < c.n; ++i) {
    if (!is_any(c.leaf[i])) c.leaf[i] = num{};
  }
  return c;
}

template <class F>
operation on_layout(F const& f) {
  return {[f](auto const& args, operand const& at) { return result{f(at(args[0])), 0}; }};
}
template <class F>
operation by_tiler(F const& f) {
  return {[f](auto const& args, operand const& at) {
    tiler t = tiler_of(args[1]);
    t.cells = at(t.cells);
    return result{f(at(args[0]), t), 0};
  }};
}
template <class F>
operation two(F const& f) {
  return {[f](auto const& args, operand const& at) {
    return result{f(at(args[0]), at(args[1])), 0};
  }};
}

std::map<std::string, operation> const& known() {
  static std::map<std::string, operation> const ops = [] {
    std::map<std::string, operation> m;
    m["coalesce"] = {[](auto const& args, operand const& at) {
      return result{
          args.size() == 1 ? coalesce(at(args[0])) : coalesce(at(args[0]), at(tree_of(args[1]))),
          0};
    }};
    m["filter"] = on_layout([](layout const& l) { return filter(l); });
    m["composition"] = by_tiler([](layout const& l, tiler const& t) { return composition(l, t); });
    m["composition_tiler"] = m["composition"];
    m["logical_divide"] =
        by_tiler([](layout const& l, tiler const& t) { return logical_divide(l, t); });
    m["zipped_divide"] =
        by_tiler([](layout const& l, tiler const& t) { return zipped_divide(l, t); });
    m["zipped_divide_ragged"] = m["zipped_divide"];
    m["tiled_divide"] =
        by_tiler([](layout const& l, tiler const& t) { return tiled_divide(l, t); });
    m["flat_divide"] = by_tiler([](layout const& l, tiler const& t) { return flat_divide(l, t); });
    m["logical_product"] =
        by_tiler([](layout const& l, tiler const& t) { return logical_product(l, t); });
    m["zipped_product"] =
        by_tiler([](layout const& l, tiler const& t) { return zipped_product(l, t); });
    m["tiled_product"] =
        by_tiler([](layout const& l, tiler const& t) { return tiled_product(l, t); });
    m["flat_product"] =
        by_tiler([](layout const& l, tiler const& t) { return flat_product(l, t); });
    m["blocked_product"] =
        two([](layout const& a, layout const& b) { return blocked_product(a, b); });
    m["raked_product"] = two([](layout const& a, layout const& b) { return raked_product(a, b); });
    m["complement"] = {[](auto const& args, operand const& at) {
      return result{complement(at(args[0]), at(tree_of(args[1]))), 0};
    }};
    m["right_inverse"] = on_layout([](layout const& l) { return right_inverse(l); });
    m["right_inverse"].compare = operation::run;
    m["left_inverse"] = on_layout([](layout const& l) { return left_inverse(l); });
    m["left_inverse"].compare = operation::inverse;
    m["max_common_vector"] = {[](auto const& args, operand const& at) {
      layout const a = at(args[0]);
      layout const b = at(args[1]);
      return result{max_common_layout(a, b), max_common_vector(a, b)};
    }};
    m["max_common_vector"].compare = operation::run;
    m["upcast"] = {[](auto const& args, operand const& at) {
      return result{upcast(at(args[0]), number(at(tree_of(args[1])).leaf[0])), 0};
    }};
    m["downcast"] = {[](auto const& args, operand const& at) {
      return result{downcast(at(args[0]), number(at(tree_of(args[1])).leaf[0])), 0};
    }};
    m["downcast"].compare = operation::set;
    m["size"] = on_layout([](layout const& l) { return layout(product_of(l), num{}); });
    m["cosize"] = {[](auto const& args, operand const& at) {
      return result{{}, cosize(at(args[0]))};
    }};
    m["local_tile"] = {[](auto const& args, operand const& at) {
      return result{local_tile(at(args[0]), tiler_of(args[1]), zeros(tree_of(args[2]))).kept, 0};
    }};
    m["local_partition"] = {[](auto const& args, operand const& at) {
      return result{
          local_partition(at(args[0]), at(args[1]), number(at(tree_of(args[2])).leaf[0])).kept, 0};
    }};
    // not in the mixed rows of the corpus
    m["max_alignment"] = {[](auto const& args, operand const& at) {
      return result{{}, max_alignment(at(args[0]))};
    }};
    m["max_alignment"].compare = operation::divisor;
    m["nullspace"] = on_layout([](layout const& l) { return nullspace(l); });
    m["make_layout_like"] = on_layout([](layout const& l) { return make_layout_like(l); });
    // Not make_fragment_like: registers have a fixed order, with run-time strides last.
    m["make_layout_left"] = on_layout([](layout const& l) { return make_layout_left(l.shape); });
    m["make_layout_right"] = on_layout([](layout const& l) { return make_layout_right(l.shape); });
    m["make_ordered_layout"] =
        two([](layout const& l, layout const& o) { return make_ordered_layout(l.shape, o.shape); });
    m["filter_zeros"] = on_layout([](layout const& l) { return filter_zeros(l); });
    m["flatten"] = on_layout([](layout const& l) { return flatten(l); });
    m["group"] = on_layout([](layout const& l) { return group(l, 0, rank(l)); });
    m["slice"] = on_layout([](layout const& l) {
      tree c = make_tree(any);
      for (int i = 1; i < rank(l); ++i) c = make_tree(any, 0);
      return slice(l, c).kept;
    });
    m["dice"] = on_layout([](layout const& l) { return dice(l, make_tree(0, any)); });
    m["tile_to_shape"] = {[](auto const& args, operand const& at) {
      return result{tile_to_shape(at(args[0]), at(tree_of(args[1]))), 0};
    }};
    m["shape_div"] = {[](auto const& args, operand const& at) {
      return result{make_layout_left(shape_div(at(args[0]).shape, tree_of(args[1]))), 0};
    }};
    m["ceil_div"] = {[](auto const& args, operand const& at) {
      return result{make_layout_left(ceil_div(at(args[0]).shape, tree_of(args[1]))), 0};
    }};
    m["round_up"] = {[](auto const& args, operand const& at) {
      return result{make_layout_left(round_up(at(args[0]).shape, tree_of(args[1]))), 0};
    }};
    return m;
  }();
  return ops;
}

/// Numbers of a `*_t` text without the mark of a static integer, by position in the unmarked text.
/// Replaced by $0, $1, ...; their values are appended.
std::string symbolic(std::string const& marked, std::vector<i64>& values) {
  std::string out;
  for (std::size_t i = 0; i < marked.size();) {
    if (marked[i] == '_' && i + 1 < marked.size() && std::isdigit(marked[i + 1]) != 0) {
      for (++i; i < marked.size() && std::isdigit(marked[i]) != 0; ++i) out += marked[i];
    } else if (std::isdigit(marked[i]) != 0) {
      std::size_t end = i;
      while (end < marked.size() && std::isdigit(marked[end]) != 0) ++end;
      out += fmt::format("${}", values.size());
      values.push_back(std::stoll(marked.substr(i, end - i)));
      i = end;
    } else {
      out += marked[i++];
    }
  }
  return out;
}

/// Equal sizes, equal modes, equal offsets for each index.
bool same_function(layout const& a, layout const& b) {
  if (size(a) != size(b) || rank(a) != rank(b)) return false;
  for (int i = 0; i < rank(a); ++i) {
    if (size(mode(a, i)) != size(mode(b, i))) return false;
  }
  for (i64 i = 0, n = size(a); i < n; ++i) {
    if (a(i) != b(i)) return false;
  }
  return true;
}

std::set<i64> offsets(layout const& l) {
  std::set<i64> all;
  for (i64 i = 0; i < size(l); ++i) all.insert(l(i));
  return all;
}

/// `sym`, with its values put in, against the answer for numbers.
bool agree(operation const& op, result const& sym, result const& numeric, layout const& first,
           std::optional<layout> const& second) {
  if (op.compare == operation::divisor) return numeric.value % sym.value == 0;
  if (!sym.function) return sym.value == numeric.value;
  layout const& a = *sym.function;
  layout const& b = *numeric.function;
  // The longest run that is certain; the numbers may show a longer one, or another one.
  if (op.compare == operation::run) {
    for (i64 i = 0; i < size(a); ++i) {
      if (first(a(i)) != i || (second && (*second)(a(i)) != i)) return false;
    }
    return sym.value <= size(a);
  }
  if (op.compare == operation::inverse) {
    for (i64 i = 0; i < size(first); ++i) {
      if (a(first(i)) != b(first(i))) return false;
    }
    return true;
  }
  if (op.compare == operation::set) return offsets(a) == offsets(b);
  // Modes of one cell that only the numbers show are dropped by the numeric answer.
  return same_function(rank(a) == rank(b) ? a : coalesce(a), rank(a) == rank(b) ? b : coalesce(b));
}

struct count {
  int same = 0, refused = 0, wrong = 0, only_symbolic = 0;
};

/// The operation on arguments, then their values; and on numbers.
void compare(operation const& op, std::vector<std::string> const& args, i64 const* values, count& c,
             std::string const& what) {
  result sym;
  try {
    sym = op.apply(args, operand{});
    if (sym.function) sym.function = bound(*sym.function, values);
  } catch (rejected const& e) {
    EXPECT_TRUE(e.why().code.starts_with("TW01")) << e.what();
    ++c.refused;
    return;
  }
  result numeric;
  try {
    numeric = op.apply(args, operand{values});
  } catch (rejected const&) {
    ++c.only_symbolic;
    return;
  }
  std::optional<layout> second;
  if (args.size() > 1 && op.compare == operation::run) second = operand{values}(args[1]);
  if (agree(op, sym, numeric, operand{values}(args[0]), second)) {
    ++c.same;
  } else {
    ++c.wrong;
    std::string all;
    for (std::string const& a : args) all += a + " ";
    ADD_FAILURE() << what << ": " << all << " symbolic "
                  << (sym.function ? to_string(*sym.function) : std::to_string(sym.value))
                  << " numbers "
                  << (numeric.function ? to_string(*numeric.function)
                                       : std::to_string(numeric.value));
  }
}

void print(std::map<std::string, count> const& counts) {
  fmt::print("{:22} {:>7} {:>8} {:>6} {:>14}\n", "operation", "same", "refused", "wrong",
             "numbers refuse");
  count all;
  for (auto const& [op, c] : counts) {
    fmt::print("{:22} {:7} {:8} {:6} {:14}\n", op, c.same, c.refused, c.wrong, c.only_symbolic);
    all.same += c.same;
    all.refused += c.refused;
    all.wrong += c.wrong;
    all.only_symbolic += c.only_symbolic;
  }
  fmt::print("{:22} {:7} {:8} {:6} {:14}\n", "all", all.same, all.refused, all.wrong,
             all.only_symbolic);
}

TEST(Symbolic, MixedRowsOfTheCorpus) {
  std::istringstream in = unpacked("tests/conform/layouts.jsonl");
  std::map<std::string, count> counts;
  std::map<std::string, count> others;  // the same rows with other values
  random_source r(41);
  int rows = 0;
  int many = 0;
  for (std::string line; std::getline(in, line);) {
    json const row = json::parse(line);
    if (row["mode"] != "m" || !row.contains("args_t")) continue;
    std::string const op = row["op"];
    ASSERT_TRUE(known().contains(op)) << op;
    std::vector<i64> values;
    std::vector<std::string> args;
    bool const tile = op.starts_with("local_");
    for (json const& a : row["args_t"]) {
      std::vector<i64> none;  // coordinates and thread indices are numbers
      args.push_back(symbolic(a, tile && args.size() == 2 ? none : values));
      if (tile && args.size() == 3) args.back() = row["args"][2];
    }
    ++rows;
    if (values.size() > max_arguments) {
      ++many;
      continue;
    }
    values.resize(max_arguments, 1);
    compare(known().at(op), args, values.data(), counts[op], row["id"]);
    for (int k = 0; k < 20; ++k) {
      i64 other[max_arguments];
      for (int i = 0; i < max_arguments; ++i) {
        other[i] = r.one_in(3) ? values[static_cast<std::size_t>(i)] : 1 + r.below(12);
      }
      compare(known().at(op), args, other, others[op], row["id"]);
    }
  }
  print(counts);
  fmt::print("the same with 20 other sets of values each:\n");
  print(others);
  EXPECT_EQ(rows, 728);
  EXPECT_EQ(many, 0);
}

/// A layout whose leaves are partly arguments; the same value may be the same argument.
class random_arguments {
 public:
  explicit random_arguments(random_source& r) : r_(r) {}

  tree replace(tree t) {
    for (int i = 0; i < t.n; ++i) t.leaf[i] = replace(t.leaf[i]);
    return t;
  }
  layout replace(layout l) {
    l.shape = replace(l.shape);
    for (int i = 0; i < l.shape.n; ++i) l.stride[i] = replace(l.stride[i]);
    return l;
  }
  /// The values as they were, then others.
  i64 const* values(bool as_they_were) {
    for (int i = 0; i < max_arguments; ++i) {
      other_[i] = as_they_were || r_.one_in(2) ? value_[i] : 1 + r_.below(9);
    }
    return other_;
  }

 private:
  num replace(num a) {
    if (a.v == 0 || is_any(a) || !r_.one_in(2)) return a;
    i64 factor = 1 + r_.below(8);
    if (a.v % factor != 0) factor = 1;
    for (int k = 0; k < used_; ++k) {
      if (value_[k] * factor == a.v && !r_.one_in(3)) return times(arg(k), factor);
    }
    if (used_ == max_arguments) return a;
    value_[used_] = a.v / factor;
    return times(arg(used_++), factor);
  }

  random_source& r_;
  int used_ = 0;
  i64 value_[max_arguments] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  i64 other_[max_arguments] = {};
};

/// A tiler of extents that often fit, for each mode; or a bare integer.
std::string random_tiler(random_source& r, layout const& l) {
  constexpr int extents[] = {1, 2, 2, 3, 4, 4, 6, 8};
  if (r.one_in(4)) return std::to_string(extents[r.below(8)]);
  std::string t = "(";
  for (i64 i = 1 + r.below(rank(l)); i > 0; --i) t += std::to_string(extents[r.below(8)]) + ",";
  return t + ")";
}

TEST(Symbolic, RandomLayouts) {
  std::uint64_t const seed = 42;
  random_source r(seed);
  std::map<std::string, count> counts;
  std::vector<std::string> names;
  for (auto const& [name, op] : known()) {
    if (name != "local_tile" && name != "local_partition") names.push_back(name);
  }
  for (int i = 0; i < tw::test::sample(40000) && !HasFailure(); ++i) {
    std::string const& op = names[static_cast<std::size_t>(r.below(std::ssize(names)))];
    random_arguments a(r);
    layout const plain_first = random_layout(r, 48);
    layout const first = a.replace(plain_first);
    std::vector<std::string> args{to_string(first)};
    bool const cuts = op.ends_with("divide") || op.ends_with("tiler") || op.ends_with("ragged");
    if (cuts || op == "shape_div" || op == "ceil_div" || op == "round_up") {
      args.push_back(random_tiler(r, first));
    } else if (op == "complement" || op.ends_with("cast")) {
      args.push_back(std::to_string(i64{1} << r.below(op == "complement" ? 7 : 3)));
    } else if (op == "tile_to_shape") {
      args.push_back(to_string(a.replace(make_tree(8 * (1 + r.below(3)), 12 * (1 + r.below(3))))));
    } else {
      layout const second = r.one_in(4) ? plain_first : random_layout(r, 48);
      args.push_back(to_string(r.one_in(2) ? second : a.replace(second)));
    }
    if (op == "coalesce" || op == "filter" || op == "right_inverse") args.resize(1);
    for (int k = 0; k < 4; ++k) {
      compare(known().at(op), args, a.values(k == 0), counts[op],
              fmt::format("seed {} {}", seed, i));
    }
  }
  print(counts);
}

}  // namespace
