// SPDX-License-Identifier: Apache-2.0
// cost_test.cpp  Laws of the predicted time: what is read from DRAM, what a GPC loads, what power
//                takes.
#include "family/sm90_gemm/cost.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>

#include "family/sm100_gemm/cost.hpp"
#include "family/sm90_gemm/computes.hpp"
#include "problems.hpp"
#include "tilewright/problem/block_scale_convention.hpp"
#include "tilewright/problem/scale_convention.hpp"

namespace tw::test {
namespace {

gemm_calibration const& h200_model() { return h200().model->gemm; }
cost predict(gemm_problem const& p, gemm_config const& c, tile_split const& s) {
  return tw::predict(p, c, s, h200());
}

gemm_config tile_128x128() {
  gemm_config c;
  c.tile_m = 128, c.tile_n = 128, c.cluster_m = 1, c.cluster_n = 1;
  return c;
}

/// Reads per GEMM, us, with `shared` of the tiles cut among all SMs.
double reads_us(gemm_problem const& p, int tiles, int shared) {
  return predict(p, tile_128x128(), {tiles, 132, shared, shared == 0 ? 0 : 132}).reads_us /
         static_cast<double>(p.batch);
}

TEST(Cost, SplitKReadsALargeOperandAnewForEachTileAcross) {
  gemm_problem const p = tn(256, 5120, 25600);  // 2 x 40 tiles; A has 13 MB, B 262
  double const once = reads_us(p, 80, 0), a = once * 256 / 5376, b = once * 5120 / 5376;
  EXPECT_NEAR(reads_us(p, 80, 80), a + 2 * b, 1e-9 * once);
  EXPECT_NEAR(reads_us(p, 80, 40), a + 1.5 * b, 1e-9 * once);  // half of the tiles
}

TEST(Cost, AndASmallOneOnceForAnyBatch) {
  for (int const batch : {1, 77, 1000}) {
    gemm_problem const p = batch_of(tn(512, 512, 512), batch);  // A and B have 0.5 MB
    EXPECT_DOUBLE_EQ(reads_us(p, 16 * batch, 16 * batch), reads_us(p, 16 * batch, 0)) << batch;
  }
}

/// Rows and columns of tiles that the 16 CTAs from `first` on work on.
std::pair<std::size_t, std::size_t> strips_of_gpc(tile_order const& o, int first) {
  std::set<int> rows, cols;
  for (int i = first; i < first + 16; ++i) {
    tile_place const t = tile_walk(o).place(i);
    rows.insert(t.m), cols.insert(t.n);
  }
  return {rows.size(), cols.size()};
}

TEST(Cost, AGpcLoadsWhatItsSixteenTilesNeed) {
  gemm_config const c = tile_128x128();
  int compared = 0;
  for (int const m : {128, 256, 512, 1024, 2048})
    for (int const n : {512, 1024, 2048, 4096, 8192}) {
      gemm_problem const p = tn(m, n, 1024);
      int const tiles = (m / 128) * (n / 128);
      tile_order const o = usual_order_of(p, c, tiles, h200());
      // Where a GPC's tiles are a rectangle of whole bands.
      if (tiles > 128 || tiles % 16 != 0 || 16 % o.band != 0 || o.m_tiles % o.band != 0 ||
          o.n_tiles % (16 / o.band) != 0)
        continue;
      double const loaded = gpc_bytes(p, c, {tiles, tiles, 0, 0}, h200(), 1, 1000);
      for (int first = 0; first < tiles; first += 16) {
        auto const [rows, cols] = strips_of_gpc(o, first);
        EXPECT_EQ(loaded, static_cast<double>(rows + 1000 * cols)) << m << "x" << n << " " << first;
      }
      ++compared;
    }
  EXPECT_GT(compared, 8);
}

/// Scales take time, and so the plan that has them; more of them take more.
TEST(Cost, ScalesOfAAndBAndOfDTakeTime) {
  gemm_problem p = tn(4096, 4096, 4096);
  p.a.type = p.b.type = elem::e4m3;
  gemm_config c = tile_128x128();
  c.a = c.b = {elem::e4m3}, c.sums = sum_form::promoted_128;
  tile_split const s{1024, 132, 0, 0};
  cost const promoted = predict(p, c, s);
  c.sums = sum_form::scaled;
  p.scale_a = make_scale({false, p.m, p.k}, scaling::block_1x128);
  p.scale_b = make_scale({true, p.n, p.k}, scaling::block_1x128);
  cost const scaled = predict(p, c, s);
  EXPECT_GT(scaled.math_us, 1.1 * promoted.math_us);
  double const bytes = 2 * 4096.0 * 32 * 4;
  EXPECT_NEAR(scaled.reads_us - promoted.reads_us, bytes / h200_model().dram_bytes_per_us, 1e-9);
  c.sums = sum_form::scaled_64;
  EXPECT_GT(predict(p, c, s).math_us, 1.1 * scaled.math_us);

  // With swap-AB the kernel's B has the row scales.
  gemm_config swapped = c;
  swapped.sums = sum_form::scaled, swapped.d_m = true;
  gemm_problem blocks = p;
  blocks.scale_b = make_scale({true, p.n, p.k}, scaling::block_128x128);
  EXPECT_GT(predict(p, swapped, s).math_us, 1.1 * predict(blocks, swapped, s).math_us);

  // Fragments in turn: a kernel for block scales, and one for column scales.
  gemm_config in_turn = c;
  in_turn.tile_m = 256, in_turn.sums = sum_form::scaled;
  double const of_blocks = predict(blocks, in_turn, s).math_us;
  in_turn.sums = sum_form::scaled_columns;
  EXPECT_GT(predict(blocks, in_turn, s).math_us, 1.1 * of_blocks);

  p.scale_a.reset(), p.scale_b.reset();
  p.d.type = c.d = elem::e4m3;
  c.sums = sum_form::promoted_128, c.epilogue = epilogue_id::quantize;
  p.scale_d = output_scales{{}, true};
  cost const given = predict(p, c, s);
  p.scale_d = output_scales{make_scale({false, p.m, p.n}, scaling::block_1x128)};
  cost const computed = predict(p, c, s);
  EXPECT_GT(computed.epilogue_us, given.epilogue_us);
  EXPECT_NEAR(computed.dram_us - given.dram_us,
              (4096.0 * 32 - 1) * 4 / h200_model().dram_bytes_per_us, 1e-9);
  c.epilogue = epilogue_id::ops;
  p.scale_d.reset();
  EXPECT_GT(given.epilogue_us, predict(p, c, s).epilogue_us);
}

/// A kernel for block scales of B refuses column scales, and a split gate without whole tiles of
/// gate columns. A kernel for column scales computes all.
TEST(Computes, BlockAndColumnScales) {
  gemm_config blocks = tile_128x128();
  blocks.a = blocks.b = {elem::e4m3}, blocks.tile_m = 256;
  blocks.sums = sum_form::scaled;
  gemm_config columns = blocks;
  columns.sums = sum_form::scaled_columns;
  struct row {
    scaling of_b;
    gating gate;
    std::int64_t n;
    bool by_blocks;
  };
  for (row const& r : {row{scaling::block_128x128, gating::none, 200, true},
                       row{scaling::block_1x128, gating::none, 256, false},
                       row{scaling::block_128x128, gating::split, 384, true},
                       row{scaling::block_128x128, gating::split, 400, false},
                       row{scaling::block_128x128, gating::interleaved, 400, true},
                       row{scaling::block_1x128, gating::interleaved, 384, false}}) {
    gemm_problem p = tn(512, r.n, 1024);
    p.a.type = p.b.type = elem::e4m3;
    p.scale_a = make_scale({false, p.m, p.k}, scaling::block_1x128);
    p.scale_b = make_scale({true, p.n, p.k}, r.of_b);
    p.epilogue.gate = r.gate;
    blocks.epilogue = columns.epilogue =
        r.gate == gating::none ? epilogue_id::plain : epilogue_id::gated;
    EXPECT_EQ(computes(blocks, p), r.by_blocks) << r.n << " " << static_cast<int>(r.gate);
    EXPECT_TRUE(computes(columns, p)) << r.n << " " << static_cast<int>(r.gate);
  }
}

/// Times of plans by kernel and schedule, for a problem with C of this type; none: without C.
std::map<std::string, double> times_with_c(gemm_problem p, device const& dev,
                                           std::optional<elem> type, float beta) {
  if (type) p.c = matrix_desc{*type, order::row_major, p.n}, p.beta = beta;
  std::map<std::string, double> times;
  for (gemm_plan const& x : plan_candidates(p, with_workspace(), dev, kernel_set::all)) {
    plan_schedule const& s = x.schedule;
    times[std::string(x.family->id()) + " " + x.kernel + (x.swapped ? " swapped " : " ") +
          std::to_string(s.split_k_tiles) + " " + std::to_string(s.split_k_clusters)] =
        x.predicted_us;
  }
  return times;
}

/// C is read once, if beta is not 0.
TEST(Cost, TheBytesOfCTakeTimeInEveryFamily) {
  struct row {
    char const *family, *device;
    std::int64_t m;
    bool nvfp4;
    double least = 1.05;  // times as long
  };
  for (row const& r : {row{"sm90_gemm", "h200", 8192, false},
                       {"gemv", "h200", 8, false, 1.001},
                       {"sm80_gemm", "a100", 8192, false},
                       {"sm100_gemm", "b200", 8192, false},
                       {"sm100_scaled", "b200", 8192, true}}) {
    gemm_problem p = tn(r.m, 65536, 64);
    if (r.nvfp4) {
      p.a.type = p.b.type = elem::e2m1;
      p.scale_a = make_block_scale({false, p.m, p.k}, block_format::nvfp4);
      p.scale_b = make_block_scale({true, p.n, p.k}, block_format::nvfp4);
    }
    device const& dev = known_device(r.device);
    auto const without = times_with_c(p, dev, std::nullopt, 0);
    auto const half = times_with_c(p, dev, elem::bf16, 1),
               whole = times_with_c(p, dev, elem::f32, -0.5F);
    auto const unread = times_with_c(p, dev, elem::f32, 0);
    std::pair<double, std::string> fastest{1e30, ""};
    for (auto const& [plan, us] : without) {
      if (plan.rfind(r.family, 0) != 0 || !whole.contains(plan)) continue;
      EXPECT_EQ(unread.at(plan), us) << plan;
      EXPECT_GE(half.at(plan), us) << plan;
      EXPECT_GE(whole.at(plan), half.at(plan)) << plan;
      fastest = std::min(fastest, {us, plan});
    }
    ASSERT_NE(fastest.second, "") << r.family;  // at this K DRAM limits it
    EXPECT_GT(half.at(fastest.second), r.least * fastest.first) << fastest.second;
    EXPECT_GT(whole.at(fastest.second), r.least * half.at(fastest.second)) << fastest.second;
  }
}

TEST(Cost, FewPartsOfATileLieBesideEachOther) {
  gemm_config c = tile_128x128();
  EXPECT_EQ(parts_beside(c, {64, 64, 0, 0}), 1);
  EXPECT_EQ(parts_beside(c, {64, 128, 64, 128}), 2);
  EXPECT_EQ(parts_beside(c, {40, 120, 40, 120}), 3);
  EXPECT_EQ(parts_beside(c, {16, 128, 16, 128}), 1);  // of 8 parts the eighths of tiles are
  EXPECT_EQ(parts_beside(c, {100, 132, 100, 132}), 1);
  c.cluster_k = 8;
  EXPECT_EQ(parts_beside(c, {16, 16, 0, 0}), 8);
}

/// The time that predict() added to the wgmmas, and the rest of the time without it.
double share_of_power(gemm_problem const& p, gemm_config const& c, int clusters) {
  gemm_calibration const& m = h200_model();
  auto const up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  auto const tiles = static_cast<int>(up(p.m, c.tile_m) * up(p.n, c.tile_n));
  cost const r = predict(p, c, {tiles, clusters, 0, 0});
  double const blocks = static_cast<double>(up(tiles, clusters) * up(p.k, 64));
  double const wgmma_us =
      blocks * (c.tile_m / 64 * 4) * (c.tile_n / 2.0) / efficiency_of(m, c) / (m.clock_ghz * 1000);
  return (r.math_us - wgmma_us) / (r.total_us - (r.math_us - wgmma_us));
}

TEST(Cost, PowerTakesItsShareWhereTheTensorCoresNeverPause) {
  gemm_problem const p = tn(16896, 8192, 65536);
  for (auto const& [m, n, pingpong] :
       {std::tuple{128, 256, false}, {192, 192, false}, {256, 160, false}, {128, 192, true}}) {
    gemm_config c = tile_128x128();
    c.tile_m = m, c.tile_n = n, c.pingpong = pingpong;
    EXPECT_NEAR(share_of_power(p, c, 132), power_share_of(h200_model(), c), 1e-9) << m << "x" << n;
    EXPECT_GT(power_share_of(h200_model(), c), 0);
  }
}

TEST(Cost, OfFewerSmsItTakesLessAndNothingWhereTheyWait) {
  gemm_config const c = tile_128x128();
  double const all = power_share_of(h200_model(), c);
  EXPECT_NEAR(share_of_power(tn(128 * 11, 128 * 6, 65536), c, 66), all / 2, 1e-9);
  EXPECT_NEAR(share_of_power(tn(128, 128, 65536), c, 1), all / 132, 1e-9);
  EXPECT_NEAR(share_of_power(tn(128, 128 * 132, 256), c, 132), 0, 1e-9);  // the launch
  EXPECT_NEAR(share_of_power(tn(8192, 8192, 64), c, 128), 0, 1e-9);       // the results
}

TEST(Cost, PingPongHidesLessOfMMajorAndOfSmallEpilogues) {
  auto const shown = [](gemm_config c) {  // of the epilogues of 7 tiles that another one follows
    c.pingpong = true;
    int const tiles = 8 * 132;
    double const first = predict(tn(8192, 8192, 64), c, {132, 132, 0, 0}).epilogue_us;
    double const all = predict(tn(8192, 8192, 64), c, {tiles, 132, 0, 0}).epilogue_us;
    return (all / first - 1) / 7;
  };
  gemm_calibration const& m = h200_model();
  gemm_config row_major = tile_128x128(), m_major = row_major, small = row_major;
  m_major.d_m = true, small.tile_m = 64;
  EXPECT_NEAR(shown(row_major), m.exposed_pingpong, 1e-9);
  EXPECT_NEAR(shown(m_major), m.exposed_m_major, 1e-9);
  EXPECT_NEAR(shown(small), m.exposed_64, 1e-9);
  EXPECT_LT(shown(row_major), shown(m_major));
  EXPECT_LT(shown(m_major), shown(small));
}

TEST(Cost, CAndTheAuxiliaryResultAreBytesOfDram) {
  gemm_problem const plain = tn(4096, 4096, 256);
  gemm_problem with_c = plain, unread = plain, with_aux = plain;
  with_c.c = plain.d, with_c.beta = 0.5F;
  unread.c = plain.d, unread.beta = 0;
  with_aux.aux = plain.d;
  auto const dram_us = [](gemm_problem const& p) {
    return predict(p, tile_128x128(), {1024, 128, 0, 0}).dram_us;
  };
  double const matrix_us = 4096.0 * 4096 * 2 / h200_model().dram_bytes_per_us;
  EXPECT_NEAR(dram_us(with_c) - dram_us(plain), matrix_us, 1e-9);
  EXPECT_NEAR(dram_us(with_aux) - dram_us(plain), matrix_us, 1e-9);
  EXPECT_DOUBLE_EQ(dram_us(unread), dram_us(plain));
}

/// The additions of a K block on Blackwell (docs/blackwell.md): a load and a multiply-add for each
/// column, and more where each column has another scale of B, as the kernel decides it.
TEST(Cost, BlackwellAddsKBlocksByTheScalesOfB) {
  gemm_problem p = tn(4096, 4096, 4096);
  p.a.type = p.b.type = elem::e4m3;
  sm100_config c{.a = {elem::e4m3}, .b = {elem::e4m3}, .d = elem::bf16, .tile_n = 128};
  EXPECT_EQ(sm100_gemm_family::promotion_clocks(p, c), 0);
  c.block_scales = true;
  p.scale_a = make_scale({false, p.m, p.k}, scaling::block_1x128);
  auto const clocks = [&](scaling b) {
    p.scale_b = make_scale({true, p.n, p.k}, b);
    return sm100_gemm_family::promotion_clocks(p, c);
  };
  EXPECT_EQ(clocks(scaling::block_128x128), 256);
  EXPECT_EQ(clocks(scaling::block_1x128), 416);
  c.epilogue = epilogue_id::gated;  // a tile's columns lie in two parts of B
  EXPECT_EQ(clocks(scaling::block_128x128), 416);
  EXPECT_EQ(clocks(scaling::tensor), 256);
}

}  // namespace
}  // namespace tw::test
