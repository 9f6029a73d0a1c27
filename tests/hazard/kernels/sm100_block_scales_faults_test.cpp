// SPDX-License-Identifier: Apache-2.0
// sm100_block_scales_faults_test.cpp  Faults planted in the Blackwell GEMM with block scales:
//                                     each is reported, whenever its operations complete.
//
// Each fault has a configuration that no other test has. A function of the kernel is specialised
// for it, and lacks one step.
#include <gtest/gtest.h>

#include <set>

#include "tests/hazard/kernels/sm100_block_scales.hpp"

namespace tw {
namespace {

constexpr sm100_config faulty(int stages, int tile_n = 128, bool dynamic = false) {
  return {.a = {elem::e5m2},
          .b = {elem::e5m2},
          .tile_n = tile_n,
          .stages = stages,
          .dynamic = dynamic,
          .block_scales = true};
}
constexpr sm100_config correct = faulty(6), correct_requests = faulty(2, 64, true);
// D by TMA.
constexpr sm100_config no_proxy_fence = faulty(2), buffer_filled_again = faulty(3);
// Sums in tensor memory, and scales that lanes exchange.
constexpr sm100_config sums_not_waited_for = faulty(4), freed_before_loaded = faulty(5),
                       scales_overwritten = faulty(2, 64);
// Tiles that clusters request.
constexpr sm100_config answer_not_fenced = faulty(3, 64, true),
                       answer_overwritten = faulty(4, 64, true), answer_kept = faulty(5, 64, true);

}  // namespace

template <>
void sm100_epilogue<no_proxy_fence>::send(std::byte const* box, place at, destination const& to) {
  warp_sync();
  if (lane_id() == 0) {
    tma_store(to.map, box, tma_coord{to.col, at.row, to.where.units, to.where.spans});
    tma_store_commit();
  }
}
template <>
std::byte* sm100_epilogue<buffer_filled_again>::boxes::next() {
  warp_sync();
  return box[stored++ % 2];
}

template <>
template <class To, class Next, class Loaded>
void sm100_scaled_sums<sums_not_waited_for>::store(sm100_params const& p, fragment_place at,
                                                   column_scales* exchange, To const& to,
                                                   Next const& next, Loaded const& loaded) {
  float sum[cols] = {};
  add_blocks<false>(p, at, exchange, next, loaded, sum);
  std::uint32_t const first = to();
  unrolled<cols / piece>([&](auto i) {
    words w;
    for (int j = 0; j < piece; ++j) w.r[j] = bits_of_float(sum[i * piece + j]);
    tmem_store<tmem_shape::l32x32b, piece>(tmem_at(first, 0, i * piece), w);
  });
}
template <>
template <bool ByColumn, class Next, class Loaded>
void sm100_scaled_sums<freed_before_loaded>::add_blocks(sm100_params const& p, fragment_place at,
                                                        column_scales* exchange, Next const& next,
                                                        Loaded const& loaded, float (&sum)[cols]) {
  for (int k = 0; k < p.k_blocks; ++k) {
    std::uint32_t const from = next();
    auto first = tmem_load<tmem_shape::l32x32b, piece>(from);
    loaded();
    add<false, 0>(
        from, first, 1.0F, exchange, [] {}, sum);
  }
  static_cast<void>(at);
}
template <>
template <bool ByColumn, class Next, class Loaded>
void sm100_scaled_sums<scales_overwritten>::add_blocks(sm100_params const& p, fragment_place at,
                                                       column_scales* exchange, Next const& next,
                                                       Loaded const& loaded, float (&sum)[cols]) {
  for (int k = 0; k < p.k_blocks; ++k) {
    if (4 * lane_id() < cols)
      exchange[lane_id()] = {{1.0F, 1.0F, 1.0F, static_cast<float>(at.col)}};
    warp_sync();
    std::uint32_t const from = next();
    auto first = tmem_load<tmem_shape::l32x32b, piece>(from);
    add<true, 0>(from, first, 1.0F, exchange, loaded, sum);
  }
}

template <>
template <int Lanes>
int sm100_tiles<answer_not_fenced>::next(memory& m, int i) {
  int const at = i % answers;
  m.answered[at].wait(static_cast<std::uint32_t>(i / answers) & 1U);
  launch_response const& answer = m.answer[at];
  int const tile = launch_cancelled(answer) ? launch_cancelled_cta(answer).x : -1;
  if constexpr (Lanes > 1) warp_sync();
  if (Lanes == 1 || lane_id() == 0) m.answer_free[at].arrive();
  return tile;
}
/// The request of an answer's place does not wait for those who read the answer before.
template <>
void sm100_tiles<answer_overwritten>::request(memory& m) {
  int tile = 0;
  for (int i = 0; tile >= 0; ++i) {
    int const at = i % answers;
    m.answered[at].arrive_expect_tx(sizeof(launch_response));
    launch_cancel(m.answer[at], m.answered[at]);
    tile = next<1>(m, i);
  }
}
/// The warps of the epilogue never give the place of an answer back.
template <>
template <int Lanes>
int sm100_tiles<answer_kept>::next(memory& m, int i) {
  int const at = i % answers;
  m.answered[at].wait(static_cast<std::uint32_t>(i / answers) & 1U);
  launch_response const& answer = m.answer[at];
  int const tile = launch_cancelled(answer) ? launch_cancelled_cta(answer).x : -1;
  fence_proxy_async();
  if constexpr (Lanes > 1) warp_sync();
  int const warp = thread_id() / 32;
  bool const epilogue = warp >= sm100_cta::first_epilogue_warp && warp < sm100_cta::request_warp;
  if (!epilogue && (Lanes == 1 || lane_id() == 0)) m.answer_free[at].arrive();
  return tile;
}

namespace test {
namespace {

class Sm100BlockScalesFaults : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!plain_accesses_seen) GTEST_SKIP() << "built without sight of ordinary loads and stores";
  }
  template <sm100_config C>
  void expect(std::set<std::string> const& codes, scaled_problem_size const& s) {
    scaled_run const r = run_scaled<C>(s, GetParam());
    ASSERT_FALSE(r.report.clean());
    EXPECT_TRUE(codes.contains(r.report.diagnoses.front().code)) << r.report.text();
  }
  static constexpr scaled_problem_size by_tma{128, 384, 384, 128, true};
  static constexpr scaled_problem_size many_tiles{128, 512, 128, 128, true};
};

