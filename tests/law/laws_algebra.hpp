// SPDX-License-Identifier: Apache-2.0
// laws_algebra.hpp  Laws of coalesce, filter, composition, complement, inverses, common vectors.
//
// See laws_shapes.hpp for how to read them.
// Example:  composition_law(a, b, composition(a, b))      tests/law/algebra_test.cpp
#pragma once

#include "tests/law/laws_modes.hpp"

namespace tw {

/// Law (coalesce): the same function with as few leaves as possible.
///     R(i) == L(i); depth(R) <= 1; no leaf of extent 1 but 1:0; no leaf continues the one before
///     coalesce((2,1,6):(1,6,2)) == 12:1
constexpr bool coalesce_law(layout const& l, layout const& r) {
  bool merged = depth_law(r, r.shape.is_leaf() ? 0 : 1);
  for (int k = 0; k < r.shape.n; ++k) {
    num const next{r.shape.leaf[k].v * r.stride[k].v, r.stride[k].v == 0 ? 0 : r.stride[k].unit};
    merged = merged && (k + 1 == r.shape.n || r.stride[k + 1] != next);
    merged = merged && (r.shape.leaf[k].v > 1 || (r.shape.is_leaf() && r.stride[k] == num{}));
  }
  return merged && meaning::same_function(l, r);
}

/// Law (coalesce_profile): coalesce inside the modes that the leaves of the profile stand for.
///     mode(R, i) is mode(L, i) coalesced under mode(profile, i); modes beyond it are left alone
///     coalesce_profile(((2,2),(2,2)):((1,2),(4,8)), (1,1)) == (4,4):(1,4)
constexpr bool coalesce_profile_law(layout const& l, tree const& profile, layout const& r) {
  if (profile.is_leaf()) return coalesce_law(l, r);
  bool same = rank(r) == rank(l) && !r.shape.is_leaf() && r.sw == l.sw;
  for (int i = 0; same && i < rank(l); ++i) {
    same = i < rank(profile) ? coalesce_profile_law(mode(l, i), mode(profile, i), mode(r, i))
                             : mode(r, i) == mode(l, i);
  }
  return same;
}

/// Law (filter_zeros): what stride 0 repeats occurs once.
///     strides stay; extents of leaves with stride 0 become 1, others stay
///     filter_zeros((4,8):(0,1)) == (1,8):(0,1)
constexpr bool filter_zeros_law(layout const& l, layout const& r) {
  bool same = meaning::outline(l.shape) == meaning::outline(r.shape) && r.sw == l.sw;
  for (int k = 0; same && k < l.shape.n; ++k) {
    same = r.stride[k] == l.stride[k] &&
           r.shape.leaf[k].v == (l.stride[k].v == 0 ? 1 : l.shape.leaf[k].v);
  }
  return same;
}

/// Law (filter): filter_zeros, coalesced.
///     R(0), R(1), ... are the L(i) whose digits along strides of 0 are 0, in order; coalesced
///     filter((4,2,4):(0,1,2)) == 8:1
constexpr bool filter_law(layout const& l, layout const& r) {
  layout once = l;
  for (int k = 0; k < l.shape.n; ++k) {
    if (l.stride[k].v == 0) once.shape.leaf[k] = num{1};
  }
  return coalesce_law(once, r);
}

/// Law (filter_profile): filter inside the modes that the leaves of the profile stand for.
///     mode(R, i) is mode(L, i) filtered under mode(profile, i); modes beyond it are left alone
///     filter_profile(((2,2),(2,2)):((1,2),(0,8)), (1,1)) == (4,2):(1,8)
constexpr bool filter_profile_law(layout const& l, tree const& profile, layout const& r) {
  if (profile.is_leaf()) return filter_law(l, r);
  bool same = rank(r) == rank(l) && !r.shape.is_leaf() && r.sw == l.sw;
  for (int i = 0; same && i < rank(l); ++i) {
    same = i < rank(profile) ? filter_profile_law(mode(l, i), mode(profile, i), mode(r, i))
                             : mode(r, i) == mode(l, i);
  }
  return same;
}

namespace meaning {

/// a applied to the coordinate that b, whose strides may count coordinates, has at an index.
constexpr i64 at_coordinate(layout const& a, layout const& b, i64 index) {
  bool seen[max_leaves] = {};
  i64 sum = a.offset;
  for (int k = 0; k < b.shape.n; ++k) {
    if (seen[k] || b.stride[k].v == 0) continue;
    for (int j = k; j < b.shape.n; ++j) seen[j] = seen[j] || b.stride[j].unit == b.stride[k].unit;
    layout part = linear_part(a);
    for (int level = 0; level < path_depth(b.stride[k].unit); ++level) {
      part = mode(part, path_index(b.stride[k].unit, level));
    }
    i64 const along = sum_along(b, index, b.stride[k].unit);
    sum += at(part, b.stride[k].unit == unit_none ? swizzled(b.sw, along) : along);
  }
  return swizzled(a.sw, sum);
}

}  // namespace meaning

/// Law (composition, identity_composition): A read in the order that B says.
///     R(c) == A(B(c)) for every c of B; each leaf of B becomes a mode of as many cells
///     composition((4,8):(8,1), 4:2) == (2,2):(16,1)
///     identity_composition((8,8):(1@0,1@1), (2,4):(2,8)) == (2,4):(2@0,1@1)
constexpr bool composition_law(layout const& a, layout const& b, layout const& r) {
  layout const an = meaning::numbered(a, a);
  layout const rn = meaning::numbered(r, a);
  for (i64 i = 0, n = meaning::cells(b); i < n; ++i) {
    if (meaning::at(rn, i) != meaning::at_coordinate(an, b, i)) return false;
  }
  return meaning::refines(b.shape, r.shape);
}

/// Law (composition_tiler): a tuple of tilers composes mode by mode; _ keeps a mode.
///     mode(R, i) == composition(mode(A, i), T_i); rank(R) == rank(T)
///     composition_tiler((4,8):(8,1), (2,4)) == (2,4):(8,1)
constexpr bool composition_tiler_law(layout const& a, tiler const& t, layout const& r) {
  if (t.keeps()) return r == a;
  if (!t.by_mode()) return composition_law(a, as_layout(t), r);
  bool same = rank(r) == rank(t) && r.sw == a.sw && r.offset == a.offset;
  for (int i = 0; same && i < rank(t); ++i) {
    same = composition_tiler_law(linear_part(mode(a, i)), mode(t, i), linear_part(mode(r, i)));
  }
  return same;
}

/// Law (composition_int): the first n cells.
///     R(i) == A(i) for i < n == size(R)
///     composition_int((4,8):(8,1), 8) == (4,2):(8,1)
constexpr bool composition_int_law(layout const& a, i64 n, layout const& r) {
  return composition_law(a, layout(n, 1), r);
}

/// Law (with_shape): the same cells, in order, in another shape.
///     R(i) == L(i) for i < size(S) == size(R); each leaf of S becomes a mode of as many cells
///     with_shape((4,8):(1,4), (8,4)) == (8,4):(1,8)
constexpr bool with_shape_law(layout const& l, tree const& s, layout const& r) {
  for (i64 i = 0, n = meaning::cells(s); i < n; ++i) {
    if (meaning::at(r, i) != meaning::at(l, i)) return false;
  }
  return meaning::refines(s, r.shape);
}

namespace meaning {

/// Every stride is a multiple of what the smaller ones cover, those of stride 0 and extent 1 aside.
constexpr bool is_nested(layout const& l) {
  std::vector<std::pair<i64, i64>> leaves;
  for (int k = 0; k < l.shape.n; ++k) {
    if (l.stride[k].v != 0 && l.shape.leaf[k].v > 1) {
      leaves.emplace_back(l.stride[k].v, l.shape.leaf[k].v);
    }
  }
  std::sort(leaves.begin(), leaves.end());
  i64 covered = 1;
  for (auto const& [stride, extent] : leaves) {
    if (stride % covered != 0) return false;
    covered = stride * extent;
  }
  return true;
}

/// The sums of one offset of each, sorted.
constexpr std::vector<i64> sums(std::vector<i64> const& a, std::vector<i64> const& b) {
  std::vector<i64> all;
  for (i64 const x : a) {
    for (i64 const y : b) all.push_back(x + y);
  }
  return sorted(all);
}

/// How many blocks reach the end of a shape: its leaves are cut into blocks one after the other,
/// each rounded up; what a leaf does not use of the block is left for the next one.
constexpr i64 blocks_of(tree const& shape, i64 block) {
  i64 blocks = 1;
  for (int k = 0; k < shape.n; ++k) {
    i64 const extent = shape.leaf[k].v;
    blocks *= (extent + block - 1) / block;
    block = (block + extent - 1) / extent;
  }
  return blocks;
}

}  // namespace meaning

/// Law (complement, complement1): what L leaves out of [0, m), m == cosize(L) for complement1.
///     R increases from 0; no two pairs of an offset of L and an offset of R have equal sums; the
///     sums reach m - 1; if L's strides are nested, the sums are 0 .. N - 1 without a gap. The
///     block of L is its largest extent * stride, and N is m rounded up to a multiple of it. If m
///     is a shape, N is the block times the number of blocks into which the leaves of the shape are
///     cut one after the other, each number rounded up and the rest of the block left for the next
///     leaf; N may be below the size of the shape if a leaf and the block do not divide each other
///     complement(4:2, 24) == (2,3):(1,8)
///     complement(4:2, (3,5)) == (2,2):(1,8)
///     complement1((4,2):(1,16)) == 4:4
constexpr bool complement_law(layout const& l, tree const& shape, layout const& r) {
  std::vector<i64> const places = meaning::offsets(r);
  for (std::size_t i = 1; i < places.size(); ++i) {
    if (places[i] <= places[i - 1]) return false;
  }
  std::vector<i64> const all = meaning::sums(meaning::image(l), places);
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i] == all[i - 1]) return false;
  }
  if (places[0] != 0) return false;
  if (!meaning::is_nested(l)) return all.back() + 1 >= meaning::cells(shape);
  i64 block = 1;
  for (int k = 0; k < l.shape.n; ++k) {
    if (l.shape.leaf[k].v > 1) block = larger(block, l.shape.leaf[k].v * l.stride[k].v);
  }
  i64 const n = static_cast<i64>(all.size());
  return all.back() + 1 == n && n == meaning::blocks_of(shape, block) * block;
}
constexpr bool complement_law(layout const& l, i64 m, layout const& r) {
  return complement_law(l, tree(m), r);
}

