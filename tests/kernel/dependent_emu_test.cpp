// SPDX-License-Identifier: Apache-2.0
// dependent_emu_test.cpp  GEMMs that read what the one before wrote, launched so that they may
//                         start before it has ended: no access comes before the wait for it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/kernel/emu_workspace.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw::test {
namespace {

constexpr int size = 640, steps = 3, sms = 24;

/// x(r, c) in bf16; B shifts the columns by one: D(r, c) = A(r, c - 1).
struct chain {
  explicit chain(int row_count)
      : rows(row_count),
        buffers(steps + 1, std::vector<std::uint16_t>(at(row_count, 0), 0xFFFF)),
        shift(size * size) {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < size; ++c) buffers[0][at(r, c)] = value(r, c);
    for (int c = 0; c < size; ++c)  // column-major B(k, n) = 1 where k = n - 1
      shift[static_cast<std::size_t>(c * size + (c + size - 1) % size)] = to_bf16(1).bits;
    problem.m = rows, problem.n = problem.k = size;
    problem.a = problem.d = {elem::bf16, order::row_major, size};
    problem.b = {elem::bf16, order::col_major, size};
  }
  static std::size_t at(int r, int c) { return static_cast<std::size_t>(r * size + c); }
  static std::uint16_t value(int r, int c) {
    return to_bf16(static_cast<float>((r * 7 + c * 3) % 251)).bits;
  }
  gemm_operands step(int i) {
    gemm_operands o{buffers[static_cast<std::size_t>(i)].data(), shift.data(), nullptr,
                    buffers[static_cast<std::size_t>(i) + 1].data()};
    space.give(o);
    return o;
  }
  int wrong() const {
    int n = 0;
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < size; ++c)
        n += buffers[steps][at(r, c)] != value(r, (c + size - steps) % size);
    return n;
  }

  int rows;
  gemm_problem problem;
  std::vector<std::vector<std::uint16_t>> buffers;
  std::vector<std::uint16_t> shift;
  emu_workspace space;
};

/// The chain with these plans in turn, under both schedules.
void run(int rows, gemm_plan const& even, gemm_plan const& odd) {
  for (async_policy const policy : {async_policy::lazy, async_policy::random}) {
    chain x(rows);
    emu::stream stream;
    emu_options o;
    o.policy = policy;
    o.random_warps = true;
    o.sms = sms;
    o.in = &stream;
    o.pdl = true;
    for (int s = 0; s < steps; ++s) gemm_emulated(s % 2 == 0 ? even : odd, x.step(s), o);
    EXPECT_EQ(x.wrong(), 0) << odd.kernel;
    x.space.expect_zero();
  }
}

TEST(Dependent, AChainOfGemmsWaitsForItsPredecessors) {
  chain like(100);
  auto const plans =
      plan_candidates(like.problem, like.step(0), with_sm_count(known_device("h200"), sms));
  std::size_t shared = 0;
  while (shared < plans.size() && plans[shared].schedule.split_k_tiles == 0) ++shared;
  ASSERT_LT(shared, plans.size());
  for (std::size_t i : {std::size_t{0}, std::size_t{1}, shared}) run(100, plans[i], plans[i]);
}

/// A GEMV after a kernel that writes by TMA, which the emulator sees also in this library's
/// kernels.
TEST(Dependent, SoDoesAChainOfSmallM) {
  for (int const rows : {1, 5}) {
    chain like(rows);
    auto const plans =
        plan_candidates(like.problem, like.step(0), with_sm_count(known_device("h200"), sms));
    auto const other = std::find_if(plans.begin(), plans.end(),
                                    [](gemm_plan const& x) { return x.family->id() != "gemv"; });
    ASSERT_NE(other, plans.end());
    int found = 0;
    for (gemm_plan const& plan : plans)
      if (plan.family->id() == "gemv") run(rows, *other, plan), ++found;
    EXPECT_GE(found, 2);
  }
}

/// The sizes of groups are the result of the launch before, an 8-bit GEMM with D of s32. One plan
/// of each runs again with other sizes, as the launches of a graph do.
TEST(Dependent, SizesOfGroupsAreReadAfterTheWait) {
  constexpr int groups = 4, k = 16, rows = 300, n = 64, inner = 64;
  using sizes_of = std::array<std::int32_t, groups>;
  std::vector<std::int8_t> one(k, 0), parts(groups * k, 0);
  one[0] = one[1] = one[2] = 1;
  std::vector<std::uint16_t> a(rows * inner), b(groups * n * inner), d(rows * n);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = to_bf16(static_cast<float>(i * 7 % 5) - 2).bits;
  for (int g = 0; g < groups; ++g)  // g + 1 times the identity
    for (int i = 0; i < n; ++i)
      b[static_cast<std::size_t>((g * n + i) * inner + i)] =
          to_bf16(static_cast<float>(g + 1)).bits;
  gemm_problem const sizes{1,
                           groups,
                           k,
                           {elem::s8, order::row_major, k},
                           {elem::s8, order::col_major, k},
                           {elem::s32, order::row_major, groups},
                           std::nullopt};
  gemm_problem p{rows,
                 n,
                 inner,
                 {elem::bf16, order::row_major, inner},
                 {elem::bf16, order::col_major, inner, n * inner},
                 {elem::bf16, order::row_major, n},
                 std::nullopt};
  p.groups = group_desc{.form = group_form::sizes, .count = groups};
  for (async_policy const policy : {async_policy::lazy, async_policy::random}) {
    std::vector<std::int32_t> made(groups, 1000);
    emu::stream stream;
    emu_options o;
    o.policy = policy, o.random_warps = true, o.sms = sms, o.in = &stream, o.pdl = true;
    gemm_operands const of_sizes{one.data(), parts.data(), nullptr, made.data()};
    gemm_operands of_groups{a.data(), b.data(), nullptr, d.data()};
    of_groups.groups = made.data();
    std::uint32_t status = 0;
    of_groups.group_status = &status;
    device const h200 = with_sm_count(known_device("h200"), sms);
    gemm_plan const first = plan_candidates(sizes, of_sizes, h200).front(),
                    second = plan_candidates(p, of_groups, h200).front();
    for (sizes_of const& wanted :
         {sizes_of{100, 0, 73, 127}, {0, 0, 0, 0}, {0, 300, 0, 0}, {1, 128, 0, 129}}) {
      for (std::size_t g = 0; g < groups; ++g)  // three parts of each size
        for (std::size_t i = 0, left = static_cast<std::size_t>(wanted[g]); i < 3; ++i) {
          std::size_t const part = std::min<std::size_t>(left, 127);
          parts[g * k + i] = static_cast<std::int8_t>(part), left -= part;
        }
      std::ranges::fill(d, 0xFFFF);
      gemm_emulated(first, of_sizes, o);
      gemm_emulated(second, of_groups, o);
      EXPECT_EQ(status, 0U);
      int row = 0;
      for (std::size_t g = 0; g < groups; ++g)
        for (int const end = row + wanted[g]; row < end; ++row)
          for (int c = 0; c < n; ++c)
            ASSERT_EQ(d[static_cast<std::size_t>(row * n + c)],
                      to_bf16(static_cast<float>(g + 1) *
                              to_float(bf16{a[static_cast<std::size_t>(row * inner + c)]}))
                          .bits)
                << g << ", row " << row;
      EXPECT_TRUE(std::all_of(d.begin() + row * n, d.end(), [](auto x) { return x == 0xFFFF; }));
    }
  }
}

}  // namespace
}  // namespace tw::test
