// SPDX-License-Identifier: Apache-2.0
// umma_rules_test.cpp  Instruction descriptors that tcgen05.mma takes, each beside a neighbour that
//                      it does not.
#include <gtest/gtest.h>

#include "emu/umma/umma.hpp"
#include "tilewright/atom/umma_idesc.hpp"

namespace tw::emu {
namespace {

constexpr auto mn = operand_major::mn;

/// The broken rule; empty: none.
std::string fault(umma_call const& call) {
  umma_shape shape;
  return decode_umma(call, shape).value_or("");
}
umma_call plain(umma_kind kind, int ctas, umma_idesc const& d, bool a_in_tmem = false) {
  return {kind, ctas, 0, a_in_tmem, 0, 0, d.bits(), false};
}
umma_call scaled(umma_kind kind, int ctas, umma_scaled_idesc const& d, bool a_in_tmem = false) {
  return {kind, ctas, 0, a_in_tmem, 0, 0, d.bits(), false, 32, 0, 0};
}
void expect_part(std::string const& text, char const* part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(UmmaRules, NOfAnMnMajorBOf8Bits) {
  using enum umma_kind;
  EXPECT_EQ(fault(plain(f8f6f4, 1, {.a_format = 0, .b_format = 0, .n = 24, .m = 128})), "");
  EXPECT_EQ(
      fault(plain(f8f6f4, 1, {.a_format = 0, .b_format = 0, .b_major = mn, .n = 48, .m = 128})),
      "");
  expect_part(
      fault(plain(f8f6f4, 1, {.a_format = 0, .b_format = 0, .b_major = mn, .n = 24, .m = 128})),
      "multiple of 16");
  EXPECT_EQ(fault(plain(f16, 1, {.a_format = 0, .b_format = 0, .b_major = mn, .n = 24, .m = 128})),
            "");
  EXPECT_EQ(
      fault(plain(f8f6f4, 2, {.a_format = 0, .b_format = 0, .b_major = mn, .n = 64, .m = 256})),
      "");
  expect_part(
      fault(plain(f8f6f4, 2, {.a_format = 0, .b_format = 0, .b_major = mn, .n = 48, .m = 256})),
      "multiple of 32");
}

TEST(UmmaRules, MOfScaledMultiplies) {
  using enum umma_kind;
  for (int const m : {128, 256})
    EXPECT_EQ(fault(scaled(mxf8f6f4, 2, {.a_format = 0, .b_format = 0, .n = 64, .m = m})), "");
  EXPECT_EQ(fault(scaled(mxf8f6f4, 1, {.a_format = 0, .b_format = 0, .n = 64, .m = 128})), "");
  for (int const ctas : {1, 2}) {
    umma_call call = scaled(mxf8f6f4, ctas, {.a_format = 0, .b_format = 0, .n = 64, .m = 128});
    call.idesc = (call.idesc & ~(0x1FU << 24)) | 64U / 16 << 24;
    expect_part(fault(call), ctas == 1 ? "M = 64; with scale factors it is 128"
                                       : "M = 64; with scale factors it is 128 or 256");
  }
}

TEST(UmmaRules, AInTensorMemory) {
  using enum umma_kind;
  umma_scaled_idesc const e4m3_by_e2m1{.a_format = 0, .b_format = 5, .n = 64, .m = 128};
  umma_scaled_idesc const e2m1_by_e4m3{.a_format = 5, .b_format = 0, .n = 64, .m = 128};
  umma_scaled_idesc const of_mxf4{.a_format = 1, .b_format = 1, .n = 64, .m = 128};
  EXPECT_EQ(fault(scaled(mxf8f6f4, 1, e4m3_by_e2m1, true)), "");
  EXPECT_EQ(fault(scaled(mxf8f6f4, 1, e2m1_by_e4m3, false)), "");
  EXPECT_EQ(fault(scaled(mxf4, 1, of_mxf4, true)), "");
  EXPECT_EQ(fault(scaled(mxf8f6f4, 1, e2m1_by_e4m3, true)), "");
  expect_part(
      fault(plain(f16, 1, {.a_format = 0, .b_format = 0, .a_major = mn, .n = 64, .m = 128}, true)),
      "K-major");
}

}  // namespace
}  // namespace tw::emu
