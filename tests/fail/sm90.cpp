// SPDX-License-Identifier: Apache-2.0
// sm90.cpp  Refusals of configurations of Hopper's kernels.
#include "tilewright/kernel/sm90/gemm.hpp"

using namespace tw;

// case gemm_cluster_k
// A GEMM configuration whose clusters share K and load for each other too.
// expect-error: [TW0204]
namespace gemm_cluster_k {
#ifdef TW_FAIL
constexpr gemm_config config{.tile_n = 64, .cluster_m = 2, .cluster_k = 4};
#else
constexpr gemm_config config{.tile_n = 64, .cluster_m = 1, .cluster_k = 4};
#endif
static_assert(gemm_sm90<config>::smem_bytes > 0);
}  // namespace gemm_cluster_k

// case gemm_narrow_peers
// A GEMM configuration whose launches choose the columns of its tiles, and whose peers would
// need the same ones.
// expect-error: [TW0204]
// max lines(g++): 12
namespace gemm_narrow_peers {
#ifdef TW_FAIL
constexpr gemm_config config{
    .d_m = true, .tile_n = 128, .min_tile_n = 72, .cluster_m = 2, .cluster_n = 1};
#else
constexpr gemm_config config{
    .d_m = true, .tile_n = 128, .min_tile_n = 72, .cluster_m = 1, .cluster_n = 2};
#endif
static_assert(gemm_sm90<config>::smem_bytes > 0);
}  // namespace gemm_narrow_peers

// case gemm_register_a
// A cluster whose kernel reads A into registers.
// expect-error: [TW0204] with A in registers
// max lines(g++): 20
namespace gemm_register_a {
#ifdef TW_FAIL
constexpr gemm_config c{.a = {elem::tf32, elem::tf32, operand_major::mn, operand_source::registers},
                        .b = {elem::tf32},
                        .d = elem::f32,
                        .tile_n = 64};
#else
constexpr gemm_config c{.a = {elem::tf32}, .b = {elem::tf32}, .d = elem::f32, .tile_n = 64};
#endif
static_assert(is_checked<c>());
}  // namespace gemm_register_a

// case gemm_share
// A GEMM configuration whose CTAs would load part of a swizzle span.
// expect-error: [TW0209]
// max lines(g++): 19
namespace gemm_share {
#ifdef TW_FAIL
constexpr gemm_config config{.b = {.major = operand_major::mn}, .tile_n = 160};
#else
constexpr gemm_config config{.b = {.major = operand_major::mn}, .tile_n = 192};
#endif
static_assert(gemm_sm90<config>::smem_bytes > 0);
}  // namespace gemm_share

// case gemm_stages
// A GEMM configuration whose ring is larger than shared memory.
// expect-error: [TW0206]
namespace gemm_stages {
#ifdef TW_FAIL
constexpr gemm_config config{.stages = 5};
#else
constexpr gemm_config config{.stages = 4};
#endif
static_assert(gemm_sm90<config>::smem_bytes > 0);
}  // namespace gemm_stages

// case gemm_staging
// A GEMM configuration whose ring leaves no room for a staging buffer.
// expect-error: [TW0206]
namespace gemm_staging {
#ifdef TW_FAIL
constexpr gemm_config config{.tile_m = 64, .tile_n = 64, .cluster_m = 1, .stages = 14};
#else
constexpr gemm_config config{.tile_m = 64, .tile_n = 64, .cluster_m = 1, .stages = 12};
#endif
static_assert(gemm_sm90<config>::smem_bytes > 0);
}  // namespace gemm_staging

// case gemm_tile_m
// A GEMM configuration whose tile_m the kernel cannot run.
// expect-error: [TW0203]
// max lines(g++): 11
namespace gemm_tile_m {
#ifdef TW_FAIL
constexpr gemm_config config{.tile_m = 160};
#else
constexpr gemm_config config{.tile_m = 128};
#endif
static_assert(gemm_sm90<config>::smem_bytes > 0);
}  // namespace gemm_tile_m

// case gemm_tile_n
// A GEMM configuration whose tile_n the kernel cannot run.
// expect-error: [TW0205]
namespace gemm_tile_n {
#ifdef TW_FAIL
constexpr gemm_config config{.tile_n = 272, .cluster_m = 1, .stages = 3};
#else
constexpr gemm_config config{.tile_n = 192, .cluster_m = 1, .stages = 3};
#endif
static_assert(gemm_sm90<config>::smem_bytes > 0);
}  // namespace gemm_tile_n

// case gemm_tile_n_odd
// A tile_n that no box divides: rules are reported, no division by zero.
// expect-error: [TW0205]
// expect-error: [TW0209]
// max lines(g++): 28
// max lines(nvcc): 17
// expect-no: % 0
// expect-no: division by zero
namespace gemm_tile_n_odd {
#ifdef TW_FAIL
constexpr gemm_config config{.d_m = true, .tile_n = 100, .cluster_m = 1, .stages = 3};
#else
constexpr gemm_config config{.d_m = true, .tile_n = 96, .cluster_m = 1, .stages = 3};
#endif
static_assert(gemm_sm90<config>::smem_bytes > 0);
}  // namespace gemm_tile_n_odd
