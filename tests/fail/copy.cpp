// SPDX-License-Identifier: Apache-2.0
// copy.cpp  Refusals of copy atoms, descriptors and TMA.
#include "tilewright/atom/copy_find.hpp"
#include "tilewright/atom/descriptor.hpp"
#include "tilewright/atom/smem_atom.hpp"
#include "tilewright/atom/smem_choice.hpp"
#include "tilewright/atom/tiled_copy.hpp"
#include "tilewright/atom/tma_params.hpp"

using namespace tw;

// case atom_copy_descriptor
// A K-major descriptor of a tile that is contiguous along M.
// expect-error: TW0238_operand_is_not_contiguous_along_its_major_mode
// expect-error: 64000001
// max lines(g++): 11
// max lines(nvcc): 17
namespace atom_copy_descriptor {
constexpr layout step = "Sw<3,3,3> o 0 o (64,16):(1,64)"_L;
#ifdef TW_FAIL
constexpr operand_places p = places_of_operand(step, 0, operand_major::k, 16);
#else
constexpr operand_places p = places_of_operand(step, 0, operand_major::mn, 16);
static_assert(p.stride_bytes == 1024);
#endif
}  // namespace atom_copy_descriptor

// case atom_copy_name
// A copy atom that no row has: 21 characters, of which 19 are a row's.
// expect-error: TW0233_no_copy_atom_of_this_name
// expect-error: 21000019
// max lines(g++): 11
// max lines(nvcc): 17
namespace atom_copy_name {
#ifdef TW_FAIL
constexpr copy_atom a = copy_atom_named("copy.sm75.ldmatrix.y4");
#else
constexpr copy_atom a = copy_atom_named("copy.sm75.ldmatrix.x4");
static_assert(a.threads() == 32);
#endif
}  // namespace atom_copy_name

// case atom_copy_size
// ldmatrix of eight matrices.
// expect-error: TW0234_copy_atom_does_not_come_in_this_size
// expect-error: 8000004
// max lines(g++): 12
// max lines(nvcc): 20
namespace atom_copy_size {
#ifdef TW_FAIL
constexpr copy_atom a = copy_atom_named("copy.sm75.ldmatrix.x8");
#else
constexpr copy_atom a = copy_atom_named("copy.sm75.ldmatrix.x2");
static_assert(a.threads() == 32);
#endif
}  // namespace atom_copy_size

// case atom_copy_tile
// Two floats for each thread of a copy that moves four.
// expect-error: TW0231_threads_or_values_are_no_multiple_of_the_copy_atom
// expect-error: 2000004
// max lines(g++): 11
// max lines(nvcc): 17
namespace atom_copy_tile {
constexpr copy_atom atom = in_values(copy_atom_named("copy.universal.128"), 32);
#ifdef TW_FAIL
constexpr tiled_copy c = make_tiled_copy(atom, "(32,8)"_L, "(2,1)"_L);
#else
constexpr tiled_copy c = make_tiled_copy(atom, "(32,8)"_L, "(4,1)"_L);
static_assert(c.threads() == 256);
#endif
}  // namespace atom_copy_tile

// case atom_copy_tma
// A TMA box of 512 rows.
// expect-error: TW0246_tma_box_has_more_than_256_elements_along_a_mode
// expect-error: 512000256
// max lines(g++): 11
// max lines(nvcc): 17
namespace atom_copy_tma {
constexpr layout matrix = "(4096,512):(512,1)"_L;
#ifdef TW_FAIL
constexpr tma_params p = make_tma_params(matrix, "(512,64):(64,1)"_L, tile(512, 64), 16);
#else
constexpr tma_params p = make_tma_params(matrix, "(256,64):(64,1)"_L, tile(256, 64), 16);
static_assert(p.dims == 2);
#endif
}  // namespace atom_copy_tma

// case atom_copy_uncovered
// Threads and values that reach the 65th of 64 elements.
// expect-error: TW0232_cotiled_copy_reaches_an_address_without_data
// expect-error: 127000064
// max lines(g++): 11
// max lines(nvcc): 17
namespace atom_copy_uncovered {
constexpr copy_atom atom = in_values(copy_atom_named("copy.universal.64"), 16);
#ifdef TW_FAIL
constexpr tiled_copy c = make_cotiled_copy(atom, "(32,4):(4,1)"_L, "(8,8)"_L);
#else
constexpr tiled_copy c = make_cotiled_copy(atom, "(16,4):(4,1)"_L, "(8,8)"_L);
static_assert(c.threads() == 16);
#endif
}  // namespace atom_copy_uncovered

