// SPDX-License-Identifier: Apache-2.0
// mma_sm100_test.cpp  tcgen05: tensor memory, instruction descriptors, the halves of two CTAs.
#include <gtest/gtest.h>

#include <set>

#include "tilewright/atom/mma_names.hpp"
#include "tilewright/atom/tmem_fragment.hpp"
#include "tilewright/atom/umma_idesc.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/layout/layout.hpp"

namespace tw {
namespace {

// PTX ISA, "Data Path Layout Organization".
static_assert(tmem_accumulator(1, 128, 256, make_shape(2, 1)) ==
              "((128,256),2,1):((65536,1),256,0)"_L);
static_assert(tmem_accumulator(1, 64, 64, make_shape(2, 1)) ==
              "(((16,4),64),2,1):(((65536,2097152),1),1048576,0)"_L);
static_assert(tmem_accumulator(2, 64, 64, make_shape(1, 1)) ==
              "((64,(32,2)),1,1):((65536,(1,4194304)),0,0)"_L);

TEST(TensorMemory, ElementsHaveDifferentAddresses) {
  for (int const ctas : {1, 2})
    for (int const m : {64, 128})
      for (int const n : {16, 32, 64, 128, 256})
        for (int const repeats : {1, 2})
          for (int const bits : {16, 32}) {
            layout const l = tmem_accumulator(ctas, m, n, make_shape(1, repeats), bits);
            std::set<i64> addresses;
            for (i64 i = 0; i < size(l); ++i) {
              i64 const at = l(i);
              addresses.insert(at);
              ASSERT_EQ(at % (32 / bits), 0);
              i64 const address = at / (32 / bits);
              ASSERT_LT(address / tmem_lane, tmem_lanes);
              ASSERT_LT(address % tmem_lane, tmem_columns);
            }
            ASSERT_EQ(static_cast<i64>(addresses.size()), i64{m} * n * repeats);
          }
}

TEST(TensorMemory, RowsOfAnM64AccumulatorLeaveHalfOfTheLanes) {
  layout const l = tmem_accumulator(1, 64, 32, make_shape(1));
  for (int row = 0; row < 64; ++row) EXPECT_EQ(l(row) / tmem_lane, row / 16 * 32 + row % 16);
}

TEST(TensorMemory, ValuesThatDoNotFitAreRefused) {
  EXPECT_THROW(tmem_accumulator(1, 32, 64, make_shape(1)), rejected);  // TW0218
  EXPECT_THROW(tmem_accumulator(3, 64, 64, make_shape(1)), rejected);
  EXPECT_THROW(tmem_accumulator(1, 128, 256, make_shape(4, 1)), rejected);
  EXPECT_NO_THROW(tmem_accumulator(1, 64, 256, make_shape(4, 1)));
  EXPECT_THROW(tmem_accumulator(1, 64, 256, make_shape(5, 1)), rejected);
}

// M, N, formats and majors in their bits, by hand: PTX ISA, "Instruction Descriptor".
static_assert(make_umma_idesc(find_mma("mma.sm100.m128n64k16.f32.f16.f16.ss")).bits() ==
              (8U << 24 | 8U << 17 | 1U << 4));
static_assert(make_umma_idesc(find_mma("mma.sm100.m128n256k16.f32.bf16.bf16.ss.a_mn")).bits() ==
              (8U << 24 | 32U << 17 | 1U << 15 | 1U << 10 | 1U << 7 | 1U << 4));
static_assert(make_umma_idesc(find_mma("mma.sm100.m256n32k32.s32.s8.u8.ss.sat.cta2")).bits() ==
              (16U << 24 | 4U << 17 | 0U << 10 | 1U << 7 | 2U << 4 | 1U << 3));
static_assert(
    make_umma_scaled_idesc(find_mma("mma.sm100.m128n128k32.f32.e5m2.e4m3.ss.ue8m0.block32"))
        .bits() == (1U << 27 | 1U << 23 | 16U << 17 | 1U << 7));

TEST(InstructionDescriptor, FieldsComeBack) {
  int descriptors = 0;
  std::set<std::uint32_t> scaled;
  for (mma_row const& row : mma_rows) {
    if (row.arch != mma_arch::sm100) continue;
    for (mma_atom const& a : atoms_of(row)) {
      if (a.scale == mma_type::none) {
        umma_idesc const d = make_umma_idesc(a);
        ASSERT_EQ(unpack_idesc(d.bits()), d) << to_string(a);
        ASSERT_EQ(d.bits() & (1U << 6 | 1U << 23 | 1U << 29), 0U) << "reserved bits";
      } else {
        scaled.insert(make_umma_scaled_idesc(a).bits());
      }
      ++descriptors;
    }
  }
  EXPECT_GT(descriptors, 1000);
  EXPECT_GT(scaled.size(), 1000U);
}

TEST(InstructionDescriptor, ValuesThatDoNotFitAreRefused) {
  EXPECT_THROW((umma_idesc{.n = 260, .m = 128}.bits()), rejected);  // TW0219
  EXPECT_THROW((umma_idesc{.n = 64, .m = 100}.bits()), rejected);
  EXPECT_THROW((umma_idesc{.d_format = 4, .n = 64, .m = 128}.bits()), rejected);
  EXPECT_THROW(make_umma_idesc(find_mma("mma.sm80.m16n8k16.f32.f16.f16")), rejected);
}

TEST(Tcgen05, TwoCtasHoldHalvesOfTheRows) {
  mma_atom const a = find_mma("mma.sm100.m256n128k16.f32.f16.f16.ss.cta2");
  EXPECT_EQ(layout_a(a), "(2,(128,16)):(128,(1,256))"_L);
  EXPECT_EQ(layout_b(a), "(2,(64,16)):(64,(1,128))"_L);
  EXPECT_EQ(layout_c(a), "(2,(128,128)):(128,(1,256))"_L);
}

}  // namespace
}  // namespace tw
