// SPDX-License-Identifier: Apache-2.0
// ranks_test.cpp  GEMMs over two ranks through the C library: each operation and path, ragged rows,
//                 refusals.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <thread>

#include "tests/c/tensors.hpp"

namespace tw_c_test {
namespace {

using tw::elem;

constexpr std::int32_t ranks = 2;
constexpr std::int64_t m = 24, n = 16, k = 64;

/// Two ranks in threads, and one whole GEMM.
struct two_ranks {
  tensor a{elem::bf16, {m, k}}, b{elem::bf16, {k, n}}, d{elem::f32, {m, n}};
  std::vector<tw_group*> groups{ranks};
  std::unique_ptr<std::byte[]> memory;

  two_ranks() {
    std::mt19937_64 rng(3);
    auto const integer = [&] { return static_cast<float>(static_cast<int>(rng() % 5) - 2); };
    a.fill(integer), b.fill(integer);
    tw_gemm_args const whole = args_of(a, b, d);
    EXPECT_EQ(tw_gemm(&whole), TW_OK);
    tw_group_options o{};
    o.size = sizeof o, o.gathered_bytes = 1 << 16, o.timeout_s = 60;
    std::int64_t bytes = 0;
    EXPECT_EQ(tw_group_arena_bytes(&o, 0, &bytes), TW_OK);
    memory = std::make_unique<std::byte[]>(static_cast<std::size_t>(ranks * bytes + 256));
    auto const first = (reinterpret_cast<std::uintptr_t>(memory.get()) + 255) / 256 * 256;
    void* const arenas[ranks] = {reinterpret_cast<void*>(first),
                                 reinterpret_cast<void*>(first + static_cast<std::size_t>(bytes))};
    for (std::int32_t r = 0; r < ranks; ++r)
      EXPECT_EQ(tw_group_from_addresses(r, ranks, arenas, 0, &o, &groups[r]), TW_OK);
  }
  ~two_ranks() {
    for (tw_group* const g : groups) tw_group_free(g);
  }
  template <class F>
  void on_ranks(F const& f) {
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; ++r) threads.emplace_back([&, r] { f(r); });
    for (std::thread& t : threads) t.join();
  }
  /// Rows and columns of a tensor as a separate one.
  static tensor part(tensor& of, elem type, std::int64_t row, std::int64_t rows, std::int64_t col,
                     std::int64_t cols) {
    tensor t(type, {rows, cols});
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < cols; ++j)
        t.set(t.at(0, i, j), static_cast<float>(of.get(of.at(0, row + i, col + j))));
    return t;
  }
  void expect_rows(tensor& got, std::int64_t row, std::int64_t rows, std::int64_t col,
                   std::int64_t cols) {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < cols; ++j)
        ASSERT_EQ(got.get(got.at(0, i, j)), d.get(d.at(0, row + i, col + j))) << i << " " << j;
  }
};

TEST(CRanks, EachOperationGivesTheBitsOfOneDevice) {
  two_ranks x;
  for (char const* const path : {"serial", "two-pieces", "pieces"})
    for (std::int64_t const first : {12, 23, 24}) {
      std::int64_t const rows[ranks] = {first, m - first};
      x.on_ranks([&](int r) {
        std::int64_t const row = r == 0 ? 0 : first, half = k / ranks, cols = n / ranks;
        tw_group_call call{};
        call.size = sizeof call, call.path = path, call.rows = rows;
        {
          tensor a = two_ranks::part(x.a, elem::bf16, row, rows[r], 0, k);
          tensor b = two_ranks::part(x.b, elem::bf16, 0, k, r * cols, cols);
          tensor d(elem::f32, {m, cols});
          tw_gemm_args const args = args_of(a, b, d);
          call.operation = "all-gather";
          ASSERT_EQ(tw_group_gemm(x.groups[r], &call, &args), TW_OK) << tw_last_error()->text;
          x.expect_rows(d, 0, m, r * cols, cols);
        }
        tensor a = two_ranks::part(x.a, elem::bf16, 0, m, r * half, half);
        tensor b = two_ranks::part(x.b, elem::bf16, r * half, half, 0, n);
        tensor all(elem::f32, {m, n}), own(elem::f32, {rows[r], n});
        tw_gemm_args const of_all = args_of(a, b, all), of_own = args_of(a, b, own);
        call.operation = "all-reduce";
        ASSERT_EQ(tw_group_gemm(x.groups[r], &call, &of_all), TW_OK) << tw_last_error()->text;
        x.expect_rows(all, 0, m, 0, n);
        call.operation = "reduce-scatter";
        ASSERT_EQ(tw_group_gemm(x.groups[r], &call, &of_own), TW_OK) << tw_last_error()->text;
        x.expect_rows(own, row, rows[r], 0, n);
      });
    }
}

