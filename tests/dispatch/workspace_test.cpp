// SPDX-License-Identifier: Apache-2.0
// workspace_test.cpp  A launch touches the workspace that its plan states, and no more.
#include "family/workspace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "family/sm90_gemm/params.hpp"
#include "tests/dispatch/problems.hpp"
#include "tests/kernel/guarded_memory.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/problem/block_result.hpp"
#include "tilewright/problem/scale_convention.hpp"

namespace tw::test {
namespace {

/// With a float32 D.
gemm_problem tn(std::int64_t m, std::int64_t n, std::int64_t k) {
  return test::tn(m, n, k, elem::f32);
}

/// Operands of ones, a D, and a workspace between guards that is all 0x5A after its counters.
struct ones {
  explicit ones(gemm_problem const& p, std::int64_t workspace_bytes)
      : a(static_cast<std::size_t>(p.m * p.k), to_bf16(1)),
        b(static_cast<std::size_t>(p.n * p.k), to_bf16(1)),
        d(static_cast<std::size_t>(p.m * p.n), -1),
        memory(static_cast<std::size_t>(workspace_bytes) + 512, std::byte{0x5A}) {
    auto const address = reinterpret_cast<std::uintptr_t>(memory.data());
    first = 256 - address % 256;
    operands = {a.data(), b.data(), nullptr, d.data()};
    operands.workspace = memory.data() + first;
    operands.workspace_bytes = workspace_bytes;
    std::fill_n(memory.begin() + static_cast<std::ptrdiff_t>(first),
                std::min(workspace_bytes, gemm_workspace_zeros), std::byte{0});
  }
  std::int64_t changed(std::size_t begin, std::size_t end, std::byte expected) const {
    return std::count_if(memory.begin() + static_cast<std::ptrdiff_t>(begin),
                         memory.begin() + static_cast<std::ptrdiff_t>(end),
                         [&](std::byte x) { return x != expected; });
  }

