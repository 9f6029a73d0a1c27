// SPDX-License-Identifier: Apache-2.0
// cost.hpp  Predicted time of an SM90 GEMM kernel on a device.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "family/operand_scales.hpp"
#include "family/sm90_gemm/l2_hints.hpp"
#include "family/sm90_gemm/loads_c.hpp"
#include "family/sm90_gemm/raster.hpp"
#include "tilewright/arch/limits.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/device/cache_line.hpp"
#include "tilewright/device/device.hpp"
#include "tilewright/kernel/sm90/config.hpp"
#include "tilewright/kernel/sm90/epilogue/d_box.hpp"
#include "tilewright/kernel/sm90/fixup_size.hpp"
#include "tilewright/problem/gemm.hpp"
#include "tilewright/problem/scale_place.hpp"

namespace tw {

/// How the tiles are handed out: whole, or split along K.
struct tile_split {
  int tiles = 0;             // cluster tiles
  int clusters = 0;          // that run
  int split_k_tiles = 0;     // whose K range several clusters share
  int split_k_clusters = 0;  // that share them
};

struct cost {
  double math_us = 0, loads_us = 0, dram_us = 0, epilogue_us = 0, split_k_us = 0, total_us = 0;
  double copies_us = 0;  // of operands that TMA cannot address
  double reads_us = 0;   // of dram_us, for A, B and C
};

/// Matrices that TMA cannot address: D, which plain stores write, and operands that are copied
/// first, of which p has the copies.
struct odd_matrices {
  bool d = false;
  double copied_bytes = 0;
  double gathered_rows = 0;   // of a tile, which warps copy by an index array
  ab_table<bool> transposed;  // in these copies
};

/// Rows that warps copy by cp.async reach shared memory at this rate, in time that the wgmmas lack:
/// a K block of 128 rows took 170 clocks longer (Mixtral) to 480 (DeepSeek-V3) in ping-pong tiles
/// of 128x192, about 450 in tiles of 128x256 by two CTAs (H200, docs/decisions/0057). Up to 16 rows
/// of a tile take no longer.
inline constexpr double gather_bytes_per_clock = 32, gather_bytes_per_clock_pingpong = 64;
inline constexpr std::int64_t rows_without_gather_cost = 16;

/// Rows of tiles for which gemm_calibration has separate constants: efficiency_64, power_192, ...
inline constexpr int rows_64 = wgmma_m, rows_192 = 3 * wgmma_m, rows_256 = 4 * wgmma_m;
/// Columns that the constants of promotions are measured with: narrow up to so many, and wide.
inline constexpr int narrow_columns = 128, wide_columns = 192;
/// Multiplies of one K block for each 64 rows: a block has the widest span of K.
inline constexpr int block_multiplies = widest_span_bytes / mma_k_bytes;
/// Bytes of a sum that split-K exchanges.
inline constexpr int sum_bytes = size_bytes(elem::f32);

/// Do CTAs of a cluster load for each other?
inline bool multicasts(gemm_config const& c) { return c.cluster_m * c.cluster_n > 1; }

/// Of the tensor cores, in a kernel's main loop.
inline double efficiency_of(gemm_calibration const& m, gemm_config const& c) {
  // Bound by its wgmmas, with 64 rows.
  bool const narrow = c.tile_m == rows_64 && c.tile_n >= rows_64;
  double const alone = c.pingpong             ? m.efficiency_pingpong
                       : narrow               ? m.efficiency_64
                       : c.tile_m == rows_256 ? m.efficiency_256
                                              : m.efficiency;
  return multicasts(c) ? alone * m.efficiency_cluster : alone;
}

/// Clocks of a wgmma of 64 rows and 32 bytes of K: an SM multiplies two columns of them in a clock.
inline double wgmma_clocks_of(gemm_calibration const& m, gemm_config const& c) {
  return std::max(c.tile_n / 2.0, m.min_wgmma_clocks);
}

/// Clocks in which a CTA decodes a K block of 4-bit weights and multiplies it.
inline double decode_clocks_of(operand_order_calibration const& o, gemm_config const& c) {
  double const blocks = static_cast<double>(c.weights().block_k()) / weight_block;
  if (c.tile_m == rows_64)
    return (o.decode_clocks_64 + o.decode_clocks_64_column * c.tile_n) * blocks;
  bool const in_turn = c.k_turns > 1;
  double const rows = in_turn ? o.decode_clocks_turns : o.decode_clocks,
               column = in_turn ? o.decode_clocks_turns_column : o.decode_clocks_column;
  return (rows + column * c.tile_n) * blocks;
}

/// Clocks of a K block in which the tensor cores wait for promotions, of a kernel with one consumer
/// or with parts in turn. `columns`: each column of B has a scale in the main loop.
inline double waiting_clocks_of(scale_calibration const& s, gemm_config const& c, bool columns) {
  auto const of = [&](double start, double column) { return start + column * c.tile_n; };
  if (!c.parts_in_turn())
    return !c.scaled() ? of(s.promoted_alone, s.promoted_alone_column)
           : columns   ? of(s.promotion_1x128_alone, s.promotion_1x128_alone_column)
                       : of(s.promotion_alone, s.promotion_alone_column);
  if (c.math_warpgroups() == 1)
    return !c.scaled() ? of(s.promoted_parts, s.promoted_parts_column)
           : columns   ? of(s.promotion_1x128_parts, s.promotion_1x128_parts_column)
                       : of(s.promotion_parts, s.promotion_parts_column);
  return !c.scaled() ? of(s.promoted_parts_2, s.promoted_parts_2_column)
         : columns   ? of(s.promotion_1x128_parts_2, s.promotion_1x128_parts_2_column)
                     : of(s.promotion_parts_2, s.promotion_parts_2_column);
}

/// The share of a main loop's time that promotions take: waiting for the wgmmas, and adding.
inline double promotion_share_of(calibration const& model, gemm_problem const& p,
                                 gemm_config const& c) {
  if (c.promote_k() == 0) return 0;
  type_rates const& r = model.types;
  double const wide = std::clamp(
      static_cast<double>(c.promoted_n() - narrow_columns) / (wide_columns - narrow_columns), 0.0,
      1.0);
  double const promoted = c.math_warpgroups() == 3 ? r.promoted_3_warpgroups
                                                   : r.promoted_2_warpgroups * (1 - wide) +
                                                         r.promoted_2_warpgroups_wide * wide;
  scale_calibration const& s = model.scales;
  // Each column has a scale. B is the B that the kernel loads: with swap-AB the A of the request.
  auto const& of_b = scale(p, role::b);
  bool const columns = c.gated() || (of_b && of_b->block_outer == 1);
  bool const three = c.math_warpgroups() == 3, narrow = !three && c.tile_n <= narrow_columns;
  double const scaled = columns ? (three    ? s.promotion_1x128_3_warpgroups
                                   : narrow ? s.promotion_1x128_narrow
                                            : s.promotion_1x128)
                                : (three    ? s.promotion_3_warpgroups
                                   : narrow ? s.promotion
                                            : s.promotion_wide);
  double const in_turn = c.sums == sum_form::scaled_columns ? s.promotion_1x128_in_turn
                         : c.scaled()                       ? s.promotion_in_turn
                                                            : s.promoted_in_turn;
  double const waits = waiting_clocks_of(s, c, columns) /
                       (c.tile_m / wgmma_m * block_multiplies * wgmma_clocks_of(model.gemm, c));
  double const cost = (c.in_turn()                               ? in_turn
                       : c.parts_in_turn() || c.consumers() == 1 ? waits
                       : c.scaled()                              ? scaled
                                                                 : 1 / promoted - 1) *
                      scale_block_k / c.promote_k();
  return cost / (1 + cost);
}

/// Of the tensor cores with a kernel's types and sums, as a share of bf16's for the same bytes.
inline double type_rate_of(calibration const& model, gemm_problem const& p, gemm_config const& c) {
  type_rates const& r = model.types;
  double const rate = is_fp8(c.a.multiplied)             ? r.fp8
                      : is_8_bit_integer(c.a.multiplied) ? r.int8
                      : size_bits(c.a.multiplied) == 32
                          ? (multicasts(c) ? r.tf32_multicast : r.tf32_single)
                      : c.sums == sum_form::f16 ? r.f16_sums
                                                : 1;
  operand_order_calibration const& o = model.operand_orders;
  double const from_registers = !c.a_in_registers()  ? 1
                                : c.promote_k() == 0 ? o.register_a
                                                     : o.register_a_promoted;
  // Each part of A that a warpgroup brings to registers serves fewer columns.
  bool const narrow = c.a_in_registers() && c.tile_n <= narrow_columns;
  double const of_narrow = narrow && size_bits(c.a.multiplied) == 32 ? r.narrow_tf32 : 1;
  return rate * from_registers * of_narrow * (1 - promotion_share_of(model, p, c));
}

/// Bytes of A in memory for each byte that is multiplied: weights of 4 bits take fewer.
inline double stored_share(gemm_config const& c) {
  return static_cast<double>(c.a_bytes()) / (c.tile_m * c.tile_k() * size_bytes(c.a.multiplied));
}

/// The relative increase of a kernel's time where the tensor cores of all SMs never pause.
inline double power_share_of(gemm_calibration const& m, gemm_config const& c) {
  if (c.tile_m == rows_64) return 0;
  if (multicasts(c)) {
    if (c.tile_m == rows_256)
      return c.tile_n == wide_columns ? m.power_cluster_256x192 : m.power_cluster;
    return c.cluster_m * c.cluster_n == 2 ? m.power_cluster_2 : m.power_cluster;
  }
  if (c.pingpong) return m.power_pingpong;
  return c.tile_m == rows_256 ? m.power_256 : c.tile_m == rows_192 ? m.power_192 : m.power_128;
}

/// CTAs beside each other that have other parts of K of the same tile (work_plan::part_of).
inline int parts_beside(gemm_config const& c, tile_split const& s) {
  bool const even = s.split_k_tiles > 0 && s.split_k_tiles == s.tiles &&
                    s.split_k_clusters % s.split_k_tiles == 0;
  int const parts = even ? s.split_k_clusters / s.split_k_tiles : 1;
  return c.cluster_k > 1 ? c.cluster_k : parts < 4 ? parts : 1;
}

/// Bytes of one K block that the CTAs of a GPC need, where a row of tiles needs a_bytes of it and a
/// column b_bytes. CTAs beside each other run in one GPC and load the same lines at the same time:
/// L2 sends these once (docs/decisions/0025).
inline double gpc_bytes(gemm_problem const& p, gemm_config const& c, tile_split const& s,
                        device const& dev, double a_bytes, double b_bytes) {
  tile_order const o = usual_order_of(p, c, s.clusters, dev);
  if (c.cluster_k > 1) {
    // A cluster is in one GPC. Two in a GPC do not load the same lines at the same time.
    int const gpcs = std::max(1, dev.sm_count / dev.sms_per_gpc);
    int const in_gpc =
        std::min(std::max(1, dev.sms_per_gpc / c.cluster_k), (s.clusters + gpcs - 1) / gpcs);
    return c.cluster_k * in_gpc * (a_bytes + b_bytes);
  }
  int const parts = parts_beside(c, s);
  double const tiles =
      std::max(1.0, std::min(1.0 * dev.sms_per_gpc, 1.0 * s.clusters * c.cluster_k) / parts);
  double const cols = std::min<double>(o.n_tiles, std::max(1.0, tiles / o.band));
  double const rows = std::min<double>(o.m_tiles, std::max(1.0, tiles / cols));
  return parts * (rows * a_bytes + cols * b_bytes);
}

/// Clocks of the epilogue for an element of C.
inline double clocks_of_c(gemm_calibration const& m, gemm_problem const& p, gemm_config const& c,
                          tile_split const& s) {
  if (!p.c || p.beta == 0) return 0;
  if (loads_c(c, p, s.split_k_tiles > 0)) return m.epilogue_c_tma_clocks;
  bool const pairs =
      c.reads_c_in_pairs() && p.c->ord == order::row_major && size_bytes(p.c->type) == 2;
  return pairs ? m.epilogue_c_pair_clocks : m.epilogue_c_single_clocks;
}

/// Clocks of a tile for C that is loaded while the tile is stored, when staging buffers are free
/// again. Only groups of K take them: their main loops are short, in other GEMMs C is in L2.
inline double later_c_clocks(gemm_calibration const& m, gemm_problem const& p, gemm_config const& c,
                             tile_split const& s, double results) {
  if (c.ragged != group_axis::k || !loads_c(c, p, s.split_k_tiles > 0)) return 0;
  double const later = 1 - static_cast<double>(c_buffers_of(c)) / epilogue_tiles_of(c);
  return results * size_bytes(c.d) * later *
         (c.pingpong ? m.later_c_clocks_pingpong : m.later_c_clocks);
}

/// Clocks that a CTA needs for the scales of a tile's results.
inline double quantise_clocks(gemm_problem const& p, scale_calibration const& m, double results) {
  if (!p.scale_d) return 0;
  return results * (m.division_clocks + (p.scale_d->given ? 0 : m.amax_clocks));
}

/// Time that a launch with promoted sums takes longer than one with plain sums: before the first
/// addition of sums and after the last multiply.
inline double promotion_start_us(scale_calibration const& m, gemm_config const& c) {
  return c.promote_k() == 0 ? 0 : c.scaled() ? m.promotion_start_us : m.promoted_start_us;
}

/// Clocks that the epilogue of a tile needs for scales of rows and columns.
inline double row_scale_clocks(gemm_problem const& p, scale_calibration const& m,
                               gemm_config const& c) {
  auto const vector = [&](role x) {
    vector_desc const& s = epilogue_scale(p.epilogue, x);
    return s && !s.one;
  };
  if (!vector(role::a) && !vector(role::b)) return 0;
  return m.row_clocks + (c.d_m ? m.row_column_clocks_m_major : m.row_column_clocks) * c.tile_n;
}

/// Time of problem `p` (as the kernel runs it) with configuration `c` on `dev`: the model of
/// gemm_calibration. Of a device with a part of its SMs it is the whole device's rates.
inline cost predict(gemm_problem const& p, gemm_config const& c, tile_split const& s,
                    device const& dev, odd_matrices const& odd = {}) {
  gemm_calibration const& m = dev.model->gemm;
  auto const up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  auto const us = [&](double clocks) { return clocks / (m.clock_ghz * 1000); };
  double const k_tiles = static_cast<double>(up(p.k, c.tile_k()));
  double const whole = static_cast<double>(up(s.tiles - s.split_k_tiles, s.clusters));
  // Where each tile has as many parts, none is of two tiles.
  bool const even = s.split_k_tiles > 0 && s.split_k_clusters % s.split_k_tiles == 0;
  double const part = s.split_k_tiles == 0 ? 0
                      : even ? std::ceil(k_tiles / (s.split_k_clusters / s.split_k_tiles))
                             : s.split_k_tiles * k_tiles / s.split_k_clusters;
  // K blocks of the busiest CTA
  double const blocks = std::ceil((whole * k_tiles + part) / c.cluster_k);

  double const efficiency = efficiency_of(m, c);
  // The wgmmas of all types take as long as those of bf16, whose K has as many bytes.
  double const wgmma_clocks = 2.0 * wgmma_m * c.tile_n * traits_of(elem::bf16).mma_k() /
                              static_cast<double>(dev.mma_flop_per_clock);
  double const multiplies = c.tile_m / wgmma_m * block_multiplies *
                            std::max(wgmma_clocks, m.min_wgmma_clocks) / efficiency /
                            type_rate_of(*dev.model, p, c);
  operand_order_calibration const& orders = dev.model->operand_orders;
  double const math = c.weights() ? std::max(multiplies, decode_clocks_of(orders, c)) : multiplies;
  auto const factor = [&](matrix_desc const& x) {
    std::int64_t const pitch = x.pitch_elems * size_bytes(x.type);
    double const split = multicasts(c) ? m.split_sector_multicast : m.split_sector_factor;
    if (pitch % l2_sector_bytes != 0) return split;
    return pitch % l2_line_bytes != 0 ? m.split_line_factor : 1.0;
  };
  constexpr double row_bytes = widest_span_bytes;  // of a K block
  double const of_copy = multicasts(c)               ? orders.transposed_multicast_factor
                         : c.tile_n > narrow_columns ? orders.transposed_load_factor_wide
                                                     : orders.transposed_load_factor;
  double const stored = stored_share(c);
  double const a_bytes = row_bytes * c.tile_m * (c.weights() ? 1 : factor(p.a)) * stored *
                         (odd.transposed.a ? of_copy : 1),
               b_bytes = row_bytes * c.tile_n * factor(p.b) * (odd.transposed.b ? of_copy : 1);
  double const bytes = a_bytes / c.cluster_n + b_bytes / c.cluster_m;
  bool const apart = c.cluster_k > 1 || (s.split_k_tiles > 0 && s.split_k_tiles == s.tiles);
  int const ctas = s.clusters * c.cluster_k;
  double const alone =
      apart ? std::min(m.load_bytes_per_clock_sm, m.load_bytes_per_clock_split_k / ctas)
            : m.load_bytes_per_clock / ctas;
  bool const cluster = multicasts(c);
  double const loads = cluster ? bytes / m.load_bytes_per_clock_multicast
                               : std::pow(std::pow(bytes / alone, m.gpc_exponent) +
                                              std::pow(gpc_bytes(p, c, s, dev, a_bytes, b_bytes) /
                                                           m.load_bytes_per_clock_gpc,
                                                       m.gpc_exponent),
                                          1 / m.gpc_exponent);
  double const tile_elems = static_cast<double>(c.tile_m) * c.tile_n;
  double const stores = odd.d ? m.epilogue_plain_store_factor : 1;
  double const results =
      static_cast<double>(c.row_of_d(c.tile_m)) * c.d_cols();  // that a CTA stores
  double const epilogue =
      results * size_bytes(c.d) / m.epilogue_bytes_per_clock * stores *
          (c.d_m ? m.epilogue_m_major_factor : 1) +
      (!c.fused() ? 0 : tile_elems * m.epilogue_fused_clocks) + results * clocks_of_c(m, p, c, s) +
      row_scale_clocks(p, dev.model->scales, c) + quantise_clocks(p, dev.model->scales, results);
  double const tiles = whole + (part > 0 ? 1 : 0);
  double const exposed = c.tile_m == rows_64 ? m.exposed_64
                         : c.d_m             ? m.exposed_m_major
                                             : m.exposed_pingpong;
  double const epilogues = c.pingpong ? 1 + exposed * (tiles - 1) : tiles;

  cost r;
  double const gathering = odd.gathered_rows * row_bytes /
                           (c.pingpong ? gather_bytes_per_clock_pingpong : gather_bytes_per_clock);
  r.math_us = us(blocks * (math + gathering));
  r.loads_us = us(blocks * loads);
  auto const matrices = [&](matrix_desc const& x) {
    return x.batch_stride_elems == 0 ? 1.0 : static_cast<double>(p.batch);
  };
  auto const mk = static_cast<double>(p.m) * static_cast<double>(p.k) * matrices(p.a);
  auto const nk = static_cast<double>(p.n) * static_cast<double>(p.k) * matrices(p.b);
  auto const mn =
      static_cast<double>(result_rows(p)) * static_cast<double>(result_cols(p)) * matrices(p.d);
  d_box const box = d_box_of(c);
  bool const lines = (box.m_major ? box.rows : box.cols) * size_bytes(c.d) == l2_line_bytes;
  l2_hints const l2 = l2_hints_of(c, s.clusters * c.cluster(), p, dev);
  bool const once = l2.a == l2_load::evict_first || l2.b == l2_load::evict_first;
  // Clusters that share tiles as one line walk along K in different places: a tile's neighbour does
  // not find what it needs of a large operand.
  double const unmet = !even && s.split_k_tiles * k_tiles > part
                           ? static_cast<double>(s.split_k_tiles) / s.tiles
                           : 0;
  auto const read = [&](matrix_desc const& x, double elems, std::int64_t tiles_across) {
    double const all = elems * size_bytes(c.a.multiplied);
    bool const large = all / matrices(x) > m.kept_operand_bytes;
    return large ? all * (1 + unmet * static_cast<double>(tiles_across - 1)) : all;
  };
  r.reads_us = (stored * read(p.a, mk, up(p.n, c.tile_n * c.cluster_n)) +
                read(p.b, nk, up(p.m, c.tile_m * c.cluster_m))) /
               (once ? m.dram_bytes_per_us_once : m.dram_bytes_per_us);
  if (p.c && p.beta != 0)
    r.reads_us += mn / matrices(p.d) * matrices(*p.c) * size_bytes(p.c->type) / m.dram_bytes_per_us;
  r.reads_us += scale_bytes(p) / m.dram_bytes_per_us;
  double const d_scales =
      p.scale_d ? scale_bytes(p.scale_d->desc, p.m, result_cols(p.epilogue, p.n), p.batch) : 0;
  double const aux = p.aux ? static_cast<double>(p.m) * static_cast<double>(p.n) *
                                 static_cast<double>(p.batch) * size_bytes(p.aux->type)
                           : 0;
  r.dram_us = r.reads_us + (mn * size_bytes(c.d) * (lines ? 1 : m.epilogue_partial_line_factor) +
                            aux + d_scales) /
                               m.dram_bytes_per_us;
  r.epilogue_us = us(epilogues * epilogue + tiles * later_c_clocks(m, p, c, s, results));
  if (c.cluster_k > 1)
    r.split_k_us =
        m.cluster_reduction_us + us(sum_bytes * tile_elems / m.cluster_reduction_bytes_per_clock);
  if (s.split_k_tiles > 0 && s.split_k_tiles * k_tiles > part) {
    double const parts =
        std::max(2.0, static_cast<double>(s.split_k_clusters) / s.split_k_tiles + (even ? 0 : 0.5));
    int const group = fixup_group(c.tile_n);
    double const steps = parts > group ? 2 : 1;
    double const reads = parts > group ? group + parts / group : parts;
    double const reductions = even ? 1 : 2;
    r.split_k_us =
        (steps - 1) * m.fixup_second_step_us +
        reductions *
            (m.fixup_us + us((steps + reads) * sum_bytes * tile_elems / m.fixup_bytes_per_clock));
  }
  if (odd.copied_bytes > 0)  // by a separate launch
    r.copies_us = m.copy_launch_us + odd.copied_bytes / m.copy_bytes_per_us;
  auto const power = [&](double x) { return std::pow(x, m.overlap_exponent); };
  // While a CTA stores a tile that is not its last, it loads the next one.
  double const last = us(epilogue), others = std::max(0.0, r.epilogue_us - last);
  double const overlapped = std::pow(
      power(r.math_us + others) + power(r.loads_us) + power(r.dram_us), 1 / m.overlap_exponent);
  r.total_us = m.launch_us + promotion_start_us(dev.model->scales, c) +
               (cluster ? m.cluster_launch_us : 0) + r.split_k_us + r.copies_us + last + overlapped;
  double const in_use = std::min(1.0, 1.0 * s.clusters * c.cluster() / dev.sm_count);
  double const busy = in_use * std::clamp((r.math_us / r.total_us - 0.75) / 0.15, 0.0, 1.0);
  double const slower_clock = busy * power_share_of(m, c) * r.total_us;
  r.math_us += slower_clock;
  r.total_us += slower_clock;
  return r;
}

}  // namespace tw
