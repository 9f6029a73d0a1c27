// SPDX-License-Identifier: Apache-2.0
// mma.cpp  Refusals of MMA atoms and their tiling.
#include "tilewright/atom/mma_fragment.hpp"
#include "tilewright/atom/mma_name.hpp"
#include "tilewright/atom/tiled_mma.hpp"
#include "tilewright/atom/tmem_fragment.hpp"
#include "tilewright/atom/umma_idesc.hpp"
#include "tilewright/layout/layout.hpp"

using namespace tw;

// case atom_mma_name
// A name whose parts stand in another order.
// expect-error: TW0210_name_is_not_that_of_an_mma_atom
// expect-error: 24000033
// max lines(g++): 12
// max lines(nvcc): 16
namespace atom_mma_name {
#ifdef TW_FAIL
[[maybe_unused]] constexpr mma_atom atom = find_mma("mma.sm90.m64n96k16.f32.ss.f16.f16");
#else
constexpr mma_atom atom = find_mma("mma.sm90.m64n96k16.f32.f16.f16.ss");
static_assert(atom.n == 96);
#endif
}  // namespace atom_mma_name

// case atom_mma_scale_factors
// Scale factors of an atom that has none.
// expect-error: TW0213_atom_has_no_such_operand
// expect-error: 3000003
namespace atom_mma_scale_factors {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout factors = layout_sfa(find_mma("mma.sm80.m16n8k16.f32.f16.f16"));
#else
constexpr layout factors = layout_sfa(find_mma("mma.sm120.m16n8k32.f32.e4m3.e4m3.ue8m0.block32"));
static_assert(size(factors) == 32 * 32);
#endif
}  // namespace atom_mma_scale_factors

// case atom_mma_shape
// A shape that wgmma does not have.
// expect-error: TW0211_no_instruction_has_this_shape_with_these_formats
// expect-error: 100064016
// max lines(g++): 11
// max lines(nvcc): 13
namespace atom_mma_shape {
#ifdef TW_FAIL
[[maybe_unused]] constexpr mma_atom atom = find_mma("mma.sm90.m64n100k16.f32.bf16.bf16.ss");
#else
constexpr mma_atom atom = find_mma("mma.sm90.m64n104k16.f32.bf16.bf16.ss");
static_assert(atom.n == 104);
#endif
}  // namespace atom_mma_shape

// case atom_tiled_rank
// An atom layout with a fourth mode.
// expect-error: TW0214_tiled_mma_has_modes_m_n_k
// expect-error: 4000003
namespace atom_tiled_rank {
constexpr mma_atom warp = find_mma("mma.sm80.m16n8k16.f32.f16.f16");

#ifdef TW_FAIL
[[maybe_unused]] constexpr tiled_mma mma = make_tiled_mma(warp, "(2,2,1,1)"_L);
#else
constexpr tiled_mma mma = make_tiled_mma(warp, "(2,2,1)"_L);
static_assert(thread_count(mma) == 128);
#endif
}  // namespace atom_tiled_rank

// case atom_tiled_thread
// A part for a thread that there is not.
// expect-error: TW0217_tiled_mma_has_no_such_thread
// expect-error: 128000128
// max lines(g++): 12
// max lines(nvcc): 16
namespace atom_tiled_thread {
constexpr mma_atom warp = find_mma("mma.sm80.m16n8k16.f32.f16.f16");

#ifdef TW_FAIL
[[maybe_unused]] constexpr sliced part =
    partition_c(make_tiled_mma(warp, "(2,2,1)"_L), 128, "(64,64)"_L);
#else
constexpr sliced part = partition_c(make_tiled_mma(warp, "(2,2,1)"_L), 127, "(64,64)"_L);
static_assert(size(part.kept) == 32);
#endif
}  // namespace atom_tiled_thread

// case atom_tiled_threads
// Threads that leave gaps have no thread-value layout.
// expect-error: TW0216_threads_of_a_tiled_mma_are_not_consecutive
// expect-error: 4000008
// max lines(g++): 11
// max lines(nvcc): 13
namespace atom_tiled_threads {
constexpr mma_atom volta = find_mma("mma.sm70.m8n8k4.f32.f16.f16.a_mn.b_mn");

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout tv = tv_c(make_tiled_mma(volta, "(1,1,1)"_L));
#else
constexpr layout tv = tv_c(make_tiled_mma(volta, "(2,2):(2,1)"_L));
static_assert(size(tv) == 16 * 16);
#endif
}  // namespace atom_tiled_threads

// case atom_tiled_tile
// A permutation that the atoms do not fill.
// expect-error: TW0215_permutation_is_not_filled_by_the_atoms
// expect-error: 24000016
namespace atom_tiled_tile {
constexpr mma_atom warp = find_mma("mma.sm80.m16n8k16.f32.f16.f16");

#ifdef TW_FAIL
[[maybe_unused]] constexpr tiled_mma mma = make_tiled_mma(warp, "(2,2,1)"_L, tile(32, 24, 16));
#else
constexpr tiled_mma mma = make_tiled_mma(warp, "(2,2,1)"_L, tile(32, 32, 16));
static_assert(thread_count(mma) == 128);
#endif
}  // namespace atom_tiled_tile

// case atom_tmem_rows
// An accumulator of 96 rows in tensor memory.
// expect-error: TW0218_tensor_memory_does_not_hold_this_shape
// expect-error: 96000128
namespace atom_tmem_rows {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout l = tmem_accumulator(1, 96, 64, make_shape(1, 1));
#else
constexpr layout l = tmem_accumulator(1, 64, 64, make_shape(1, 1));
static_assert(size(l) == 64 * 64);
#endif
}  // namespace atom_tmem_rows

// case atom_umma_field
// N beyond what an instruction descriptor holds.
// expect-error: TW0219_value_does_not_fit_the_instruction_descriptor
// expect-error: 264000256
// max lines(g++): 11
// max lines(nvcc): 13
namespace atom_umma_field {
#ifdef TW_FAIL
[[maybe_unused]] constexpr std::uint32_t bits = umma_idesc{.n = 264, .m = 128}.bits();
#else
constexpr std::uint32_t bits = umma_idesc{.n = 256, .m = 128}.bits();
static_assert(bits >> 24 == 8);
#endif
}  // namespace atom_umma_field
