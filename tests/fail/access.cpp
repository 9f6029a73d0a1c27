// SPDX-License-Identifier: Apache-2.0
// access.cpp  Refusals of accesses of a warp.
#include "tilewright/atom/access.hpp"
#include "tilewright/atom/tma_params.hpp"

using namespace tw;

// case atom_access_align
// ldmatrix of rows that are 132 bytes apart.
// expect-error: TW0161_access_is_not_aligned_to_its_width
// expect-error: 132000016
namespace atom_access_align {
#ifdef TW_FAIL
constexpr layout rows = "(64,64):(66,1)"_L;
#else
constexpr layout rows = "(64,64):(72,1)"_L;
#endif
constexpr layout map = natural_map(ldmatrix_access(4), rows, 16);
[[maybe_unused]] constexpr warp_access first = access_of(ldmatrix_access(4), rows, 16, map, 0);
}  // namespace atom_access_align

// case atom_access_bytes
// A tile of 4 MiB.
// expect-error: TW0167_tile_does_not_fit_shared_memory
// expect-error(g++): 4194304232448
// max lines(g++): 11
// max lines(nvcc): 13
namespace atom_access_bytes {
#ifdef TW_FAIL
constexpr layout cells = "(1024,1024):(1024,1)"_L;
#else
constexpr layout cells = "(128,128):(128,1)"_L;
#endif
[[maybe_unused]] constexpr layout map = natural_map(ld_access(32), cells, 32);
}  // namespace atom_access_bytes

// case atom_access_form
// A wgmma operand whose rows are 128 bytes apart, without the swizzle.
// expect-error: TW0165_layout_is_not_one_that_the_hardware_reads_or_writes
// expect-error: 128000016
namespace atom_access_form {
#ifdef TW_FAIL
constexpr layout rows = "(64,64):(64,1)"_L;
#else
constexpr layout rows = "Sw<3,3,3> o 0 o (64,64):(64,1)"_L;
#endif
[[maybe_unused]] constexpr layout map = natural_map(wgmma_access, rows, 16);
}  // namespace atom_access_form

// case atom_access_modes
// A tile of three modes.
// expect-error: TW0166_tile_or_threads_have_another_number_of_modes
// expect-error: 3000002
// max lines(g++): 11
// max lines(nvcc): 13
namespace atom_access_modes {
#ifdef TW_FAIL
constexpr layout cells = "(8,8,2):(8,1,64)"_L;
#else
constexpr layout cells = "(8,(8,2)):(8,(1,64))"_L;
#endif
[[maybe_unused]] constexpr layout map = natural_map(ld_access(32), cells, 32);
}  // namespace atom_access_modes

// case atom_access_outside
// Threads four elements apart in a tile of 64.
// expect-error: TW0164_thread_accesses_beyond_the_tile
// expect-error: 64000064
namespace atom_access_outside {
#ifdef TW_FAIL
constexpr layout map = map_of_threads(ld_access(32), "(32,1):(4,0)"_L, 32);
#else
constexpr layout map = map_of_threads(ld_access(32), "(32,1):(2,0)"_L, 32);
#endif
[[maybe_unused]] constexpr warp_access first =
    access_of(ld_access(32), "(8,8):(8,1)"_L, 32, map, 0);
}  // namespace atom_access_outside

// case atom_access_scattered
// A load of 16 bytes whose elements are 8 bytes apart.
// expect-error: TW0160_elements_of_one_access_are_not_contiguous
// expect-error: 1000004
namespace atom_access_scattered {
#ifdef TW_FAIL
constexpr layout rows = "(32,32):(2,64)"_L;
#else
constexpr layout rows = "(32,32):(1,32)"_L;
#endif
constexpr layout map = natural_map(ld_access(128), rows, 32);
[[maybe_unused]] constexpr warp_access first = access_of(ld_access(128), rows, 32, map, 0);
}  // namespace atom_access_scattered

// case atom_access_unfilled
// ldmatrix of 60 rows: four matrices have 16.
// expect-error: TW0162_tile_is_not_made_of_whole_accesses
// expect-error: 60000016
// max lines(g++): 11
// max lines(nvcc): 13
namespace atom_access_unfilled {
#ifdef TW_FAIL
constexpr layout rows = "(60,64):(64,1)"_L;
#else
constexpr layout rows = "(64,64):(64,1)"_L;
#endif
[[maybe_unused]] constexpr layout map = natural_map(ldmatrix_access(4), rows, 16);
}  // namespace atom_access_unfilled

// case atom_access_width
// Loads of 16 bits for elements of 32.
// expect-error: TW0163_access_does_not_move_elements_of_this_width
// expect-error: 32000016
// max lines(g++): 11
// max lines(nvcc): 13
namespace atom_access_width {
#ifdef TW_FAIL
constexpr access_kind load = ld_access(16);
#else
constexpr access_kind load = ld_access(32);
#endif
[[maybe_unused]] constexpr layout map = natural_map(load, "(32,32):(32,1)"_L, 32);
}  // namespace atom_access_width

// case atom_tma_narrow
// Rows of 64 bytes under a swizzle whose rows are 128 bytes apart.
// expect-error: TW0165_layout_is_not_one_that_the_hardware_reads_or_writes
// expect-error: 64000128
// max lines(g++): 12
// max lines(nvcc): 17
namespace atom_tma_narrow {
#ifdef TW_FAIL
constexpr layout rows = "Sw<3,3,3> o 0 o (4,32):(32,1)"_L;
#else
constexpr layout rows = "Sw<3,3,3> o 0 o (4,32):(64,1)"_L;
#endif
[[maybe_unused]] constexpr tma_params p =
    make_tma_params("(128,128):(128,1)"_L, rows, tile(4, 32), 16);
}  // namespace atom_tma_narrow
