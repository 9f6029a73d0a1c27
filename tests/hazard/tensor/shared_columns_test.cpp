// SPDX-License-Identifier: Apache-2.0
// shared_columns_test.cpp  CTAs of one SM share its tensor memory: an allocation waits for columns
//                          that another CTA holds, and for its right to allocate.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/hazard/tensor/tensor_kernels.hpp"
#include "tools/check/mutants/tensor_form_kernels.hpp"

namespace tw::test {
namespace {

/// Each CTA writes a word to its columns and reads it back.
template <int Columns, bool Relinquishes, int Ctas = 1>
struct allocates {
  struct params {
    std::uint32_t* first;  // the first column of each CTA
    int* wrong;            // threads that did not read their word
  };
  struct smem {
    std::uint32_t at;
  };
  static constexpr int threads = 128, cluster = Ctas, smem_bytes = sizeof(smem);
  static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    cluster_sync();
    if (warp_id() == 0) {
      tmem_alloc<Ctas>(&s.at, Columns);
      if constexpr (Relinquishes) tmem_relinquish<Ctas>();
    }
    cta_sync();
    std::uint32_t const own = tmem_at(s.at, 32 * warp_id(), 0);
    auto const word = static_cast<std::uint32_t>(1000 * cta_id() + thread_id());
    tmem_store<tmem_shape::l32x32b, 1>(own, {{word}});
    tmem_wait_store();
    auto x = tmem_load<tmem_shape::l32x32b, 1>(own);
    tmem_wait_load(x);
    if (x.r[0] != word) red_add<mem_order::relaxed, scope::gpu>(p.wrong, 1);
    if (thread_id() == 0) p.first[cta_id()] = s.at;
    cluster_sync();  // the peer does not use its columns any more
    if (warp_id() == 0) tmem_dealloc<Ctas>(s.at, Columns);
  }
};

template <class Kernel>
std::vector<std::uint32_t> first_columns(int ctas, int ctas_per_sm, int schedule,
                                         int os_threads = 1) {
  std::vector<std::uint32_t> first(static_cast<std::size_t>(ctas));
  int wrong = 0;
  emu::options o = scheduled(schedule);
  o.ctas_per_sm = ctas_per_sm;
  o.os_threads = os_threads;
  emu::report const r = emu::run<Kernel, plain_accesses_seen>({}, ctas, {first.data(), &wrong}, o);
  EXPECT_TRUE(r.clean()) << r.text();
  EXPECT_EQ(wrong, 0);
  return first;
}

class SharedColumns : public testing::TestWithParam<int> {};

TEST_P(SharedColumns, CtasOfAnSmHaveDifferentColumns) {
  auto const alone = first_columns<allocates<128, true>>(4, 1, GetParam());
  EXPECT_EQ(alone, (std::vector<std::uint32_t>{0, 0, 0, 0}));
  for (int const os_threads : {1, 4}) {  // an SM is of one OS thread, however many there may be
    auto const shared = first_columns<allocates<128, true>>(4, 4, GetParam(), os_threads);
    EXPECT_GT(std::ranges::count_if(shared, [](std::uint32_t at) { return at != 0; }), 0);
  }
}

TEST_P(SharedColumns, AnAllocationWaitsForColumnsAndForTheRightToAllocate) {
  first_columns<allocates<512, true>>(6, 2, GetParam());
  first_columns<allocates<256, true>>(6, 3, GetParam());
  // The right to allocate comes back where a CTA ends.
  auto const first = first_columns<allocates<128, false>>(6, 2, GetParam());
  EXPECT_EQ(std::ranges::count(first, 0U), 6);
}

TEST_P(SharedColumns, PairsWaitForBothOfTheirSms) {
  first_columns<allocates<512, true, 2>>(8, 2, GetParam());
  first_columns<allocates<256, false, 2>>(8, 2, GetParam());
}

TEST_P(SharedColumns, ADeadlockNamesTheCtaThatHoldsThem) {
  using kernel = mutants::shared_columns;
  for (auto const& [broken, part] :
       {std::pair{mutants::column_mutation::no_relinquish,
                  "has not relinquished the right to more after its tmem_alloc at"},
        {mutants::column_mutation::all_columns, "has those of its tmem_alloc at"}}) {
    std::vector<std::uint32_t> sums(256), words(256);
    std::vector<int> flags(2);
    emu::options o = scheduled(GetParam());
    o.ctas_per_sm = 2;
    emu::report const r = emu::run<kernel, plain_accesses_seen>(
        {}, 2, {sums.data(), words.data(), flags.data(), broken}, o);
    ASSERT_FALSE(r.clean());
    EXPECT_EQ(r.diagnoses.front().code, "E0001");
    EXPECT_NE(r.diagnoses.front().text.find(part), std::string::npos) << r.text();
    EXPECT_EQ(r.diagnoses.front().object.substr(0, 20), "tensor memory of CTA") << r.text();
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, SharedColumns, testing::Range(0, 3));

}  // namespace
}  // namespace tw::test