/// Law (right_inverse, swizzle_right_inverse): the longest run of offsets 0, 1, 2, ...
///     L(R(i)) == i for i < size(R); no leaf of an injective L has stride size(R)
///     right_inverse((4,8):(8,1)) == (8,4):(4,1)
///     swizzle_right_inverse(Sw<3,1,3> o 0 o (8,16):(1,8)) == Sw<3,1,3> o 0 o 128:1
constexpr bool right_inverse_law(layout const& l, layout const& r) {
  i64 const n = meaning::cells(r);
  for (i64 i = 0; i < n; ++i) {
    if (meaning::at(l, meaning::at(r, i)) != i) return false;
  }
  bool goes_on = false;
  for (int k = 0; k < l.shape.n; ++k) {
    goes_on = goes_on || (l.stride[k].v == n && l.shape.leaf[k].v > 1);
  }
  return !goes_on || !meaning::is_injective(linear_part(l));
}

/// Law (left_inverse, swizzle_left_inverse): back from the offset to the index.
///     R(L(i)) == i where L is injective; L(R(L(i))) == L(i) where several indices share an offset
///     left_inverse((4,2):(2,16)) == (2,8,2):(0,1,4)
///     swizzle_left_inverse(Sw<3,1,3> o 0 o (8,16):(1,8)) == Sw<3,1,3> o 0 o 128:1
constexpr bool left_inverse_law(layout const& l, layout const& r) {
  bool const injective = meaning::is_injective(l);
  for (i64 i = 0, n = meaning::cells(l); i < n; ++i) {
    i64 const offset = meaning::at(l, i);
    i64 const back = meaning::at(r, offset);
    if (injective ? back != i : meaning::at(l, back) != offset) return false;
  }
  return true;
}