/// One rank alone calls it: no rank waits. Operands of a shard have fewer rows than M.
TEST(CRanks, AnExplanationHasThePathAndTheStepsOfTheRank) {
  two_ranks x;
  std::int64_t const rows[ranks] = {20, 4};
  tw_group_call call{};
  call.size = sizeof call, call.operation = "reduce-scatter", call.rows = rows;
  tensor a = two_ranks::part(x.a, elem::bf16, 0, m, 0, k / 2);
  tensor b = two_ranks::part(x.b, elem::bf16, 0, k / 2, 0, n);
  tensor own(elem::f32, {4, n});
  tw_gemm_args args = args_of(a, b, own);
  char *text = nullptr, *json = nullptr;
  ASSERT_EQ(tw_group_explain(x.groups[1], &call, &args, &text, &json), TW_OK)
      << tw_last_error()->text;
  std::string const words = text, record = json;
  tw_free(text), tw_free(json);
  for (char const* const part :
       {"GEMM + reduce-scatter, 2 GPUs like NVIDIA H200", "pieces: the default of ranks in host",
        "Steps of rank 1 of 2, which have 20, 4 rows:",
        "GEMM of 20 rows from 0, then send partial results to"})
    EXPECT_NE(words.find(part), std::string::npos) << part << "\n" << words;
  for (char const* const part : {"\"chosen\":\"pieces\"", "\"rank\":1", "\"rows\":[20,4]",
                                 "\"by_nccl\":false", "\"measured_us\":null"})
    EXPECT_NE(record.find(part), std::string::npos) << part << "\n" << record;
  call.path = "gated";
  EXPECT_EQ(tw_group_explain(x.groups[1], &call, &args, &text, nullptr), TW_REFUSED);
  EXPECT_EQ(std::string(tw_last_error()->code), "TW0904");
  call.path = nullptr;
  tw_gemm_args const* const others[] = {&args};
  call.others = others, call.others_count = 1;
  EXPECT_EQ(tw_group_explain(x.groups[1], &call, &args, &text, nullptr), TW_REFUSED);
  EXPECT_EQ(std::string(tw_last_error()->code), "TW0904");
}

TEST(CRanks, RowsThatDoNotFitAreRefused) {
  two_ranks x;
  tw_gemm_args const args = args_of(x.a, x.b, x.d);
  tw_group_call call{};
  call.size = sizeof call;
  auto const code = [&] {
    EXPECT_EQ(tw_group_gemm(x.groups[0], &call, &args), TW_REFUSED);
    return std::string(tw_last_error()->code);
  };
  EXPECT_EQ(code(), "TW0486");  // no operation
  call.operation = "reduce-scatter";
  EXPECT_EQ(code(), "TW0903");  // d has all rows
  call.path = "fast";
  EXPECT_EQ(code(), "TW0486");
  EXPECT_EQ(tw_group_check(x.groups[0]), TW_OK);
}

}  // namespace
}  // namespace tw_c_test
