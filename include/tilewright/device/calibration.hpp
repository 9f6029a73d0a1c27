// SPDX-License-Identifier: Apache-2.0
// calibration.hpp  The constants of the performance models, as fitted to measurements of one
// device.
//
// The values are in devices/NAME.json, one number per field of these structures; gen/devices.py
// embeds them, and a field that is missing or unknown there does not compile. gen/fit_model.py fits
// them. Units are in the names: "per_clock" is per SM clock, "us" microseconds.
#pragma once

namespace tw {

/// Rates of the tensor cores with other types, for the same bytes of K, as shares of bf16's: wgmma
/// alone, of 256 columns, and promoted sums as a share of the same type's never promoted, by
/// the warpgroups of a CTA that multiply.
struct type_rates {
  double fp8, int8, tf32;
  double tf32_single;     // in main loops without multicast,
  double tf32_multicast;  // in clusters whose CTAs multicast
  double f16_sums;
  double promoted_2_warpgroups;       // tiles of 128 rows, up to 128 columns,
  double promoted_2_warpgroups_wide;  // 192 columns; between them a line
  double promoted_3_warpgroups;       // 192 rows
  double narrow_tf32;  // of tf32's rate with A in registers: tiles of at most 128 columns
};

/// Model of the SM90 GEMM kernels (src/family/sm90_gemm/cost.hpp): wgmma main loop, TMA loads,
/// epilogue.
struct gemm_calibration {
  double clock_ghz;  // SM clock during GEMMs

  // Share of the tensor core peak that a main loop reaches,
  double efficiency;           // cooperative tiles of 128 rows and more,
  double efficiency_256;       // of 256 rows,
  double efficiency_64;        // of 64 rows,
  double efficiency_pingpong;  // ping-pong kernels;
  double efficiency_cluster;   // factor for clusters whose CTAs multicast
  double min_wgmma_clocks;     // of one wgmma, however narrow: it reads 64 x 16 elements of A

  // Share by which the time grows where all tensor cores are busy and power limits the clock
  // (docs/decisions/0033),
  double power_pingpong, power_128, power_192, power_256;        // by rows of the tile,
  double power_cluster_256x192, power_cluster_2, power_cluster;  // of multicast clusters

  // Loads from L2 to shared memory,
  double load_bytes_per_clock;            // of all SMs together,
  double load_bytes_per_clock_split_k;    // of all, where CTAs load different parts of K,
  double load_bytes_per_clock_sm;         // of one SM at most, likewise,
  double load_bytes_per_clock_gpc;        // of a GPC, each line counted once,
  double load_bytes_per_clock_multicast;  // of one SM of a multicast cluster
  double gpc_exponent;                    // with which the rates of SMs and of a GPC join
  double split_sector_factor;             // cost of lines that begin inside a 32-byte sector of L2,
  double split_sector_multicast;          // the same in multicast clusters,
  double split_line_factor;               // cost of lines that begin inside a 128-byte line

  // DRAM,
  double dram_bytes_per_us;
  double dram_bytes_per_us_once;  // where one operand is loaded with evict_first,
  double kept_operand_bytes;      // an operand larger than this is read again by a tile that
                                  // loads it at another time

  double copy_launch_us, copy_bytes_per_us;  // of operands that are copied to an aligned layout

  double overlap_exponent;  // with which math, loads and DRAM overlap
  double launch_us, cluster_launch_us;

  // Epilogue,
  double epilogue_bytes_per_clock;
  double epilogue_m_major_factor;       // of a column-major D
  double epilogue_partial_line_factor;  // of TMA boxes that are not lines of 128 bytes
  double epilogue_plain_store_factor;   // without TMA
  double epilogue_fused_clocks;         // of a fused epilogue, per accumulator
  // For an element of C: by TMA, read by threads two columns at a time, and one at a time
  double epilogue_c_tma_clocks, epilogue_c_pair_clocks, epilogue_c_single_clocks;
  // Groups of K: for a byte of C that TMA loads when staging buffers of its tile are free again.
  double later_c_clocks, later_c_clocks_pingpong;
  double exposed_pingpong, exposed_m_major, exposed_64;  // share that ping-pong does not hide

