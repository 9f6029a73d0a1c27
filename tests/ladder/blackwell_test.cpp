// SPDX-License-Identifier: Apache-2.0
// blackwell_test.cpp  The rungs with tcgen05 and the article's FP8 GEMM: right under every kind of
//                     schedule, without a diagnosis.
#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <tuple>
#include <vector>

#include "ladder/blackwell/cta_pair.hpp"
#include "ladder/blackwell/fp8.hpp"
#include "ladder/blackwell/one_cta.hpp"
#include "tilewright/arch/emu/trace.hpp"

namespace ladder {
namespace {

emu::options schedule(int i) {
  emu::options o;
  o.policy = static_cast<emu::async_policy>(i % 3);
  o.random_warps = i >= 3;
  o.seed = static_cast<std::uint64_t>(i);
  return o;
}

/// Small integers, whose sums are exact.
template <class T, class Round>
std::vector<T> integers(int count, unsigned seed, Round round) {
  std::mt19937 random(seed);
  std::vector<T> x(static_cast<std::size_t>(count));
  for (T& e : x) e = round(static_cast<float>(random() % 9) - 4);
  return x;
}

/// The element of D = A B^T in float64.
template <class T>
double sum_at(std::vector<T> const& a, std::vector<T> const& b, int k, int row, int column) {
  double sum = 0;
  for (int i = 0; i < k; ++i)
    sum += static_cast<double>(to_float(a[static_cast<std::size_t>(row * k + i)])) *
           static_cast<double>(to_float(b[static_cast<std::size_t>(column * k + i)]));
  return sum;
}

class BlackwellExamples : public testing::TestWithParam<int> {
 protected:
  template <class Rung>
  void check(int m, int n, int k) {
    auto const round = [](float x) { return to_bf16(x); };
    std::vector<bf16> const a = integers<bf16>(m * k, 1, round),
                            b = integers<bf16>(n * k, 2, round);
    std::vector<bf16> d(static_cast<std::size_t>(m * n));
    problem const x{a.data(), b.data(), d.data(), m, n, k, k, k, n, 2, target::emu};
    emu::report const r = emu::run(Rung{}, Rung::ctas(x), Rung::params_of(x), schedule(GetParam()));
    EXPECT_TRUE(r.clean()) << r.text();
    int wrong = 0;
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j)
        wrong += d[static_cast<std::size_t>(i * n + j)].bits !=
                 to_bf16(static_cast<float>(sum_at(a, b, k, i, j))).bits;
    EXPECT_EQ(wrong, 0);
  }
};

TEST_P(BlackwellExamples, OneCta) { check<rung_13>(128, 512, 320); }
TEST_P(BlackwellExamples, CtaPair) { check<rung_14>(256, 256, 448); }

TEST_P(BlackwellExamples, TheArticlesFp8Gemm) {
  using blackwell::fp8_gemm;
  int const m = 128, n = 128, k = 768;  // stages are used again
  auto const round = [](float x) { return to_e4m3(x, saturation::none); };
  std::vector<e4m3> const a = integers<e4m3>(m * k, 3, round), b = integers<e4m3>(n * k, 4, round);
  std::vector<float> d(static_cast<std::size_t>(m * n));
  auto const map = [&](e4m3 const* base, int rows) {
    tensor_map_desc t;
    t.base = const_cast<e4m3*>(base);
    t.type = elem::e4m3;
    t.dim[0] = k, t.dim[1] = rows;
    t.stride_bytes[0] = k;
    t.box[0] = fp8_gemm::bk, t.box[1] = 128;
    t.swizzle = swizzle_mode::b128;
    return make_tensor_map(t, target::emu);
  };
  emu::report const r =
      emu::run(fp8_gemm{}, m / fp8_gemm::bm * (n / fp8_gemm::bn),
               {map(a.data(), m), map(b.data(), n), d.data(), m, n, k}, schedule(GetParam()));
  EXPECT_TRUE(r.clean()) << r.text();
  int wrong = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      wrong += static_cast<double>(d[static_cast<std::size_t>(i * n + j)]) != sum_at(a, b, k, i, j);
  EXPECT_EQ(wrong, 0);
}

/// Of a run with operands of zeros.
template <class Rung>
emu::timeline timeline_of_rung(int m, int n, int k, emu::options o) {
  std::vector<bf16> const a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(n * k));
  std::vector<bf16> d(static_cast<std::size_t>(m * n));
  emu::trace recorded;
  o.record = &recorded;
  problem const x{a.data(), b.data(), d.data(), m, n, k, k, k, n, 2, target::emu};
  EXPECT_TRUE(emu::run(Rung{}, Rung::ctas(x), Rung::params_of(x), o).clean());
  return emu::timeline_of(recorded);
}