// case atom_copy_value
// An element that a transposed ldmatrix would tear apart.
// expect-error: TW0230_copy_value_is_split_between_threads_or_cut_short
// expect-error: 32000016
// max lines(g++): 11
// max lines(nvcc): 17
namespace atom_copy_value {
constexpr copy_atom matrices = copy_atom_named("copy.sm75.ldmatrix.x4.t");
#ifdef TW_FAIL
constexpr copy_atom a = in_values(matrices, 32);
#else
constexpr copy_atom a = in_values(matrices, 16);
static_assert(a.values() > 0);
#endif
}  // namespace atom_copy_value

// case atom_operand_offset
// The halves of an operand half a MiB apart.
// expect-error: TW0243_offset_does_not_fit_the_descriptor
// expect-error(g++): 524288262144
namespace atom_operand_offset {
#ifdef TW_FAIL
constexpr layout step = "(64,(8,2)):(8,(1,262144))"_L;
#else
constexpr layout step = "(64,(8,2)):(8,(1,65536))"_L;
#endif
[[maybe_unused]] constexpr operand_places p = places_of_operand(step, 0, operand_major::k, 16);
}  // namespace atom_operand_offset

// case atom_operand_rows
// Rows of 32 bytes, without the swizzle that such rows have.
// expect-error: TW0240_operand_is_not_canonical
// expect-error: 2000001
// max lines(g++): 11
// max lines(nvcc): 13
namespace atom_operand_rows {
#ifdef TW_FAIL
constexpr layout step = "(64,16):(16,1)"_L;
#else
constexpr layout step = "Sw<1,3,3> o 0 o (64,16):(16,1)"_L;
#endif
[[maybe_unused]] constexpr operand_places p = places_of_operand(step, 0, operand_major::k, 16);
}  // namespace atom_operand_rows

// case atom_operand_start
// An operand that starts at row 4 of the 8 of its swizzle.
// expect-error: TW0242_operand_starts_inside_the_swizzle_pattern
// expect-error: 512001024
// max lines(g++): 11
// max lines(nvcc): 17
namespace atom_operand_start {
constexpr layout step = "Sw<3,3,3> o 0 o (64,16):(64,1)"_L;
#ifdef TW_FAIL
constexpr operand_places p = places_of_operand(step, 256, operand_major::k, 16);
#else
constexpr operand_places p = places_of_operand(step, 512, operand_major::k, 16);
static_assert(p.start_bytes == 1024);
#endif
}  // namespace atom_operand_start

// case atom_operand_step
// A descriptor of 64 elements of K: an instruction reads 16.
// expect-error: TW0241_operand_step_has_another_extent
// expect-error: 64000016
namespace atom_operand_step {
#ifdef TW_FAIL
constexpr layout step = "Sw<3,3,3> o 0 o (64,64):(64,1)"_L;
#else
constexpr layout step = "Sw<3,3,3> o 0 o (64,16):(64,1)"_L;
#endif
[[maybe_unused]] constexpr operand_places p = places_of_operand(step, 0, operand_major::k, 16);
}  // namespace atom_operand_step

// case atom_operand_units
// Rows of an operand that are 40 bytes apart.
// expect-error: TW0239_operand_strides_are_no_multiples_of_16_bytes
// expect-error: 320000128
// max lines(g++): 11
// max lines(nvcc): 13
namespace atom_operand_units {
#ifdef TW_FAIL
constexpr layout step = "(64,16):(20,1)"_L;
#else
constexpr layout step = "(64,(8,2)):(8,(1,512))"_L;
#endif
[[maybe_unused]] constexpr operand_places p = places_of_operand(step, 0, operand_major::k, 16);
}  // namespace atom_operand_units

// case atom_smem_bits
// A shared-memory atom of elements of 48 bits.
// expect-error: TW0235_no_shared_memory_atom_of_this_element_width
// expect-error: 48000128
// max lines(g++): 12
// max lines(nvcc): 20
namespace atom_smem_bits {
#ifdef TW_FAIL
constexpr layout l = smem_atom(operand_major::k, smem_swizzle::b128, 48);
#else
constexpr layout l = smem_atom(operand_major::k, smem_swizzle::b128, 32);
static_assert(size(l) == 8 * 32);
#endif
}  // namespace atom_smem_bits

// case atom_smem_fit
// A tile whose rows no shared-memory atom fills.
// expect-error: TW0236_no_shared_memory_atom_fits_the_tile
// expect-error: 20000008
// max lines(g++): 11
// max lines(nvcc): 17
namespace atom_smem_fit {
#ifdef TW_FAIL
constexpr smem_choice c = widest_smem_atom(operand_major::k, 16, make_shape(128, 20));
#else
constexpr smem_choice c = widest_smem_atom(operand_major::k, 16, make_shape(128, 24));
static_assert(c.mode == smem_swizzle::none);
#endif
}  // namespace atom_smem_fit

