// SPDX-License-Identifier: Apache-2.0
// tma_gemm_test.cpp  The GEMM's tensor maps are those derived from the layouts of its tiles.
#include <gtest/gtest.h>

#include "family/sm90_gemm/config_of.hpp"
#include "family/sm90_gemm/params.hpp"
#include "tilewright/arch/emu/tensor_map_emu.hpp"
#include "tilewright/atom/tma_map.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/kernel/sm90/epilogue/d_box.hpp"

namespace tw {
namespace {

alignas(128) char memory[128];

/// The map of D without the dimension that only batches by pointers use.
tensor_map without_place(tensor_map const& map) {
  tensor_map_desc d = unpack_tensor_map_emu(map);
  EXPECT_EQ(d.rank, 4);
  EXPECT_EQ(d.dim[3], 1);
  d.rank = 3;
  d.stride_bytes[2] = 0;
  return make_tensor_map(d, target::emu);
}

/// A plan's map of an operand, and the same from layouts: extents of the matrix, of the tile that a
/// CTA loads, and which of them is contiguous.
void compare(tensor_map const& map, elem type, operand_major major, i64 extent, i64 k, i64 pitch,
             i64 tile_extent, i64 tile_k) {
  bool const k_major = major == operand_major::k;
  layout gmem = make_layout(extent, k);
  gmem.stride[0] = num{k_major ? pitch : 1};
  gmem.stride[1] = num{k_major ? 1 : pitch};
  i64 const bits = size_bits(type);
  layout const smem =
      tile_to_shape(smem_atom(major, smem_swizzle::b128, bits), make_shape(tile_extent, tile_k),
                    k_major ? make_tree(0, 1) : make_tree(1, 0));
  tensor_map_desc ours = make_tensor_map_desc(
      make_tma_params(gmem, smem, tile(tile_extent, tile_k), bits), type, memory);
  ours.rank = 3;  // the kernel's maps have a batch, here of one
  ours.stride_bytes[1] = ours.stride_bytes[0];
  tensor_map const packed = make_tensor_map(ours, target::emu);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(packed.words[i], map.words[i]) << "word " << i;
}

TEST(TmaGemm, MapsAreDerivedFromLayouts) {
  for (order const a_order : {order::row_major, order::col_major}) {
    for (order const b_order : {order::row_major, order::col_major}) {
      std::int64_t const m = 1000, n = 2048, k = 512;
      auto const pitch = [](order o, std::int64_t rows, std::int64_t columns) {
        return (o == order::row_major ? columns : rows) + 8;
      };
      gemm_problem p;
      p.m = m;
      p.n = n;
      p.k = k;
      p.a = {elem::bf16, a_order, pitch(a_order, m, k)};
      p.b = {elem::bf16, b_order, pitch(b_order, k, n)};
      p.d = {elem::bf16, order::row_major, n};
      gemm_operands const o{.a = memory, .b = memory, .d = memory};
      int compared = 0;
      for (gemm_plan const& plan : plan_candidates(p, o, known_device("h200"), kernel_set::all)) {
        if (!is_sm90_gemm(plan)) continue;
        gemm_config const& c = config_of(plan);
        if (plan.swapped || c.tile_n % 64 != 0) continue;
        ++compared;
        gemm_params const params = make_params(plan, plan.normal, o, target::emu);
        compare(params.a, elem::bf16, c.a.major, m, k, p.a.pitch_elems, c.tile_m / c.cluster_n,
                c.tile_k());
        compare(params.b, elem::bf16, c.b.major, n, k, p.b.pitch_elems, c.tile_n / c.cluster_m,
                c.tile_k());
        // D leaves in boxes of 64 rows, one span of columns wide.
        compare(without_place(params.epilogue.d), elem::bf16, operand_major::k, m, n, n, 64, 64);
      }
      EXPECT_GT(compared, 2);
    }
  }
}

// The boxes of D of every kernel are those of their layouts in shared memory.
TEST(TmaGemm, BoxesOfDAreDerivedFromTheirLayouts) {
  int boxes = 0;
  for (auto const& instance : sm90_gemm_family::instances()) {
    gemm_config const& c = instance.config;
    d_box const box = d_box_of(c);
    layout const gmem = c.d_m ? make_layout(make_shape(8192, 4096), make_tree(1, 8192))
                              : make_layout(make_shape(8192, 4096), make_tree(4096, 1));
    tma_params const p =
        make_tma_params(gmem, d_box_layout(c), tile(box.rows, box.cols), traits_of(c.d).bits);
    EXPECT_EQ(p.dims, 2) << instance.name;
    EXPECT_EQ(p.box[0], c.d_m ? box.rows : box.cols);
    EXPECT_EQ(p.box[1], c.d_m ? box.cols : box.rows);
    EXPECT_EQ(p.swizzle, smem_swizzle_of(box.swizzle));
    ++boxes;
  }
  EXPECT_GT(boxes, 200);
}

// Boxes do not reach beyond the last row or column of a K-major operand.
TEST(TmaGemm, BoxesOfTheLastShareEndWithTheMatrix) {
  for (std::int64_t const m : {1, 100, 127, 640, 1000}) {
    std::int64_t const n = 333, k = 256;
    gemm_problem p;
    p.m = m;
    p.n = n;
    p.k = k;
    p.a = {elem::bf16, order::row_major, k};
    p.b = {elem::bf16, order::col_major, k};
    p.d = {elem::bf16, order::row_major, n};
    gemm_operands const o{.a = memory, .b = memory, .d = memory};
    auto const rows = [](tensor_map const& map) { return unpack_tensor_map_emu(map).box[1]; };
    int compared = 0;
    for (gemm_plan const& plan : plan_candidates(p, o, known_device("h200"), kernel_set::all)) {
      if (!is_sm90_gemm(plan)) continue;
      gemm_config const c = launched(plan);
      gemm_params const params = make_params(plan, plan.normal, o, target::emu);
      std::int64_t const a_share = c.tile_m / c.cluster_n, b_share = c.tile_n / c.cluster_m;
      auto const last = [](std::int64_t extent, std::int64_t share) {
        return extent % share == 0 ? share : extent % share;
      };
      EXPECT_EQ(rows(params.a), a_share) << plan.kernel;
      EXPECT_EQ(rows(params.b), b_share) << plan.kernel;
      EXPECT_EQ(rows(params.a_edge), last(plan.normal.m, a_share)) << plan.kernel;
      EXPECT_EQ(rows(params.b_edge), last(plan.normal.n, b_share)) << plan.kernel;
      ++compared;
    }
    EXPECT_GT(compared, 10);
  }
}

// Nor do those of gate and up columns, which come in groups of 8 and 8.
TEST(TmaGemm, BoxesWithAGateEndWithTheMatrix) {
  gemm_problem p;
  p.m = 100;
  p.n = 336;
  p.k = 256;
  p.a = {elem::bf16, order::row_major, p.k};
  p.b = {elem::bf16, order::col_major, p.k};
  p.d = {elem::bf16, order::row_major, p.n / 2};
  p.epilogue.gate = gating::split;
  p.epilogue.act = activation::silu;
  gemm_operands const o{.a = memory, .b = memory, .d = memory};
  auto const plans = plan_candidates(p, o, known_device("h200"), kernel_set::all);
  EXPECT_GT(plans.size(), 3U);
  for (gemm_plan const& plan : plans) {
    if (!is_sm90_gemm(plan)) continue;
    gemm_params const params = make_params(plan, plan.normal, o, target::emu);
    int const share = config_of(plan).tile_n / config_of(plan).cluster_m;
    int const last = 336 % share == 0 ? share : 336 % share;
    EXPECT_EQ(unpack_tensor_map_emu(params.b).box[3] * 16, share) << plan.kernel;
    EXPECT_EQ(unpack_tensor_map_emu(params.b_edge).box[3] * 16, last) << plan.kernel;
  }
}

}  // namespace
}  // namespace tw
