// SPDX-License-Identifier: Apache-2.0
// accept_groups_test.cpp  Each rule of groups has a refusal, and slices are the groups.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/group_slices.hpp"
#include "tilewright/problem/scale_convention.hpp"

namespace tw::test {
namespace {

/// Groups of 100 rows by G matrices of B.
gemm_problem groups_of_m(std::int64_t count) {
  using enum order;
  gemm_problem p{100,
                 64,
                 32,
                 {elem::bf16, row_major, 32},
                 {elem::bf16, col_major, 32, 64 * 32},
                 {elem::bf16, row_major, 64}};
  p.groups = group_desc{.count = count};
  return p;
}
gemm_problem slots_of_m(std::int64_t count) {
  gemm_problem p = groups_of_m(count);
  p.groups->form = group_form::counts;
  p.batch = count;
  p.a.batch_stride_elems = 100 * 32, p.d.batch_stride_elems = 100 * 64;
  return p;
}
std::string code(gemm_problem const& p) {
  auto const r = accept(p);
  return r ? r->code : "";
}

TEST(AcceptGroups, TakesEachAxisAndForm) {
  for (group_form const form : {group_form::ends, group_form::starts, group_form::sizes}) {
    gemm_problem p = groups_of_m(7);
    p.groups->form = form;
    EXPECT_EQ(code(p), "");
    p.groups->index_bits = 64;
    EXPECT_EQ(code(p), "");
    p.groups->axis = group_axis::k;
    p.d.batch_stride_elems = 100 * 64;
    EXPECT_EQ(code(p), "");
    p.k = 0;
    EXPECT_EQ(code(p), "");
  }
  EXPECT_EQ(code(slots_of_m(7)), "");
  EXPECT_EQ(code(groups_of_m(1024)), "");
  gemm_problem rows = groups_of_m(7);
  rows.groups->form = group_form::rows;
  EXPECT_EQ(code(rows), "");
  rows.groups->axis = group_axis::k, rows.d.batch_stride_elems = 100 * 64;
  EXPECT_EQ(code(rows), "TW0492");
}

TEST(AcceptGroups, RefusesNumbersAndForms) {
  EXPECT_EQ(code(groups_of_m(1025)), "TW0492");
  EXPECT_EQ(code(groups_of_m(0)), "TW0492");
  EXPECT_TRUE(computes_nothing(groups_of_m(0)));
  gemm_problem p = groups_of_m(7);
  p.groups->index_bits = 16;
  EXPECT_EQ(code(p), "TW0492");
  p = groups_of_m(7);
  p.groups->expected_size = -1;
  EXPECT_EQ(code(p), "TW0492");
  p = slots_of_m(7);
  p.groups->axis = group_axis::k;
  EXPECT_EQ(code(p), "TW0492");
  p = groups_of_m(7);
  p.groups->axis = group_axis::none;
  EXPECT_EQ(code(p), "TW0416");
  p.groups->axis = group_axis::m;
  p.groups->form = static_cast<group_form>(9);
  EXPECT_EQ(code(p), "TW0416");
}

TEST(AcceptGroups, GathersAndScattersLines) {
  auto const with = [](auto change) {
    gemm_problem p = groups_of_m(7);
    change(p);
    return code(p);
  };
  EXPECT_EQ(with([](gemm_problem& p) { p.groups->gather_from = 5, p.groups->choices = 2; }), "");
  EXPECT_EQ(with([](gemm_problem& p) { p.groups->scatter_to = 300; }), "");
  EXPECT_EQ(with([](gemm_problem& p) { p.groups->gather_from = -1; }), "TW0492");
  EXPECT_EQ(with([](gemm_problem& p) { p.groups->choices = 2; }), "TW0492");
  EXPECT_EQ(with([](gemm_problem& p) { p.groups->gather_from = 5, p.groups->choices = 0; }),
            "TW0492");
  EXPECT_EQ(with([](gemm_problem& p) {
              p.groups->gather_from = 5;
              p.a.ord = order::col_major, p.a.pitch_elems = 104;
            }),
            "TW0494");
  EXPECT_EQ(with([](gemm_problem& p) {
              p.groups->scatter_to = 5;
              p.d.ord = order::col_major, p.d.pitch_elems = 104;
            }),
            "TW0494");
  EXPECT_EQ(with([](gemm_problem& p) {
              p.groups->scatter_to = 300;
              p.c = p.d, p.beta = 1;
            }),
            "");  // C has the rows of D
  gemm_problem p = slots_of_m(7);
  p.groups->gather_from = 5;
  EXPECT_EQ(code(p), "TW0494");
  p = groups_of_m(7);
  p.groups->axis = group_axis::k, p.d.batch_stride_elems = 100 * 64;
  p.groups->scatter_to = 5;
  EXPECT_EQ(code(p), "TW0494");
}

TEST(AcceptGroups, TakesAWeightOfEachTokenOnly) {
  gemm_problem p = groups_of_m(7);
  p.epilogue.row_weight = along::rows;
  EXPECT_EQ(code(p), "");
  p.epilogue.row_weight = along::cols;
  EXPECT_EQ(code(p), "TW0412");
  p.groups->axis = group_axis::n;
  p.a.batch_stride_elems = 100 * 32, p.b.batch_stride_elems = 0;
  EXPECT_EQ(code(p), "");
  p.epilogue.row_weight = along::rows;
  EXPECT_EQ(code(p), "TW0412");
  p.groups.reset();
  EXPECT_EQ(code(p), "TW0494");
  p = groups_of_m(7);
  p.epilogue.row_weight = {along::rows, elem::f32, true};
  EXPECT_EQ(code(p), "TW0412");
  p.epilogue.row_weight = {along::rows, elem::bf16};
  EXPECT_EQ(code(p), "TW0412");
  p = groups_of_m(7);
  p.groups->axis = group_axis::k, p.d.batch_stride_elems = 100 * 64;
  p.epilogue.row_weight = along::rows;
  EXPECT_EQ(code(p), "TW0494");
}

TEST(AcceptGroups, RefusesBatchesAndStrides) {
  gemm_problem p = groups_of_m(7);
  p.batch = 7;
  EXPECT_EQ(code(p), "TW0493");
  p = slots_of_m(7);
  p.batch = 1;
  EXPECT_EQ(code(p), "TW0493");
  p = slots_of_m(7);
  p.d.batch_stride_elems = 100 * 64 + 8;
  EXPECT_EQ(code(p), "TW0493");
  p = slots_of_m(7);
  p.d.ord = order::col_major, p.d.pitch_elems = 100;
  EXPECT_EQ(code(p), "TW0493");
  p = slots_of_m(7);
  p.d.batch_stride_elems = std::int64_t{64} << 29;
  EXPECT_EQ(code(p), "TW0493");
  p = slots_of_m(7);
  p.c = p.d, p.c->batch_stride_elems += 64;
  EXPECT_EQ(code(p), "TW0493");
  p = groups_of_m(7);
  p.b.batch_stride_elems = matrix_desc::by_pointers;
  EXPECT_EQ(code(p), "TW0493");
  p = groups_of_m(7);  // D of groups of K are 7 matrices, which must not overlap
  p.groups->axis = group_axis::k;
  EXPECT_EQ(code(p), "TW0423");
}

TEST(AcceptGroups, RefusesWhatNoKernelHas) {
  gemm_problem p = groups_of_m(7);
  p.epilogue.act = activation::relu;
  EXPECT_EQ(code(p), "");
  p.groups->axis = group_axis::k;
  p.d.batch_stride_elems = 100 * 64;
  EXPECT_EQ(code(p), "TW0494");
  p.epilogue.act = activation::none, p.k = 36, p.a.pitch_elems = p.b.pitch_elems = 40;
  EXPECT_EQ(code(p), "TW0495");  // K is contiguous
  p.k = 40;
  EXPECT_EQ(code(p), "");
  p = groups_of_m(7);
  p.a.type = p.b.type = elem::e4m3;
  p.scale_a = make_scale({false, 100, 32}, scaling::block_128x128);
  EXPECT_EQ(code(p), "TW0494");  // groups begin at any row
  p.scale_a = make_scale({false, 100, 32}, scaling::block_1x128);
  EXPECT_EQ(code(p), "");
  p.scale_a->batch_stride = 100;
  EXPECT_EQ(code(p), "TW0494");
  p = groups_of_m(7);
  p.aux = p.d;
  EXPECT_EQ(code(p), "TW0494");
  p = groups_of_m(7);
  p.k = 0;
  EXPECT_EQ(code(p), "TW0494");
}

/// Scales of groups of K: a vector for each group, or blocks that begin anew in each.
TEST(AcceptGroups, TakesScalesOfGroupsOfK) {
  auto const with = [](auto change) {
    gemm_problem p = groups_of_m(7);
    p.a.type = p.b.type = elem::e4m3;
    p.groups->axis = group_axis::k, p.d.batch_stride_elems = 100 * 64;
    p.k = p.a.pitch_elems = p.b.pitch_elems = 512;
    p.b.batch_stride_elems = 0;
    p.scale_a = make_scale({false, 100, 512}, scaling::block_1x128);
    p.groups->scale_blocks = 4;
    change(p);
    return code(p);
  };
  EXPECT_EQ(with([](gemm_problem&) {}), "");
  EXPECT_EQ(with([](gemm_problem& p) { p.groups->scale_blocks = 0; }), "TW0492");
  EXPECT_EQ(with([](gemm_problem& p) { p.groups->scale_blocks = 3; }), "TW0492");
  EXPECT_EQ(with([](gemm_problem& p) { p.scale_a->batch_stride = 100; }), "TW0494");
  EXPECT_EQ(with([](gemm_problem& p) { p.scale_a->type = elem::ue8m0, p.scale_a->packed_k = 4; }),
            "TW0494");
  EXPECT_EQ(with([](gemm_problem& p) {
              p.scale_a.reset(), p.groups->scale_blocks = 0, p.epilogue.row_scale = along::rows;
            }),
            "");
  EXPECT_EQ(with([](gemm_problem& p) {
              p.scale_a = make_scale({false, 100, 512}, scaling::row);
              p.scale_a->batch_stride = 100, p.groups->scale_blocks = 0;  // of each group
            }),
            "");
  gemm_problem p = groups_of_m(7);
  p.groups->scale_blocks = 4;
  EXPECT_EQ(code(p), "TW0492");
}

/// A slice of K has the scales from its group's first block on: partial blocks count.
TEST(GroupSlices, ScalesOfKBeginAnew) {
  gemm_problem p = groups_of_m(3);
  p.a.type = p.b.type = elem::e4m3;
  p.groups->axis = group_axis::k, p.groups->form = group_form::sizes;
  p.k = 512, p.scale_a = make_scale({false, 100, 512}, scaling::block_1x128);
  p.scale_a->stride_outer = 1, p.scale_a->stride_k = 100;
  std::int32_t const sizes[] = {144, 0, 128};
  std::vector<float> const scales(static_cast<std::size_t>(100 * scaled_k(p) / 128));
  EXPECT_EQ(scaled_k(p), 128 * 6);  // floor((512 + 3 * 127) / 128)
  gemm_operands o;
  o.scale_a = scales.data(), o.groups = sizes;
  group_ranges const all = ranges_of_groups(p, sizes);
  for (auto const& [group, block] : {std::pair{0, 0}, {1, 2}, {2, 2}})
    EXPECT_EQ(slice_of_group(p, o, all.of[static_cast<std::size_t>(group)]).operands.scale_a,
              scales.data() + 100 * block);
}

/// Runs of rows are groups; numbers that are not read may be anything.
TEST(GroupSlices, OfRows) {
  gemm_problem p = groups_of_m(4);
  p.m = 700;
  p.groups->form = group_form::rows;
  std::vector<std::int32_t> rows(700, -1);
  auto const fill = [&](std::size_t from, std::size_t to, std::int32_t group) {
    std::fill(rows.begin() + static_cast<std::ptrdiff_t>(from),
              rows.begin() + static_cast<std::ptrdiff_t>(to), group);
  };
  fill(0, 130, 2), fill(384, 385, 0), fill(512, 700, 0);
  auto const of = [&] { return ranges_of_groups(p, rows.data()); };
  auto const expect = [&](group_ranges const& r, std::vector<std::array<std::int64_t, 3>> want) {
    ASSERT_EQ(r.of.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i)
      EXPECT_EQ((std::array{r.of[i].begin, r.of[i].size, r.of[i].group}), want[i]);
  };
  expect(of(), {{0, 130, 2}, {384, 1, 0}, {512, 188, 0}});
  EXPECT_FALSE(of().first_bad);
  rows[385] = 1;  // a group that begins elsewhere
  EXPECT_EQ(of().first_bad, 385);
  rows[512] = 4;
  expect(of(), {{0, 130, 2}, {384, 1, 0}, {640, 60, 0}});
  rows[385] = -1;
  EXPECT_EQ(of().first_bad, 512);
  rows[0] = -7;
  expect(of(), {{128, 2, 2}, {384, 1, 0}, {640, 60, 0}});
  EXPECT_EQ(of().first_bad, 0);
}

/// Each impossible number is refused by its group, with the possible range and the form.
TEST(GroupSlices, TextsOfImpossibleNumbers) {
  auto const text = [](group_form form, std::vector<std::int64_t> numbers) {
    gemm_problem p = form == group_form::counts ? slots_of_m(2) : groups_of_m(2);
    p.groups->form = form, p.groups->index_bits = 64;
    auto const why = refuse_numbers(p, numbers.data());
    return why ? why->what + ": " + why->got + ", " + why->need + "; " + why->hint : "";
  };
  std::string const says =
      "; a launch takes the nearest possible number and says so in group_status";
  using enum group_form;
  EXPECT_EQ(text(ends, {10, 100}), "");
  EXPECT_EQ(text(ends, {10, 7}),
            "number of group 1: 7, 10, the end of the group before, to 100; the form of the "
            "numbers is ends" +
                says);
  EXPECT_EQ(text(ends, {-1, 7}),
            "number of group 0: -1, 0 to 100; the form of the numbers is ends" + says);
  EXPECT_EQ(text(starts, {101, 101, 101}),
            "number of group 0: 101, 0 to 100; the form of the numbers is starts" + says);
  EXPECT_EQ(text(starts, {5, 3, 9}),
            "number of group 0: 3, 5, the end of the group before, to 100; the form of the "
            "numbers is starts" +
                says);
  EXPECT_EQ(
      text(sizes, {60, 41}),
      "number of group 1: 41, 0 to 40, the rest of 100; the form of the numbers is sizes" + says);
  EXPECT_EQ(
      text(counts, {0, 101}),
      "number of group 1: 101, 0 to 100, all of a slot; the form of the numbers is counts" + says);
}

/// The slices of a problem are its groups, and numbers are made possible from the first one on.
TEST(GroupSlices, AreTheGroups) {
  gemm_problem const p = groups_of_m(4);
  std::vector<std::int32_t> const ends = {10, 7, 200, 100};
  group_ranges const r = ranges_of_groups(p, ends.data());
  ASSERT_EQ(r.of.size(), 4U);
  EXPECT_EQ(r.first_bad, 1);
  std::int64_t const begins[] = {0, 10, 10, 100}, sizes[] = {10, 0, 90, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(r.of[i].begin, begins[i]);
    EXPECT_EQ(r.of[i].size, sizes[i]);
  }
  gemm_operands o;
  std::vector<std::byte> memory(1 << 20);
  o.a = memory.data(), o.b = memory.data(), o.d = memory.data();
  group_slice const s = slice_of_group(p, o, r.of[2]);
  EXPECT_FALSE(s.problem.groups);
  EXPECT_EQ(s.problem.m, 90);
  EXPECT_EQ(static_cast<std::byte const*>(s.operands.a) - memory.data(), 10 * 32 * 2);
  EXPECT_EQ(static_cast<std::byte const*>(s.operands.b) - memory.data(), 2 * 64 * 32 * 2);
  EXPECT_EQ(static_cast<std::byte const*>(s.operands.d) - memory.data(), 10 * 64 * 2);
}

}  // namespace
}  // namespace tw::test
