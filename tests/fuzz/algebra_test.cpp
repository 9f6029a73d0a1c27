// SPDX-License-Identifier: Apache-2.0
// algebra_test.cpp  Random expressions against an interpreter that uses only tables of offsets.
//
// The interpreter has no layouts: a value is the list of its offsets and the sizes of its modes, an
// operation is its definition on lists. Where a definition needs offsets beyond a list (a tile that
// sticks out), it does not answer, and the algebra's own table goes on.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz.hpp"
#include "tilewright/atom/call.hpp"

namespace {

using namespace tw;
using namespace tw_test;

using table = std::vector<i64>;

/// The value of an expression: as a layout, as a list, and as text.
struct value {
  layout l;
  table offsets;
  std::string text;
};

table listed(layout const& l) {
  table all;
  for (i64 i = 0, n = size(l); i < n; ++i) all.push_back(l(i));
  return all;
}

/// A list read at the places that another one names.
std::optional<table> read_at(table const& a, table const& b) {
  table out;
  for (i64 const x : b) {
    if (x < 0 || x >= std::ssize(a)) return std::nullopt;
    out.push_back(a[static_cast<std::size_t>(x)]);
  }
  return out;
}

/// Every sum, the first list fastest.
table sums(table const& a, table const& b) {
  table out;
  for (i64 const y : b) {
    for (i64 const x : a) out.push_back(x + y);
  }
  return out;
}

/// Where copies of a set of offsets may start so that none overlaps another, smallest first:
/// `count` of them. Nothing where an offset is negative.
std::optional<table> free_places(table block, i64 count) {
  std::ranges::sort(block);
  block.erase(std::ranges::unique(block).begin(), block.end());
  if (block.empty() || block[0] < 0 || block.back() > 4096 || count > 512) return std::nullopt;
  std::vector<bool> used;
  table places;
  for (i64 at = 0; std::ssize(places) < count; ++at) {
    used.resize(static_cast<std::size_t>(at + block.back() + 1));
    bool const meets =
        std::ranges::any_of(block, [&](i64 x) { return used[static_cast<std::size_t>(at + x)]; });
    if (meets) continue;
    for (i64 const x : block) used[static_cast<std::size_t>(at + x)] = true;
    places.push_back(at);
  }
  return places;
}

/// The copies tile [0, N) exactly for some N >= m, the smallest: their starts.
std::optional<table> complement_of(table block, i64 m) {
  std::ranges::sort(block);
  block.erase(std::ranges::unique(block).begin(), block.end());
  if (block.empty() || block[0] != 0 || block.back() > 4096) return std::nullopt;
  std::vector<bool> used;
  table places;
  i64 first_free = 0;
  for (int count = 0; count < 512; ++count) {  // a tiling has a copy at each first free place
    i64 const at = first_free;
    if (used.size() < static_cast<std::size_t>(at + block.back() + 1)) {
      used.resize(static_cast<std::size_t>(at + block.back() + 1));
    }
    for (i64 const x : block) {
      if (used[static_cast<std::size_t>(at + x)]) return std::nullopt;
      used[static_cast<std::size_t>(at + x)] = true;
    }
    places.push_back(at);
    while (first_free < std::ssize(used) && used[static_cast<std::size_t>(first_free)])
      ++first_free;
    if (first_free == std::ssize(used) && first_free >= m) return places;
  }
  return std::nullopt;
}

i64 swizzled_number(swizzle s, i64 x) {
  for (int k = 0; k < s.bits; ++k) {
    int const distance = s.shift < 0 ? -s.shift : s.shift;
    int const from = s.base + k + (s.shift < 0 ? 0 : distance);
    int const to = s.base + k + (s.shift < 0 ? distance : 0);
    if ((x >> from) % 2 != 0) x ^= i64{1} << to;
  }
  return x;
}

/// The sizes of the modes of l.
table mode_sizes(layout const& l) {
  table n;
  for (int i = 0; i < rank(l); ++i) n.push_back(size(mode(l, i)));
  return n;
}

class expression {
 public:
  explicit expression(random_source& r) : random_(r) {}
  i64 refused = 0, compared = 0, unanswered = 0;

  value grow(int depth) {
    if (depth == 0 || random_.one_in(5)) return leaf();
    value const a = grow(depth - 1);
    try {
      return apply(a, depth);
    } catch (rejected const&) {
      ++refused;
      return a;
    }
  }

 private:
  value leaf() {
    layout const l = random_layout(random_, 24);
    return {l, listed(l), to_string(l)};
  }

  /// The result of the algebra, compared with the list that the definition gives.
  value checked(std::string const& text, layout const& l, std::optional<table> const& expected) {
    table const got = listed(l);
    if (expected) {
      ++compared;
      EXPECT_EQ(got, *expected) << text << " == " << to_string(l);
    } else {
      ++unanswered;
    }
    return {l, got, text};
  }

