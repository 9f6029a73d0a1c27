// SPDX-License-Identifier: Apache-2.0
// groups_faults_test.cpp  Faults planted in the Hopper GEMM of groups: each gives a report, or a
//                         wrong element of D that is named.
//
// A fault is a specialisation of a member of the tile scheduler, or of the kernel. It is made for a
// configuration that no other test of this program instantiates, so that other tests keep the
// correct member.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "family/sm90_gemm/config_of.hpp"
#include "family/sm90_gemm/params.hpp"
#include "tests/hazard/hazard_kernels.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/kernel/sm90/gemm.hpp"
#include "tilewright/problem/scale_convention.hpp"
#include "tilewright/problem/scale_place.hpp"

namespace tw {
namespace {

/// Kernels of 128x128; instances have 5 stages.
constexpr gemm_config of(int stages, group_axis axis, elem d = elem::bf16,
                         epilogue_id epilogue = epilogue_id::plain) {
  return {.a = {elem::bf16, elem::bf16},
          .b = {elem::bf16, elem::bf16},
          .d = d,
          .tile_n = 128,
          .cluster_m = 1,
          .stages = stages,
          .epilogue = epilogue,
          .ragged = axis};
}
constexpr gemm_config scaled(int stages) {
  gemm_config c = of(stages, group_axis::k, elem::f32);
  c.a = c.b = {elem::e4m3, elem::e4m3};
  c.sums = sum_form::scaled;
  return c;
}
constexpr gemm_config rows = of(2, group_axis::m), not_clipped = of(3, group_axis::m),
                      read_before_wait = of(4, group_axis::m), one_short = of(6, group_axis::m);
constexpr gemm_config biased = of(2, group_axis::m, elem::bf16, epilogue_id::ops),
                      bias_of_neighbour = of(3, group_axis::m, elem::bf16, epilogue_id::ops);
constexpr gemm_config of_k = of(2, group_axis::k), empty_not_written = of(3, group_axis::k);
constexpr gemm_config blocks = scaled(2), blocks_go_on = scaled(3);

}  // namespace

/// The box of D ends with D, not with its group.
template <>
fragment_place group_scheduler<not_clipped>::place_in_d(gemm_params const& p, group_tile const& t,
                                                        int below, int right) {
  return {t.begin + t.row + below, t.col + right, p.m, t.matrix, 0};
}
template <>
void gemm_sm90_kernel<read_before_wait, no_profile, no_gate>::begin(params const& p, smem& s) {
  cta_sync();
  if (warp_id() == warps_of_warpgroup) scheduler::prepare(p, s.groups.table);
  grid_dependency_wait();
  cta_sync();
}
template <>
void group_scheduler<one_short>::prepare(gemm_params const& p, group_table& t) {
  fill_group_table(p.group.sizes, step(p), p.group.across, cta_id() == 0, t);
  warp_sync();
  int const last = p.group.sizes.groups;
  if (lane_id() == 0) t.first_tile[last] = t.first_tile[last - 1];
}
template <>
fragment_place group_scheduler<bias_of_neighbour>::place_in_d(gemm_params const& p,
                                                              group_tile const& t, int below,
                                                              int right) {
  int const before = p.m - t.size;
  return {before + t.row + below, t.col + right, t.begin + t.size,
          (t.matrix + 1) % p.group.sizes.groups, t.begin - before};
}
template <>
int group_k_scheduler<blocks_go_on>::first_block(gemm_params const&, group_table const&,
                                                 group_segment const& seg) {
  return seg.begin / 128;
}
/// No tile has an empty group.
template <>
struct group_k_scheduler<empty_not_written> : group_k_scheduler<of_k> {
  struct work : group_blocks {
    bool next(work_plan const& plan, int clusters, group_segment& s) {
      while (group_blocks::next(plan, clusters, s))
        if (s.size > 0) return true;
      return false;
    }
  };
  static work work_of(gemm_params const& p, group_table const& t) {
    return {group_k_scheduler<of_k>::work_of(p, t)};
  }
};

namespace test {
namespace {

/// Writes the sizes of the next launch, late.
struct write_sizes {
  struct params {
    std::int32_t const* from;
    std::int32_t* to;
    int count;
  };
  static constexpr int threads = warp_threads, cluster = 1, smem_bytes = 0;
  static void run(params const& p) {
    enter_role("sizes");
    grid_dependents_launch();
    if (thread_id() < p.count) p.to[thread_id()] = p.from[thread_id()];
  }
};

struct groups_run {
  emu::report report;
  std::string wrong;  // the first element of D that is wrong; empty: none
};

/// A GEMM of four groups on small integers, by three CTAs: rows 70, 0, 40 and 20 of 136, or of K.
template <gemm_config C>
class four_groups {
 public:
  static constexpr bool of_rows = C.ragged == group_axis::m, fp8 = C.scaled();
  static constexpr int count = 4, n = 128, m = of_rows ? 136 : 128, k = of_rows ? 192 : 512;

