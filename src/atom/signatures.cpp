// SPDX-License-Identifier: Apache-2.0
// signatures.cpp  Arguments of operations, and an example of each.
#include "atom/signatures.hpp"

#include <algorithm>
#include <array>

namespace tw {
namespace {

constexpr std::array rows{
    signature{"coalesce", "layout[, profile]", "coalesce((2,1,6):(1,6,2))"},
    signature{"complement", "layout[, size]", "complement((2,2):(1,6),24)"},
    signature{"composition", "layout A, layout or tiler B: A(B(c))",
              "composition((4,8):(8,1),4:2)"},
    signature{"copy_atom", "name, bits of an element", "copy_atom(copy.sm75.ldmatrix.x4,16)"},
    signature{"copy_partition_d", "tiled copy, thread, tensor",
              "copy_partition_d(tiled_copy(copy_atom(copy.universal.128,16),(16,8):(8,1),"
              "(1,8):(0,1)),3,(64,64):(64,1))"},
    signature{"copy_partition_s", "tiled copy, thread, tensor",
              "copy_partition_s(tiled_copy(copy_atom(copy.universal.128,16),(16,8):(8,1),"
              "(1,8):(0,1)),3,(64,64):(64,1))"},
    signature{"cosize", "layout", "cosize((4,8):(8,1))"},
    signature{"cotiled_copy", "copy atom, (thread, value) -> address, data layout",
              "cotiled_copy(copy_atom(copy.universal.32,32),(8,4):(1,8),(8,4):(1,8))"},
    signature{"left_inverse", "layout", "left_inverse((4,8):(8,1))"},
    signature{"local_partition", "tensor, layout of threads, thread",
              "local_partition((16,32):(32,1),(8,4):(4,1),5)"},
    signature{"local_tile", "tensor, tiler, coordinate or index of a tile",
              "local_tile((128,64):(64,1),(16,16),(3,1))"},
    signature{"logical_divide", "layout, tiler", "logical_divide((4,8):(8,1),(2,4))"},
    signature{"logical_product", "layout, layout or tiler", "logical_product((2,2):(1,2),4:1)"},
    signature{"mma_atom", "name, with * for any part", "mma_atom(mma.sm80.m16n8k16.f32.f16.f16)"},
    signature{"partition", "tiled MMA, A B or C, thread, tensor",
              "partition(tiled_mma(mma.sm80.m16n8k16.f32.f16.f16,(2,2,1)),C,37,(64,64):(64,1))"},
    signature{"partition_shape", "tiled MMA, A B or C, shape",
              "partition_shape(tiled_mma(mma.sm80.m16n8k16.f32.f16.f16,(2,2,1)),C,(64,64))"},
    signature{"raked_product", "layout, layout", "raked_product((4,8):(8,1),(2,2):(1,2))"},
    signature{"right_inverse", "layout", "right_inverse((4,8):(8,1))"},
    signature{"slice", "layout, coordinate with _", "slice((4,8):(8,1),(2,_))"},
    signature{"smem_atom", "major K or MN, bytes of the swizzle (0, 32, 64, 128, 12832), bits",
              "smem_atom(K,128,16)"},
    signature{"tcgen05_descriptor", "operand tile, major K or MN, bits, step along K",
              "tcgen05_descriptor(tile_to_shape(smem_atom(K,128,16),(128,64)),K,16,1)"},
    signature{"tile_mnk", "tiled MMA",
              "tile_mnk(tiled_mma(mma.sm80.m16n8k16.f32.f16.f16,(2,2,1)))"},
    signature{"tile_to_shape", "block, shape[, order]",
              "tile_to_shape(Sw<3,3,3> o 0 o (8,64):(64,1),(128,64),(0,1))"},
    signature{"tiled_copy", "copy atom, layout of threads, layout of values",
              "tiled_copy(copy_atom(copy.universal.128,16),(16,8):(8,1),(1,8):(0,1))"},
    signature{"tiled_mma", "atom, layout of atoms (m,n,k)[, permutation]",
              "tiled_mma(mma.sm80.m16n8k16.f32.f16.f16,(2,2,1),(32,32,16))"},
    signature{"tma_params", "tensor in global memory, tile in shared memory, tiler, bits",
              "tma_params((1024,512):(512,1),Sw<3,3,3> o 0 o (64,64):(64,1),(64,64),16)"},
    signature{"tv", "atom or tiled copy or MMA, A B C or src dst ref",
              "tv(copy_atom(copy.sm75.ldmatrix.x4,16),dst)"},
    signature{"wgmma_descriptor", "operand tile, major K or MN, bits, step along K",
              "wgmma_descriptor(tile_to_shape(smem_atom(K,128,16),(128,64)),K,16,1)"},
    signature{"widest_smem_atom", "major K or MN, bits, shape of the tile[, shape of a step]",
              "widest_smem_atom(K,16,(128,64))"},
    signature{"zipped_divide", "layout, tiler", "zipped_divide((4,8):(8,1),(2,4))"},
};

}  // namespace

std::span<signature const> signatures() { return rows; }

signature const* signature_of(std::string_view operation) {
  auto const row = std::ranges::find(rows, operation, &signature::operation);
  return row == rows.end() ? nullptr : &*row;
}

}  // namespace tw
