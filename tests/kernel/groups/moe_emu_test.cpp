// SPDX-License-Identifier: Apache-2.0
// moe_emu_test.cpp  Pairs sorted by expert, rows gathered and combined, in the emulator with all
//                   hazards; and a layer of a mixture of experts against float64.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "tests/effort.hpp"
#include "tests/moe_gemms.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/dispatch/moe.hpp"

namespace tw::test {
namespace {

/// Experts of tokens, and the sorted order.
struct routing {
  moe_problem p;
  std::vector<std::int32_t> chosen, counts, ends, source, place;
  moe_operands operands() {
    moe_operands o;
    o.chosen = chosen.data(), o.counts = counts.data(), o.ends = ends.data();
    o.source = source.data(), o.place = place.data();
    return o;
  }
};
/// With `holes`, some pairs go to no expert.
routing random_routing(std::mt19937_64& rng, moe_problem const& p, bool holes) {
  routing r{p, {}, {}, {}, {}, {}};
  auto const pairs = static_cast<std::size_t>(p.tokens * p.choices);
  auto const experts = static_cast<std::size_t>(p.experts);
  for (std::size_t i = 0; i < pairs; ++i) {
    bool const none = holes && rng() % 5 == 0;
    auto const e = static_cast<std::int32_t>(rng() % experts);
    r.chosen.push_back(!none ? e : rng() % 2 != 0 ? -1 : static_cast<std::int32_t>(experts));
  }
  r.counts.assign(experts, -7), r.ends.assign(experts, -7);
  r.source.assign(pairs, -7), r.place.assign(pairs, -7);
  return r;
}

TEST(Moe, SortIsStable) {
  std::mt19937_64 rng(20261129);
  for (int i = 0; i < sample(80, 12) && !HasFailure(); ++i) {
    moe_problem p;
    p.tokens = 1 + static_cast<std::int64_t>(rng() % (i % 4 == 0 ? 700 : 60));
    p.choices = 1 + static_cast<std::int64_t>(rng() % 8);
    p.experts = 1 + static_cast<std::int64_t>(rng() % (i % 3 == 0 ? 260 : 9));
    routing r = random_routing(rng, p, i % 2 != 0);
    emu::options o;
    o.seed = rng(), o.policy = emu::async_policy::random, o.random_warps = true;
    moe_sort_emulated(p, r.operands(), o);
    std::vector<std::int32_t> order(r.chosen.size());
    std::iota(order.begin(), order.end(), 0);
    std::erase_if(order, [&](std::int32_t x) {
      std::int32_t const e = r.chosen[static_cast<std::size_t>(x)];
      return e < 0 || e >= p.experts;
    });
    std::ranges::stable_sort(order, {},
                             [&](std::int32_t x) { return r.chosen[static_cast<std::size_t>(x)]; });
    std::vector<std::int32_t> counts(r.counts.size(), 0), place(r.place.size(), -1);
    for (std::size_t at = 0; at < order.size(); ++at) {
      auto const pair = static_cast<std::size_t>(order[at]);
      ++counts[static_cast<std::size_t>(r.chosen[pair])];
      place[pair] = static_cast<std::int32_t>(at);
      EXPECT_EQ(r.source[at], order[at]) << "place " << at;
    }
    EXPECT_EQ(r.counts, counts);
    EXPECT_EQ(r.place, place);
    std::partial_sum(counts.begin(), counts.end(), counts.begin());
    EXPECT_EQ(r.ends, counts);
    for (std::size_t at = order.size(); at < r.source.size(); ++at)
      EXPECT_EQ(r.source[at], -7) << "beyond the last place";
  }
}

TEST(Moe, RefusesWhatItCannotRun) {
  std::mt19937_64 rng(20261130);
  moe_problem p{.tokens = 4, .choices = 2, .experts = 3, .cols = 8};
  routing r = random_routing(rng, p, false);
  auto const code = [&](moe_problem const& q, moe_operands const& o) -> std::string {
    try {
      moe_sort_emulated(q, o);
    } catch (rejected const& why) {
      return why.why().code;
    }
    return "";
  };
  moe_operands o = r.operands();
  o.chosen = nullptr;
  EXPECT_EQ(code(p, o), "TW0408");
  p.experts = 1025;
  EXPECT_EQ(code(p, r.operands()), "TW0497");
  p.experts = 3, p.tokens = 0;
  EXPECT_EQ(code(p, r.operands()), "TW0497");
}

bf16 rounded(double x) { return to_bf16(static_cast<float>(x)); }

/// Sort, gather, gate and up with SwiGLU, down, combine: five launches. `fused`: four; the
/// GEMMs gather and scatter the rows, and the second one multiplies the router's weights.
void expect_right_layer(bool fused) {
  std::mt19937_64 rng(20261201);
  std::normal_distribution<float> normal;
  constexpr std::int64_t tokens = 37, choices = 2, experts = 5, model = 64, inner = 48;
  constexpr std::int64_t pairs = tokens * choices;
  auto const fill = [&](std::int64_t count, float scale) {
    std::vector<bf16> x(static_cast<std::size_t>(count));
    for (bf16& v : x) v = to_bf16(scale * normal(rng));
    return x;
  };
  std::vector<bf16> const x = fill(tokens * model, 1);
  std::vector<bf16> const gate_up = fill(experts * 2 * inner * model, 0.125F);
  std::vector<bf16> const down = fill(experts * model * inner, 0.125F);
  std::vector<float> weights(pairs);
  for (float& w : weights) w = static_cast<float>(rng() % 100) / 100;
  moe_problem route{.tokens = tokens, .choices = choices, .experts = experts, .cols = model};
  routing r = random_routing(rng, route, false);
  for (std::int32_t& e : r.chosen) e = e == 2 ? 3 : e;  // an expert without tokens

  moe_operands o = r.operands();
  moe_sort_emulated(route, o);
  std::vector<bf16> sorted(pairs * model), hidden(pairs * inner), out(pairs * model);
  std::vector<bf16> y(tokens * model);
  o.from = x.data(), o.to = sorted.data();
  if (!fused) moe_gather_emulated(route, o);
  gemm_problem up = gate_up_gemm(pairs, model, inner, experts);
  gemm_operands of_up{sorted.data(), gate_up.data(), nullptr, hidden.data()};
  of_up.groups = r.ends.data();
  if (fused) {
    up.groups->gather_from = tokens;  // rows of A
    up.groups->choices = choices;     // of a token: its pairs follow each other
    of_up.a = x.data(), of_up.gather = r.source.data();
  }
  gemm_emulated(up, of_up, {});
  gemm_problem back = down_gemm(pairs, model, inner, experts);
  gemm_operands of_back{hidden.data(), down.data(), nullptr, out.data()};
  of_back.groups = r.ends.data();
  if (fused) {
    back.groups->scatter_to = pairs;  // rows of D, in the order of pairs
    back.epilogue.row_weight = along::rows;
    of_back.scatter = r.source.data(), of_back.row_weight = weights.data();
  }
  gemm_emulated(back, of_back, {});
  o.from = out.data(), o.to = y.data();
  if (!fused) o.weights = weights.data();
  route.scattered = fused;
  moe_combine_emulated(route, o);

  for (std::int64_t t = 0; t < tokens; ++t) {
    std::vector<double> want(model, 0), size(model, 0);
    for (std::int64_t c = 0; c < choices; ++c) {
      std::int64_t const e = r.chosen[static_cast<std::size_t>(t * choices + c)];
      std::vector<double> h(inner);
      for (std::int64_t i = 0; i < inner; ++i) {
        double g = 0, u = 0;
        for (std::int64_t k = 0; k < model; ++k) {
          double const v = to_float(x[static_cast<std::size_t>(t * model + k)]);
          auto const row = [&](std::int64_t n) {
            return to_float(gate_up[static_cast<std::size_t>((e * 2 * inner + n) * model + k)]);
          };
          g += v * row(i), u += v * row(inner + i);
        }
        h[static_cast<std::size_t>(i)] = to_float(rounded(g / (1 + std::exp(-g)) * u));
      }
      for (std::int64_t n = 0; n < model; ++n) {
        double sum = 0, magnitude = 0;
        for (std::int64_t i = 0; i < inner; ++i) {
          double const term = h[static_cast<std::size_t>(i)] *
                              to_float(down[static_cast<std::size_t>((e * model + n) * inner + i)]);
          sum += term, magnitude += std::fabs(term);
        }
        double const w = weights[static_cast<std::size_t>(t * choices + c)];
        want[static_cast<std::size_t>(n)] += w * sum;
        size[static_cast<std::size_t>(n)] += w * magnitude;
      }
    }
    for (std::int64_t n = 0; n < model; ++n) {
      // Hidden values may round to the neighbour, and two rounded rows are added.
      double const bound = std::ldexp(size[static_cast<std::size_t>(n)], -7) + 1e-6;
      EXPECT_NEAR(to_float(y[static_cast<std::size_t>(t * model + n)]),
                  want[static_cast<std::size_t>(n)], bound)
          << "token " << t << ", column " << n;
    }
  }
}

TEST(Moe, ALayerIsRight) { expect_right_layer(false); }
TEST(Moe, ALayerInFourLaunchesIsRight) { expect_right_layer(true); }

}  // namespace
}  // namespace tw::test
