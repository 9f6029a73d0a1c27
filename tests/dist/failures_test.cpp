// SPDX-License-Identifier: Apache-2.0
// failures_test.cpp  The refusals of a call, and the reports of the other ranks.
#include <thread>

#include "tests/dist/ranks.hpp"
#include "tilewright/base/check.hpp"

namespace tw::dist {
namespace {

using namespace test;

/// A GEMM of zeros with its memory: rows of A and D as the rank has them.
struct small_gemm {
  std::vector<float> d = std::vector<float>(64 * 64);
  std::vector<std::uint16_t> a = std::vector<std::uint16_t>(64 * 64), b = a;
  gemm_problem p;
  explicit small_gemm(std::int64_t m = 32, std::int64_t n = 16, std::int64_t k = 64) {
    p.m = m, p.n = n, p.k = k;
    p.a = {elem::bf16, order::row_major, 64};
    p.b = {elem::bf16, order::col_major, 64};
    p.d = {elem::f32, order::row_major, 64};
  }
  gemm_operands operands() { return {a.data(), b.data(), nullptr, d.data()}; }
};

/// The refusal of each rank; an empty code: the rank's work returned.
std::vector<rejection> refusals(std::vector<group> const& groups,
                                std::function<void(group const&)> const& work) {
  std::vector<rejection> list(groups.size());
  run_ranks(groups, [&](group const& g) {
    try {
      work(g);
    } catch (rejected const& e) {
      list[static_cast<std::size_t>(g.rank())] = e.why();
    }
  });
  return list;
}

bool has(rejection const& r, char const* text) {
  return to_string(r).find(text) != std::string::npos;
}

TEST(Failures, RanksThatDisagreeAreNamedWithBothProblems) {
  auto const groups = group::virtual_ranks(3, {.timeout_s = 60});
  auto const list = refusals(groups, [](group const& g) {
    small_gemm x(g.rank() == 1 ? 33 : 32);
    all_gather_gemm(g, x.p, x.operands());
  });
  bool named = false;
  for (rejection const& r : list) {
    EXPECT_TRUE(r.code == "TW0901" || r.code == "TW0906") << to_string(r);
    EXPECT_TRUE(has(r, "M = 32") && has(r, "M = 33") && has(r, "rank 1")) << to_string(r);
    named = named || r.code == "TW0901";
  }
  EXPECT_TRUE(named);
  for (group const& g : groups) EXPECT_TRUE(g.broken());
}

TEST(Failures, AnotherOperationOrOrderOfCallsIsAnotherProblem) {
  auto const groups = group::virtual_ranks(2, {.timeout_s = 60});
  auto const list = refusals(groups, [](group const& g) {
    small_gemm x;
    (g.rank() == 0 ? gemm_reduce_scatter : gemm_all_reduce)(g, x.p, x.operands(), {});
  });
  EXPECT_TRUE(list[0].code == "TW0901" || list[1].code == "TW0901");
  for (rejection const& r : list)
    EXPECT_TRUE(has(r, "GEMM + reduce-scatter") && has(r, "GEMM + all-reduce")) << to_string(r);
}

TEST(Failures, ASmallReceiveBufferIsRefusedWithTheSizeThatIsNeeded) {
  auto const groups = group::virtual_ranks(2, {.gathered_bytes = 1000, .timeout_s = 60});
  small_gemm x;
  std::int64_t const need = gathered_bytes(operation::all_gather_gemm, x.p, shards::even(x.p.m, 2));
  auto const list = refusals(groups, [](group const& g) {
    small_gemm y;
    all_gather_gemm(g, y.p, y.operands());
  });
  for (rejection const& r : list) {
    EXPECT_EQ(r.code, "TW0902");
    EXPECT_TRUE(has(r, std::to_string(need).c_str())) << to_string(r);
  }
  for (group const& g : groups) EXPECT_FALSE(g.broken());  // nothing was sent
}

TEST(Failures, ImpossibleArgumentsAreRefusedBeforeAnythingIsSent) {
  auto const code = [](auto const& call) -> std::string {
    try {
      call();
    } catch (rejected const& e) {
      return e.why().code;
    }
    return "";
  };
  EXPECT_EQ(code([] { group::virtual_ranks(0); }), "TW0903");
  EXPECT_EQ(code([] { group::virtual_ranks(max_ranks + 1); }), "TW0903");
  EXPECT_EQ(code([] { group::virtual_ranks(2, {.timeout_s = 0}); }), "TW0903");
  EXPECT_EQ(code([] { group::from_addresses(2, {nullptr, nullptr}); }), "TW0903");
  EXPECT_EQ(code([] { group::from_addresses(0, {nullptr}); }), "TW0903");
  group const one = group::virtual_ranks(1)[0];
  small_gemm x;
  EXPECT_EQ(code([&] { all_gather_gemm(one, x.p, x.operands(), {.rows = shards::even(31, 1)}); }),
            "TW0903");
  EXPECT_EQ(code([&] {
              all_gather_gemm(one, x.p, x.operands(), {.rows = shards({40, -8})});
            }),
            "TW0903");
  gemm_problem batch = x.p;
  batch.batch = 2;
  EXPECT_EQ(code([&] { all_gather_gemm(one, batch, x.operands()); }), "TW0904");
  gemm_problem weights = x.p;  // K is split
  weights.weights_b.code = weight_code::int4;
  EXPECT_EQ(code([&] { gemm_all_reduce(one, weights, x.operands()); }), "TW0904");
  gemm_problem pitch = x.p;
  pitch.a.pitch_elems = 3;
  EXPECT_EQ(code([&] { all_gather_gemm(one, pitch, x.operands()); }), "TW0402");
  gemm_operands none = x.operands();
  none.d = nullptr;
  EXPECT_EQ(code([&] { gemm_all_reduce(one, x.p, none); }), "TW0408");
  EXPECT_FALSE(one.broken());
  all_gather_gemm(one, x.p, x.operands());
}

TEST(Failures, AShardInsideOfABlockOfScalesIsRefused) {
  auto const groups = group::virtual_ranks(2, {.timeout_s = 60});
  auto const list = refusals(groups, [](group const& g) {
    small_gemm x;
    std::vector<float> scales(8, 1.0F);
    x.p.a.type = x.p.b.type = elem::e4m3;
    x.p.d.type = elem::bf16;
    x.p.scale_a = scale_desc{elem::f32, 128, 128, 1, 1};
    x.p.scale_b = scale_desc{elem::f32, 128, 128, 1, 1};
    gemm_operands o = x.operands();
    o.scale_a = o.scale_b = scales.data();
    all_gather_gemm(g, x.p, o);  // 16 rows each
  });
  EXPECT_EQ(list[1].code, "TW0904") << to_string(list[1]);
}

/// All kernels for this A lack a gate. Rank 1 has 0 columns, needs none of them, and would wait.
TEST(Failures, ARankWithoutColumnsIsRefusedIfItsPeerRefuses) {
  auto const groups = group::virtual_ranks(2, {.timeout_s = 600});
  auto const list = refusals(groups, [](group const& g) {
    small_gemm x(32, g.rank() == 0 ? 16 : 0);
    x.p.a.ord = order::col_major;
    all_gather_gemm(g, x.p, x.operands(), {.via = path::gated});
  });
  EXPECT_EQ(list[0].code, "TW0904");
  EXPECT_EQ(list[1].code, "TW0906");
  EXPECT_TRUE(has(list[1], "rank 0 has refused call 1, in which rank 1 waits for it") &&
              has(list[1], "TW0904: path gated"))
      << to_string(list[1]);
  for (group const& g : groups) EXPECT_TRUE(g.broken());
}

/// A rank that refuses a call alone breaks the group, if it makes the call later too.
TEST(Failures, ARankThatRefusesAloneBreaksTheGroup) {
  for (int const delayed : {0, 1, 2}) {
    auto const groups = group::virtual_ranks(2, {.timeout_s = 600});
    auto const list = refusals(groups, [&](group const& g) {
      if (g.rank() == delayed) std::this_thread::sleep_for(std::chrono::milliseconds(50));
      small_gemm x;
      gemm_operands none = x.operands();
      none.b = nullptr;
      if (g.rank() == 1) {
        EXPECT_THROW(gemm_all_reduce(g, x.p, none), rejected);
      }
      gemm_all_reduce(g, x.p, x.operands());
    });
    for (rejection const& r : list) {
      EXPECT_EQ(r.code, "TW0906");
      EXPECT_TRUE(has(r, "rank 1 has refused call 1, in which rank 0 waits")) << to_string(r);
    }
  }
}

/// If all ranks refuse a call, the group stays whole, in whatever order they refuse it.
TEST(Failures, RanksThatRefuseEquallyGoOn) {
  auto const groups = group::virtual_ranks(3, {.timeout_s = 60});
  run_ranks(groups, [](group const& g) {
    std::mt19937_64 calls(7);
    for (int i = 0; i < 60; ++i) {
      bool const refused = calls() % 3 != 0;
      if (i % 7 == g.rank()) std::this_thread::sleep_for(std::chrono::milliseconds(3));
      small_gemm x;
      gemm_operands o = x.operands();
      if (refused) o.b = nullptr;
      auto const call = [&] {
        (calls() % 2 == 0 ? gemm_reduce_scatter : gemm_all_reduce)(g, x.p, o, {});
      };
      if (refused) {
        EXPECT_THROW(call(), rejected);
      } else {
        EXPECT_NO_THROW(call());
      }
    }
  });
  for (group const& g : groups) EXPECT_FALSE(g.broken());
}

TEST(Failures, ALateRankIsNamedAndTheGroupIsBroken) {
  auto const groups = group::virtual_ranks(3, {.timeout_s = 0.2});
  auto const work = [](group const& g) {
    small_gemm x;
    if (g.rank() == 2) std::this_thread::sleep_for(std::chrono::seconds(2));
    gemm_reduce_scatter(g, x.p, x.operands());
  };
  auto const list = refusals(groups, work);
  EXPECT_TRUE(list[0].code == "TW0905" || list[1].code == "TW0905");
  EXPECT_EQ(list[2].code, "TW0906");
  EXPECT_TRUE(has(list[2], "for rank 2 in call 1")) << to_string(list[2]);
  // The next call reports it too.
  for (rejection const& r : refusals(groups, work)) EXPECT_EQ(r.code, "TW0906");
}

TEST(Failures, AbortEndsAWaitAtOnce) {
  auto const groups = group::virtual_ranks(2, {.timeout_s = 600});
  std::thread late([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    groups[1].abort();
  });
  small_gemm x;
  try {
    all_gather_gemm(groups[0], x.p, x.operands());
    ADD_FAILURE() << "rank 1 did not call";
  } catch (rejected const& e) {
    EXPECT_EQ(e.why().code, "TW0906");
    EXPECT_TRUE(has(e.why(), "rank 1 called abort()")) << e.what();
  }
  late.join();
}

TEST(Failures, ARankThatHasDestroyedItsGroupIsNotWaitedFor) {
  auto groups = group::virtual_ranks(2, {.timeout_s = 600});
  group const kept = groups[0];
  groups.clear();
  small_gemm x;
  try {
    all_gather_gemm(kept, x.p, x.operands());
    ADD_FAILURE() << "rank 1 does not call";
  } catch (rejected const& e) {
    EXPECT_EQ(e.why().code, "TW0906");
    EXPECT_TRUE(has(e.why(), "rank 1 has destroyed its group")) << e.what();
  }
}

TEST(Failures, ARankMayDestroyItsGroupAfterItsLastCall) {
  for (int i = 0; i < 20; ++i) {
    auto groups = group::virtual_ranks(2, {.timeout_s = 60});
    std::vector<std::thread> threads;
    for (int r = 0; r < 2; ++r)
      threads.emplace_back([mine = groups[static_cast<std::size_t>(r)], i]() mutable {
        random_delay(static_cast<std::uint64_t>(i), mine.rank());
        small_gemm x;
        EXPECT_NO_THROW(gemm_all_reduce(mine, x.p, x.operands()));
      });
    groups.clear();
    for (std::thread& t : threads) t.join();
  }
}

TEST(Failures, TwoCallsOfOneRankAtOnceAreRefused) {
  auto const groups = group::virtual_ranks(2, {.timeout_s = 60});
  std::thread first([&] {
    small_gemm x;
    all_gather_gemm(groups[0], x.p, x.operands());
  });
  small_gemm x;
  std::string code;
  for (int i = 0; i < 2000 && code.empty(); ++i) {  // until the first call waits for rank 1
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (i < 200) continue;
    try {
      all_gather_gemm(groups[0], x.p, x.operands());
    } catch (rejected const& e) {
      code = e.why().code;
    }
  }
  EXPECT_EQ(code, "TW0903");
  all_gather_gemm(groups[1], x.p, x.operands());
  first.join();
}

}  // namespace
}  // namespace tw::dist
