// SPDX-License-Identifier: Apache-2.0
// signatures.cpp  Arguments of every operation; law and example of those that no law of tests/law
//                 describes: atoms, copies, descriptors, boxes.
#include "atom/signatures.hpp"

#include <algorithm>
#include <array>

namespace tw {
namespace {

constexpr std::array all_signatures{
    signature{"append", "layout, layout of the new mode"},
    signature{"append4", "layout"},
    signature{"blocked_product", "block, layout of blocks"},
    signature{"ceil_div", "shape, divisor"},
    signature{"coalesce", "layout[, profile]"},
    signature{"coalesce_profile", "layout, profile"},
    signature{"colex_less", "coordinate, coordinate"},
    signature{"compatible", "shape, shape"},
    signature{"complement", "layout[, size]"},
    signature{"complement1", "layout"},
    signature{"composition", "layout A, layout or tiler B: A(B(c))"},
    signature{"composition_composed", "layout A o layout B",
              "R(c) == A(B(c)) for every c of B; A may be swizzled",
              "composition_composed(Sw<2,0,3> o 0 o (8,4):(1,8) o 4:2)"},
    signature{"composition_int", "layout, number of cells"},
    signature{"composition_tiler", "layout, tiler"},
    signature{"congruent", "tuple, tuple"},
    signature{"copy_atom", "name, bits of an element",
              "bit b on the source side is bit b on the destination side: the copy is dst o "
              "src^-1, counted in elements",
              "copy_atom(copy.sm75.ldmatrix.x4,16)"},
    signature{"copy_partition_d", "tiled copy, thread, tensor",
              "visits the tensor at dst(thread, value) of each tile: (values, tiles along mode 0, "
              "1, ...), and where the part begins",
              "copy_partition_d(tiled_copy(copy_atom(copy.universal.128,16),(16,8):(8,1),(1,8):(0,"
              "1)),3,(64,64):(64,1))"},
    signature{"copy_partition_s", "tiled copy, thread, tensor",
              "visits the tensor at src(thread, value) of each tile: (values, tiles along mode 0, "
              "1, ...), and where the part begins",
              "copy_partition_s(tiled_copy(copy_atom(copy.universal.128,16),(16,8):(8,1),(1,8):(0,"
              "1)),3,(64,64):(64,1))"},
    signature{"coshape", "layout"},
    signature{"cosize", "layout"},
    signature{"cotiled_copy", "copy atom, (thread, value) -> address, data layout",
              "data(place of (thread, value)) == tv(thread, value): the tiled copy that moves "
              "these addresses",
              "cotiled_copy(copy_atom(copy.universal.32,32),(8,4):(1,8),(8,4):(1,8))"},
    signature{"crd2crd", "coordinate, its shape, the other shape"},
    signature{"crd2idx", "coordinate, shape"},
    signature{"crd2idx3", "coordinate, shape, stride"},
    signature{"crd2idx_layout_int", "index, layout"},
    signature{"depth", "layout"},
    signature{"dice", "layout, coordinate with _"},
    signature{"domain_distribute", "shape, number of parts"},
    signature{"downcast", "layout, factor"},
    signature{"elem_less", "coordinate, coordinate"},
    signature{"evenly_divides", "shape, number of cells"},
    signature{"filter", "layout"},
    signature{"filter_profile", "layout, profile"},
    signature{"filter_zeros", "layout"},
    signature{"flat_divide", "layout, tiler"},
    signature{"flat_product", "block, layout of blocks"},
    signature{"flat_product_tiler", "block, tiler"},
    signature{"flatten", "layout"},
    signature{"group", "layout, first mode, mode after the last"},
    signature{"identity_composition", "identity layout, layout or tiler"},
    signature{"identity_zipped_divide", "identity layout, tiler"},
    signature{"idx2crd", "index, shape"},
    signature{"idx2crd3", "index, shape, stride"},
    signature{"layout", "layout", "R == L", "layout(Sw<3,3,3> o 0 o (8,64):(64,1))"},
    signature{"left_inverse", "layout"},
    signature{"lex_less", "coordinate, coordinate"},
    signature{"local_partition", "tensor, layout of threads, thread"},
    signature{"local_tile", "tensor, tiler, coordinate or index of a tile"},
    signature{"local_tile_identity", "shape, tiler, coordinate of a tile"},
    signature{"local_tile_proj",
              "tensor, tiler (m,n,k), coordinate of a tile (m,n,k), projection with _"},
    signature{"logical_divide", "layout, tiler"},
    signature{"logical_product", "layout, layout or tiler"},
    signature{"logical_product_tiler", "block, tiler"},
    signature{"make_fragment_like", "layout"},
    signature{"make_identity_layout", "shape"},
    signature{"make_layout", "shape[, stride]",
              "R == shape:stride; without a stride the offset is the index",
              "make_layout((4,8),(8,1))"},
    signature{"make_layout_left", "shape"},
    signature{"make_layout_like", "layout"},
    signature{"make_layout_right", "shape"},
    signature{"make_ordered_layout", "shape, order"},
    signature{"make_swizzle",
              "mask of the bits that change, mask of the bits that they are xored with"},
    signature{"max_alignment", "layout"},
    signature{"max_common_layout", "layout, layout"},
    signature{"max_common_vector", "layout, layout"},
    signature{"mma_atom", "name with * for any part",
              "all names of the table that the text selects, one a line",
              "mma_atom(mma.sm80.m16n8k16.f32.f16.f16)"},
    signature{"nullspace", "layout"},
    signature{"partition", "tiled MMA, A B or C, thread, tensor",
              "visits the tensor at tv(thread, value) of each tile: (values of an atom, rest of "
              "rows, rest of columns), and where the part begins",
              "partition(tiled_mma(mma.sm80.m16n8k16.f32.f16.f16,(2,2,1)),C,37,(64,64):(64,1))"},
    signature{"partition_shape", "tiled MMA, A B or C, shape",
              "the shape of partition(mma, operand, 0, shape)",
              "partition_shape(tiled_mma(mma.sm80.m16n8k16.f32.f16.f16,(2,2,1)),C,(64,64))"},
    signature{"prepend", "layout, layout of the new mode"},
    signature{"raked_product", "layout, layout"},
    signature{"rank", "layout"},
    signature{"recast_layout", "layout, bits of its elements, bits of the new ones"},
    signature{"right_inverse", "layout"},
    signature{"round_up", "shape, multiple"},
    signature{
        "scale_factors_32_4_4", "rows, elements along K, elements that share a factor",
        "(row, k) -> byte of the factor in tiles of 128 rows by 4 factors, as tcgen05.mma reads "
        "them and torch names SWIZZLE_32_4_4; padded to whole tiles",
        "scale_factors_32_4_4(256,128,16)"},
    signature{"scale_factors_linear", "rows, elements along K, elements that share a factor",
              "(row, k) -> byte of the factor, row by row", "scale_factors_linear(256,128,16)"},
    signature{"select", "layout, modes"},
    signature{"shape_div", "shape, divisor"},
    signature{"shape_mnk", "MMA atom", "(M, N, K) of one instruction",
              "shape_mnk(mma.sm80.m16n8k16.f32.f16.f16)"},
    signature{"size", "layout"},
    signature{"slice", "layout, coordinate with _"},
    signature{"smem_atom", "major K or MN, bytes of the swizzle (0, 32, 64, 128, 12832), bits",
              "the smallest tile whose rows (K) or columns (MN) fill a swizzle span, 8 of them; as "
              "wgmma, tcgen05.mma and TMA expect it",
              "smem_atom(K,128,16)"},
    signature{"swizzle", "swizzle"},
    signature{"swizzle_compose", "swizzle, swizzle"},
    signature{"swizzle_downcast", "layout, factor"},
    signature{"swizzle_layout", "layout"},
    signature{"swizzle_left_inverse", "layout"},
    signature{"swizzle_logical_divide", "layout, tiler"},
    signature{"swizzle_max_alignment", "layout"},
    signature{"swizzle_max_common_vector", "layout, layout"},
    signature{"swizzle_right_inverse", "layout"},
    signature{"swizzle_slice_static", "layout, coordinate with _"},
    signature{"swizzle_slice_tensor", "tensor, coordinate with _"},
    signature{"swizzle_tile_to_shape", "block, shape[, order]"},
    signature{"swizzle_upcast", "layout, factor"},
    signature{"take", "layout, first mode, mode after the last"},
    signature{"tcgen05_descriptor", "operand tile, major K or MN, bits, step along K",
              "the fields from which tcgen05.mma computes the address of each element of step k of "
              "the tile",
              "tcgen05_descriptor(tile_to_shape(smem_atom(K,128,16),(128,64)),K,16,1)"},
    signature{"thr_id", "MMA atom",
              "thread of the atom -> thread of the instruction: 32:1 is a warp",
              "thr_id(mma.sm80.m16n8k16.f32.f16.f16)"},
    signature{"thr_layout_vmnk", "tiled MMA", "(thread of the atom, copy along m, n, k) -> thread",
              "thr_layout_vmnk(tiled_mma(mma.sm80.m16n8k16.f32.f16.f16,(2,2,1)))"},
    signature{"tile_mnk", "tiled MMA",
              "(M, N, K) of the tile: the permutation's, or what the atoms fill",
              "tile_mnk(tiled_mma(mma.sm80.m16n8k16.f32.f16.f16,(2,2,1)))"},
    signature{"tile_to_shape", "block, shape[, order]"},
    signature{"tiled_copy", "copy atom, layout of threads, layout of values",
              "thread t and value v stand where thr and val say: raked_product(thr, val), inverted",
              "tiled_copy(copy_atom(copy.universal.128,16),(16,8):(8,1),(1,8):(0,1))"},
    signature{"tiled_copy_A", "copy atom, tiled MMA",
              "thread t holds what it holds of A in the tiled MMA",
              "tiled_copy_A(copy_atom(copy.sm75.ldmatrix.x4,16),tiled_mma(mma.sm80.m16n8k16.f32."
              "f16.f16,(2,2,1),(32,32,16)))"},
    signature{"tiled_copy_B", "copy atom, tiled MMA",
              "thread t holds what it holds of B in the tiled MMA",
              "tiled_copy_B(copy_atom(copy.sm75.ldmatrix.x4,16),tiled_mma(mma.sm80.m16n8k16.f32."
              "f16.f16,(2,2,1),(32,32,16)))"},
    signature{"tiled_copy_C", "copy atom, tiled MMA",
              "thread t holds what it holds of C in the tiled MMA",
              "tiled_copy_C(copy_atom(copy.universal.32,16),tiled_mma(mma.sm80.m16n8k16.f32.f16."
              "f16,(2,2,1)))"},
    signature{
        "tiled_copy_C_atom", "copy atom, tiled MMA",
        "thread t holds the first values of the copy atom that it holds of C in the tiled MMA",
        "tiled_copy_C_atom(copy_atom(copy.universal.32,16),tiled_mma(mma.sm80.m16n8k16.f32.f16.f16,"
        "(2,2,1)))"},
    signature{"tiled_divide", "layout, tiler"},
    signature{"tiled_mma", "atom, layout of atoms (m,n,k)[, permutation]",
              "atoms stand where the layout of atoms says; the permutation orders and repeats them "
              "along m, n, k",
              "tiled_mma(mma.sm80.m16n8k16.f32.f16.f16,(2,2,1),(32,32,16))"},
    signature{"tiled_product", "block, layout of blocks"},
    signature{"tiled_product_tiler", "block, tiler"},
    signature{"tma_params", "tensor in global memory, tile in shared memory, tiler, bits",
              "a copy of the box at any corner moves the tile: element c of the tile lies where "
              "the shared layout says",
              "tma_params((1024,512):(512,1),Sw<3,3,3> o 0 o (64,64):(64,1),(64,64),16)"},
    signature{
        "tv", "atom or tiled copy or MMA, A B C or src dst ref",
        "(thread, value) -> place in the column-major tile of the operand, or in what is copied",
        "tv(copy_atom(copy.sm75.ldmatrix.x4,16),dst)"},
    signature{"upcast", "layout, factor"},
    signature{"weakly_congruent", "tuple, tuple"},
    signature{
        "weight_nibbles", "rows, elements along K, bytes of a block of 64 x 64",
        "(n, k) -> nibble of prepared 4-bit weights: blocks in which a thread's 32 nibbles of "
        "wgmma's operand A are adjacent; rows are padded to a multiple of 128",
        "weight_nibbles(128,64,2176)"},
    signature{"weight_scales", "scales of a row",
              "(n, k) -> scale of a block of prepared 4-bit weights", "weight_scales(2)"},
    signature{
        "wgmma_descriptor", "operand tile, major K or MN, bits, step along K",
        "the fields from which wgmma computes the address of each element of step k of the tile",
        "wgmma_descriptor(tile_to_shape(smem_atom(K,128,16),(128,64)),K,16,1)"},
    signature{"widest_smem_atom", "major K or MN, bits, shape of the tile[, shape of a step]",
              "the widest swizzled smem_atom that divides the tile and the step",
              "widest_smem_atom(K,16,(128,64))"},
    signature{"with_shape", "layout, shape"},
    signature{"zip", "layout"},
    signature{"zipped_divide", "layout, tiler"},
    signature{"zipped_divide_ragged", "layout, tiler"},
    signature{"zipped_product", "block, layout of blocks"},
    signature{"zipped_product_tiler", "block, tiler"},
};

}  // namespace

std::span<signature const> signatures() { return all_signatures; }

signature signature_of(std::string_view operation) {
  auto const row = std::ranges::find(all_signatures, operation, &signature::operation);
  if (row == all_signatures.end()) return {};
  signature s = *row;
  if (law_text const* const law = law_of(operation); law != nullptr) {
    s.meaning = law->meaning;
    s.law = law->law;
    s.example = law->example;
  }
  return s;
}

}  // namespace tw
