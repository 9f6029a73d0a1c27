// SPDX-License-Identifier: Apache-2.0
// groups_gather_emu_test.cpp  Rows of A by an index array and rows of D to one have the bits of the
//                             GEMM of groups without them; numbers that name no row.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "tests/effort.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/groups/indexed_groups.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/family/family.hpp"
#include "tilewright/problem/without_indices.hpp"

namespace tw::test {
namespace {

/// The plan of a kernel for a problem, not transposed, if there is one. `ordered`: rows that the
/// groups gather are copied in order first.
std::optional<gemm_plan> plan_of(gemm_problem const& p, gemm_operands o, gemm_family const* f,
                                 int instance, bool ordered = false) {
  std::vector<gemm_plan> plans;
  o.workspace_bytes = 1 << 30;
  try {
    plans = plan_candidates(p, o, with_sm_count(known_device("h200"), 4));
  } catch (rejected const& r) {
    EXPECT_EQ(r.why().code, "TW0494") << r.what();
    return std::nullopt;
  }
  for (gemm_plan& x : plans)
    if (x.family == f && x.instance == instance && !x.swapped && x.ordered.has_value() == ordered)
      return x;
  return std::nullopt;
}

/// Runs a problem with index arrays, and the problem without them, by kernel i of a family. With
/// `copies` a launch copies the rows in order. False: the kernel has no plan of this kind.
bool has_the_bits(indexed_groups& t, std::mt19937_64& rng, gemm_family const* f, int i,
                  bool copies) {
  gemm_operands const o = t.indexed(), plain = t.plain();
  auto const plan = plan_of(t.problem, o, f, i, copies);
  auto const usual = plan_of(t.p.problem, plain, f, i);
  if (!plan || !usual) return false;
  SCOPED_TRACE(plan->kernel + (copies ? " of rows in order, " : ", ") + t.p.text() +
               ", gather from " + std::to_string(t.problem.groups->gather_from) + ", scatter to " +
               std::to_string(t.problem.groups->scatter_to));
  emu_options options;
  options.seed = rng(), options.random_warps = true;
  options.policy = static_cast<async_policy>(rng() % 3);
  options.sms = 1 + static_cast<int>(rng() % 6);
  emulate(*plan, o, options);
  EXPECT_EQ(t.p.status, 0U);
  EXPECT_FALSE(first_bad_index(t.problem, o));
  std::vector<std::byte> const got = t.scatter.empty() ? t.p.d.bytes : t.results.bytes;
  if (t.scatter.empty()) std::ranges::fill(t.p.d.bytes, std::byte{0xFF});
  emulate(*usual, plain, {});
  std::vector<std::byte> want = t.p.d.bytes;
  if (!t.scatter.empty()) {
    // The rest was not written.
    matrix before = t.results;
    std::ranges::fill(before.bytes, std::byte{0xFF});
    for (group_range const& r : t.p.ranges)
      for (std::int64_t at = r.begin; at < r.begin + r.size; ++at)
        std::memcpy(line_of(before, t.scatter[static_cast<std::size_t>(at)]), line_of(t.p.d, at),
                    line_bytes(t.p.d));
    want = before.bytes;
  }
  EXPECT_TRUE(got == want);
  return true;
}

bool takes_indices(gemm_family const* f, int i) {
  kernel_facts const x = f->facts(i);
  return f->built(i) && x.groups != group_axis::none && x.groups != group_axis::k && !x.weights;
}

TEST(GroupsGather, HasTheBitsOfRowsInOrder) {
  std::mt19937_64 rng(20261208);
  int gathered = 0, ordered = 0, scattered = 0, both = 0, with_c = 0, exponents = 0;
  for (gemm_family const* f : families())
    for (int i = 0; i < f->kernel_count(); ++i) {
      if (!takes_indices(f, i)) continue;
      for (int turn = 0; turn < sample(24, 6) && !HasFailure(); ++turn) {
        indexed_groups t = random_indices(rng, f->facts(i), turn % 2 == 0 ? 40 : 170);
        bool const copies = !t.gather.empty() && turn % 3 == 0;
        if (!has_the_bits(t, rng, f, i, copies)) continue;
        gathered += !t.gather.empty() && !copies, ordered += copies,
            scattered += !t.scatter.empty();
        both += !t.gather.empty() && !t.scatter.empty();
        with_c += !t.scatter.empty() && t.problem.c ? 1 : 0;
        exponents += copies && t.problem.scale_a && t.problem.scale_a->type == elem::ue8m0;
      }
    }
  EXPECT_GT(gathered, 10);
  EXPECT_GT(ordered, 10);
  EXPECT_GT(scattered, 10);
  EXPECT_GT(both, 3);
  EXPECT_GT(with_c, 3);
  EXPECT_GT(exponents, 0);
}

/// Float32 operands of tf32 kernels: a launch copies their rows in order first.
TEST(GroupsGather, Float32HasTheBitsOfRowsInOrder) {
  std::mt19937_64 rng(20261202);
  int ran = 0;
  for (gemm_family const* f : families())
    for (int i = 0; i < f->kernel_count(); ++i) {
      if (!takes_indices(f, i) || f->facts(i).ab != elem::tf32) continue;
      for (int turn = 0; turn < sample(12, 6) && !HasFailure(); ++turn) {
        indexed_groups t = random_indices(rng, f->facts(i), 60);
        if (t.gather.empty()) continue;
        for (gemm_problem* p : {&t.p.problem, &t.problem}) p->a.type = p->b.type = elem::f32;
        ran += has_the_bits(t, rng, f, i, true);
      }
    }
  EXPECT_GT(ran, 2);
}

/// A problem of one row, of several rows of A: their scales are not one for all.
TEST(GroupsGather, OneRowHasTheBitsOfRowsInOrder) {
  std::mt19937_64 rng(20261130);
  int ran = 0, scaled = 0;
  for (gemm_family const* f : families())
    for (int i = 0; i < f->kernel_count(); ++i) {
      kernel_facts const x = f->facts(i);
      if (!takes_indices(f, i) || (!x.scaled && !x.epilogue.ops)) continue;
      for (int turn = 0, of_kernel = 0; turn < 100 && of_kernel < 2 && !HasFailure(); ++turn) {
        indexed_groups t = random_indices(rng, x, 1);
        if (t.gather.size() != 1 || t.problem.groups->gather_from == 1) continue;
        if (!has_the_bits(t, rng, f, i, of_kernel == 1)) continue;
        ++of_kernel, ++ran, scaled += x.scaled;
      }
    }
  EXPECT_GT(ran, 4);
  EXPECT_GT(scaled, 1);
}

/// A number that names no row: zeros instead of a row of A, no row of D; the status says which.
TEST(GroupsGather, NumbersThatNameNoRow) {
  std::mt19937_64 rng(20261209);
  int of_gather = 0, of_scatter = 0;
  for (gemm_family const* f : families())
    for (int i = 0; i < f->kernel_count(); ++i) {
      kernel_facts const x = f->facts(i);
      if (!f->built(i) || x.groups == group_axis::none || x.groups == group_axis::k || x.weights)
        continue;
      for (int turn = 0; turn < sample(8, 4) && !HasFailure(); ++turn) {
        indexed_groups t = random_indices(rng, x, 60);
        if (t.p.ranges.empty()) continue;
        group_range const r = t.p.ranges[rng() % t.p.ranges.size()];
        if (r.size == 0) continue;
        auto const at =
            static_cast<std::size_t>(r.begin) + rng() % static_cast<std::size_t>(r.size);
        bool const gather = !t.gather.empty() && (t.scatter.empty() || turn % 2 == 0);
        if (!gather && t.scatter.empty()) continue;
        std::int64_t const end = gather ? t.problem.groups->gather_from * t.problem.groups->choices
                                        : t.problem.groups->scatter_to;
        std::int32_t const bad[] = {-1, static_cast<std::int32_t>(end),
                                    std::numeric_limits<std::int32_t>::max(),
                                    std::numeric_limits<std::int32_t>::min()};
        (gather ? t.gather : t.scatter)[at] = bad[rng() % 4];
        gemm_operands const o = t.indexed();
        bool const copies = gather && turn % 3 != 0;
        auto const plan = plan_of(t.problem, o, f, i, copies);
        if (!plan) continue;
        SCOPED_TRACE(plan->kernel + (copies ? " of rows in order, " : ", ") + t.p.text());
        emulate(*plan, o, {});
        EXPECT_EQ(t.p.status, bad_index_status | static_cast<std::uint32_t>(at));
        auto const found = first_bad_index(t.problem, o);
        ASSERT_TRUE(found);
        gemm_operands unseen = o;
        unseen.group_status = nullptr;
        try {
          emulate(*plan, unseen, {});
          ADD_FAILURE() << "not refused";
        } catch (rejected const& r) {
          EXPECT_EQ(r.why().code, "TW0496");
          EXPECT_EQ(r.why().got, std::to_string(found->number));
        }
        EXPECT_EQ(found->index, static_cast<std::int64_t>(at));
        EXPECT_EQ(found->of_scatter, !gather);
        // Other rows are as in the problem without index arrays.
        std::vector<std::byte> const got = t.scatter.empty() ? t.p.d.bytes : t.results.bytes;
        matrix want = t.scatter.empty() ? t.p.d : t.results;
        gemm_operands const plain = t.plain();
        auto const usual = plan_of(t.p.problem, plain, f, i);
        ASSERT_TRUE(usual);
        if (gather) {
          matrix& rows = t.of_m() ? t.p.a : t.p.b;
          std::memset(line_of(rows, static_cast<std::int64_t>(at)), 0, line_bytes(rows));
        }
        std::ranges::fill(t.p.d.bytes, std::byte{0xFF});
        emulate(*usual, plain, {});
        std::ranges::fill(want.bytes, std::byte{0xFF});
        if (t.scatter.empty()) want = t.p.d;
        for (group_range const& all : t.p.ranges)
          for (std::int64_t row = all.begin; row < all.begin + all.size; ++row) {
            bool const skipped = !gather && row == static_cast<std::int64_t>(at);
            if (skipped || t.scatter.empty()) continue;
            std::memcpy(line_of(want, t.scatter[static_cast<std::size_t>(row)]),
                        line_of(t.p.d, row), line_bytes(t.p.d));
          }
        EXPECT_TRUE(got == want.bytes);
        (gather ? of_gather : of_scatter) += 1;
      }
    }
  EXPECT_GT(of_gather, 5);
  EXPECT_GT(of_scatter, 5);
}

/// Two rows in one place are found by the command and by first_bad_index().
TEST(GroupsGather, TwoRowsInOnePlace) {
  gemm_problem p;
  p.m = 4, p.n = p.k = 8;
  p.groups = group_desc{.count = 1, .scatter_to = 4};
  std::int32_t const ends[] = {4}, scatter[] = {3, 0, 2, 0};
  gemm_operands o;
  o.groups = ends, o.scatter = scatter;
  auto const bad = first_bad_index(p, o);
  ASSERT_TRUE(bad);
  EXPECT_TRUE(bad->twice);
  EXPECT_EQ(bad->index, 3);
}

}  // namespace
}  // namespace tw::test