/// Law (nullspace): the indices that go nowhere.
///     L(N(i)) == L(0), all N(i) different, as many as the product of the extents of stride 0
///     nullspace((4,2,3):(1,0,0)) == (2,3):(4,8)
constexpr bool nullspace_law(layout const& l, layout const& r) {
  i64 n = 1;
  for (int k = 0; k < l.shape.n; ++k) n *= l.stride[k].v == 0 ? l.shape.leaf[k].v : 1;
  for (i64 i = 0, cells = meaning::cells(r); i < cells; ++i) {
    i64 const index = meaning::at(r, i);
    if (index >= meaning::cells(l) || meaning::at(l, index) != meaning::at(l, 0)) return false;
  }
  return meaning::cells(r) == n && meaning::is_injective(r);
}

namespace meaning {

/// The size of the longest common run 0, 1, 2, ... of two injective layouts whose indices a layout
/// can say: found step by step, each step as often as it keeps both together.
constexpr i64 common_run(layout const& a, layout const& b) {
  i64 const most = smaller(cells(a), cells(b));
  std::vector<i64> run{0};
  for (bool grows = true; grows;) {
    i64 const n = static_cast<i64>(run.size());
    i64 step = 1;
    while (step < most && (at(a, step) != n || at(b, step) != n)) ++step;
    grows = false;
    for (i64 t = 1;; ++t) {
      for (i64 i = 0; i < n; ++i) {
        i64 const index = t * step + run[static_cast<std::size_t>(i)];
        bool const together =
            index < most && at(a, index) == t * n + i && at(b, index) == t * n + i;
        if (!together) {
          run.resize(static_cast<std::size_t>(t * n));
          break;
        }
        run.push_back(index);
      }
      if (static_cast<i64>(run.size()) != (t + 1) * n) break;
      grows = true;
    }
  }
  return static_cast<i64>(run.size());
}

/// Neither layout has an offset twice, the swizzles aside.
constexpr bool both_injective(layout const& a, layout const& b) {
  return is_injective(linear_part(a)) && is_injective(linear_part(b));
}

}  // namespace meaning