TEST_P(Sm100BlockScalesFaults, TheKernelsWithoutAFaultAreClean) {
  for (scaled_run const& r : {run_scaled<correct>(by_tma, GetParam()),
                              run_scaled<correct_requests>(many_tiles, GetParam())}) {
    EXPECT_TRUE(r.report.clean()) << r.report.text();
    EXPECT_EQ(r.wrong, "");
  }
}
TEST_P(Sm100BlockScalesFaults, StoresOfDByTma) {
  expect<no_proxy_fence>({"E0025"}, by_tma);
  expect<buffer_filled_again>({"E0028"}, by_tma);
}
TEST_P(Sm100BlockScalesFaults, SumsAndScales) {
  expect<sums_not_waited_for>({"E0100"}, by_tma);
  expect<freed_before_loaded>({"E0100"}, by_tma);
  expect<scales_overwritten>({"E0024"}, {128, 128, 512, 1, true});
}
TEST_P(Sm100BlockScalesFaults, RequestsOfTiles) {
  expect<answer_not_fenced>({"E0025"}, many_tiles);
  expect<answer_overwritten>({"E0024", "E0001"}, many_tiles);  // or a phase that is missed
  expect<answer_kept>({"E0001"}, many_tiles);
}

INSTANTIATE_TEST_SUITE_P(Schedules, Sm100BlockScalesFaults, testing::Range(0, 3));

}  // namespace
}  // namespace test
}  // namespace tw