std::vector<emu::trace_slice> slices_of(emu::timeline const& t, int cta, emu::slice_kind kind,
                                        std::string_view name) {
  std::vector<emu::trace_slice> found;
  for (emu::trace_slice const& s : t.slices)
    if (t.rows[static_cast<std::size_t>(s.row)].cta == cta && s.kind == kind &&
        s.name.starts_with(name))
      found.push_back(s);
  return found;
}

/// Four multiplies of 128 x 256 take the tensor core 512 cycles; the commit arrives after them.
TEST(BlackwellTimeline, MultipliesOfACommitTakeTheTensorCore) {
  emu::timeline const t = timeline_of_rung<rung_13>(128, 512, 320, {});
  for (int cta = 0; cta < 2; ++cta) {
    auto const multiplies = slices_of(t, cta, emu::slice_kind::multiply, "");
    ASSERT_EQ(multiplies.size(), 320U / rung_13::bk);
    for (std::size_t i = 0; i < multiplies.size(); ++i) {
      EXPECT_EQ(multiplies[i].end - multiplies[i].begin, 4 * 256 / 2);
      EXPECT_EQ(multiplies[i].detail.substr(0, 12), "4 x m128n256") << multiplies[i].detail;
      if (i == 0) continue;
      EXPECT_GE(multiplies[i].begin, multiplies[i - 1].end);
    }
    auto const sums = slices_of(t, cta, emu::slice_kind::wait, "sums_done");
    ASSERT_FALSE(sums.empty());
    for (emu::trace_slice const& s : sums) EXPECT_EQ(s.end, multiplies.back().end + 32 + 24);
    auto const free = slices_of(t, cta, emu::slice_kind::wait, "slot_free[0] phase 0");
    ASSERT_EQ(free.size(), 1U) << "the fifth K block goes to the first stage";
    EXPECT_GE(free[0].end, multiplies[0].end + 32);
  }
}

TEST(BlackwellTimeline, APairMultipliesInBothCtas) {
  emu::timeline const t = timeline_of_rung<rung_14>(256, 256, 448, {});
  auto const even = slices_of(t, 0, emu::slice_kind::multiply, ""),
             odd = slices_of(t, 1, emu::slice_kind::multiply, "");
  ASSERT_EQ(even.size(), 448U / rung_14::bk);
  ASSERT_EQ(odd.size(), even.size());
  for (std::size_t i = 0; i < even.size(); ++i) {
    EXPECT_EQ(std::pair(even[i].begin, even[i].end), std::pair(odd[i].begin, odd[i].end));
    EXPECT_EQ(even[i].end - even[i].begin, 4 * 256 / 2);
  }
  EXPECT_TRUE(slices_of(t, 1, emu::slice_kind::issue, "commit").empty()) << "one CTA issues";
}

TEST(BlackwellTimeline, TheScheduleDoesNotMatter) {
  emu::timeline const eager = timeline_of_rung<rung_14>(256, 256, 448, schedule(0));
  for (int i = 1; i < 6; ++i) {
    emu::timeline const t = timeline_of_rung<rung_14>(256, 256, 448, schedule(i));
    ASSERT_EQ(t.slices.size(), eager.slices.size());
    for (std::size_t k = 0; k < t.slices.size(); ++k) {
      emu::trace_slice const &s = t.slices[k], &e = eager.slices[k];
      ASSERT_EQ(std::tuple(s.row, s.begin, s.end, s.name),
                std::tuple(e.row, e.begin, e.end, e.name));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, BlackwellExamples, testing::Range(0, 4));

}  // namespace
}  // namespace ladder