  explicit four_groups(int schedule)
      : random_(static_cast<unsigned>(schedule)),
        schedule_(schedule) {
    fill(a_, m * k), fill(b_, n * k * (of_rows ? count : 1));
    d_.assign(static_cast<std::size_t>(m * n * (of_rows ? 1 : count) * size_bytes(C.d)), 0xFF);
    for (int i = 0; i < count * n; ++i) bias_.push_back(static_cast<float>(16 * (i / n) + i % 3));
    matrix_desc const left{C.a.stored, order::row_major, k},
        right{C.b.stored, order::col_major, k, of_rows ? n * k : 0},
        result{C.d, order::row_major, n, of_rows ? 0 : m * n};
    problem_ = {m, n, k, left, right, result};
    problem_.groups = group_desc{.axis = C.ragged, .form = group_form::sizes, .count = count};
    if (C.fused()) problem_.epilogue.bias = along::cols;
    if (!fp8) return;
    problem_.groups->scale_blocks = (k + 127 * count) / 128;
    for (role const x : a_and_b) {
      std::vector<float>& s = x == role::a ? scale_a_ : scale_b_;
      scale_desc of = make_scale({x == role::b, 128, scaled_k(problem_)}, scaling::block_1x128);
      of.stride_outer = 1, of.stride_k = 128;
      scale(problem_, x) = of;
      for (std::int64_t i = 0; i < 128 * problem_.groups->scale_blocks; ++i)
        s.push_back(std::ldexp(1.0F, static_cast<int>(i / 128) % 3));
    }
  }

  groups_run run() {
    std::vector<std::int32_t> made(count, 0);  // by the launch before
    gemm_operands o{a_.data(), b_.data(), nullptr, d_.data()};
    o.groups = made.data(), o.bias = bias_.data();
    o.scale_a = scale_a_.data(), o.scale_b = scale_b_.data();
    std::vector<gemm_plan> plans =
        plan_candidates(problem_, o, with_sm_count(known_device("h200"), 3), kernel_set::all);
    std::erase_if(plans, [](gemm_plan const& x) {
      if (!is_sm90_gemm(x) || x.swapped) return true;
      gemm_config c = config_of(x);
      c.stages = C.stages;
      return c != C;
    });
    if (plans.empty()) return {{}, "no plan"};
    gemm_params const p = make_params(plans.front(), plans.front().normal, o, target::emu);
    emu::stream stream;
    emu::options options = scheduled(schedule_);
    options.in = &stream, options.pdl = true;
    write_sizes::params const sizes{size.data(), made.data(), count};
    emu::report const before = emu::run(write_sizes{}, 1, sizes, options);
    EXPECT_TRUE(before.clean()) << before.text();
    emu::report const r = emu::run(gemm_sm90<C>{}, 3, p, options);
    return {r, wrong()};
  }

 private:
  inline static std::vector<std::int32_t> const size =
      of_rows ? std::vector<std::int32_t>{70, 0, 40, 20}
              : std::vector<std::int32_t>{80, 0, 144, 176};

