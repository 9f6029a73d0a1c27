// SPDX-License-Identifier: Apache-2.0
// trial_test.cpp  Every law over random inputs: 100,000 for each operation, or a sample of
//                 12,500 (tests/effort.hpp).
//
// A line for each operation: how many inputs it held for, how many were refused, how many wrong
// results were tried and noticed, the seed. TW_LAW_TIMES and TW_LAW_SEED change the numbers.
#include "tests/law/trial.hpp"

#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "tests/effort.hpp"
#include "tilewright/base/check.hpp"

namespace tw_test {

layout trial::with_sign(i64 most) {
  layout l = any(most);
  if (one_in(2)) return l;
  for (int k = 0; k < l.shape.n; ++k) {
    if (one_in(3)) l.stride[k].v = -l.stride[k].v;
  }
  return l;
}

layout trial::nested(i64 most, bool zeros) {
  tree const s = shape(most);
  std::vector<int> order(static_cast<std::size_t>(s.n));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<std::size_t>(below(static_cast<i64>(i)))]);
  }
  layout l;
  l.shape = s;
  i64 next = 1;
  for (int const k : order) {
    if (zeros && one_in(8)) continue;
    if (one_in(3)) next *= 1 + below(3);
    l.stride[k] = num{next};
    next *= l.extent(k);
  }
  return l;
}

layout trial::bits(i64 most) {
  tree s = shape(most);
  i64 room = most;
  for (int k = 0; k < s.n; ++k) {
    i64 extent = i64{1} << below(4);
    while (extent > room) extent /= 2;
    s.leaf[k] = num{extent};
    room /= extent;
  }
  tree const order = renumbered(s, 0, 7);
  return make_ordered_layout(s, order);
}

swizzle trial::any_swizzle(int room) {
  int const bits = static_cast<int>(below(4));
  int const base = static_cast<int>(below(4));
  int shift = bits + static_cast<int>(below(3));
  while (base + bits + shift > room && shift > bits) --shift;
  return tw::make_swizzle(bits, base, one_in(4) ? -shift : shift);
}

layout trial::swizzled_layout(i64 most, bool offset) {
  layout l = bits(most);
  if (one_in(4)) {  // with holes
    for (int k = 0; k < l.shape.n; ++k) l.stride[k].v *= 2;
  }
  l = swizzled(any_swizzle(8), l);
  if (offset && one_in(4)) l.offset = below(64);
  return l;
}

layout trial::reader(tree const& of, bool zeros) {
  struct digit {
    i64 extent, step;
  };
  std::vector<digit> pool;
  i64 step = 1;
  for (int k = 0; k < of.n; ++k) {
    i64 left = of.leaf[k].v;
    for (i64 const p : {2, 3, 2, 5}) {
      if (left % p != 0 || left == p || one_in(2)) continue;
      pool.push_back({p, step});
      step *= p;
      left /= p;
    }
    if (left > 1) pool.push_back({left, step});
    step *= left;
  }
  layout l;
  i64 const wanted = 1 + below(3);
  for (i64 i = 0; i < wanted && !pool.empty(); ++i) {
    auto const at = below(std::ssize(pool));
    digit const d = pool[static_cast<std::size_t>(at)];
    pool.erase(pool.begin() + at);
    tw::detail::append(l, tw::layout(d.extent, num{zeros && one_in(10) ? 0 : d.step}));
  }
  if (l.shape.n == 0) return {1, one_in(2) ? 0 : 1};
  if (l.shape.n > 1 || one_in(4)) tw::detail::wrap(l);
  if (l.shape.n == 3 && one_in(3)) return group(l, 0, 2);
  return l;
}

tiler trial::tuple_tiler(layout const& l, bool keep, int nest) {
  tiler t;
  i64 const modes = 1 + below(rank(l));
  for (i64 i = 0; i < modes; ++i) {
    layout const m = mode(l, static_cast<int>(i));
    tiler part = reader(m.shape);
    i64 const kind = below(keep ? 4 : 3);
    if (kind == 0) part = tiler(one_in(2) ? m.extent(0) : 1 + below(2));
    if (kind == 3) part = tiler(tw::any);
    if (nest > 0 && !m.shape.is_leaf() && one_in(3)) part = tuple_tiler(m, keep, nest - 1);
    t.split |= part.split << (4 * t.cells.shape.n);
    tw::detail::append(t.cells, part.cells);
  }
  tw::detail::wrap(t.cells);
  t.split += 1;
  return t;
}

