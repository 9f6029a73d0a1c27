// SPDX-License-Identifier: Apache-2.0
// check_config.hpp  The configurations that the kernel can be compiled for.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/kernel/sm90/config.hpp"

namespace tw {

/// True; a configuration that breaks a rule does not compile, and the message names the rule.
template <gemm_config C>
constexpr bool is_checked() {
  static_assert(
      C.tile_m % wgmma_m == 0 && C.tile_m > 0 && C.tile_m <= 4 * wgmma_m && C.fragments() <= 2,
      "[TW0203] tile M is 64, 128, 192 or 256; 64 or 128 in ping-pong");
  static_assert(
      C.tile_n % wgmma_n_step == 0 && C.tile_n <= max_wgmma_n && C.fragments() * C.tile_n <= 416,
      "[TW0205] tile N is a multiple of 8, up to 256 and 208 "
      "accumulators per thread");
  static_assert(!C.varies_tile_n() || (C.min_tile_n % wgmma_n_step == 0 && C.min_tile_n > 0 &&
                                       C.min_tile_n < C.tile_n),
                "[TW0205] the narrowest tile has a multiple of 8 columns, "
                "fewer than tile N");
  static_assert(!C.varies_tile_n() || (C.cluster_m == 1 && C.cluster_k == 1 && !C.b.is_mn_major() &&
                                       C.d_m && !C.fused() && C.sums == sum_form::plain),
                "[TW0204] tiles narrow where no peer needs the same columns, B is K-major, D "
                "M-major and sums plain");
  static_assert(C.cluster_k == 1 || C.cluster_m * C.cluster_n == 1,
                "[TW0204] a cluster shares K or loads, not both");
  static_assert(C.cluster_k == 1 || !C.pingpong, "[TW0204] no ping-pong where a cluster shares K");
  static_assert(C.cluster_k == 1 || !C.fused(),
                "[TW0204] no fused epilogue where a cluster shares K");
  static_assert(!C.a_in_registers() ||
                    (C.cluster() == 1 && C.fragments() == 1 && !C.varies_tile_n() &&
                     (!C.fused() || C.weights()) && !C.scaled() && C.sums != sum_form::promoted_64),
                "[TW0204] with A in registers a warpgroup has 64 rows, tiles have one width, no "
                "cluster, no fused epilogue and no scales in the main loop, and sums are promoted "
                "every 128 of K");
  static_assert(C.sums != sum_form::scaled_columns || C.in_turn(),
                "[TW0204] kernels for column scales alone have fragments that share an "
                "accumulator; other kernels have code for block scales too");
  static_assert(!C.scaled() || C.cluster_m * C.cluster_n == 1 || (C.cluster_m == 1 && C.in_turn()),
                "[TW0204] with scales in the main loop CTAs share their rows of A alone, in "
                "kernels whose fragments share an accumulator");
  static_assert(!C.grouped() || (C.cluster_k == 1 && (C.ragged != group_axis::k || !C.d_m)),
                "[TW0204] groups of K have a row-major D, and no cluster of groups shares K");
  static_assert(C.ragged != group_axis::k || (!C.a_in_registers() && !C.varies_tile_n() &&
                                              C.sums != sum_form::f16 && !C.fused()),
                "[TW0204] groups of K have operands in shared memory, tiles of one width, float32 "
                "sums and no fused epilogue");
  static_assert(C.a.stored == C.a.multiplied && C.b.stored == C.b.multiplied,
                "[TW0208] the main loops multiply A and B in the types that are in memory");
  static_assert(C.b.multiplied == C.a.multiplied || C.b.multiplied == other_of_pair(C.a.multiplied),
                "[TW0208] A and B have one type, or are e4m3 and e5m2, or s8 and u8");
  static_assert(
      C.b.from == operand_source::shared_memory &&
          C.a_in_registers() ==
              (C.weights() || (C.a.is_mn_major() && traits_of(C.a.multiplied).k_major_only)),
      "[TW0208] A comes from registers if it is MN-major of 8 or 32 bits, or weights of 4 bits; B "
      "and any other A come from shared memory");
  static_assert(
      !C.weights() || (size_bytes(C.a.multiplied) <= 2 && !C.a.is_mn_major() &&
                       C.weights().fp8 == (C.sums == sum_form::promoted_128) &&
                       (C.weights().zeros != weight_zeros::floats || !C.weights().fp8) &&
                       C.tile_m <= weights_row_step && C.d_m && !C.aux() && !C.operands().scales),
      "[TW0204] weights of 4 bits are multiplied in 16 bits, or as e4m3 with promoted sums and "
      "without float zero points, in tiles of 64 or 128 rows; D is M-major, alone and without "
      "scales");
  static_assert(C.k_turns == 1 ||
                    (C.weights() && !C.fused() && !C.grouped() && !C.pingpong && C.cluster_k == 1 &&
                     C.stages % C.k_turns == 0 && (C.consumers() == 4 || C.consumers() == 6)),
                "[TW0204] four or six consumers take K blocks in turn, in kernels of 4-bit weights "
                "without groups, fused epilogue and ping-pong; the number of stages is a multiple "
                "of the turns");
  static_assert(!C.gates_rows() || (size_bytes(C.d) == 2 && C.tile_n % (2 * wgmma_n_step) == 0),
                "[TW0204] with 4-bit weights and a gate D has 16 bits, and a tile columns in 16s");
  return true;
}

}  // namespace tw
