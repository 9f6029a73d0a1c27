// SPDX-License-Identifier: Apache-2.0
// acts_test.cpp  The acts of each call, on a rank that records them: their order, and the calls of
//                ranks that have NCCL's collectives, with and without each other's addresses.
#include <fmt/format.h>

#include "dispatch/plan/gated.hpp"
#include "dispatch/plan/plan_cache.hpp"
#include "dist/membership.hpp"
#include "tests/dist/ranks.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/dist/explain.hpp"

namespace tw::dist {
namespace {

using namespace test;

/// Writes the acts of its calls as words: "multiply 16", "send 1", "set 1".
class recorder final : public group::membership, public collectives {
 public:
  recorder(int rank, int ranks, bool reaches, bool has_nccl, bool shares = false)
      : membership(rank, ranks, {.gathered_bytes = 1 << 24}),
        reaches_(reaches),
        has_nccl_(has_nccl),
        shares_(shares),
        memory_(static_cast<std::size_t>(ranks) << 22) {}

  std::string acts() const { return acts_; }

  bool on_gpu() const override { return true; }
  bool shares_gpu() const override { return shares_; }
  std::vector<int> unreached() const override {
    return reaches_ ? std::vector<int>{} : std::vector<int>{1 - rank()};
  }
  collectives* nccl() override { return has_nccl_ ? this : nullptr; }
  std::shared_ptr<gemm_plan const> plan(gemm_problem const& p, gemm_operands const& o,
                                        call_options const&) const override {
    return cached_plan(p, o, known_device("h200"), -1);
  }
  void begin(std::string const&, call_options const&, beginning by) override {
    acts_ = by == beginning::together ? "begin and wait" : "begin";
  }
  void end(std::string const& failed) override { add_act("end" + failed); }
  std::byte* buffer(int rank) const override {
    return const_cast<std::byte*>(memory_.data()) + (static_cast<std::ptrdiff_t>(rank) << 22);
  }
  std::byte* next_buffer(int rank) const override { return buffer(rank); }
  void multiply(gemm_plan const& plan, gemm_operands const&) override {
    add_act("multiply " + std::to_string(plan.problem.m));
  }
  std::shared_ptr<gemm_plan const> plan_gated(gemm_problem const& p, gemm_operands const& o,
                                              call_options const&) const override {
    return cached_gated_plan(p, o, known_device("h200"), -1);
  }
  void multiply_gated(gemm_plan const& plan, gemm_operands const&, gate_form gate) override {
    add_act("multiply gated " + std::to_string(plan.problem.m) +
            (gate.own != nullptr ? " in place" : ""));
  }
  void add(add_partials_params const& p) override {
    add_act("add " + std::to_string(p.count) + " of " + std::to_string(p.rows));
  }
  void copy(void const*, void*, lines const&) override { add_act("copy"); }
  void results_are_there() override { add_act("results"); }
  void send(void const*, std::byte* to, lines const&) override {
    add_act("send " + std::to_string((to - memory_.data()) >> 22));
  }
  void set(rank_flag, int peer) override { add_act("set " + std::to_string(peer)); }
  void wait(rank_flag, std::vector<int> const& from, awaited const&) override {
    for (int const r : from) add_act("wait " + std::to_string(r));
  }
  void break_all(std::string const&) override {}
  void tell_refusal(std::uint64_t, std::string const&) override {}
  bool broken() const override { return false; }
  void check() const override {}

  void gather(void const*, std::byte*, std::vector<range> const& parts) override {
    add_act("gather");
    for (range const& r : parts)
      acts_ += " " + std::to_string(r.begin) + "+" + std::to_string(r.size);
  }
  void reduce_scatter(void const*, void*, std::vector<range> const& parts, elem type) override {
    add_act("reduce_scatter " + std::string(name(type)));
    for (range const& r : parts)
      acts_ += " " + std::to_string(r.begin) + "+" + std::to_string(r.size);
  }
  void all_reduce(void const*, void*, std::int64_t count, elem type) override {
    add_act("all_reduce " + std::string(name(type)) + " " + std::to_string(count));
  }

 private:
  void add_act(std::string const& act) { acts_ += ", " + act; }