// case atom_tma_contiguous
// Shared memory contiguous along M, global memory along K.
// expect-error: TW0245_tma_shared_and_global_memory_are_contiguous_along_different_modes
// expect-error: 512000001
// max lines(g++): 13
// max lines(nvcc): 17
namespace atom_tma_contiguous {
constexpr layout matrix = "(1024,512):(512,1)"_L;
#ifdef TW_FAIL
constexpr tma_params p = make_tma_params(matrix, "(64,32):(1,64)"_L, tile(64, 32), 16);
#else
constexpr tma_params p = make_tma_params(matrix, "(64,32):(32,1)"_L, tile(64, 32), 16);
static_assert(p.dims == 2);
#endif
}  // namespace atom_tma_contiguous

// case atom_tma_extent
// A tensor of more elements along a dimension than a tensor map can say.
// expect-error: TW0304_tma_extent_is_more_than_2_to_the_32
// max lines(g++): 12
// max lines(nvcc): 17
namespace atom_tma_extent {
#ifdef TW_FAIL
constexpr layout matrix = "(8589934592,64):(64,1)"_L;
#else
constexpr layout matrix = "(4294967296,64):(64,1)"_L;
#endif
[[maybe_unused]] constexpr tma_params p =
    make_tma_params(matrix, "(64,64):(64,1)"_L, tile(64, 64), 16);
}  // namespace atom_tma_extent

// case atom_tma_inner
// A TMA box with rows of 8 bytes.
// expect-error: TW0247_tma_box_row_is_not_16_bytes_or_leaves_the_swizzle_span
// expect-error: 8000016
// max lines(g++): 11
// max lines(nvcc): 17
namespace atom_tma_inner {
constexpr layout matrix = "(1024,512):(512,1)"_L;
#ifdef TW_FAIL
constexpr tma_params p = make_tma_params(matrix, "(64,4):(4,1)"_L, tile(64, 4), 16);
#else
constexpr tma_params p = make_tma_params(matrix, "(64,8):(8,1)"_L, tile(64, 8), 16);
static_assert(p.dims == 2);
#endif
}  // namespace atom_tma_inner

// case atom_tma_modes
// TMA of six modes.
// expect-error: TW0249_tma_needs_more_than_five_modes
// expect-error: 6000005
// max lines(g++): 11
// max lines(nvcc): 17
namespace atom_tma_modes {
#ifdef TW_FAIL
constexpr layout data = "(64,32,16,8,4,2):(1,72,2560,43008,400000,1700000)"_L;
constexpr tma_params p =
    make_tma_params(data, "(16,2,2,2,2,2):(1,16,32,64,128,256)"_L, tile(16, 2, 2, 2, 2, 2), 16);
#else
constexpr layout data = "(64,32,16,8,4):(1,72,2560,43008,400000)"_L;
constexpr tma_params p =
    make_tma_params(data, "(16,2,2,2,2):(1,16,32,64,128)"_L, tile(16, 2, 2, 2, 2), 16);
static_assert(p.dims == 5);
#endif
}  // namespace atom_tma_modes

// case atom_tma_size
// A TMA tile of 128 rows, shared memory for 64.
// expect-error: TW0244_tma_tile_and_shared_memory_differ_in_size
// expect-error: 81924096
// max lines(g++): 11
// max lines(nvcc): 17
namespace atom_tma_size {
constexpr layout matrix = "(1024,512):(512,1)"_L;
#ifdef TW_FAIL
constexpr tma_params p = make_tma_params(matrix, "(64,64):(64,1)"_L, tile(128, 64), 16);
#else
constexpr tma_params p = make_tma_params(matrix, "(64,64):(64,1)"_L, tile(64, 64), 16);
static_assert(p.dims == 2);
#endif
}  // namespace atom_tma_size

// case atom_tma_stride
// TMA of rows that are 1000 bytes apart.
// expect-error: TW0248_tma_stride_is_no_multiple_of_16_bytes
// expect-error: 8000128
// max lines(g++): 11
// max lines(nvcc): 13
namespace atom_tma_stride {
#ifdef TW_FAIL
constexpr layout matrix = "(1024,500):(500,1)"_L;
#else
constexpr layout matrix = "(1024,504):(504,1)"_L;
#endif
[[maybe_unused]] constexpr tma_params p =
    make_tma_params(matrix, "(64,64):(64,1)"_L, tile(64, 64), 16);
}  // namespace atom_tma_stride

// case atom_tma_wide_stride
// Rows of 2^41 bytes: a tensor map has strides below 2^40.
// expect-error: TW0305_tma_stride_is_not_below_2_to_the_40_bytes
// max lines(g++): 12
// max lines(nvcc): 17
namespace atom_tma_wide_stride {
#ifdef TW_FAIL
constexpr layout matrix = "(1024,64):(1099511627776,1)"_L;
#else
constexpr layout matrix = "(1024,64):(274877906944,1)"_L;
#endif
[[maybe_unused]] constexpr tma_params p =
    make_tma_params(matrix, "(64,64):(64,1)"_L, tile(64, 64), 16);
}  // namespace atom_tma_wide_stride