  // Split-K and stream-K,
  double cluster_reduction_us, cluster_reduction_bytes_per_clock;  // within a cluster,
  double fixup_us;                                                 // through the workspace,
  double fixup_second_step_us;  // and if the parts do not fit one step,
  double fixup_bytes_per_clock;
};

/// Costs of promoted sums and of scales in the model of the SM90 GEMM kernels. `promotion` is with
/// scales of A and B in the main loop, `promotion_1x128` with a scale for each column of B too, and
/// `promoted` without scales.
struct scale_calibration {
  // Time of promoting the sums of 128 elements of K, as a share of the time of their wgmmas, in
  // tiles of at most 128 columns, in wider ones, and in kernels with three consumers
  // (docs/decisions/0044), of main loops that keep neither parts nor fragments in turn;
  double promotion, promotion_wide, promotion_3_warpgroups;
  double promotion_1x128_narrow, promotion_1x128, promotion_1x128_3_warpgroups;
  // of kernels whose fragments share an accumulator (0048, 0055).
  double promotion_in_turn, promotion_1x128_in_turn, promoted_in_turn;
  // Clocks of a K block in which the tensor cores wait for one consumer, and more of them for each
  // column of the tile (0055);
  double promotion_alone, promotion_alone_column;
  double promotion_1x128_alone, promotion_1x128_alone_column;
  double promoted_alone, promoted_alone_column;
  // if its K blocks have two accumulators in turn (0071, 0073): one consumer,
  double promotion_parts, promotion_parts_column;
  double promotion_1x128_parts, promotion_1x128_parts_column;
  double promoted_parts, promoted_parts_column;
  // and two.
  double promotion_parts_2, promotion_parts_2_column;
  double promotion_1x128_parts_2, promotion_1x128_parts_2_column;
  double promoted_parts_2, promoted_parts_2_column;
  // Time of a launch before its first sums are added and after its last multiply, without scales
  // and with scales in the main loop (0073).
  double promoted_start_us, promotion_start_us;
  // Clocks of the epilogue of a tile for scales of its rows and columns, and more of them for each
  // column of the tile: of a row-major D and of a column-major one (0073).
  double row_clocks, row_column_clocks, row_column_clocks_m_major;
  // Clocks that an SM needs for one 8-bit result with scales: counts of instructions over the 128
  // lanes that an SM serves in a clock, 2 to find the amax, 5 for the division;
  double amax_clocks, division_clocks;
  double launch_us;  // of a second kernel that quantises D
};

/// Costs of operands whose order wgmma cannot read in shared memory, measured on an H100 and, if a
/// date says so, on an H200 (docs/decisions/0047). All devices have equal costs: the files in
/// devices/ do not state them.
struct operand_order_calibration {
  /// Slow-down of loads of an operand that the preceding launch transposed: without multicast in
  /// tiles of up to 128 columns and in wider ones, and with multicast (H200, 2026-12-01).
  double transposed_load_factor = 2.4, transposed_load_factor_wide = 1.2;
  double transposed_multicast_factor = 1.6;
  /// The rate with A in registers as a share of the rate with A in shared memory: plain sums (H200,
  /// 2026-12-01), and promoted sums.
  double register_a = 0.98, register_a_promoted = 0.88;
  /// Clocks in which a CTA decodes 4-bit weights of 64 elements of K and multiplies them, and more
  /// of them for each column of the tile; then of kernels whose consumers take K blocks in turn, in
  /// tiles of 128 rows and of 64 (H200, 2026-11-30 and 2026-12-01; docs/decisions/0083, 0091).
  double decode_clocks = 326, decode_clocks_column = 1.2;
  double decode_clocks_turns = 235, decode_clocks_turns_column = 2.2;
  double decode_clocks_64 = 95, decode_clocks_64_column = 0.6;
};

/// Model of the GEMV kernels (docs/decisions/0014).
struct gemv_calibration {
  double launch_us;
  double dram_bytes_per_us;          // one column,
  double dram_bytes_per_us_columns;  // 2 to 4,
  double dram_bytes_per_us_8;        // 5 to 8,
  double dram_bytes_per_us_16;       // 9 to 16
  // Of one turn of a CTA's loop: with fma, with mma, and with mma of 8-bit operands,
  double turn_us_fma, turn_us_mma, turn_us_mma_8;
  double group_us_fma, group_us_mma;  // and for each group of rows
  double sm_bytes_per_us;             // of one SM
};

/// Model of the SM80 GEMM kernels (src/family/sm80_gemm/cost.hpp), beside the rates of
/// gemm_calibration. No device's file has these values: they are not fitted yet.
struct sm80_calibration {
  double mma_sync_share = 0.62;  // of the rate that tensor cores reach with wgmma, if they have it
  double k8_share = 0.5;         // of the rate of m16n8k16 that m16n8k8 reaches
  double efficiency = 0.9;       // of the main loops of CTAs that share an SM,
  double efficiency_one_cta = 0.8;       // and of one alone
  double epilogue_bytes_per_clock = 21;  // of an SM
  double fill_us = 1.0;                  // until a CTA's first tiles are in shared memory
  double hopper_factor = 2;  // of the whole time if there is wgmma: fitted models come first
};

/// Model of the SM100 GEMM kernels (src/family/sm100_gemm/cost.hpp), beside the rates of
/// gemm_calibration. Nothing here was measured by this library: docs/devices.md names the source of
/// each value.
struct sm100_calibration {
  // Of one tcgen05.mma, 32 bytes deep, of n columns: the largest of
  double columns_per_clock = 2;           // n columns by the tensor cores,
  double operand_rows_per_clock = 4;      // rows of A and B from shared memory, one CTA,
  double pair_clocks = 29;                // and for a pair a start
  double pair_clocks_per_column = 0.215;  // and so much for each column
  double efficiency = 0.79;  // share of these rates, at the largest clock, that a GEMM reaches
  double first_multiply_clocks = 140;  // from a multiply's issue until its result is there
};

/// When a launch may start while the one before it ends (docs/decisions/0024).
struct early_start_calibration {
  double max_us, max_gemv_us;  // longer launches do not gain
  double max_read_share;       // of DRAM reads in the time, above which the CTAs' place matters
  double split_k_max_ctas;     // that are still one on a TPC
  double cluster_k_min_ctas, single_tile_min_ctas;
  double two_ctas_max_stage_rows;  // stages * (tile_m + tile_n) of which two CTAs fit an SM
};

/// L2 cache hints (docs/decisions/0020).
struct l2_hint_calibration {
  double d_evict_first_min_bytes;          // a larger D is stored with evict_first
  double operand_evict_first_max_d_bytes;  // beside a larger D operands have no hint
  double b_evict_first_min_bytes, b_evict_first_max_bytes;
  double b_evict_first_min_ctas;
  double a_128_byte_min_ctas;  // more: A is fetched in pieces of 128 bytes
  double a_evict_normal_max_ctas;
};

/// Orders of tiles (docs/decisions/0009, 0025, 0032).
struct tile_order_calibration {
  double l2_operand_bytes;     // of operands that stay in L2
  double small_operand_bytes;  // of operands that stay there whatever the order
  double l2_byte_cost;         // of a byte read from L2, in bytes of DRAM
  double min_gain;             // share that another order than the usual one must save
};

struct calibration {
  gemm_calibration gemm;
  type_rates types;
  gemv_calibration gemv;
  early_start_calibration early_start;
  l2_hint_calibration l2_hints;
  tile_order_calibration tile_order;
  scale_calibration scales;
  operand_order_calibration operand_orders{};
  sm80_calibration sm80{};
  sm100_calibration sm100{};
};

}  // namespace tw