  value apply(value const& a, int depth) {
    switch (random_.below(11)) {
      case 0: return checked("coalesce(" + a.text + ")", coalesce(a.l), a.offsets);
      case 1: return checked("flatten(" + a.text + ")", flatten(a.l), a.offsets);
      case 2: {
        value const b = grow(depth - 1);
        return checked("composition(" + a.text + ", " + b.text + ")", composition(a.l, b.l),
                       read_at(a.offsets, b.offsets));
      }
      case 3: {
        value const b = leaf();
        return checked("append(" + a.text + ", " + b.text + ")", append_mode(a.l, b.l),
                       a.l.swizzled() ? std::nullopt : std::optional(sums(a.offsets, b.offsets)));
      }
      case 4: {
        i64 const m = 1 + random_.below(64);
        return checked("complement(" + a.text + ", " + std::to_string(m) + ")", complement(a.l, m),
                       complement_of(a.offsets, m));
      }
      case 5: return divide(a, depth);
      case 6: return product(a);
      case 7: return inverse(a);
      case 8: return slice_one(a);
      case 9: {
        int const end = 1 + static_cast<int>(random_.below(rank(a.l)));
        return checked("group(" + a.text + ", 0, " + std::to_string(end) + ")", group(a.l, 0, end),
                       a.offsets);
      }
      default: {
        swizzle const s = make_swizzle(1 + static_cast<int>(random_.below(2)),
                                       static_cast<int>(random_.below(3)), 2);
        if (a.l.swizzled()) return a;
        table expected;
        for (i64 const x : a.offsets) expected.push_back(swizzled_number(s, x));
        layout const l = swizzled(s, a.l);
        return checked(to_string(l), l, expected);
      }
    }
  }

  value divide(value const& a, int depth) {
    value const t = random_.one_in(2) ? leaf() : grow(depth - 1);
    layout const l = logical_divide(a.l, t.l);
    std::optional<table> expected;
    // An extent that the tile does not divide is rounded up: then the cells are more.
    auto const rest = complement_of(t.offsets, std::ssize(a.offsets));
    if (rest && size(l) == std::ssize(a.offsets)) {
      expected = read_at(a.offsets, sums(t.offsets, *rest));
    }
    return checked("logical_divide(" + a.text + ", " + t.text + ")", l, expected);
  }

  value product(value const& a) {
    value const b = leaf();
    layout const l = logical_product(a.l, b.l);
    i64 const last = *std::ranges::max_element(b.offsets);
    // Only where the copies fill a block without a gap does the list of places say all.
    std::optional<table> expected;
    if (auto const places = free_places(a.offsets, last + 1);
        places && !a.l.swizzled() && complement_of(a.offsets, 1)) {
      if (auto const starts = read_at(*places, b.offsets)) expected = sums(a.offsets, *starts);
    }
    return checked("logical_product(" + a.text + ", " + b.text + ")", l, expected);
  }

  value inverse(value const& a) {
    layout const l = right_inverse(a.l);
    table expected;
    for (i64 i = 0; i < size(l); ++i) {  // any index that leads to i
      i64 const index = l(i);
      bool const leads = index >= 0 && index < std::ssize(a.offsets) &&
                         a.offsets[static_cast<std::size_t>(index)] == i;
      expected.push_back(leads ? index : -1);
    }
    return checked("right_inverse(" + a.text + ")", l, expected);
  }

  value slice_one(value const& a) {
    if (rank(a.l) < 2 || a.l.swizzled()) return a;
    table const n = mode_sizes(a.l);
    int const which = static_cast<int>(random_.below(rank(a.l)));
    i64 const at = random_.below(n[static_cast<std::size_t>(which)]);
    i64 before = 1;
    tree c;
    for (int i = 0; i < rank(a.l); ++i) {
      if (i < which) before *= n[static_cast<std::size_t>(i)];
      detail::append(c, i == which ? tree(at) : tree(any));
    }
    detail::wrap(c);
    table expected;
    for (std::size_t i = 0; i < a.offsets.size(); ++i) {
      i64 const digit = static_cast<i64>(i) / before % n[static_cast<std::size_t>(which)];
      if (digit == at) expected.push_back(a.offsets[i]);
    }
    sliced const s = slice(a.l, c);
    for (i64& x : expected) x -= s.offset;
    return checked("slice(" + a.text + ", " + to_string(c) + ")", s.kept, expected);
  }

  random_source& random_;
};

TEST(AlgebraFuzz, AgreesWithTables) {
  i64 compared = 0, refused = 0, unanswered = 0, by_text = 0;
  std::int64_t const rounds = fuzz(4000, [&](random_source& r, std::int64_t) {
    expression e(r);
    value const v = e.grow(4);
    compared += e.compared;
    refused += e.refused;
    unanswered += e.unanswered;
    if (v.text.size() < 2000 && r.one_in(4)) {
      ++by_text;
      ASSERT_EQ(evaluate(v.text).res, to_string(v.l)) << v.text;
    }
  });
  std::printf("%lld compared, %lld without a table, %lld refused, %lld by text\n",
              static_cast<long long>(compared), static_cast<long long>(unanswered),
              static_cast<long long>(refused), static_cast<long long>(by_text));
  EXPECT_GT(compared, rounds);
  EXPECT_GT(by_text, rounds / 8);
}

}  // namespace
