// SPDX-License-Identifier: Apache-2.0
// trial.hpp  One random input of a law: generators, the check, wrong results that must be noticed.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "tests/law/laws.hpp"
#include "tests/layout/random.hpp"
#include "tilewright/atom/call.hpp"

namespace tw_test {

using tw::i64;
using tw::layout;
using tw::num;
using tw::swizzle;
using tw::tiler;
using tw::tree;

inline std::string text(i64 v) { return std::to_string(v); }
inline std::string text(int v) { return std::to_string(v); }
inline std::string text(bool v) { return v ? "1" : "0"; }
inline std::string text(char const* v) { return v; }
inline std::string text(layout const& l) { return to_string(l); }
inline std::string text(tree const& t) { return to_string(t); }
inline std::string text(tiler const& t) { return to_string(t); }
inline std::string text(swizzle s) { return to_string(s); }

/// Counts of one operation so far.
struct tally {
  char const* op = "";
  std::uint64_t seed = 0;
  i64 held = 0, refused = 0, called = 0, mutants = 0, caught = 0;
  std::string failure;  // the first
};

/// Random inputs for one operation, and its check.
class trial {
 public:
  trial(random_source& r, tally& count) : random_(r), count_(count) {}

  i64 below(i64 n) { return random_.below(n); }
  bool one_in(i64 n) { return random_.one_in(n); }
  i64 pick(std::vector<i64> const& of) {
    return of[static_cast<std::size_t>(below(std::ssize(of)))];
  }
  tree shape(i64 most = 24) { return random_shape(random_, most); }
  /// Any layout: nested, extents of 1, strides of 0, overlapping cells.
  layout any(i64 most = 24) { return random_layout(random_, most); }
  /// Also with strides below 0.
  layout with_sign(i64 most = 24);
  /// Every offset at most once, strides nested, perhaps with gaps and strides of 0.
  layout nested(i64 most = 24, bool zeros = true);
  /// Powers of two that own their bits: what a swizzle is put on.
  layout bits(i64 most = 64);
  swizzle any_swizzle(int room);
  /// A swizzled layout; with an offset now and then.
  layout swizzled_layout(i64 most = 64, bool offset = false);
  /// any(), or one time in four a swizzled layout.
  layout any_or_swizzled(i64 most = 24) { return one_in(4) ? swizzled_layout(most) : any(most); }
  /// A layout whose leaves are digits of an index of l: it can be composed with l and divides it.
  layout reader(tree const& shape, bool zeros = true);
  /// A tuple of tilers for l: integers, layouts, `_`, tuples.
  tiler tuple_tiler(layout const& l, bool keep = true, int nest = 1);
  /// A tree with the profile of shape, or a coarser one, leaves below the sizes they stand for.
  tree coordinate(tree const& shape, i64 wild_one_in = 0);
  /// The profile of shape, some modes as one leaf.
  tree coarser(tree const& shape);
  /// The profile of t, other numbers from `low` to `high`.
  tree renumbered(tree t, i64 low, i64 high);

  /// The law must hold for the result; now and then, the operation called by name must give the
  /// same text, and the law must not hold for a changed result.
  template <class Result, class Law, class... Arguments>
  void check(Result const& result, Law const& law, Arguments const&... arguments) {
    check_as(text(result), result, law, arguments...);
  }
  /// check() of an operation whose text says more, or less, than the result.
  template <class Result, class Law, class... Arguments>
  void check_as(std::string const& answer, Result const& result, Law const& law,
                Arguments const&... arguments) {
    if (!law(result)) {
      fail("does not satisfy its law: " + answer, {text(arguments)...});
      return;
    }
    ++count_.held;
    if (count_.held % 64 == 1) compare_with_call(answer, {text(arguments)...});
    if (count_.held % 16 == 1) {
      Result const wrong = mutated(result);
      if (same(wrong, result)) return;
      ++count_.mutants;
      count_.caught += law(wrong) ? 0 : 1;
    }
  }

 private:
  void compare_with_call(std::string const& answer, std::vector<std::string> const& arguments);
  void fail(std::string const& what, std::vector<std::string> const& arguments);

  layout mutated(layout l);
  tree mutated(tree t);
  swizzle mutated(swizzle s);
  i64 mutated(i64 v) { return v + (one_in(2) ? 1 : -1); }
  int mutated(int v) { return v + (one_in(2) ? 1 : -1); }
  bool mutated(bool v) { return !v; }
  static bool same(layout const& a, layout const& b) { return tw::meaning::same_function(a, b); }
  static bool same(swizzle a, swizzle b) { return a == b || (is_identity(a) && is_identity(b)); }
  template <class T>
  static bool same(T const& a, T const& b) {
    return a == b;
  }

  random_source& random_;
  tally& count_;
};

/// An operation of the table and how its law is tried.
struct law_case {
  char const* op;
  void (*run)(trial&);
  int least_noticed = 90;  // percent of wrong results that must be noticed
};

/// GoogleTest prints parameters with this.
inline void PrintTo(law_case const& c, std::ostream* out) { *out << c.op; }

std::vector<law_case> construct_cases();
std::vector<law_case> modes_cases();
std::vector<law_case> algebra_cases();
std::vector<law_case> tiles_cases();

}  // namespace tw_test