tree trial::coarser(tree const& s) {
  if (s.is_leaf() || one_in(5)) return tree(1);
  tree out;
  for (int i = 0; i < rank(s); ++i) tw::detail::append(out, coarser(mode(s, i)));
  tw::detail::wrap(out);
  return out;
}

tree trial::coordinate(tree const& s, i64 wild_one_in) {
  if (wild_one_in > 0 && one_in(wild_one_in)) return tree(tw::any);
  if (s.is_leaf() || one_in(6)) return tree(below(size(s)));
  tree out;
  for (int i = 0; i < rank(s); ++i) tw::detail::append(out, coordinate(mode(s, i), wild_one_in));
  tw::detail::wrap(out);
  return out;
}

tree trial::renumbered(tree t, i64 low, i64 high) {
  for (int k = 0; k < t.n; ++k) t.leaf[k] = num{low + below(high - low + 1)};
  return t;
}

void trial::compare_with_call(std::string const& answer,
                              std::vector<std::string> const& arguments) {
  ++count_.called;
  std::string const by_name = tw::call(count_.op, arguments).res;
  if (by_name != answer) fail("is " + answer + ", called by name " + by_name, arguments);
}

void trial::fail(std::string const& what, std::vector<std::string> const& arguments) {
  if (!count_.failure.empty()) return;
  for (std::string const& a : arguments) {
    count_.failure += (count_.failure.empty() ? std::string(count_.op) + "(" : ", ") + a;
  }
  count_.failure += ") " + what;
}

layout trial::mutated(layout l) {
  if (l.shape.n == 0) return {2, 1};
  int const k = static_cast<int>(below(l.shape.n));
  i64 const kind = below(l.swizzled() ? 5 : 4);
  if (kind == 0) l.shape.leaf[k].v += 1;
  if (kind == 1) l.stride[k].v += 1;
  if (kind == 2) l.stride[k].v *= 2;
  if (kind == 3) std::swap(l.stride[0], l.stride[k]);
  if (kind == 4) l.sw.base += 1;
  return l;
}

tree trial::mutated(tree t) {
  if (t.n == 0) return tree(1);
  t.leaf[below(t.n)].v += one_in(2) ? 1 : -1;
  return t;
}

swizzle trial::mutated(swizzle s) {
  i64 const kind = below(3);
  if (kind == 0) s.bits += 1;
  if (kind == 1) s.base += 1;
  if (kind == 2) s.shift += 1;
  return s;
}

namespace {

std::vector<law_case> all_cases() {
  std::vector<law_case> all = construct_cases();
  for (auto const& more : {modes_cases(), algebra_cases(), tiles_cases()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

i64 number_from_environment(char const* name, i64 otherwise) {
  char const* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::atoll(value);
}

class Law : public testing::TestWithParam<law_case> {};

TEST_P(Law, Holds) {
  i64 const times = number_from_environment("TW_LAW_TIMES", tw::test::sample(100000));
  tally count{.op = GetParam().op, .failure = {}};
  count.seed = static_cast<std::uint64_t>(number_from_environment("TW_LAW_SEED", 20261121));
  for (char const* c = count.op; *c != '\0'; ++c) count.seed = count.seed * 31 + *c;
  random_source random(count.seed);
  for (i64 tries = 0; count.held < times && tries < 3 * times && count.failure.empty(); ++tries) {
    trial t(random, count);
    try {
      GetParam().run(t);
    } catch (tw::rejected const&) {
      ++count.refused;
    }
  }
  std::printf(
      "%-26s held %lld  refused %lld  by name %lld  wrong results noticed %lld of %lld  seed "
      "%llu\n",
      count.op, static_cast<long long>(count.held), static_cast<long long>(count.refused),
      static_cast<long long>(count.called), static_cast<long long>(count.caught),
      static_cast<long long>(count.mutants), static_cast<unsigned long long>(count.seed));
  EXPECT_EQ(count.failure, "") << "seed " << count.seed;
  EXPECT_GE(count.held, times);
  EXPECT_LE(count.refused, count.held) << "most inputs are refused: the law is hardly tried";
  EXPECT_GT(count.called, 0);
  EXPECT_GT(count.mutants, times / 50);
  EXPECT_GE(count.caught * 100, count.mutants * GetParam().least_noticed)
      << "the law accepts wrong results";
}

INSTANTIATE_TEST_SUITE_P(Of, Law, testing::ValuesIn(all_cases()),
                         [](auto const& info) { return std::string(info.param.op); });

}  // namespace
}  // namespace tw_test