/// Law (max_common_layout): the indices where two layouts run together.
///     A(C(i)) == B(C(i)) == i for i < size(C); the longest such C where A and B are injective
///     max_common_layout((4,8):(1,4), (4,8):(1,8)) == 4:1
constexpr bool max_common_layout_law(layout const& a, layout const& b, layout const& r) {
  i64 const n = meaning::cells(r);
  for (i64 i = 0; i < n; ++i) {
    i64 const index = meaning::at(r, i);
    if (meaning::at(linear_part(a), index) != i || meaning::at(linear_part(b), index) != i)
      return false;
  }
  return !meaning::both_injective(a, b) || n == meaning::common_run(linear_part(a), linear_part(b));
}

/// Law (max_common_vector, swizzle_max_common_vector): how many elements move together.
///     the size of the longest common run of the layouts without their swizzles; where the swizzles
///     differ, its greatest common divisor with 2^base of each: runs that a swizzle keeps together
///     max_common_vector((4,8):(1,4), (4,8):(1,8)) == 4
///     swizzle_max_common_vector(Sw<2,2,3> o 0 o (8,16):(1,8), (8,16):(1,8)) == 4
constexpr bool max_common_vector_law(layout const& a, layout const& b, i64 v) {
  if (v < 1) return false;
  i64 const most = smaller(meaning::cells(a), meaning::cells(b));
  for (i64 found = 0; found < v; ++found) {
    i64 j = 0;
    while (j < most &&
           (meaning::at(linear_part(a), j) != found || meaning::at(linear_part(b), j) != found))
      ++j;
    if (j == most) return false;
  }
  bool const equal = a.sw == b.sw && a.offset == b.offset;
  for (i64 x = 0; !equal && x < 128; ++x) {  // aligned runs of v stay together
    for (layout const* l : {&a, &b}) {
      if (meaning::swizzled(l->sw, x) != meaning::swizzled(l->sw, x - x % v) + x % v) return false;
    }
  }
  if (!meaning::both_injective(a, b)) return true;
  i64 run = meaning::common_run(linear_part(a), linear_part(b));
  for (layout const* l : {&a, &b}) {
    if (equal || !l->swizzled()) continue;
    i64 together = 1;
    while (run % (2 * together) == 0 && together < i64{1} << l->sw.base) together *= 2;
    run = together;
  }
  return v == run;
}

