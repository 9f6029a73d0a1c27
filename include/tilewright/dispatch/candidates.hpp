// SPDX-License-Identifier: Apache-2.0
// candidates.hpp  The kernels that are compiled in, as data.
#pragma once

#include "tilewright/kernel/config.hpp"

namespace tw {

/// A kernel without its types and majors.
struct tile_shape {
  int tile_m, tile_n, cluster_m, cluster_n, stages;
  bool pingpong = false;
  bool d_m = false;
  bool general = false;  // compiled for every pair of majors, not only for K-major operands
  int fused = fusion::none;
  int cluster_k = 1;
  bool f32 = true;  // compiled for float32 results too
  bool f16 = true;  // compiled for f16 operands too
  int least_n = 0;  // gemm_config::least_n, where B is K-major
};

/// The transposed product on M-major D, for few rows: `k` CTAs share K.
TW_HD constexpr tile_shape few_rows(int tile_m, int tile_n, int stages, int k = 1) {
  return {tile_m, tile_n, 1, 1, stages, false, true, false, fusion::none, k};
}

/// Compiled for every pair of majors.
TW_HD constexpr tile_shape all_majors(tile_shape t) {
  t.general = true;
  return t;
}

/// For results of the operands' type alone.
TW_HD constexpr tile_shape no_f32(tile_shape t) {
  t.f32 = false;
  return t;
}

/// For few products: from bf16 to bf16 alone.
TW_HD constexpr tile_shape bf16_alone(tile_shape t) {
  t.f32 = t.f16 = false;
  return t;
}

/// With a K-major B a launch chooses the columns of its tiles, from `least_n` up.
TW_HD constexpr tile_shape narrowing(int least_n, tile_shape t) {
  t.least_n = least_n;
  return t;
}

/// Shared memory: stages * (tile_m + tile_n) * 128 bytes and the strips of kernel/d_box.hpp,
/// at most 227 KiB; with more strips in place of a stage an epilogue is shorter (decision 0019).
/// Most have no cluster: multicast gains nothing where L2 lines are whole (decision 0015).
inline constexpr tile_shape tile_shape_list[] = {
    {128, 256, 1, 1, 3, false, false, true},  // large products
    {128, 256, 2, 1, 4},                      //
    {256, 192, 1, 2, 3, false, false, true},  // the fewest bytes per FLOP
    {256, 176, 1, 1, 3},                      // waves that others leave part empty
    no_f32({256, 160, 1, 1, 4}),              //
    {128, 192, 1, 1, 4, true, false, true},   // short K: one epilogue hides behind the other loop
    {128, 176, 1, 1, 5, true, false, true},   //
    no_f32({128, 160, 1, 1, 5, true}),        //
    no_f32({128, 144, 1, 1, 5, true, false, true}),  //
    bf16_alone({128, 112, 1, 1, 6, true, false, true}),
    {128, 128, 1, 1, 5, true, false, true},                   //
    no_f32(narrowing(152, {128, 192, 1, 1, 5, true, true})),  // few columns: the transposed product
    no_f32({128, 224, 2, 1, 4}),                              // waves that others leave part empty
    no_f32({192, 192, 1, 1, 4}),                              //
    // lines that begin inside of L2's sectors: multicast
    no_f32({192, 192, 1, 2, 4, false, false, true}),
    bf16_alone({128, 256, 2, 2, 4, false, false, true}),
    no_f32({128, 128, 2, 2, 6, false, false, true}),
    no_f32({128, 64, 1, 2, 8, false, false, true}),
    {128, 128, 1, 1, 6, false, false, true},  // medium products
    {128, 64, 1, 1, 8, false, false, true},   //
    {64, 128, 1, 1, 8, true},                 // few rows, short K
    {64, 64, 1, 1, 12, false, false, true},   // small products
    few_rows(64, 16, 16),                     // few rows: weights on the side of 64
    no_f32(few_rows(64, 16, 8)),              //
    few_rows(64, 32, 14),                     //
    few_rows(64, 64, 12),                     //
    no_f32(few_rows(128, 16, 11)),            //
    few_rows(128, 32, 9),                     //
    few_rows(128, 64, 8),                     //
    few_rows(128, 128, 6),                    //
    // rows that other tiles leave part empty
    no_f32(all_majors(narrowing(72, few_rows(128, 112, 6)))),
    bf16_alone(narrowing(120, few_rows(128, 160, 5))),
    bf16_alone(narrowing(120, {128, 144, 1, 1, 6, true, true})),
    bf16_alone(narrowing(200, few_rows(128, 240, 4))),
    bf16_alone(narrowing(104, few_rows(256, 144, 4))),
    bf16_alone(all_majors(narrowing(152, few_rows(256, 176, 3)))),
    bf16_alone(all_majors(narrowing(184, few_rows(256, 192, 3)))),
    bf16_alone(narrowing(104, {256, 144, 1, 2, 4, false, true})),  // and the fewest bytes per FLOP
    bf16_alone(all_majors(narrowing(72, few_rows(192, 96, 5)))),
    no_f32(few_rows(192, 160, 4)),                          //
    no_f32({128, 96, 1, 1, 7}),                             // and waves
    no_f32({128, 80, 1, 1, 7}),                             //
    no_f32({64, 80, 1, 1, 10}),                             //
    bf16_alone(few_rows(64, 96, 8, 2)),                     // few rows and much K
    bf16_alone(few_rows(64, 96, 8, 4)),                     //
    few_rows(64, 32, 14, 8),                                //
    no_f32(few_rows(64, 64, 10, 3)),                        //
    few_rows(64, 64, 10, 5),                                //
    few_rows(64, 64, 11, 8),                                //
    bf16_alone(few_rows(128, 64, 7, 4)),                    //
    bf16_alone(few_rows(128, 64, 7, 8)),                    //
    {128, 256, 2, 1, 4, false, false, false, fusion::ops},  // fused epilogues: large products
    {128, 192, 1, 1, 4, true, false, false, fusion::ops},   // an epilogue that hides
    {128, 128, 1, 1, 5, true, false, false, fusion::ops},   //
    {128, 128, 1, 1, 6, false, false, true, fusion::ops},   // medium and small ones
    {128, 16, 1, 1, 11, false, true, false, fusion::ops},   // few rows
    {128, 64, 1, 1, 8, false, true, false, fusion::ops},    //
    {128, 256, 2, 1, 4, false, false, false, fusion::gated},
    {128, 192, 1, 1, 4, true, false, false, fusion::gated},
    {128, 128, 1, 1, 5, true, false, false, fusion::gated},
    {128, 128, 1, 1, 6, false, false, true, fusion::gated},
    {64, 128, 1, 1, 8, false, false, false, fusion::gated},  // few rows
    {128, 128, 1, 1, 6, false, true, false, fusion::gated},  // column-major D
    {128, 128, 2, 1, 6, false, false, false, fusion::ops_aux},
    {128, 128, 2, 1, 6, false, false, false, fusion::gated_aux},
};
inline constexpr int tile_shapes = sizeof tile_shape_list / sizeof tile_shape_list[0];

TW_HD constexpr gemm_config config_of(tile_shape const& t, elem ab, elem d, operand_major a,
                                      operand_major b) {
  gemm_config c;
  c.ab = ab;
  c.d = d;
  c.a_mn = a == operand_major::mn;
  c.b_mn = b == operand_major::mn;
  c.d_m = t.d_m;
  c.pingpong = t.pingpong;
  c.tile_m = t.tile_m;
  c.tile_n = t.tile_n;
  c.cluster_m = t.cluster_m;
  c.cluster_n = t.cluster_n;
  c.stages = t.stages;
  c.fused = t.fused;
  c.cluster_k = t.cluster_k;
  c.least_n = b == operand_major::k ? t.least_n : 0;
  return c;
}

/// Is this combination compiled, as far as a shape's f32 and f16 allow it? K-major operands: all
/// shapes, other majors: the general ones;
/// results of the operands' type or f32, from f16 in the general cooperative shapes alone. The
/// other 16-bit type: one shape of each pair of majors, and no fused epilogues. Those give f32 in
/// the general shapes alone. A gate needs a K-major B.
TW_HD constexpr bool is_compiled(gemm_config const& c) {
  for (tile_shape const& t : tile_shape_list) {
    if (config_of(t, c.ab, c.d, c.a_major(), c.b_major()) != c) continue;
    if ((c.a_mn || c.b_mn) && !t.general) return false;
    // A CTA loads its share of an MN-major operand in groups of 64, of B also of 32.
    if (c.a_mn && t.tile_m / t.cluster_n % 64 != 0) return false;
    if (c.b_mn && t.tile_n / t.cluster_m % 32 != 0) return false;
    if (c.gated() && c.b_mn) return false;
    if (c.fused != fusion::none && c.d != c.ab) return c.d == elem::f32 && t.general;
    // ptxas spills: two fragments of 192 columns of one tile leave no registers to store float32,
    // nor do 11 strips of 16 columns.
    bool const many = c.fragments() * c.tile_n >= 384 && !c.pingpong;
    if (c.d == elem::f32 && (many || c.tile_n == 176 || !t.f32)) return false;
    if (c.ab == elem::f16 && !t.f16) return false;
    if (c.d == elem::f32 && c.ab == elem::f16 && (!t.general || t.pingpong)) return false;
    bool const other_16_bit = c.d != c.ab && c.d != elem::f32;
    return !other_16_bit ||
           (t.tile_m == 128 && t.tile_n == 128 && t.general && !t.pingpong && c.cluster() == 1);
  }
  return false;
}

}  // namespace tw
