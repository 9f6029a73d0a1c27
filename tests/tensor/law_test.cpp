// SPDX-License-Identifier: Apache-2.0
// law_test.cpp  Tensors over random layouts: vectors, iteration, alignment.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/effort.hpp"
#include "tests/layout/random.hpp"
#include "tilewright/layout/layout.hpp"
#include "tilewright/tensor/tensor.hpp"

namespace {

using namespace tw;
using namespace tw_test;

constexpr int times_each = 100000;

/// A random layout without negative strides, often swizzled.
layout random_memory(random_source& r) {
  layout l = random_layout(r);
  if (r.one_in(2)) l.stride[r.below(l.shape.n)] = num{1};
  if (!r.one_in(3)) return l;
  int const bits = 1 + static_cast<int>(r.below(2));
  return swizzled(make_swizzle(bits, static_cast<int>(r.below(3)), bits + int(r.below(2))), l);
}

/// Another layout of l's shape, leaves perhaps merged.
layout random_partner(random_source& r, layout const& l) {
  tree order = l.shape;
  for (int i = 0; i < order.n; ++i) order.leaf[i] = num{r.below(8)};
  layout p = make_ordered_layout(l.shape, order);
  if (r.one_in(2)) p = linear_part(l);
  if (r.one_in(3)) p.stride[r.below(p.shape.n)].v *= 2;
  if (r.one_in(3)) p = coalesce(p, tree(make_tree(0)));
  return r.one_in(4) ? swizzled(make_swizzle(1, 1 + static_cast<int>(r.below(2)), 2), p) : p;
}

TEST(TensorLaw, IterationInVectorsVisitsTheSameCells) {
  i64 wide = 0;
  holds_often(20261, times_each, [&wide](random_source& r) {
    layout const a = random_memory(r);
    layout const b = random_partner(r, a);
    i64 const most = i64{1} << r.below(5);
    detail::common_walk const w = detail::walk_together(a, b, most);
    std::vector<std::pair<i64, i64>> want;
    std::vector<std::pair<i64, i64>> got;
    for (i64 i = 0; i < size(a); ++i) {
      want.emplace_back(a(i), b(i));
      got.emplace_back(w.a(i), w.b(i));
    }
    ASSERT_LE(w.vec_elems, most);
    i64 const n = w.vec_elems;
    ASSERT_EQ(size(a) % n, 0);
    for (std::size_t i = 0; i < got.size(); ++i) {
      auto const lane = static_cast<i64>(i) % n;
      ASSERT_EQ(got[i].first - lane, got[i - static_cast<std::size_t>(lane)].first);
      ASSERT_EQ(got[i].second - lane, got[i - static_cast<std::size_t>(lane)].second);
      if (lane == 0) {
        ASSERT_EQ(got[i].first % n + got[i].second % n, 0);
      }
    }
    std::sort(want.begin(), want.end());
    std::sort(got.begin(), got.end());
    ASSERT_EQ(want, got);
    wide += n > 1 ? 1 : 0;
  });
  EXPECT_GT(wide, test::sample(times_each) / 20);  // the law is not about scalars alone
}

TEST(TensorLaw, PacketsAreTheSameMemory) {
  i64 wide = 0;
  holds_often(20262, times_each, [&wide](random_source& r) {
    layout const l = random_memory(r);
    i64 const run = detail::vector_run(l, 16);
    i64 const n = i64{1} << r.below(5);
    if (n > run) return;
    layout const p = detail::in_packets(l, n);
    ASSERT_EQ(size(p) * n, size(l));
    std::vector<i64> want;
    std::vector<i64> got;
    for (i64 i = 0; i < size(l); ++i) want.push_back(l(i));
    for (i64 i = 0; i < size(p); ++i) {
      for (i64 k = 0; k < n; ++k) got.push_back(n * p(i) + k);
    }
    std::sort(want.begin(), want.end());
    std::sort(got.begin(), got.end());
    ASSERT_EQ(want, got);
    wide += n > 1 ? 1 : 0;
  });
  EXPECT_GT(wide, test::sample(times_each) / 20);
}

// The longest run that there is: if twice as many elements were contiguous and aligned everywhere
// in the order of memory, the run would have been longer.
TEST(TensorLaw, TheRunIsTheLongest) {
  holds_often(20263, times_each, [](random_source& r) {
    layout const l = random_layout(r);
    i64 const run = detail::vector_run(l, 16);
    std::vector<i64> offsets;
    for (i64 i = 0; i < size(l); ++i) offsets.push_back(l(i));
    std::sort(offsets.begin(), offsets.end());
    if (std::adjacent_find(offsets.begin(), offsets.end()) != offsets.end()) return;
    i64 const n = 2 * run;
    bool whole = n <= 16 && size(l) % n == 0;
    for (std::size_t i = 0; whole && i < offsets.size(); ++i) {
      auto const lane = static_cast<i64>(i) % n;
      whole = offsets[i] % n == lane && offsets[i] - lane == offsets[i - std::size_t(lane)];
    }
    // Leaves that no power of two cuts, such as (3,2):(2,1), are contiguous together only.
    bool powers = true;
    for (int i = 0; i < l.shape.n; ++i) powers = powers && (l.extent(i) & (l.extent(i) - 1)) == 0;
    ASSERT_FALSE(whole && powers) << print(l).text << " run " << run;
  });
}

TEST(TensorLaw, LeavesWithOwnBitsAreSwizzledOneByOne) {
  i64 stepwise = 0;
  holds_often(20264, times_each, [&stepwise](random_source& r) {
    layout const l = random_memory(r);
    if (!l.swizzled() || detail::overlapping_leaves(l) != 0) return;
    ++stepwise;
    i64 const touched = detail::touched_bits(l);
    for (i64 i = 0; i < size(l); ++i) {
      tree const c = idx2crd(i, l.shape);
      i64 moved = 0;
      i64 off = 0;
      for (int k = 0; k < l.shape.n; ++k) {
        i64 const term = c.leaf[k].v * l.stride[k].v;
        bool const meets = (detail::bits_of_leaf(l.extent(k), l.stride[k].v) & touched) != 0;
        if (meets) off ^= l.sw(term);
        if (!meets) moved += term;
      }
      ASSERT_EQ(moved + off, l(i)) << print(l).text << " at " << i;
    }
  });
  EXPECT_GT(stepwise, test::sample(times_each) / 20);
}

TEST(TensorLaw, AlignmentHoldsForEveryCoordinate) {
  holds_often(20265, times_each, [](random_source& r) {
    layout const l = random_memory(r);
    tree mask;
    for (int i = 0; i < rank(l); ++i) {
      detail::append(mask, r.one_in(2) ? tree(any) : tree(0));
    }
    detail::wrap(mask);
    int const bytes = 1 << r.below(4);
    int const align = detail::alignment_after(l, mask, 64, bytes);
    ASSERT_GE(align, 1);
    ASSERT_EQ(64 % align, 0);
    for (i64 i = 0; i < size(l); ++i) {
      tree c = mask;
      i64 rest = i;
      for (int k = 0; k < c.n; ++k) {
        i64 const n = size(mode(l, k));
        c.leaf[k] = num{is_any(mask.leaf[k]) ? 0 : rest % n};
        rest /= n;
      }
      ASSERT_EQ(l(c) * bytes % align, 0) << print(l).text;
    }
  });
}

}  // namespace
