// SPDX-License-Identifier: Apache-2.0
// groups_laws_emu_test.cpp  The order of groups does not change bits, and equal groups have the
//                           bits of a batch, of each axis.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "tests/effort.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/gemm_cases.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw::test {
namespace {

using bits = std::vector<std::uint16_t>;

/// An array of bf16 with `elems` elements for each row of a group (ragged), or for each group.
struct piece {
  bool ragged;
  std::int64_t elems;
  std::int64_t of(std::int64_t size) const { return ragged ? elems * size : elems; }
};

/// Groups of one axis: the same numbers in any order of the groups.
class ordered_groups {
 public:
  static constexpr std::int64_t m = 136, n = 72, k = 200;

  ordered_groups(group_axis axis, std::vector<std::int32_t> sizes, std::mt19937_64& rng)
      : sizes_(std::move(sizes)) {
    using enum order;
    std::int64_t const total = std::accumulate(sizes_.begin(), sizes_.end(), std::int64_t{0});
    auto const desc = [](order o, std::int64_t pitch, piece const& x) {
      return matrix_desc{elem::bf16, o, pitch, x.ragged ? 0 : x.elems};
    };
    if (axis == group_axis::m) {
      a_ = {true, k}, b_ = {false, n * k}, d_ = {true, n};
      problem = {
          total, n, k, desc(row_major, k, a_), desc(col_major, k, b_), desc(row_major, n, d_)};
    } else if (axis == group_axis::n) {
      a_ = {false, m * k}, b_ = {true, k}, d_ = {true, m};
      problem = {
          m, total, k, desc(row_major, k, a_), desc(col_major, k, b_), desc(col_major, m, d_)};
    } else {
      a_ = {true, m}, b_ = {true, n}, d_ = {false, m * n};
      problem = {
          m, n, total, desc(col_major, m, a_), desc(row_major, n, b_), desc(row_major, n, d_)};
    }
    problem.groups = group_desc{
        .axis = axis, .form = group_form::sizes, .count = static_cast<std::int64_t>(sizes_.size())};
    std::normal_distribution<float> normal;
    for (std::int32_t const size : sizes_)
      for (auto const& [x, all] : {std::pair{&a_, &a_of_}, {&b_, &b_of_}}) {
        bits numbers(static_cast<std::size_t>(x->of(size)));
        for (std::uint16_t& v : numbers) v = to_bf16(normal(rng)).bits;
        all->push_back(numbers);
      }
  }

  /// D of each group, in the order of the constructor, of groups in the order of `order`.
  std::vector<bits> run(gemm_plan const& plan, std::vector<std::size_t> const& order,
                        std::uint64_t seed) const {
    bits const a = joined(a_of_, order), b = joined(b_of_, order);
    std::vector<std::int32_t> sizes;
    std::int64_t elems = 0;
    for (std::size_t const g : order) sizes.push_back(sizes_[g]), elems += d_.of(sizes_[g]);
    bits d(static_cast<std::size_t>(elems), 0xFFFF);
    gemm_operands o{a.data(), b.data(), nullptr, d.data()};
    o.groups = sizes.data();
    emu_options options;
    options.seed = seed, options.random_warps = true, options.policy = async_policy::random;
    emulate(plan, o, options);
    std::vector<bits> of(order.size());
    auto at = d.begin();
    for (std::size_t const g : order) {
      auto const end = at + d_.of(sizes_[g]);
      of[g].assign(at, end), at = end;
    }
    return of;
  }
  /// D of each group as a matrix of a batch; all groups have one size.
  std::vector<bits> run_as_batch() const {
    gemm_problem p = problem;
    p.groups.reset();
    p.batch = static_cast<std::int64_t>(sizes_.size());
    (problem.groups->axis == group_axis::m   ? p.m
     : problem.groups->axis == group_axis::n ? p.n
                                             : p.k) = sizes_[0];
    p.a.batch_stride_elems = a_.of(sizes_[0]), p.b.batch_stride_elems = b_.of(sizes_[0]);
    p.d.batch_stride_elems = d_.of(sizes_[0]);
    std::vector<std::size_t> order(sizes_.size());
    std::iota(order.begin(), order.end(), 0U);
    bits const a = joined(a_of_, order), b = joined(b_of_, order);
    auto const each = static_cast<std::size_t>(d_.of(sizes_[0]));
    bits d(each * order.size());
    gemm_emulated(p, {a.data(), b.data(), nullptr, d.data()}, {});
    std::vector<bits> of;
    for (std::size_t g = 0; g < order.size(); ++g)
      of.emplace_back(d.begin() + static_cast<std::ptrdiff_t>(each * g),
                      d.begin() + static_cast<std::ptrdiff_t>(each * (g + 1)));
    return of;
  }

  /// Plans of this build, for addresses that TMA takes.
  std::vector<gemm_plan> plans() const {
    alignas(16) static std::byte const any[16] = {};
    gemm_operands o{any, any, nullptr, const_cast<std::byte*>(any)};
    return plan_candidates(problem, o, with_sm_count(known_device("h200"), 4));
  }

  gemm_problem problem;

 private:
  static bits joined(std::vector<bits> const& of, std::vector<std::size_t> const& order) {
    bits all;
    for (std::size_t const g : order) all.insert(all.end(), of[g].begin(), of[g].end());
    return all;
  }

  std::vector<std::int32_t> sizes_;
  piece a_, b_, d_;
  std::vector<bits> a_of_, b_of_;
};

class GroupLaws : public testing::TestWithParam<group_axis> {};

TEST_P(GroupLaws, TheOrderOfGroupsDoesNotChangeBits) {
  std::mt19937_64 rng(20261215);
  for (int round = 0; round < sample(8, 2) && !HasFailure(); ++round) {
    std::vector<std::int32_t> sizes = {1, 0, 128, 129, 64};
    while (sizes.size() < 8) sizes.push_back(static_cast<std::int32_t>(rng() % 300));
    ordered_groups const x(GetParam(), sizes, rng);
    std::vector<gemm_plan> const plans = x.plans();
    ASSERT_FALSE(plans.empty());
    for (gemm_plan const& plan : plans) {
      std::vector<std::size_t> order(sizes.size());
      std::iota(order.begin(), order.end(), 0U);
      std::vector<bits> const want = x.run(plan, order, rng());
      std::ranges::shuffle(order, rng);
      EXPECT_TRUE(x.run(plan, order, rng()) == want) << plan.kernel;
    }
  }
}

/// If the batch adds in the order of whole tiles.
TEST_P(GroupLaws, EqualGroupsHaveTheBitsOfABatch) {
  std::mt19937_64 rng(20261130);
  ordered_groups x(GetParam(), std::vector<std::int32_t>(5, 136), rng);
  x.problem.reproducible = true;
  std::vector<std::size_t> order(5);
  std::iota(order.begin(), order.end(), 0U);
  std::vector<gemm_plan> const plans = x.plans();
  ASSERT_FALSE(plans.empty());
  for (gemm_plan const& plan : plans)
    EXPECT_TRUE(x.run(plan, order, rng()) == x.run_as_batch()) << plan.kernel;
}

INSTANTIATE_TEST_SUITE_P(Axes, GroupLaws,
                         testing::Values(group_axis::m, group_axis::n, group_axis::k),
                         [](auto const& i) {
                           return std::string(group_axis_names[static_cast<int>(i.param)]);
                         });

}  // namespace
}  // namespace tw::test