  std::vector<bf16> a, b;
  std::vector<float> d;
  std::vector<std::byte> memory;
  std::size_t first = 0;
  gemm_operands operands;
};

TEST(Workspace, CopiesUseExactlyWhatThePlanStates) {
  gemm_problem const p = tn(40, 24, 33);
  gemm_operands const none{};
  gemm_plan const plan = plan_gemm(p, none, h200(4));
  ASSERT_TRUE(plan.repitch.a && plan.repitch.b);
  // Counters, then each copy at a pitch of 40 elements, at multiples of 256 bytes.
  auto const round = [](std::int64_t x) { return (x + 255) / 256 * 256; };
  EXPECT_EQ(plan.workspace_bytes, gemm_workspace_zeros + round(40 * 80) + round(24 * 80));

  ones with(p, plan.workspace_bytes);
  gemm_emulated(plan, with.operands);
  EXPECT_TRUE(std::all_of(with.d.begin(), with.d.end(), [](float x) { return x == 33; }));
  auto const bytes = static_cast<std::size_t>(plan.workspace_bytes);
  auto const zeros = static_cast<std::size_t>(gemm_workspace_zeros);
  EXPECT_EQ(with.changed(0, with.first, std::byte{0x5A}), 0) << "written before the workspace";
  EXPECT_EQ(with.changed(with.first + bytes, with.memory.size(), std::byte{0x5A}), 0) << "after it";
  EXPECT_EQ(with.changed(with.first, with.first + zeros, std::byte{0}), 0) << "counters";
  EXPECT_GT(with.changed(with.first + zeros, with.first + bytes, std::byte{0x5A}), 0) << "copies";
}

TEST(Workspace, CopiesHaveWholeLinesWhereThatIsCheap) {
  matrix_desc const m{elem::bf16, order::row_major, 1};
  auto const pitch = [&](std::int64_t inner) { return padded_copy(m, {inner, 3}, 1).pitch_elems; };
  EXPECT_EQ(pitch(64), 64);
  EXPECT_EQ(pitch(33), 40);
  EXPECT_EQ(pitch(1025), 1032);  // 1088 would be 6 % more
  EXPECT_EQ(pitch(2047), 2048);
  EXPECT_EQ(pitch(2049), 2112);
  padded const batch = padded_copy({elem::bf16, order::row_major, 1, 7}, {2049, 3}, 5);
  EXPECT_EQ(batch.batch_stride_elems, 3 * 2112);
  EXPECT_EQ(batch.bytes, 5 * 3 * 2112 * 2);
}

TEST(Workspace, SplitKPartsAndCopiesDoNotOverlap) {
  gemm_problem const p = tn(40, 24, 4001);
  ones with(p, gemm_workspace_bytes(p, {}));
  gemm_plan plan;
  for (gemm_plan const& x : plan_candidates(p, with.operands, h200(4)))
    if (x.schedule.split_k_tiles > 0) plan = x;
  ASSERT_GT(plan.schedule.split_k_tiles, 0);
  workspace_layout const w = workspace_of(plan);
  EXPECT_EQ(w.partials, gemm_workspace_zeros);
  EXPECT_GT(w.copies.a, w.partials);
  EXPECT_GT(w.copies.b, w.copies.a);
  EXPECT_EQ(plan.workspace_bytes, w.bytes);
  for (int run = 0; run < 2; ++run) {
    std::fill(with.d.begin(), with.d.end(), -1.0F);
    gemm_emulated(plan, with.operands);
    EXPECT_TRUE(std::all_of(with.d.begin(), with.d.end(), [](float x) { return x == 4001; }));
  }
}

TEST(Workspace, ACopyWithoutRoomIsRefused) {
  gemm_problem const p = tn(40, 24, 33);
  std::int64_t const need = plan_gemm(p, {}, h200(4)).workspace_bytes;
  for (std::int64_t const bytes : {std::int64_t{0}, need - 256, need - 1}) {
    ones with(p, bytes);  // none: an address, but no bytes
    try {
      gemm_emulated(p, with.operands);
      FAIL() << "accepted";
    } catch (rejected const& r) {
      EXPECT_EQ(r.why().code, "TW0410");
      EXPECT_NE(r.why().need.find(std::to_string(need)), std::string::npos) << r.what();
    }
  }
}

/// D with scales at decode shapes: kernels with few columns, whose plans need no other workspace.
TEST(Workspace, EveryPlanStatesItsFloat32D) {
  std::set<std::string_view> families;
  for (char const* const id : {"h200", "a100", "b200"})
    for (std::int64_t const m : {1, 5, 40}) {
      gemm_problem p = tn(m, 256, 64);
      std::vector<std::uint8_t> values(static_cast<std::size_t>(p.m * p.n));
      std::vector<float> scales(
          static_cast<std::size_t>(p.m * p.n));  // more than any of them needs
      for (int kind = 0; kind < 4; ++kind) {
        p.d = {kind == 1 ? elem::s8 : elem::e4m3, order::row_major, p.n};
        p.scale_d = kind == 0   ? output_scales{{}, true, false}
                    : kind == 1 ? output_scales{make_scale({false, m, p.n}, scaling::row)}
                    : kind == 2 ? output_scales{make_scale({false, m, p.n}, scaling::block_1x128)}
                                : make_block_result(block_format::mxfp8, m, p.n);
        ones with(p, 0);
        with.operands.d = values.data(), with.operands.scale_d = scales.data();
        with.operands.workspace_bytes = std::int64_t{1} << 30;  // for planning
        device const dev = with_sm_count(known_device(id), 4);
        for (gemm_plan const& plan : plan_candidates(p, with.operands, dev, kernel_set::all)) {
          EXPECT_EQ(plan.workspace_bytes, workspace_of(plan).bytes) << plan.kernel;
          if (!plan.stage_d) continue;
          families.insert(plan.family->id());
          std::int64_t const of_d = p.m * p.n * 4;
          EXPECT_GE(plan.workspace_bytes, gemm_workspace_zeros + of_d) << plan.kernel;
          if (!plan.built) continue;
          if (kind == 0) scales[0] = 0.5F;
          auto const run = [&](std::int64_t bytes) {
            guarded const memory(static_cast<std::size_t>(bytes), true);
            gemm_operands o = with.operands;
            o.workspace = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(memory.data()) /
                                                  256 * 256);
            o.workspace_bytes = bytes;
            gemm_emulated(plan, o);
          };
          run(plan.workspace_bytes);
          auto const with_exact = values;
          EXPECT_NE(with_exact[0], 0);
          try {
            run(plan.workspace_bytes - 1);
            ADD_FAILURE() << plan.kernel << " ran with a byte less than it needs";
          } catch (rejected const& r) {
            EXPECT_EQ(r.why().code, "TW0410");
          }
          std::ranges::fill(values, std::uint8_t{0});
          gemm_operands none = with.operands;
          none.workspace_bytes = 0;
          none.workspace = nullptr;
          gemm_emulated(plan, none);  // makes its own
          EXPECT_EQ(values, with_exact) << plan.kernel;
        }
      }
    }
  EXPECT_EQ(families.size(), 4U) << "gemv, sm80_gemm, sm90_gemm, sm100_gemm";
}

/// A launch checks what it touches, not what the plan says.
TEST(Workspace, APlanWhoseBytesWereEditedIsRefusedAllTheSame) {
  gemm_problem const p = tn(40, 24, 33);
  gemm_plan plan = plan_gemm(p, {}, h200(4));
  std::int64_t const need = plan.workspace_bytes;
  plan.workspace_bytes = 0;
  ones with(p, need - 1);
  EXPECT_THROW(gemm_emulated(plan, with.operands), rejected);
}

TEST(Workspace, AnEmulatedGemmMakesItsOwn) {
  for (auto const& [m, n, k] :
       {std::array{40, 24, 33}, std::array{7, 5, 1}, std::array{1, 9, 31}}) {
    gemm_problem const p = tn(m, n, k);
    ones with(p, 0);
    with.operands.workspace = nullptr;
    gemm_emulated(p, with.operands);
    EXPECT_TRUE(std::ranges::all_of(with.d, [k = k](float x) { return x == k; })) << k;
  }
}

TEST(Workspace, TheStatedBytesServeEveryPlan) {
  for (std::int64_t const k : {64, 65, 4001})
    for (std::int64_t const m : {1, 40, 1000}) {
      gemm_problem const p = tn(m, 24, k);
      std::int64_t const bytes = gemm_workspace_bytes(p, {});
      gemm_operands const o{nullptr, nullptr, nullptr, nullptr, nullptr, bytes};
      auto const plans = plan_candidates(p, o, known_device("h200"));
      for (gemm_plan const& x : plans) EXPECT_LE(x.workspace_bytes, bytes) << x.kernel;
      gemm_operands const more{nullptr, nullptr, nullptr, nullptr, nullptr, bytes * 8};
      EXPECT_EQ(plan_candidates(p, more, known_device("h200")).size(), plans.size())
          << "more would allow more plans";
    }
}

/// The workspace holds a float32 D beside the 64 MiB of split-K tiles and the copies of operands,
/// also of a batch.
TEST(Workspace, TheStatedBytesServeAFloatDInTheWorkspace) {
  struct row {
    std::int64_t m, n, k, batch;
    block_format const* format;  // or none: e4m3 with float32 row scales
  };
  static constexpr block_format mx = block_format::mxfp8, nv = block_format::nvfp4;
  for (row const& r : {row{4096, 8192, 64, 1, nullptr},
                       {4096, 8192, 65, 1, nullptr},
                       {1024, 8192, 64, 5, nullptr},
                       {4096, 8192, 64, 1, &mx},
                       {1024, 8192, 65, 3, &nv}}) {
    gemm_problem p = batch_of(tn(r.m, r.n, r.k), r.batch);
    p.d.type = r.format == nullptr ? elem::e4m3 : traits_of(*r.format).value;
    if (r.format != nullptr) {
      p.scale_d = make_block_result(*r.format, r.m, r.n, factor_order::swizzled, r.batch);
    } else {
      p.scale_d = output_scales{make_scale({false, r.m, r.n}, scaling::row)};
      if (r.batch > 1) p.scale_d->desc.batch_stride = r.m;
    }
    std::int64_t const floats = r.m * r.n * r.batch * 4;
    gemm_operands const none{};
    for (char const* const id : {"h200", "b200"}) {
      std::int64_t const bytes = gemm_workspace_bytes(p, none, known_device(id));
      EXPECT_GE(bytes, (std::int64_t{64} << 20) + floats);
      gemm_operands o{};
      o.workspace_bytes = bytes;
      int staged = 0;
      for (gemm_plan const& x : plan_candidates(p, o, known_device(id), kernel_set::all)) {
        EXPECT_LE(x.workspace_bytes, bytes) << x.kernel;
        workspace_layout const w = workspace_of(x);
        EXPECT_EQ(x.workspace_bytes, w.bytes) << x.kernel;
        if (!x.stage_d) continue;
        ++staged;
        EXPECT_GE(w.staged_d, gemm_workspace_zeros) << x.kernel;
        EXPECT_LE(w.staged_d + floats, w.bytes) << x.kernel;
        for (std::int64_t const other : {w.partials, w.copies.a, w.copies.b})
          EXPECT_LT(other, w.staged_d) << x.kernel;
      }
      EXPECT_GT(staged, 0) << id << " " << r.m << " x " << r.n;
    }
  }
}

}  // namespace
}  // namespace tw::test