  bool reaches_, has_nccl_, shares_;
  std::vector<std::byte> memory_;
  std::string acts_;
};

/// 40 rows on two ranks, 32 columns, K = 64.
struct problem_of_rank {
  std::vector<std::uint16_t> a = std::vector<std::uint16_t>(64 * 64), b = a, d = a;
  gemm_problem p;
  gemm_operands o{a.data(), b.data(), nullptr, d.data()};
  problem_of_rank() {
    p.m = 40, p.n = 32, p.k = 64;
    p.a = {elem::bf16, order::row_major, 64};
    p.b = {elem::bf16, order::col_major, 64};
    p.d = {elem::bf16, order::row_major, 64};
  }
};

std::string acts_of(operation op, std::optional<path> via, bool reaches, bool has_nccl,
                    int rank = 0, bool reproducible = false, std::int64_t pitch = 64) {
  problem_of_rank x;
  x.p.reproducible = reproducible;
  x.p.d.pitch_elems = pitch;
  auto const state = std::make_shared<recorder>(rank, 2, reaches, has_nccl);
  group const g(state);
  call_options const how{.rows = shards({24, 16}), .via = via};
  switch (op) {
    case operation::all_gather_gemm: all_gather_gemm(g, x.p, x.o, how); break;
    case operation::gemm_reduce_scatter: gemm_reduce_scatter(g, x.p, x.o, how); break;
    case operation::gemm_all_reduce: gemm_all_reduce(g, x.p, x.o, how); break;
  }
  return state->acts();
}

TEST(Acts, AreInTheOrderOfThePath) {
  auto const ag = operation::all_gather_gemm;
  EXPECT_EQ(acts_of(ag, path::pieces, true, false),
            "begin, send 1, set 1, multiply 24, wait 1, multiply 16, end");
  EXPECT_EQ(acts_of(ag, path::two_pieces, true, true, 1),
            "begin, send 0, set 0, multiply 16, wait 0, multiply 24, end");
  EXPECT_EQ(acts_of(ag, path::serial, true, false),
            "begin, send 1, set 1, copy, wait 1, multiply 40, end");
  EXPECT_EQ(acts_of(ag, path::gated, true, true, 1),
            "begin, send 0, set 0, copy, multiply gated 40 in place, end");
  auto const rs = operation::gemm_reduce_scatter;
  EXPECT_EQ(acts_of(rs, path::pieces, true, true),
            "begin, multiply 16, results, send 1, set 1, multiply 24, wait 1, add 2 of 24, end");
  EXPECT_EQ(acts_of(rs, path::serial, true, false, 1),
            "begin, multiply 40, results, send 0, set 0, copy, wait 0, add 2 of 16, end");
  EXPECT_EQ(
      acts_of(operation::gemm_all_reduce, path::pieces, true, true),
      "begin, multiply 16, results, send 1, set 1, multiply 24, wait 1, add 2 of 24, results, "
      "send 1, set 1, wait 1, copy, end");
}

/// A serial call of ranks with a communicator begins together and uses its collectives; sums that
/// must be reproducible do not.
TEST(Acts, SerialCallsUseCollectives) {
  std::string const gather = "begin and wait, gather 0+3072 3072+2048, multiply 40, end";
  auto const ag = operation::all_gather_gemm;
  EXPECT_EQ(acts_of(ag, path::serial, true, true), gather);
  EXPECT_EQ(acts_of(operation::gemm_reduce_scatter, path::serial, true, true),
            "begin and wait, multiply 40, reduce_scatter bf16 0+768 768+512, add 1 of 24, end");
  EXPECT_EQ(acts_of(operation::gemm_all_reduce, path::serial, true, true),
            "begin and wait, multiply 40, all_reduce bf16 1280, add 1 of 40, end");
  // A D that is the sum itself is written by NCCL.
  EXPECT_EQ(acts_of(operation::gemm_reduce_scatter, path::serial, true, true, 0, false, 32),
            "begin and wait, multiply 40, reduce_scatter bf16 0+768 768+512, end");
  EXPECT_EQ(acts_of(operation::gemm_all_reduce, path::serial, true, true, 0, false, 32),
            "begin and wait, multiply 40, all_reduce bf16 1280, end");
  EXPECT_EQ(acts_of(operation::gemm_reduce_scatter, path::serial, true, true, 0, true),
            acts_of(operation::gemm_reduce_scatter, path::serial, true, false, 0, true));
  // Ranks that cannot write each other's memory: every path.
  for (path const via : all_paths) EXPECT_EQ(acts_of(ag, via, false, true), gather);
}

/// 40 rows are few: the exchange is direct, and partial results of all rows are sent.
TEST(Acts, SmallCallsAreDirect) {
  auto const acts = [](operation op) { return acts_of(op, {}, true, true); };
  EXPECT_EQ(acts(operation::all_gather_gemm),
            "begin, results, copy, send 1, set 1, wait 1, multiply 40, end");
  EXPECT_EQ(acts(operation::gemm_reduce_scatter),
            "begin, multiply 40, results, copy, send 1, set 1, wait 1, add 2 of 24, end");
  EXPECT_EQ(acts(operation::gemm_all_reduce),
            "begin, multiply 40, results, copy, send 1, set 1, wait 1, add 2 of 40, end");
}

/// 2560 KiB of a rank: NCCL adds them as fast as the exchange, 1280 KiB slower.
TEST(Acts, AnAllReduceOf2560KiBIsSerialIfNcclServesIt) {
  problem_of_rank x;
  for (std::int64_t const n : {16384, 32768})
    for (bool const has_nccl : {false, true}) {
      x.p.n = x.p.d.pitch_elems = n;
      auto const state = std::make_shared<recorder>(0, 2, true, has_nccl);
      gemm_all_reduce(group(state), x.p, x.o, {});
      EXPECT_EQ(state->acts().starts_with("begin and wait"), has_nccl && n == 32768)
          << state->acts();
    }
}

template <class Call>
std::string code(Call const& call) {
  try {
    call();
  } catch (rejected const& e) {
    return e.why().code;
  }
  return "";
}

TEST(Acts, OperandsThatNcclCannotGatherAreRefusedByRanksWithoutAddresses) {
  group const far(std::make_shared<recorder>(0, 2, false, true));
  problem_of_rank x;
  x.p.a.ord = order::col_major;
  EXPECT_EQ(code([&] { all_gather_gemm(far, x.p, x.o); }), "TW0909");
  EXPECT_EQ(far.unreached(), std::vector<int>{1});
  EXPECT_FALSE(far.has_peer_addresses());
  try {
    all_gather_gemm(far, x.p, x.o);
  } catch (rejected const& e) {
    EXPECT_EQ(e.why().got, "a column-major A; rank 0 cannot write the memory of rank 1");
  }
  problem_of_rank y;
  y.p.reproducible = true;
  EXPECT_EQ(code([&] { gemm_all_reduce(far, y.p, y.o); }), "TW0909");
}

/// Also a rank without columns refuses, which would wait for its peers.
TEST(Acts, GatesOfRanksThatShareAGpuAreRefused) {
  auto const state = std::make_shared<recorder>(0, 2, true, false, true);
  group const g(state);
  problem_of_rank x;
  for (std::int64_t const n : {32, 0}) {
    x.p.n = n;
    EXPECT_EQ(code([&] { all_gather_gemm(g, x.p, x.o, {.via = path::gated}); }), "TW0904") << n;
    EXPECT_EQ(state->acts(), "");
  }
}

int times_of(std::string const& part, std::string const& text) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

/// The explanation of a call has its path, its collectives and its GEMMs, on either rank, and does
/// nothing itself.
TEST(Acts, AreThoseThatTheExplanationNames) {
  for (int op = 0; op < 3; ++op)
    for (int rank = 0; rank < 2; ++rank)
      for (int ranks_are = 0; ranks_are < 4; ++ranks_are)  // bit 0: far from each other; 1: NCCL
        for (int via = -1; via < 5; ++via) {
          bool const far = (ranks_are & 1) != 0, has_nccl = (ranks_are & 2) != 0 || far;
          problem_of_rank x;
          auto const state = std::make_shared<recorder>(rank, 2, !far, has_nccl);
          group const g(state);
          call_options how{.rows = shards({24, 16})};
          if (via >= 0) how.via = static_cast<path>(via);
          auto const of = static_cast<operation>(op);
          if (splits_k(of) && how.via == path::gated && !far) {
            EXPECT_EQ(code([&] { explain(g, of, x.p, x.o, how); }), "TW0904");
            continue;
          }
          group_plan const plan = explain(g, of, x.p, x.o, how);
          EXPECT_EQ(state->acts(), "");
          std::string const acts = acts_of(of, how.via, !far, has_nccl, rank);
          EXPECT_EQ(plan.chosen, far ? path::serial : how.via.value_or(path::direct)) << acts;
          EXPECT_EQ(plan.by_nccl, times_of("gather", acts) + times_of("_reduce ", acts) +
                                          times_of("reduce_scatter", acts) >
                                      0)
              << acts;
          EXPECT_EQ(plan.rank, rank);
          int gemms = 0;
          for (std::string const& step : plan.steps) gemms += times_of("GEMM of", step);
          EXPECT_EQ(gemms, times_of("multiply", acts)) << acts << "\n" << to_text(plan);
          ASSERT_NE(plan.find(plan.chosen), nullptr);
          EXPECT_NE(to_text(plan).find(
                        fmt::format("Steps of rank {} of 2, which have 24, 16 rows", rank)),
                    std::string::npos)
              << to_text(plan);
        }
}

/// Why: the call names the path; the default for small and for large M, and without addresses.
TEST(Acts, TheExplanationSaysWhy) {
  problem_of_rank x;
  auto const why = [&](bool reaches, std::optional<path> via) {
    group const g(std::make_shared<recorder>(0, 2, reaches, true));
    return explain(g, operation::all_gather_gemm, x.p, x.o, {.via = via}).why;
  };
  EXPECT_EQ(why(true, path::pieces), "the options of the call name it");
  EXPECT_EQ(why(true, {}), "the default below 512 rows, with 2560 bytes from a rank to a peer");
  EXPECT_NE(why(false, path::pieces).find("no P2P"), std::string::npos);
  x.p.m = 512;
  EXPECT_EQ(why(true, {}), "the default from 512 rows on");
}

/// One rank multiplies its operands in place: nothing is sent, copied or added.
TEST(Acts, OneRankMultipliesInPlace) {
  problem_of_rank x;
  for (bool const has_nccl : {false, true})
    for (path const via : all_paths) {
      auto const state = std::make_shared<recorder>(0, 1, true, has_nccl);
      group const g(state);
      all_gather_gemm(g, x.p, x.o, {.via = via});
      EXPECT_EQ(state->acts(), "begin, multiply 40, end");
      gemm_all_reduce(g, x.p, x.o, {.via = via});
      EXPECT_EQ(state->acts(), "begin, multiply 40, end");
    }
}

}  // namespace
}  // namespace tw::dist