namespace meaning {

/// A set of offsets, sorted, consists of whole runs [v k, v (k + 1)).
constexpr bool whole_runs(std::vector<i64> const& all, i64 v) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::size_t const first = i - i % static_cast<std::size_t>(v);
    if (all[first] % v != 0 || all[i] != all[first] + static_cast<i64>(i - first)) return false;
  }
  return static_cast<i64>(all.size()) % v == 0;
}

}  // namespace meaning

/// Law (max_alignment, swizzle_max_alignment): every vector of v elements at a multiple of v is
/// whole; the largest such v for an injective L; of a swizzled layout the largest power of two up
/// to 2^base that divides it.
///     the offsets of L are whole runs v k, v k + 1, ..., v k + v - 1
///     max_alignment((4,8):(1,16)) == 4
///     swizzle_max_alignment(Sw<3,3,3> o 0 o (2,16):(16,1)) == 8
constexpr bool max_alignment_law(layout const& l, i64 v) {
  if (v < 1 || !meaning::whole_runs(meaning::image(l), v)) return false;
  if (!meaning::is_injective(linear_part(l))) return true;
  std::vector<i64> const all = meaning::image(linear_part(l));
  i64 largest = static_cast<i64>(all.size());
  while (!meaning::whole_runs(all, largest)) --largest;
  if (!l.swizzled()) return v == largest;
  i64 together = 1;
  while (largest % (2 * together) == 0 && together < i64{1} << l.sw.base) together *= 2;
  return v == together;
}

/// Law (domain_distribute): workers over a shape, as many as divide it, mode by mode.
///     worker w stands at the w-th cell whose digits are below g[k], the greatest common divisor of
///     the extent and the workers that are left
///     domain_distribute((2,4), 8) == 8:1
constexpr bool domain_distribute_law(tree const& s, i64 workers, layout const& r) {
  i64 most[max_leaves] = {};
  for (int k = 0; k < s.n; ++k) {
    for (i64 g = 1; g <= s.leaf[k].v; ++g) {
      if (s.leaf[k].v % g == 0 && workers % g == 0) most[k] = g;
    }
    workers /= most[k];
  }
  i64 found = 0;
  for (i64 i = 0, n = meaning::cells(s); i < n; ++i) {
    meaning::digits const c(s, i);
    bool here = true;
    for (int k = 0; k < s.n; ++k) here = here && c.at[k] < most[k];
    if (here && (found >= meaning::cells(r) || meaning::at(r, found++) != i)) return false;
  }
  return found == meaning::cells(r);
}

}  // namespace tw
