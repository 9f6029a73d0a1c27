// SPDX-License-Identifier: Apache-2.0
// groups_emu_test.cpp  Every kernel with groups in the emulator against float64, over random sizes,
//                      and sizes that are not possible.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>

#include "tests/effort.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/groups/groups_cases.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/family/family.hpp"
#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/scale_convention.hpp"

namespace tw::test {
namespace {

/// Problems that kernels with groups of this build compute, as requested or transposed.
std::vector<grouped_shape> shapes_of(group_axis axis) {
  std::vector<grouped_shape> all;
  for (gemm_family const* f : families())
    for (int i = 0; i < f->kernel_count(); ++i) {
      kernel_facts const x = f->facts(i);
      if (!f->built(i) || x.groups != axis || x.weights) continue;
      if (x.epilogue.ops || x.scaled || is_fp8(x.ab)) continue;  // HaveTheBitsOfTheirSlices
      auto const is_k = [](operand_major m) { return m == operand_major::k; };
      all.push_back({axis, x.ab, x.d, is_k(x.a) ? order::row_major : order::col_major,
                     is_k(x.b) ? order::col_major : order::row_major, *x.d_order});
    }
  return all;
}

order other(order o) { return o == order::row_major ? order::col_major : order::row_major; }

/// The problem whose swap-AB form is `w`.
grouped_shape transposed(grouped_shape w) {
  w.axis = w.axis == group_axis::m   ? group_axis::n
           : w.axis == group_axis::n ? group_axis::m
                                     : w.axis;
  std::swap(w.a, w.b);
  w.a = other(w.a), w.b = other(w.b), w.d_order = other(w.d_order);
  return w;
}

/// Runs `p` with a plan that has not run yet, or any.
void run(grouped_product& p, std::mt19937_64& rng, std::set<std::string>& ran) {
  emu_options o;
  o.policy = static_cast<async_policy>(rng() % 3);
  o.seed = rng();
  o.random_warps = rng() % 2 != 0;
  o.sms = 1 + static_cast<int>(rng() % 8);
  gemm_operands const operands = p.operands();
  std::vector<gemm_plan> const plans =
      plan_candidates(p.problem, operands, with_sm_count(known_device("h200"), o.sms));
  std::vector<gemm_plan const*> fresh;
  for (gemm_plan const& x : plans)
    if (!ran.contains(x.kernel)) fresh.push_back(&x);
  gemm_plan plan = fresh.empty() ? plans[rng() % plans.size()] : *fresh[rng() % fresh.size()];
  plan.schedule.band = 1 << rng() % 4;
  ran.insert(plan.kernel);
  SCOPED_TRACE(plan.kernel + ", emulator seed " + std::to_string(o.seed));
  emulate(plan, operands, o);
  expect_right_groups(p);
  EXPECT_EQ(p.status, 0U) << p.text();
}

class GroupsEmu : public testing::TestWithParam<group_axis> {};

TEST_P(GroupsEmu, RandomProblemsKeepTheBound) {
  std::mt19937_64 rng(20261129 + static_cast<int>(GetParam()));
  std::vector<grouped_shape> const shapes = shapes_of(GetParam());
  ASSERT_FALSE(shapes.empty());
  std::set<std::string> ran, wanted;
  for (gemm_family const* f : families())
    for (int i = 0; i < f->kernel_count(); ++i)
      if (f->built(i) && f->facts(i).groups == GetParam() && !f->facts(i).weights &&
          !f->facts(i).epilogue.ops && !is_fp8(f->facts(i).ab))
        wanted.insert(f->name(i));
  auto const covered = [&] { return std::ranges::includes(ran, wanted); };
  for (int i = 0; runs_case(i, 400, covered()) && !HasFailure(); ++i) {
    grouped_shape const& w = shapes[static_cast<std::size_t>(i) % shapes.size()];
    grouped_product p =
        random_groups(rng, rng() % 2 != 0 ? w : transposed(w), i % 3 == 0 ? 260 : 60);
    run(p, rng, ran);
    if (HasFailure()) ADD_FAILURE() << "case " << i;
  }
  EXPECT_TRUE(covered());
}

INSTANTIATE_TEST_SUITE_P(Axes, GroupsEmu,
                         testing::Values(group_axis::m, group_axis::n, group_axis::k),
                         [](auto const& i) {
                           return std::string(group_axis_names[static_cast<int>(i.param)]);
                         });

/// Each group has the bits of a GEMM without groups: with its bias, scales, gate and C.
TEST(Groups, HaveTheBitsOfTheirSlices) {
  std::mt19937_64 rng(20261203);
  int kernels = 0, compared = 0, scaled_and_fused = 0;
  for (gemm_family const* f : families())
    for (int i = 0; i < f->kernel_count(); ++i) {
      kernel_facts const x = f->facts(i);
      if (!f->built(i) || x.groups == group_axis::none || x.groups == group_axis::k || x.weights)
        continue;
      ++kernels;
      for (int turn = 0; turn < sample(8) && !HasFailure(); ++turn) {
        auto const is_k = [](operand_major m) { return m == operand_major::k; };
        grouped_product p = random_groups(
            rng,
            {x.groups, x.ab, x.d, is_k(x.a) ? order::row_major : order::col_major,
             is_k(x.b) ? order::col_major : order::row_major, *x.d_order, x.epilogue.gate, false},
            turn % 2 == 0 ? 40 : 170);
        gemm_problem& q = p.problem;
        q.precision = x.precision;
        q.reproducible = true;
        bool const of_m = x.groups == group_axis::m;
        if (x.scaled) {
          q.scale_a =
              make_scale({false, q.m, q.k}, of_m ? scaling::block_1x128 : scaling::block_128x128);
          q.scale_b = make_scale({true, q.n, q.k}, of_m && turn % 4 < 2 ? scaling::block_128x128
                                                                        : scaling::block_1x128);
          (of_m ? q.scale_b : q.scale_a)->batch_stride =
              scale_extent(of_m ? *q.scale_b : *q.scale_a, of_m ? q.n : q.m, q.k);
          if (q.groups->slots())
            (of_m ? q.scale_a : q.scale_b)->batch_stride =
                scale_extent(of_m ? *q.scale_a : *q.scale_b, of_m ? q.m : q.n, q.k);
        }
        if (x.epilogue.ops) {
          q.epilogue.act = activation::silu;
          q.epilogue.bias = static_cast<along>(rng() % 3);
          q.epilogue.row_scale = rng() % 2 != 0 ? along::rows : along::none;
          q.epilogue.col_scale = rng() % 2 != 0 ? along::cols : along::none;
          if (x.epilogue.gate) q.epilogue.gate = gating::split, q.epilogue.c_last = true;
        } else if (size_bytes(x.ab) == 1 && !x.scaled && !holds_integer_sums(x.d)) {
          q.epilogue.row_scale = rng() % 2 != 0 ? along::rows : along::none;
          q.epilogue.col_scale = rng() % 2 != 0 ? along::cols : along::none;
        }
        vectors_of_groups const v = random_vectors(q, rng);
        gemm_operands const o = v.with(p.operands());
        std::vector<gemm_plan> plans;
        bool refused = false;
        try {
          plans = plan_candidates(q, o, with_sm_count(known_device("h200"), 4));
        } catch (rejected const& r) {  // the smallest sets lack kernels for K of one block
          EXPECT_EQ(r.why().code, "TW0505") << r.what();
          refused = true;
        }
        std::erase_if(plans, [&](gemm_plan const& y) {
          return y.family != f || y.instance != i || y.swapped;
        });
        // Scales of few blocks are in the epilogue, of another kernel.
        EXPECT_TRUE(!plans.empty() || x.scaled || refused) << f->name(i) << ", " << p.text();
        if (plans.empty()) continue;
        emu_options options;
        options.seed = rng();
        options.policy = async_policy::random;
        std::vector<std::byte> const before = p.d.bytes;
        emulate(plans.front(), o, options);
        std::vector<std::byte> const got = p.d.bytes;
        std::ranges::copy(before, p.d.bytes.begin());
        for (std::size_t g = 0; g < p.ranges.size(); ++g) {
          group_slice const s = slice_of_group(q, o, p.ranges[g]);
          if (!computes_nothing(s.problem)) gemm_emulated(s.problem, s.operands, {});
        }
        EXPECT_EQ(got, p.d.bytes) << f->name(i) << ", " << p.text();
        ++compared, scaled_and_fused += x.scaled && x.epilogue.ops ? 1 : 0;
      }
    }
  EXPECT_GT(kernels, 8);
  EXPECT_GT(compared, kernels / 2);
  EXPECT_GT(scaled_and_fused, 1);
}

/// Bias, scales, activation, gate, C, alpha of the group and weight of the token, against float64:
/// the weight multiplies the bias too.
TEST(Groups, FusedEpiloguesKeepTheBound) {
  std::mt19937_64 rng(20261206);
  int weighted = 0, by_alpha = 0;
  for (gemm_family const* f : families())
    for (int i = 0; i < f->kernel_count(); ++i) {
      kernel_facts const x = f->facts(i);
      if (!f->built(i) || x.groups == group_axis::none || !x.epilogue.ops || x.scaled || x.weights)
        continue;
      for (int turn = 0; turn < sample(24, 4) && !HasFailure(); ++turn) {
        auto const is_k = [](operand_major m) { return m == operand_major::k; };
        grouped_product p = random_groups(
            rng,
            {x.groups, x.ab, x.d, is_k(x.a) ? order::row_major : order::col_major,
             is_k(x.b) ? order::col_major : order::row_major, *x.d_order, x.epilogue.gate},
            turn % 2 == 0 ? 40 : 150);
        gemm_epilogue& e = p.problem.epilogue;
        e.act = static_cast<activation>(1 + rng() % 4);
        e.bias = static_cast<along>(rng() % 3);
        if (rng() % 2 != 0) e.row_scale = along::rows;
        if (rng() % 2 != 0) e.col_scale = along::cols;
        if (rng() % 3 != 0) e.row_weight = x.groups == group_axis::m ? along::rows : along::cols;
        e.c_last = x.epilogue.gate || rng() % 2 != 0;
        if (x.epilogue.gate) e.gate = rng() % 2 != 0 ? gating::split : gating::interleaved;
        while (x.epilogue.gate == false && is_gate_only(e.act)) e.act = activation::silu;
        vectors_of_groups const v = random_vectors(p.problem, rng);
        gemm_operands const o = v.with(p.operands());
        std::vector<gemm_plan> plans =
            plan_candidates(p.problem, o, with_sm_count(known_device("h200"), 4));
        std::erase_if(plans, [&](gemm_plan const& y) {
          return y.family != f || y.instance != i || y.swapped;
        });
        ASSERT_FALSE(plans.empty()) << f->name(i) << ", " << p.text();
        emu_options options;
        options.seed = rng(), options.random_warps = true;
        options.policy = static_cast<async_policy>(rng() % 3);
        SCOPED_TRACE(plans.front().kernel + ", emulator seed " + std::to_string(options.seed));
        emulate(plans.front(), o, options);
        expect_right_fused_groups(p, o);
        expect_nothing_between_groups(p);
        weighted += e.row_weight ? 1 : 0, by_alpha += p.alphas.empty() ? 0 : 1;
      }
    }
  EXPECT_GT(weighted, 2);
  EXPECT_GT(by_alpha, 1);
}

/// Groups of K of 8-bit floats (weight gradients): scales of 1x128 that begin anew in each group,
/// or a scale for each row and column of each group; operands of any order, transposed first.
TEST(Groups, ScaledGroupsOfKKeepTheBound) {
  std::mt19937_64 rng(20261212);
  int ran = 0, scaled = 0, copied = 0, partial = 0;
  for (gemm_family const* f : families())
    for (int i = 0; i < f->kernel_count(); ++i) {
      kernel_facts const x = f->facts(i);
      if (!f->built(i) || x.groups != group_axis::k || !is_fp8(x.ab)) continue;
      for (int turn = 0; turn < sample(14, 6) && !HasFailure(); ++turn) {
        auto const any_order = [&] { return rng() % 4 == 0 ? order::col_major : order::row_major; };
        order const a = any_order(),
                    b = any_order() == order::row_major ? order::col_major : order::row_major;
        grouped_product p =
            random_groups(rng, {group_axis::k, x.ab, x.d, a, b}, turn % 2 == 0 ? 60 : 400);
        gemm_problem& q = p.problem;
        q.precision = x.precision;
        if (x.scaled) {
          if (rng() % 4 == 0)
            add_row_scales(q, false);  // of all groups: the epilogue's are of each
          else
            add_scales_of_k(q, rng);
        } else if (rng() % 2 == 0) {
          add_row_scales(q, true);
        } else {
          if (rng() % 2 != 0) q.epilogue.row_scale = along::rows;
          if (rng() % 2 != 0) q.epilogue.col_scale = along::cols;
        }
        vectors_of_groups const v = random_vectors(q, rng);
        gemm_operands const o = v.with(p.operands());
        emu_workspace workspace;
        gemm_operands with_space = o;
        workspace.give(with_space);
        std::vector<gemm_plan> plans =
            plan_candidates(q, with_space, with_sm_count(known_device("h200"), 4));
        std::erase_if(plans, [&](gemm_plan const& y) { return y.family != f || y.instance != i; });
        ASSERT_FALSE(plans.empty()) << f->name(i) << ", " << p.text();
        emu_options options;
        options.seed = rng(), options.random_warps = true;
        options.policy = static_cast<async_policy>(rng() % 3);
        SCOPED_TRACE(plans.front().kernel + ", emulator seed " + std::to_string(options.seed));
        emulate(plans.front(), o, options);
        expect_right_fused_groups(p, o);
        expect_nothing_between_groups(p);
        EXPECT_EQ(p.status, 0U);
        ++ran, scaled += x.scaled, copied += plans.front().repitch.a || plans.front().repitch.b;
        for (group_range const& r : p.ranges) partial += r.size % 128 != 0 && x.scaled;
      }
    }
  EXPECT_GT(ran, 2);
  EXPECT_GT(scaled, 1);
  EXPECT_GT(copied, 0);
  EXPECT_GT(partial, 3);
}

/// Numbers that are not possible: the kernel takes the nearest and reports the first group.
TEST(Groups, ImpossibleSizesTouchNothingElse) {
  std::mt19937_64 rng(20261201);
  std::set<group_form> bad;  // whose numbers were reported: all of them, after some more cases
  for (int i = 0; (i < sample(240, 60) || bad.size() < 5) && i < 400 && !HasFailure(); ++i) {
    auto const axis = static_cast<group_axis>(1 + i % 3);
    std::vector<grouped_shape> const shapes = shapes_of(axis);
    grouped_product p = random_groups(rng, shapes[rng() % shapes.size()], 100);
    std::size_t at = rng() % p.numbers.size();
    // Of the form rows a kernel reads the first number of a group, and few others.
    if (p.problem.groups->form == group_form::rows && !p.ranges.empty())
      at = static_cast<std::size_t>(p.ranges[rng() % p.ranges.size()].begin);
    std::int64_t const values[] = {-1, std::numeric_limits<std::int32_t>::min(),
                                   ragged_extent(p.problem) + 1,
                                   std::numeric_limits<std::int32_t>::max(), 0};
    p.numbers[at] = values[rng() % 5];
    gemm_operands const o = p.operands();
    group_ranges const taken = ranges_of_groups(p.problem, o.groups);
    p.ranges = taken.of;
    p.poisoned.assign(p.ranges.size(), true);  // lines of other groups may be theirs now
    gemm_emulated(p.problem, o, {});
    expect_right_groups(p);
    auto const want = static_cast<std::uint32_t>(1 + taken.first_bad.value_or(-1));
    EXPECT_EQ(p.status, want) << p.text();
    if (want != 0) bad.insert(p.problem.groups->form);
  }
  EXPECT_EQ(bad.size(), 5U);
}

/// Without a status the emulator refuses them after the launch, with the group and the number.
TEST(Groups, TheEmulatorNamesTheGroupAndTheNumber) {
  std::mt19937_64 rng(20261211);
  grouped_product p;
  do p = random_groups(rng, shapes_of(group_axis::m).front(), 60);
  while (p.problem.groups->form != group_form::sizes || p.problem.groups->count < 3);
  p.numbers[2] = -7;
  gemm_operands o = p.operands();
  gemm_emulated(p.problem, o, {});
  EXPECT_EQ(p.status, 3U);
  o.group_status = nullptr;
  try {
    gemm_emulated(p.problem, o, {});
    ADD_FAILURE() << "not refused";
  } catch (rejected const& r) {
    EXPECT_EQ(r.why().code, "TW0496");
    EXPECT_EQ(r.why().what, "number of group 2");
    EXPECT_EQ(r.why().got, "-7");
  }
}

/// TMA addresses a contiguous extent at multiples of 16 bytes: other numbers are not possible.
TEST(Groups, NumbersOfAContiguousExtentAreRoundedDown) {
  std::mt19937_64 rng(20261204);
  std::vector<grouped_shape> contiguous;
  for (group_axis const axis : {group_axis::n, group_axis::k})
    for (grouped_shape w : shapes_of(axis)) {
      w.poison = false;
      for (grouped_shape const& x : {w, transposed(w)})
        if (divides_contiguous(x)) contiguous.push_back(x);
    }
  std::set<group_axis> ran;
  for (std::size_t i = 0; i < 2 * contiguous.size(); ++i) {
    grouped_product p = random_groups(rng, contiguous[i % contiguous.size()], 100);
    group_form const form = p.problem.groups->form;
    if (form == group_form::rows || form == group_form::counts) continue;
    group_range const last = p.ranges.back();
    p.numbers.back() += last.size > 0 ? -3 : 3;
    if (p.numbers.back() > ragged_extent(p.problem)) continue;
    gemm_operands const o = p.operands();
    p.ranges = ranges_of_groups(p.problem, o.groups).of;
    EXPECT_EQ(p.ranges.back().size,
              last.size > 0 ? last.size - 16 / size_bytes(p.problem.a.type) : 0);
    gemm_emulated(p.problem, o, {});
    expect_right_groups(p);
    EXPECT_EQ(p.status, p.ranges.size()) << p.text();
    ran.insert(p.problem.groups->axis);
  }
  EXPECT_EQ(ran.size(), 3U);
  // The whole extent too.
  grouped_shape w;
  w.axis = group_axis::n, w.b = order::row_major, w.d_order = order::row_major;
  grouped_product p;
  do p = random_groups(rng, w, 60);
  while (p.problem.groups->form != group_form::ends);
  p.problem.n -= 1;
  try {
    plan_candidates(p.problem, p.operands(), with_sm_count(known_device("h200"), 4));
    ADD_FAILURE() << "planned";
  } catch (rejected const& r) {
    EXPECT_EQ(r.why().code, "TW0495");
    EXPECT_EQ(r.why().what, "N of a GEMM of groups of N");
  }
}

/// Operands of groups are not copied first.
TEST(Groups, OperandsThatTmaCannotAddressAreRefused) {
  std::mt19937_64 rng(20261205);
  grouped_product p = random_groups(rng, shapes_of(group_axis::m).front(), 40);
  gemm_operands o = p.operands();
  o.a = static_cast<std::byte const*>(o.a) + 2;
  try {
    plan_candidates(p.problem, o, with_sm_count(known_device("h200"), 4));
    ADD_FAILURE() << "planned";
  } catch (rejected const& r) {
    EXPECT_EQ(r.why().code, "TW0495");
  }
}

/// The example of docs/groups.md.
TEST(Groups, TheExampleOfTheGuide) {
  std::mt19937_64 rng(20261204);
  constexpr std::int64_t tokens = 70, n = 64, k = 72, experts = 3;
  std::vector<bf16> memory(tokens * k + experts * n * k), results(tokens * n);
  for (bf16& x : memory) x = to_bf16(static_cast<float>(static_cast<int>(rng() % 17) - 8));
  bf16 const *const a = memory.data(), *const b = a + tokens * k;
  bf16* const d = results.data();
  std::int32_t const ends[] = {30, 30, 70};
  gemm_problem p{tokens,
                 n,
                 k,
                 {elem::bf16, order::row_major, k},         // A (tokens, k)
                 {elem::bf16, order::col_major, k, n * k},  // B: n x k for each group
                 {elem::bf16, order::row_major, n},         // D (tokens, n)
                 std::nullopt};
  p.groups = group_desc{.axis = group_axis::m, .form = group_form::ends, .count = experts};
  gemm_operands o{a, b, nullptr, d};
  o.groups = ends;  // `experts` int32 in device memory
  gemm_emulated(p, o, {});
  for (std::int64_t row = 0; row < tokens; ++row) {
    bf16 const* const weights = b + (row < 30 ? 0 : 2) * n * k;
    for (std::int64_t col = 0; col < n; ++col) {
      float want = 0;  // exact
      for (std::int64_t i = 0; i < k; ++i)
        want += to_float(a[row * k + i]) * to_float(weights[col * k + i]);
      EXPECT_EQ(d[row * n + col].bits, to_bf16(want).bits) << row << ", " << col;
    }
  }
}

/// All groups empty: nothing is written; groups of K give beta C.
TEST(Groups, EmptyGroups) {
  std::mt19937_64 rng(20261202);
  for (group_axis const axis : {group_axis::m, group_axis::n, group_axis::k}) {
    grouped_product p = random_groups(rng, shapes_of(axis).front(), 40);
    std::ranges::fill(p.numbers, p.problem.groups->form == group_form::rows ? -1 : 0);
    for (group_range& r : p.ranges) r.begin = r.size = 0;
    p.poisoned.assign(p.ranges.size(), false);
    gemm_emulated(p.problem, p.operands(), {});
    expect_right_groups(p);
  }
}

}  // namespace
}  // namespace tw::test
