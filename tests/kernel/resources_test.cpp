// SPDX-License-Identifier: Apache-2.0
// resources_test.cpp  The shared memory that a family states is that of the compiled kernel.
#include <gtest/gtest.h>

#include "family/sm100_gemm/resources.hpp"
#include "family/sm100_scaled/resources.hpp"
#include "family/sm80_gemm/resources.hpp"
#include "family/sm90_gemm/resources.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/gemv/gemv.hpp"
#include "tilewright/kernel/sm100/block_scaled.hpp"
#include "tilewright/kernel/sm100/gemm.hpp"
#include "tilewright/kernel/sm80/gemm.hpp"
#include "tilewright/kernel/sm90/gemm.hpp"

namespace tw::test {
namespace {

template <gemm_config C>
void expect_the_kernels_own() {
  kernel_resources const r = sm90_gemm_family::resources_of(C);
  EXPECT_EQ(r.cta.smem_bytes, gemm_sm90<C>::smem_bytes);
  EXPECT_EQ(r.cta.threads, gemm_sm90<C>::threads);
  EXPECT_EQ(r.cta.cluster, gemm_sm90<C>::cluster);
  EXPECT_EQ(r.stage_bytes * r.stages, static_cast<std::int64_t>(sizeof(gemm_sm90<C>::smem::a) +
                                                                sizeof(gemm_sm90<C>::smem::b)));
}

TEST(Resources, AreThoseOfTheCompiledKernel) {
  using sm90_gemm_family::resources_of;
  expect_the_kernels_own<gemm_config{}>();
  expect_the_kernels_own<gemm_config{.pingpong = true, .tile_m = 64, .cluster_m = 1}>();
  expect_the_kernels_own<gemm_config{.d = elem::f32, .tile_n = 128, .cluster_m = 1}>();
  expect_the_kernels_own<gemm_config{.tile_m = 256, .tile_n = 192, .stages = 3}>();
  expect_the_kernels_own<gemm_config{
      .d_m = true, .tile_n = 128, .min_tile_n = 72, .cluster_m = 1, .stages = 6}>();
  expect_the_kernels_own<gemm_config{
      .tile_m = 64, .tile_n = 64, .cluster_m = 1, .cluster_k = 4, .stages = 8}>();
  expect_the_kernels_own<gemm_config{.tile_n = 128, .epilogue = epilogue_id::ops}>();
  expect_the_kernels_own<gemm_config{.a = {elem::e4m3},
                                     .b = {elem::e4m3},
                                     .cluster_m = 1,
                                     .stages = 3,
                                     .sums = sum_form::promoted_128}>();
  expect_the_kernels_own<gemm_config{.a = {elem::e4m3},
                                     .b = {elem::e4m3},
                                     .tile_m = 256,
                                     .tile_n = 128,
                                     .cluster_m = 1,
                                     .stages = 4,
                                     .epilogue = epilogue_id::gated,
                                     .sums = sum_form::scaled_columns}>();
  expect_the_kernels_own<gemm_config{
      .tile_n = 256, .cluster_m = 1, .stages = 3, .epilogue = epilogue_id::gated}>();
}

template <sm80_config C>
void expect_the_ampere_kernels_own() {
  kernel_resources const r = sm80_gemm_family::resources_of(C);
  EXPECT_EQ(r.cta.smem_bytes, gemm_sm80<C>::smem_bytes);
  EXPECT_EQ(r.cta.threads, gemm_sm80<C>::threads);
}

TEST(Resources, AreThoseOfTheCompiledAmpereKernel) {
  expect_the_ampere_kernels_own<sm80_config{}>();
  expect_the_ampere_kernels_own<sm80_config{.d = elem::f32, .tile_m = 64, .tile_n = 64}>();
  expect_the_ampere_kernels_own<sm80_config{.d = elem::f32, .tile_n = 256, .stages = 2}>();
  expect_the_ampere_kernels_own<sm80_config{
      .d = elem::f32, .stages = 2, .epilogue = epilogue_id::gated}>();
}

template <sm100_config C>
void expect_the_blackwell_kernels_own() {
  kernel_resources const r = sm100_gemm_family::resources_of(C);
  EXPECT_EQ(r.cta.smem_bytes, gemm_sm100<C>::smem_bytes);
  EXPECT_EQ(r.cta.threads, gemm_sm100<C>::threads);
  EXPECT_EQ(r.cta.cluster, gemm_sm100<C>::cluster);
}

TEST(Resources, AreThoseOfTheCompiledBlackwellKernel) {
  expect_the_blackwell_kernels_own<sm100_config{}>();
  expect_the_blackwell_kernels_own<sm100_config{.ctas = 2, .tile_n = 256, .stages = 6}>();
  expect_the_blackwell_kernels_own<sm100_config{.d = elem::f32, .tile_n = 64, .stages = 7}>();
  expect_the_blackwell_kernels_own<sm100_config{
      .a = {elem::e4m3}, .b = {elem::e4m3}, .tile_n = 64, .stages = 6, .block_scales = true}>();
  expect_the_blackwell_kernels_own<sm100_config{.a = {elem::e4m3},
                                                .b = {elem::e4m3},
                                                .ctas = 2,
                                                .stages = 8,
                                                .dynamic = true,
                                                .block_scales = true}>();
}

template <block_scaled_config C>
void expect_the_block_scaled_kernels_own() {
  kernel_resources const r = sm100_scaled_family::resources_of(C);
  using kernel = block_scaled_sm100<C>;
  EXPECT_EQ(r.cta.smem_bytes, kernel::smem_bytes);
  EXPECT_EQ(r.cta.threads, kernel::threads);
  EXPECT_EQ(r.cta.cluster, kernel::cluster);
  using smem = typename kernel::smem;
  EXPECT_EQ(r.stage_bytes * r.stages,
            static_cast<std::int64_t>(sizeof(smem::a) + sizeof(smem::b) + sizeof(smem::sfa) +
                                      sizeof(smem::sfb)));
}

TEST(Resources, AreThoseOfTheCompiledBlockScaledKernel) {
  expect_the_block_scaled_kernels_own<block_scaled_config{}>();
  expect_the_block_scaled_kernels_own<block_scaled_config{.ctas = 2, .tile_n = 256, .stages = 5}>();
  expect_the_block_scaled_kernels_own<block_scaled_config{
      .a = elem::e4m3, .b = elem::e5m2, .scale = elem::ue8m0, .block = 32, .tile_n = 192}>();
}

TEST(Resources, EachKernelOfAFamilyFitsAnSm) {
  for (gemm_family const* const family : families())
    for (int kernel = 0; kernel < family->kernel_count(); ++kernel) {
      auto r = family->resources(kernel);
      if (!r) continue;
      r->cta.registers = 32;
      int const capability = known_device(family->facts(kernel).device).compute_capability;
      EXPECT_GE(occupancy_of(r->cta, *find_sm_limits(capability)).ctas, 1) << family->name(kernel);
    }
}

TEST(Resources, AGemvStatesItsSharedMemory) {
  constexpr gemv_config c{.rows = 16, .cols = 8, .unroll = 4, .warps_k = 4, .ctas_per_sm = 6};
  int found = 0;
  gemm_family const& family = *find_family("gemv");
  for (int kernel = 0; kernel < family.kernel_count(); ++kernel)
    if (family.name(kernel).find("_16x8_u4_1x4_c6") != std::string::npos) {
      EXPECT_EQ(family.resources(kernel)->cta.smem_bytes, gemv<c>::smem_bytes);
      ++found;
    }
  EXPECT_GT(found, 0);
}

}  // namespace
}  // namespace tw::test