  void fill(std::vector<std::uint8_t>& to, int elements) {
    for (int i = 0; i < elements; ++i) {
      float const x = static_cast<float>(random_() % 5) - 2;
      if (fp8) {
        to.push_back(to_e4m3(x, saturation::finite).bits);
      } else {
        std::uint16_t const bits = to_bf16(x).bits;
        to.push_back(static_cast<std::uint8_t>(bits)), to.push_back(bits >> 8);
      }
    }
  }
  static float at(std::vector<std::uint8_t> const& x, int i) {
    auto const j = static_cast<std::size_t>(i);
    if (fp8) return to_float(e4m3{x[j]});
    return to_float(bf16{static_cast<std::uint16_t>(x[2 * j] | x[2 * j + 1] << 8)});
  }
  /// The bytes of D(row, col) of matrix `of`, as a number.
  std::uint32_t got(int of, int row, int col) const {
    auto const i = static_cast<std::size_t>(((of * m + row) * n + col) * size_bytes(C.d));
    std::uint32_t bits = 0;
    std::copy_n(d_.data() + i, size_bytes(C.d), reinterpret_cast<std::uint8_t*>(&bits));
    return bits;
  }
  static std::uint32_t bits_of(float x) {
    return C.d == elem::f32 ? std::bit_cast<std::uint32_t>(x) : to_bf16(x).bits;
  }
  std::string wrong() const {
    int begin = 0, block = 0;
    auto const name = [](int g, int row, int col) {
      return "group " + std::to_string(g) + ", D(" + std::to_string(row) + ", " +
             std::to_string(col) + ")";
    };
    for (int g = 0; g < count; ++g) {
      int const here = size[static_cast<std::size_t>(g)];
      for (int row = of_rows ? begin : 0; row < (of_rows ? begin + here : m); ++row)
        for (int col = 0; col < n; ++col) {
          float sum = C.fused() ? bias_[static_cast<std::size_t>(g * n + col)] : 0;  // exact
          int const first = of_rows ? 0 : begin, last = of_rows ? k : begin + here;
          for (int i = first; i < last; ++i) {
            float const scale =
                fp8 ? std::ldexp(1.0F, 2 * ((block + (i - first) / 128) % 3)) : 1.0F;
            sum += at(a_, row * k + i) * at(b_, ((of_rows ? g * n : 0) + col) * k + i) * scale;
          }
          if (got(of_rows ? 0 : g, row, col) != bits_of(sum)) return name(g, row, col);
        }
      begin += here, block += (here + 127) / 128;
    }
    std::uint32_t const untouched = C.d == elem::f32 ? 0xFFFFFFFFU : 0xFFFFU;
    for (int row = begin; of_rows && row < m; ++row)
      for (int col = 0; col < n; ++col)
        if (got(0, row, col) != untouched) return name(-1, row, col);
    return "";
  }

  std::mt19937 random_;
  int schedule_;
  std::vector<std::uint8_t> a_, b_, d_;
  std::vector<float> bias_, scale_a_, scale_b_;
  gemm_problem problem_;
};

class GroupsFaults : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!plain_accesses_seen) GTEST_SKIP() << "built without sight of ordinary loads and stores";
  }
  template <gemm_config C>
  groups_run run() {
    return four_groups<C>(GetParam()).run();
  }
  template <gemm_config C>
  void expect_right() {
    groups_run const r = run<C>();
    EXPECT_TRUE(r.report.clean()) << r.report.text();
    EXPECT_EQ(r.wrong, "");
  }
  /// No rule is broken, and D is wrong in this group; -1: in rows of no group.
  template <gemm_config C>
  void expect_wrong(int group) {
    groups_run const r = run<C>();
    EXPECT_TRUE(r.report.clean()) << r.report.text();
    EXPECT_EQ(r.wrong.substr(0, r.wrong.find(',')), "group " + std::to_string(group)) << r.wrong;
  }
};

TEST_P(GroupsFaults, TheKernelsWithoutAFaultAreRight) {
  expect_right<rows>();
  expect_right<biased>();
  expect_right<of_k>();
  expect_right<blocks>();
}
TEST_P(GroupsFaults, NoClipping) {
  groups_run const r = run<not_clipped>();
  EXPECT_EQ(r.wrong.substr(0, 6), "group ");
}
TEST_P(GroupsFaults, SizesReadBeforeTheDependencyWait) {
  groups_run const r = run<read_before_wait>();
  ASSERT_FALSE(r.report.clean());
  EXPECT_EQ(r.report.diagnoses.front().code, "E0046") << r.report.text();
}
TEST_P(GroupsFaults, ATableOneGroupShort) { expect_wrong<one_short>(3); }
TEST_P(GroupsFaults, BiasOfTheNeighbour) { expect_wrong<bias_of_neighbour>(0); }
TEST_P(GroupsFaults, AnEmptyGroupOfKIsNotWritten) { expect_wrong<empty_not_written>(1); }
TEST_P(GroupsFaults, ScaleBlocksDoNotBeginAnew) { expect_wrong<blocks_go_on>(2); }

INSTANTIATE_TEST_SUITE_P(Schedules, GroupsFaults, testing::Range(0, 3));

}  // namespace
}  // namespace test
}  // namespace tw
