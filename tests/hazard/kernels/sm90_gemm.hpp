// SPDX-License-Identifier: Apache-2.0
// sm90_gemm.hpp  A Hopper GEMM on one cluster, in the emulator, which sees its ordinary loads and
//                stores.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/hazard/hazard_kernels.hpp"
#include "tilewright/kernel/sm90/gemm.hpp"

namespace tw::test {

/// The map of an operand of `outer` lines of `inner` contiguous elements.
inline tensor_map operand_map(void* base, elem type, int inner, int outer, operand_box box,
                              swizzle_mode swizzle) {
  tensor_map_desc d;
  d.base = base;
  d.type = type;
  d.rank = 3;
  d.dim[0] = inner, d.dim[1] = outer, d.dim[2] = 1;
  d.stride_bytes[0] = d.stride_bytes[1] = inner * size_bytes(type);
  d.box[0] = box.inner, d.box[1] = box.outer, d.box[2] = 1;
  d.swizzle = swizzle;
  return make_tensor_map(d, target::emu);
}

/// Parameters for `blocks` K blocks of whole tiles. A and B have no padding; D has a pitch that TMA
/// cannot address, and plain stores write it.
template <gemm_config C>
gemm_params one_cluster_params(int m, int n, int blocks, void* a, void* b, void* d, int d_pitch) {
  int const k = blocks * C.tile_k();
  gemm_params p{};
  p.m = m, p.n = n;
  p.tile_cols = C.tile_n;
  p.a = p.a_edge = operand_map(a, C.a.stored, C.a.is_mn_major() ? m : k, C.a.is_mn_major() ? k : m,
                               box_of(C.a.stored, C.a.major, C.a_swizzle(), C.tile_m / C.cluster_n),
                               C.a_swizzle());
  p.b = p.b_edge = operand_map(b, C.b.stored, k, n,
                               box_of(C.b.stored, C.b.major, C.b_swizzle(), C.tile_n / C.cluster_m),
                               C.b_swizzle());
  constexpr int rows = C.tile_m * C.cluster_m, cols = C.tile_n * C.cluster_n;  // of a cluster
  p.walk = tile_walk({(m + rows - 1) / rows, (n + cols - 1) / cols, 1});
  p.work = make_work_plan(p.walk.order.tiles(), blocks, 0, 0);
  p.epilogue.data = d;
  p.epilogue.pitch = d_pitch;
  p.epilogue.m = m, p.epilogue.n = n, p.epilogue.alpha = 1;
  return p;
}

/// Runs the kernel and expects no report. Warps run in a random order.
template <gemm_config C>
void expect_clean(gemm_params const& p, std::uint64_t seed) {
  emu::options o;
  o.seed = seed;
  o.random_warps = true;
  o.policy = emu::async_policy(seed % 3);
  emu::report const r = emu::run(gemm_sm90<C>{}, C.cluster(), p, o);
  EXPECT_TRUE(r.clean()) << r.text();
  EXPECT_GT(r.counts.plain_stores, 0);
}

}  // namespace tw::test
