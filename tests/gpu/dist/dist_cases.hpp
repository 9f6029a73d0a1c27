// SPDX-License-Identifier: Apache-2.0
// dist_cases.hpp  The tests of groups on GPUs, for any way to make their ranks: virtual ranks on
//                 one GPU, threads or processes with NCCL.
#pragma once

#include <barrier>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <thread>

#include "tests/dist/cases.hpp"
#include "tests/gpu/device_copy.hpp"
#include "tilewright/base/check.hpp"

namespace tw::dist::test {

using tw::test::device_copy;
using tw::test::must;

/// The ranks of this process, and how their groups are made.
struct gpu_ranks_world {
  int ranks = 0;
  std::vector<int> device_of;  // of each rank
  bool share_a_gpu() const { return ranks > 1 && device_of[0] == device_of[1]; }
  /// Groups of this process's ranks.
  std::function<std::vector<group>(group_options const&)> make;
};
inline gpu_ranks_world world;

/// A stream of a rank, on its device.
class rank_stream {
 public:
  rank_stream() { must(cudaStreamCreateWithFlags(&at_, cudaStreamNonBlocking)); }
  ~rank_stream() { static_cast<void>(cudaStreamDestroy(at_)); }
  rank_stream(rank_stream const&) = delete;
  rank_stream& operator=(rank_stream const&) = delete;
  operator cudaStream_t() const { return at_; }
  void finish() const { must(cudaStreamSynchronize(at_)); }

 private:
  cudaStream_t at_ = nullptr;
};

/// A rank's operands on its device.
class on_gpu {
 public:
  explicit on_gpu(rank_operands& x)
      : x_(x),
        b_(x.b),
        d_(x.d),
        c_(x.e.c),
        bias_(x.e.bias),
        rows_(x.e.row_scale),
        cols_(x.e.col_scale),
        o_(x.o) {
    for (matrix& y : x.a) a_.push_back(std::make_unique<device_copy>(y));
    o_.b = b_.data, o_.d = d_.data, o_.bias = bias_.data;
    o_.c = x.e.has_c ? c_.data : nullptr;
    o_.row_scale = static_cast<float const*>(rows_.data);
    o_.col_scale = static_cast<float const*>(cols_.data);
    must(cudaMalloc(&o_.workspace, workspace_bytes));
    must(cudaMemset(o_.workspace, 0, workspace_bytes));
    must(cudaStreamSynchronize(nullptr));
    o_.workspace_bytes = workspace_bytes;
  }
  ~on_gpu() { static_cast<void>(cudaFree(o_.workspace)); }
  on_gpu(on_gpu const&) = delete;
  on_gpu& operator=(on_gpu const&) = delete;

  gemm_problem const& problem() const { return x_.p; }
  std::size_t count() const { return x_.a.size(); }
  /// The operands with one of the A.
  gemm_operands operands(std::size_t a) const {
    gemm_operands o = o_;
    o.a = a_[a]->data;
    return o;
  }
  void clear(cudaStream_t stream) const {
    if (!x_.d.bytes.empty()) must(cudaMemsetAsync(base(), 0xFF, x_.d.bytes.size(), stream));
  }
  /// After the stream was synchronised.
  void expect(std::size_t a, std::string const& text) {
    d_.fetch();
    expect_part(x_.d, x_.want[a], 0, 0, text);
  }

 private:
  static constexpr std::int64_t workspace_bytes = std::int64_t{80} << 20;
  void* base() const { return static_cast<std::byte*>(d_.data) - x_.d.offset_bytes; }

