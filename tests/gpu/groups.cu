// SPDX-License-Identifier: Apache-2.0
// groups.cu  GEMMs of groups and of 4-bit weights on a GPU, every kernel of the build: random
//            sizes, epilogues and index arrays, as in the emulator's tests; a graph replayed with
//            other sizes; a layer of a mixture of experts. Exit 0 done, 1 wrong, 77 no GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>
#include <set>

#include "tests/gpu/built_plans.hpp"
#include "tests/gpu/copied_run.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/groups/indexed_groups.hpp"
#include "tests/kernel/weights/weights_cases.hpp"
#include "tilewright/dispatch/moe.hpp"
#include "tilewright/problem/without_indices.hpp"

namespace tw::test {
namespace {

/// Cases of each kernel: TW_GPU_CASES, or `usual`.
int cases(int usual) {
  char const* const text = std::getenv("TW_GPU_CASES");
  return text == nullptr ? usual : std::atoi(text);
}

/// The built plan of kernel i of a family, not transposed, if there is one. `ordered`: a launch
/// copies the rows that groups gather in order first.
std::optional<gemm_plan> plan_of(gemm_problem const& p, gemm_operands o, gemm_family const* f,
                                 int i, bool ordered = false) {
  o.workspace_bytes = std::int64_t{8} << 20;  // of run_copied()
  std::vector<gemm_plan> plans;
  try {
    plans = built_plans(p, o);
  } catch (rejected const& r) {
    EXPECT_TRUE(r.why().code == "TW0494" || r.why().code == "TW0505") << r.what();
    return std::nullopt;
  }
  for (gemm_plan const& x : plans)
    if (x.family == f && x.instance == i && !x.swapped && x.ordered.has_value() == ordered)
      return x;
  return std::nullopt;
}

/// Calls f(family, index, facts) for each kernel of this GPU with device code.
template <class Call>
void for_each_kernel(Call const& call) {
  for (gemm_family const* f : families())
    for (int i = 0; i < f->kernel_count(); ++i)
      if (f->built(i)) call(f, i, f->facts(i));
}

grouped_shape shape_of(kernel_facts const& x, bool poison) {
  auto const is_k = [](operand_major m) { return m == operand_major::k; };
  return {x.groups,
          x.ab,
          x.d,
          is_k(x.a) ? order::row_major : order::col_major,
          is_k(x.b) ? order::col_major : order::row_major,
          *x.d_order,
          x.epilogue.gate,
          poison};
}

TEST(GroupsGpu, RandomProblemsKeepTheBound) {
  std::mt19937_64 rng(20261129);
  int ran = 0;
  for_each_kernel([&](gemm_family const* f, int i, kernel_facts const& x) {
    if (x.groups == group_axis::none || x.weights || x.epilogue.ops || x.scaled) return;
    int mine = 0;
    for (int turn = 0; turn < cases(12) && !testing::Test::HasFailure(); ++turn) {
      grouped_product p =
          random_groups(rng, shape_of(x, size_bytes(x.ab) > 1), turn % 3 == 0 ? 300 : 70);
      p.problem.precision = x.precision;
      gemm_operands const o = p.operands();
      auto const plan = plan_of(p.problem, o, f, i);
      if (!plan) continue;
      SCOPED_TRACE(plan->kernel);
      EXPECT_TRUE(run_copied(*plan, p.problem, o)) << p.text();
      if (size_bytes(x.ab) == 2)
        expect_right_groups(p);
      else
        expect_right_fused_groups(p, o), expect_nothing_between_groups(p);
      EXPECT_EQ(p.status, 0U) << p.text();
      ++mine;
    }
    if (mine > 0) ++ran;
  });
  std::printf("  plain kernels: %d\n", ran);
  EXPECT_GT(ran, 0);
}

TEST(GroupsGpu, FusedEpiloguesKeepTheBound) {
  std::mt19937_64 rng(20261206);
  int ran = 0;
  for_each_kernel([&](gemm_family const* f, int i, kernel_facts const& x) {
    if (x.groups == group_axis::none || !x.epilogue.ops || x.scaled || x.weights) return;
    for (int turn = 0; turn < cases(8) && !testing::Test::HasFailure(); ++turn) {
      grouped_product p = random_groups(rng, shape_of(x, true), turn % 2 == 0 ? 40 : 150);
      p.problem.precision = x.precision;
      gemm_epilogue& e = p.problem.epilogue;
      e.act = activation::silu;
      e.bias = static_cast<along>(rng() % 3);
      if (rng() % 2 != 0) e.row_scale = along::rows;
      if (rng() % 2 != 0) e.col_scale = along::cols;
      if (rng() % 3 != 0) e.row_weight = x.groups == group_axis::m ? along::rows : along::cols;
      e.c_last = x.epilogue.gate || rng() % 2 != 0;
      if (x.epilogue.gate) e.gate = rng() % 2 != 0 ? gating::split : gating::interleaved;
      vectors_of_groups const v = random_vectors(p.problem, rng);
      gemm_operands const o = v.with(p.operands());
      auto const plan = plan_of(p.problem, o, f, i);
      if (!plan) continue;
      SCOPED_TRACE(plan->kernel);
      EXPECT_TRUE(run_copied(*plan, p.problem, o)) << p.text();
      expect_right_fused_groups(p, o);
      expect_nothing_between_groups(p);
      ++ran;
    }
  });
  std::printf("  fused runs: %d\n", ran);
  EXPECT_GT(ran, 0);
}

/// FP8 weight gradients: scales of 1x128 begin anew in each group.
TEST(GroupsGpu, ScaledGroupsOfKKeepTheBound) {
  std::mt19937_64 rng(20261212);
  int ran = 0;
  for_each_kernel([&](gemm_family const* f, int i, kernel_facts const& x) {
    if (x.groups != group_axis::k || !x.scaled) return;
    for (int turn = 0; turn < cases(10) && !testing::Test::HasFailure(); ++turn) {
      grouped_product p = random_groups(rng, shape_of(x, true), turn % 2 == 0 ? 60 : 400);
      p.problem.precision = x.precision;
      add_scales_of_k(p.problem, rng);
      vectors_of_groups const v = random_vectors(p.problem, rng);
      gemm_operands const o = v.with(p.operands());
      auto const plan = plan_of(p.problem, o, f, i);
      if (!plan) continue;
      SCOPED_TRACE(plan->kernel);
      EXPECT_TRUE(run_copied(*plan, p.problem, o)) << p.text();
      expect_right_fused_groups(p, o), expect_nothing_between_groups(p);
      ++ran;
    }
  });
  std::printf("  scaled groups of K: %d\n", ran);
  EXPECT_GT(ran, 0);
}

TEST(GroupsGpu, IndexArraysHaveTheBitsOfRowsInOrder) {
  std::mt19937_64 rng(20261208);
  int gathered = 0, ordered = 0, scattered = 0;
  for_each_kernel([&](gemm_family const* f, int i, kernel_facts const& x) {
    if (x.groups == group_axis::none || x.groups == group_axis::k || x.weights) return;
    for (int turn = 0; turn < cases(12) && !testing::Test::HasFailure(); ++turn) {
      indexed_groups t = random_indices(rng, x, turn % 2 == 0 ? 40 : 170);
      gemm_operands const o = t.indexed(), plain = t.plain();
      bool const copies = !t.gather.empty() && turn % 3 == 0;
      auto const plan = plan_of(t.problem, o, f, i, copies);
      auto const usual = plan_of(t.p.problem, plain, f, i);
      if (!plan || !usual) continue;
      SCOPED_TRACE(plan->kernel + ", " + t.p.text());
      EXPECT_TRUE(run_copied(*plan, t.problem, o));
      EXPECT_EQ(t.p.status, 0U);
      std::vector<std::byte> const got = t.scatter.empty() ? t.p.d.bytes : t.results.bytes;
      if (t.scatter.empty()) std::ranges::fill(t.p.d.bytes, std::byte{0xFF});
      EXPECT_TRUE(run_copied(*usual, t.p.problem, plain));
      std::vector<std::byte> want = t.p.d.bytes;
      if (!t.scatter.empty()) {
        matrix before = t.results;
        std::ranges::fill(before.bytes, std::byte{0xFF});
        for (group_range const& r : t.p.ranges)
          for (std::int64_t at = r.begin; at < r.begin + r.size; ++at)
            std::memcpy(line_of(before, t.scatter[static_cast<std::size_t>(at)]),
                        line_of(t.p.d, at), line_bytes(t.p.d));
        want = before.bytes;
      }
      EXPECT_TRUE(got == want);
      gathered += !t.gather.empty() && !copies, ordered += copies, scattered += !t.scatter.empty();
    }
  });
  std::printf("  gathered: %d\n  copied in order: %d\n  scattered: %d\n", gathered, ordered,
              scattered);
  EXPECT_GT(gathered, 0);
  EXPECT_GT(ordered, 0);
  EXPECT_GT(scattered, 0);
}

/// Sizes that descend, are negative or pass the total: the kernel takes the nearest possible size
/// and sets the status word.
TEST(GroupsGpu, ImpossibleSizesTouchNothingElse) {
  std::mt19937_64 rng(20261201);
  int bad = 0;
  for_each_kernel([&](gemm_family const* f, int i, kernel_facts const& x) {
    if (x.groups == group_axis::none || x.weights || x.epilogue.ops || size_bytes(x.ab) != 2)
      return;
    for (int turn = 0; turn < cases(4) && !testing::Test::HasFailure(); ++turn) {
      grouped_product p = random_groups(rng, shape_of(x, true), 100);
      std::int64_t const values[] = {-1, std::numeric_limits<std::int32_t>::min(),
                                     ragged_extent(p.problem) + 1,
                                     std::numeric_limits<std::int32_t>::max(), 0};
      p.numbers[rng() % p.numbers.size()] = values[rng() % 5];
      gemm_operands const o = p.operands();
      group_ranges const taken = ranges_of_groups(p.problem, o.groups);
      p.ranges = taken.of;
      p.poisoned.assign(p.ranges.size(), true);
      auto const plan = plan_of(p.problem, o, f, i);
      if (!plan) continue;
      SCOPED_TRACE(plan->kernel);
      EXPECT_TRUE(run_copied(*plan, p.problem, o)) << p.text();
      expect_right_groups(p);
      EXPECT_EQ(p.status, static_cast<std::uint32_t>(1 + taken.first_bad.value_or(-1)));
      bad += p.status != 0 ? 1 : 0;
    }
  });
  EXPECT_GT(bad, 0);
}

/// A graph that is replayed with other sizes in the same array.
TEST(GroupsGpu, AGraphIsReplayedWithOtherSizes) {
  std::mt19937_64 rng(20261210);
  grouped_shape const w;
  grouped_product p;
  do p = random_groups(rng, w, 90);
  while (p.problem.groups->form != group_form::ends || p.problem.groups->index_bits != 32 ||
         p.problem.groups->count < 4);
  p.poisoned.assign(p.ranges.size(), false);
  for (std::size_t i = 0; i < p.a.value.size(); ++i) {  // rows of no group hold numbers too
    auto const at = static_cast<std::int64_t>(i);
    p.a.value[i] = static_cast<double>(i % 7) - 3;
    p.a.store(at / p.a.cols, at % p.a.cols, 0, static_cast<float>(p.a.value[i]));
  }
  gemm_operands const host = p.operands();
  copied_operands const o(p.problem, host);
  cudaStream_t stream = nullptr;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t program = nullptr;
  gemm_plan const plan = built_plans(p.problem, o.there()).at(0);
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  gemm(plan, o.there(), stream);
  must(cudaStreamEndCapture(stream, &graph));
  must(cudaGraphInstantiate(&program, graph, 0));
  for (int turn = 0; turn < 20 && !HasFailure(); ++turn) {
    std::vector<std::int32_t> ends(p.narrow.size());
    for (std::int32_t& x : ends) x = static_cast<std::int32_t>(rng() % (p.problem.m + 1));
    std::ranges::sort(ends);
    if (turn % 5 == 0) std::ranges::fill(ends, 0);
    p.ranges.clear();
    for (std::size_t g = 0; g < ends.size(); ++g) {
      std::int64_t const begin = g == 0 ? 0 : ends[g - 1];
      p.ranges.push_back({begin, ends[g] - begin, static_cast<std::int64_t>(g)});
    }
    must(cudaMemcpy(const_cast<void*>(o.there().groups), ends.data(), ends.size() * sizeof ends[0],
                    cudaMemcpyHostToDevice));
    std::ranges::fill(p.d.bytes, std::byte{0xFF});
    o.refill();
    must(cudaGraphLaunch(program, stream));
    must(cudaStreamSynchronize(stream));
    EXPECT_TRUE(o.fetch());
    expect_right_groups(p);
  }
  must(cudaGraphExecDestroy(program));
  must(cudaGraphDestroy(graph));
  must(cudaStreamDestroy(stream));
}

TEST(WeightsGpu, RandomGemmsKeepTheBound) {
  std::mt19937_64 rng(20261130);
  int ran = 0;
  std::set<std::string> kernels;
  for_each_kernel([&](gemm_family const* f, int i, kernel_facts const& x) {
    if (!x.weights || x.epilogue.ops || x.groups != group_axis::none) return;
    for (int turn = 0; turn < cases(10) && !testing::Test::HasFailure(); ++turn) {
      weights_product p = random_weights_product(rng, x);
      gemm_operands const o = p.operands();
      std::optional<gemm_plan> plan;
      for (gemm_plan const& y : built_plans(p.problem, o))
        if (y.family == f && y.instance == i) plan = y;
      if (!plan) continue;
      SCOPED_TRACE(plan->kernel + " " + p.text());
      EXPECT_TRUE(run_copied(*plan, p.problem, o));
      expect_right_weights(p);
      kernels.insert(plan->kernel);
      ++ran;
    }
  });
  std::printf("  kernels of 4-bit weights: %zu\n", kernels.size());
  EXPECT_GT(ran, 0);
}

TEST(WeightsGpu, GroupsAndEpiloguesKeepTheBound) {
  std::mt19937_64 rng(20261131);
  int ran = 0;
  for_each_kernel([&](gemm_family const* f, int i, kernel_facts const& x) {
    if (!x.weights || (x.groups == group_axis::none && !x.epilogue.ops)) return;
    for (int turn = 0; turn < cases(8) && !testing::Test::HasFailure(); ++turn) {
      fused_weights t = random_fused_weights(rng, x);
      gemm_operands const o = t.operands();
      std::optional<gemm_plan> plan;
      for (gemm_plan const& y : built_plans(t.problem, o))
        if (y.family == f && y.instance == i) plan = y;
      if (!plan) continue;
      SCOPED_TRACE(plan->kernel);
      EXPECT_TRUE(run_copied(*plan, t.problem, o));
      t.expect_right();
      ++ran;
    }
  });
  std::printf("  4-bit weights with groups or epilogues: %d\n", ran);
  EXPECT_GT(ran, 0);
}

/// moe_sort and moe_combine on the GPU have the results of the emulator.
TEST(MoeGpu, SortAndCombineHaveTheResultsOfTheEmulator) {
  std::mt19937_64 rng(20261201);
  for (int turn = 0; turn < 20 && !HasFailure(); ++turn) {
    moe_problem p;
    p.tokens = 1 + static_cast<std::int64_t>(rng() % (turn % 4 == 0 ? 5000 : 300));
    p.choices = 1 + static_cast<std::int64_t>(rng() % 8);
    p.experts = 1 + static_cast<std::int64_t>(rng() % 260);
    p.cols = 64;
    auto const pairs = static_cast<std::size_t>(p.tokens * p.choices);
    auto const experts = static_cast<std::size_t>(p.experts);
    std::vector<std::int32_t> chosen(pairs);
    for (std::int32_t& x : chosen)
      x = static_cast<std::int32_t>(rng() % (experts + 1)) - (rng() % 9 == 0);
    std::vector<float> weights(pairs);
    for (float& x : weights) x = static_cast<float>(rng() % 100) / 100;
    std::vector<bf16> rows(pairs * 64);
    for (bf16& x : rows) x = to_bf16(static_cast<float>(rng() % 1000) / 500 - 1);
    std::vector<std::int32_t> counts(experts, -7), ends(experts, -7), source(pairs, -7),
        place(pairs, -7);
    std::vector<bf16> to(static_cast<std::size_t>(p.tokens) * 64);
    auto const place_all = [&](auto&& address_of) {
      moe_operands o;
      o.chosen = address_of(chosen), o.counts = address_of(counts), o.ends = address_of(ends);
      o.source = address_of(source), o.place = address_of(place), o.weights = address_of(weights);
      o.from = address_of(rows), o.to = address_of(to);
      return o;
    };
    std::vector<void*> memory;
    moe_operands const there = place_all([&](auto& x) {
      void* at = nullptr;
      must(cudaMalloc(&at, x.size() * sizeof x[0]));
      must(cudaMemcpy(at, x.data(), x.size() * sizeof x[0], cudaMemcpyHostToDevice));
      memory.push_back(at);
      return static_cast<std::remove_reference_t<decltype(x)>::value_type*>(at);
    });
    moe_sort(p, there, nullptr);
    moe_combine(p, there, nullptr);
    must(cudaDeviceSynchronize());
    moe_operands const here = place_all([](auto& x) { return x.data(); });
    moe_sort_emulated(p, here);
    moe_combine_emulated(p, here);
    auto const same = [&](auto const& x, void const* at, char const* what) {
      auto copy = x;
      must(cudaMemcpy(copy.data(), at, x.size() * sizeof x[0], cudaMemcpyDeviceToHost));
      EXPECT_EQ(std::memcmp(copy.data(), x.data(), x.size() * sizeof x[0]), 0) << what;
    };
    same(counts, there.counts, "counts"), same(ends, there.ends, "ends");
    same(source, there.source, "source"), same(place, there.place, "place");
    same(to, there.to, "combined rows");
    for (void* x : memory) must(cudaFree(x));
  }
}

}  // namespace
}  // namespace tw::test

int main(int argc, char** argv) {
  if (!tw::gpu().usable) {
    std::printf("%s\n", to_string(tw::gpu().why_not).c_str());
    return 77;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
