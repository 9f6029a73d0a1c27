// SPDX-License-Identifier: Apache-2.0
// cost.hpp  Predicted time of a tile shape, in clocks of one SM's tensor cores.
#pragma once

#include <cstdint>

#include "tilewright/dispatch/candidates.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw {

struct cost {
  std::int64_t tiles = 0;  // CTA tiles, whole clusters
  std::int64_t waves = 0;  // rounds of all SMs
  double clocks = 0;
};

/// Waves times the clocks of one tile. A tile's main loop takes tile_m * tile_n * K / 2048 clocks
/// (m64nNk16 at 4096 FLOP per clock and SM) or longer where its operands arrive slower than they
/// are used: small tiles need more bytes per FLOP.
inline cost predict(gemm_problem const& p, tile_shape t, int sms) {
  constexpr int tile_m = 128, tile_k = 64;
  constexpr double macs_per_clock = 2048;
  constexpr double bytes_per_clock = 44;  // L2 to one SM when all load, multicast counted once
  constexpr double fixed_clocks = 1800;   // fill of the ring and the epilogue's exposed part
  auto const up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  std::int64_t const m = up(p.m, tile_m * t.cluster_m), n = up(p.n, t.tile_n * t.cluster_n);
  int const cluster = t.cluster_m * t.cluster_n;
  cost c;
  c.tiles = m * n * cluster;
  c.waves = up(m * n, sms / cluster > 0 ? sms / cluster : 1);
  double const k = static_cast<double>(up(p.k, tile_k) * tile_k);
  double const math = tile_m * static_cast<double>(t.tile_n) * k / macs_per_clock;
  double const bytes =
      2 * k *
      (static_cast<double>(tile_m) / t.cluster_n + static_cast<double>(t.tile_n) / t.cluster_m);
  double const loads = bytes / bytes_per_clock;
  double const tile = (math > loads ? math : loads) + fixed_clocks;
  c.clocks = static_cast<double>(c.waves) * tile;
  return c;
}

}  // namespace tw