  rank_operands& x_;
  std::vector<std::unique_ptr<device_copy>> a_;
  device_copy b_, d_, c_, bias_, rows_, cols_;
  gemm_operands o_;
};

/// work(g, together) on each rank of this process, on its device. together() returns when all ranks
/// of the process have called it: between allocations, which may wait for the device, and calls,
/// whose launches may wait for ranks.
inline void on_ranks(std::vector<group> const& groups,
                     std::function<void(group const&, std::function<void()> const&)> const& work) {
  std::barrier all(static_cast<std::ptrdiff_t>(groups.size()));
  run_ranks(groups, [&](group const& g) {
    struct dropped {
      std::barrier<>& of;
      ~dropped() { of.arrive_and_drop(); }
    } const at_end{all};
    must(cudaSetDevice(world.device_of[static_cast<std::size_t>(g.rank())]));
    work(g, [&] { all.arrive_and_wait(); });
  });
}

struct typed_operation {
  operation op;
  types t;
};
inline constexpr typed_operation all_operations[] = {
    {operation::all_gather_gemm, {elem::bf16, elem::f32}},
    {operation::gemm_reduce_scatter, {elem::bf16, elem::bf16}},
    {operation::gemm_all_reduce, {elem::bf16, elem::bf16}},
    {operation::all_gather_gemm, {elem::bf16, elem::bf16}},
    {operation::all_gather_gemm, {elem::s8, elem::s32}},
    {operation::gemm_reduce_scatter, {elem::bf16, elem::f32}},
    {operation::gemm_reduce_scatter, {elem::s8, elem::s32}},
    {operation::gemm_all_reduce, {elem::f16, elem::f16}},
};

inline ranks_case case_of(typed_operation const& x, std::uint64_t seed, int ranks,
                          std::int64_t scale = 1) {
  return splits_k(x.op) ? reduction_case(x.op, x.t, seed, ranks, scale)
                        : all_gather_case(x.t, seed, ranks, scale);
}

inline void check_case_on_gpu(ranks_case&& c, std::uint64_t seed,
                              std::span<path const> paths = all_paths) {
  for (path const via : paths)
    for (int f32 = 0; f32 <= (splits_k(c.op) ? 1 : 0); ++f32) {
      auto const groups =
          world.make({.gathered_bytes = c.gathered_bytes, .timeout_s = 60, .epoch = 0xFFFFFFFEU});
      for (group const& g : groups) EXPECT_TRUE(g.has_peer_addresses());
      on_ranks(groups, [&](group const& g, auto const& together) {
        on_gpu x(c.of_rank[static_cast<std::size_t>(g.rank())]);
        rank_stream const stream;
        together();
        for (std::size_t i = 0; i < 3; ++i) {
          std::size_t const of = i % x.count();
          x.clear(stream);
          random_delay(seed + i, g.rank());
          call(c, g, x.problem(), x.operands(of),
               {.rows = c.rows, .via = via, .float32_partials = f32 != 0, .stream = stream});
          stream.finish();
          g.check();
          x.expect(of, c.text + " " + name(via));
        }
        together();
      });
    }
}

class GpuRanks : public testing::Test {};

TEST_F(GpuRanks, GiveTheBitsOfOneDeviceOnEveryPath) {
  for (std::uint64_t seed : {400U, 401U})
    for (typed_operation const& x : all_operations) {
      check_case_on_gpu(case_of(x, seed, world.ranks), seed);
      if (HasFailure()) return;
    }
}

TEST_F(GpuRanks, LargerProblems) {
  for (typed_operation const& x : {all_operations[0], all_operations[1], all_operations[2]}) {
    check_case_on_gpu(case_of(x, 410, world.ranks, 5), 410);
    if (HasFailure()) return;
  }
}

/// `count` calls of changing problems, of which every tenth is synchronised. how(rng, g, c) has the
/// options of a call of case c on the rank of group g; the numbers of rng are equal on all ranks.
template <class How>
void check_many_calls(std::vector<ranks_case> cases, int count, std::uint32_t epoch, How how) {
  std::int64_t bytes = 0;
  for (ranks_case const& c : cases) bytes = std::max(bytes, c.gathered_bytes);
  auto const groups = world.make({.gathered_bytes = bytes, .timeout_s = 60, .epoch = epoch});
  on_ranks(groups, [&](group const& g, auto const& together) {
    std::vector<std::unique_ptr<on_gpu>> data;
    for (ranks_case& c : cases)
      data.push_back(std::make_unique<on_gpu>(c.of_rank[static_cast<std::size_t>(g.rank())]));
    rank_stream const stream;
    std::mt19937_64 rng(7);
    together();
    for (int i = 0; i < count; ++i) {
      std::size_t const at = rng() % cases.size(), a = rng() % data[at]->count();
      call_options options = how(rng, g, cases[at]);
      options.rows = cases[at].rows, options.stream = stream;
      if (i % 40 == 0) random_delay(static_cast<std::uint64_t>(i), g.rank());
      bool const look = i % 10 == 9;
      if (look) data[at]->clear(stream);
      call(cases[at], g, data[at]->problem(), data[at]->operands(a), options);
      if (!look) continue;
      stream.finish();
      g.check();
      data[at]->expect(
          a, "call " + std::to_string(i) + " " + cases[at].text + " " + name(*options.via));
    }
    stream.finish();
    together();
  });
}

TEST_F(GpuRanks, ManyCallsOfChangingProblems) {
  std::vector<ranks_case> cases;
  for (typed_operation const& x : all_operations)
    cases.push_back(case_of(x, 420 + cases.size(), world.ranks));
  check_many_calls(std::move(cases), 1000, 0xFFFFFF00U,
                   [](auto& rng, group const&, ranks_case const& c) {
                     return call_options{.via = all_paths[rng() % std::size(all_paths)],
                                         .float32_partials = splits_k(c.op)};
                   });
}

/// A graph of three calls, so that two replays use one buffer twice in a row, between other calls.
inline void check_graphs(ranks_case&& c, path via) {
  auto const groups = world.make({.gathered_bytes = c.gathered_bytes, .timeout_s = 60});
  on_ranks(groups, [&](group const& g, auto const& together) {
    on_gpu data(c.of_rank[static_cast<std::size_t>(g.rank())]);
    rank_stream const stream;
    call_options const how{.rows = c.rows, .via = via, .float32_partials = true, .stream = stream};
    auto const one = [&](std::size_t a) {
      call(c, g, data.problem(), data.operands(a % data.count()), how);
    };
    together();
    one(0);
    stream.finish();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t run = nullptr;
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (std::size_t i = 0; i < 3; ++i) one(i);
    must(cudaStreamEndCapture(stream, &graph));
    must(cudaGraphInstantiate(&run, graph, 0));
    must(cudaGraphUpload(run, stream));
    stream.finish();
    together();
    for (std::size_t i = 0; i < 6; ++i) {
      data.clear(stream);
      must(cudaGraphLaunch(run, stream));
      if (i % 2 == 0) must(cudaGraphLaunch(run, stream));
      stream.finish();
      g.check();
      data.expect(2 % data.count(), c.text + " graph " + name(via));
      data.clear(stream);
      one(i);
      stream.finish();
      data.expect(i % data.count(), c.text + " after a graph " + name(via));
    }
    together();
    must(cudaGraphExecDestroy(run));
    must(cudaGraphDestroy(graph));
  });
}
TEST_F(GpuRanks, GraphsOfCallsAreReplayedBetweenOtherCalls) {
  for (typed_operation const& x : {all_operations[0], all_operations[1], all_operations[2]})
    for (path const via : all_paths) {
      check_graphs(case_of(x, 430, world.ranks), via);
      if (HasFailure()) return;
    }
}

/// Have the ranks of two groups more streams than there are connections to one device?
inline bool is_crowded() { return world.ranks > 4 && world.share_a_gpu(); }

inline void check_two_groups(ranks_case&& first, ranks_case&& second, std::optional<path> via) {
  auto const a = world.make({.gathered_bytes = first.gathered_bytes, .timeout_s = 60});
  auto const b = world.make({.gathered_bytes = second.gathered_bytes, .timeout_s = 60});
  on_ranks(a, [&](group const& g, auto const& together) {
    std::size_t const place = static_cast<std::size_t>(&g - a.data());
    auto const rank = static_cast<std::size_t>(g.rank());
    on_gpu x(first.of_rank[rank]), y(second.of_rank[rank]);
    rank_stream const one, two;
    together();
    for (std::size_t i = 0; i < 20; ++i) {
      call(first, g, x.problem(), x.operands(i % x.count()),
           {.rows = first.rows, .via = via, .stream = one});
      call(second, b[place], y.problem(), y.operands(0),
           {.rows = second.rows, .via = via, .stream = two});
    }
    one.finish(), two.finish();
    g.check(), b[place].check();
    x.expect(19 % x.count(), "first group");
    y.expect(0, "second group");
    together();
  });
}
TEST_F(GpuRanks, TwoGroupsAtOnce) {
  if (is_crowded()) GTEST_SKIP() << "more streams than connections to one device";
  check_two_groups(case_of(all_operations[0], 440, world.ranks),
                   case_of(all_operations[1], 441, world.ranks), {});
}

/// The refusal of a rank's work; an empty code: it returned.
inline rejection refusal_of(std::function<void()> const& work) {
  try {
    work();
  } catch (rejected const& e) {
    return e.why();
  }
  return {};
}
inline bool has(rejection const& r, std::string const& text) {
  return to_string(r).find(text) != std::string::npos;
}

/// A call of each rank for which `calls` is true, then group::check() on all.
inline void check_failure(group_options const& options, std::function<bool(int)> const& calls,
                          std::function<void(group const&)> const& beside,
                          std::function<void(int, rejection const&)> const& expect,
                          std::function<void(gemm_problem&, int)> const& change = {},
                          path via = path::pieces) {
  ranks_case c = via == path::gated ? gated_case(all_operations[0].t, 450, world.ranks)
                                    : case_of(all_operations[0], 450, world.ranks);
  group_options o = options;
  o.gathered_bytes = 2 * c.gathered_bytes;
  auto const groups = world.make(o);
  on_ranks(groups, [&](group const& g, auto const& together) {
    on_gpu x(c.of_rank[static_cast<std::size_t>(g.rank())]);
    rank_stream const stream;
    together();
    gemm_problem p = x.problem();
    call_options how{.via = via, .stream = stream};
    how.rows = c.rows;
    if (change) change(p, g.rank());
    auto const start = std::chrono::steady_clock::now();
    if (calls(g.rank())) call(c, g, p, x.operands(0), how);
    if (beside) beside(g);
    stream.finish();
    double const s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    EXPECT_LT(s, 20) << "the waits did not end";
    expect(g.rank(), refusal_of([&] { g.check(); }));
    EXPECT_TRUE(g.broken());
    // The next call reports it too.
    EXPECT_FALSE(refusal_of([&] {
                   call(c, g, x.problem(), x.operands(0),
                        {.rows = c.rows, .via = via, .stream = stream});
                   stream.finish();
                   g.check();
                 }).code.empty());
    together();
  });
  must(cudaGetLastError());
}

TEST_F(GpuRanks, ALateRankIsNamed) {
  if (world.ranks < 2) GTEST_SKIP();
  int const last = world.ranks - 1;
  check_failure(
      {.timeout_s = 1}, [&](int rank) { return rank != last; },
      [&](group const& g) {
        if (g.rank() == last) std::this_thread::sleep_for(std::chrono::seconds(3));
      },
      [&](int rank, rejection const& r) {
        EXPECT_TRUE(r.code == "TW0905" || r.code == "TW0906") << to_string(r);
        if (world.ranks == 2 && rank != last) EXPECT_EQ(r.code, "TW0905");
        EXPECT_TRUE(has(r, "for rank " + std::to_string(last) + " in call 1")) << to_string(r);
      });
}

TEST_F(GpuRanks, AbortEndsTheWaitsOfAllRanks) {
  if (world.ranks < 2) GTEST_SKIP();
  check_failure(
      {.timeout_s = 300}, [](int rank) { return rank != 1; },
      [](group const& g) {
        if (g.rank() != 1) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        g.abort();
      },
      [](int, rejection const& r) {
        EXPECT_EQ(r.code, "TW0906");
        EXPECT_TRUE(has(r, "rank 1 called abort()")) << to_string(r);
      });
}

TEST_F(GpuRanks, RanksThatDisagreeAreNamedWithBothProblems) {
  if (world.ranks < 2) GTEST_SKIP();
  check_failure(
      {.timeout_s = 60}, [](int) { return true; },
      [](group const&) { std::this_thread::sleep_for(std::chrono::seconds(1)); },
      [](int, rejection const& r) {
        EXPECT_TRUE(r.code == "TW0901" || r.code == "TW0906") << to_string(r);
        EXPECT_TRUE(has(r, "rank 1 has")) << to_string(r);
      },
      [](gemm_problem& p, int rank) {
        if (rank == 1) p.k -= p.k > 1 ? 1 : 0;
      });
}

/// A call with another device current is refused, and the group can be used.
TEST_F(GpuRanks, AnotherCurrentDeviceIsRefused) {
  if (world.ranks < 2 || world.device_of[0] == world.device_of[1]) GTEST_SKIP();
  ranks_case c = case_of(all_operations[2], 455, world.ranks);
  auto const groups = world.make({.gathered_bytes = c.gathered_bytes, .timeout_s = 60});
  on_ranks(groups, [&](group const& g, auto const& together) {
    on_gpu x(c.of_rank[static_cast<std::size_t>(g.rank())]);
    rank_stream const stream;
    together();
    auto const one = [&] {
      call(c, g, x.problem(), x.operands(0),
           {.rows = c.rows, .float32_partials = true, .stream = stream});
    };
    int const mine = world.device_of[static_cast<std::size_t>(g.rank())];
    must(cudaSetDevice((mine + 1) % world.ranks));
    EXPECT_EQ(refusal_of(one).code, "TW0910");
    must(cudaSetDevice(mine));
    one();
    stream.finish();
    g.check();
    x.expect(0, c.text);
    together();
  });
}

/// A rank that is seconds late, within the time-out.
TEST_F(GpuRanks, ALateRankIsWaitedFor) {
  if (world.ranks < 2) GTEST_SKIP();
  ranks_case c = case_of(all_operations[2], 460, world.ranks);
  auto const groups = world.make({.gathered_bytes = c.gathered_bytes, .timeout_s = 60});
  on_ranks(groups, [&](group const& g, auto const& together) {
    on_gpu x(c.of_rank[static_cast<std::size_t>(g.rank())]);
    rank_stream const stream;
    together();
    for (int i = 0; i < 2; ++i) {
      if (g.rank() == 1) std::this_thread::sleep_for(std::chrono::seconds(3));
      call(c, g, x.problem(), x.operands(0),
           {.rows = c.rows, .float32_partials = true, .stream = stream});
      stream.finish();
      g.check();
      x.expect(0, c.text);
    }
    together();
  });
}

}  // namespace tw::dist::test
