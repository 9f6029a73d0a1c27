// SPDX-License-Identifier: Apache-2.0
// mma_name_test.cpp  Names of MMA atoms: whole, with parts left out, in the field's spelling; what
//                    is refused.
#include "tilewright/atom/mma_name.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "tilewright/atom/call.hpp"
#include "tilewright/atom/mma_names.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/layout/layout.hpp"

namespace tw {
namespace {

/// A kernel takes an atom as a template argument.
template <mma_atom Atom>
struct step {
  static constexpr int registers = static_cast<int>(size(mode(layout_c(Atom), 1)));
};
static_assert(step<find_mma("mma.sm90.m64n96k16.f32.bf16.bf16.ss")>::registers == 48);
static_assert(mma_atom_like<mma_atom>);
static_assert(mma_type_of(elem::bf16) == mma_type::bf16);

std::string code_of(std::function<void()> const& f) {
  try {
    f();
  } catch (rejected const& e) {
    return e.why().code;
  }
  return "nothing";
}

TEST(MmaName, EveryAtomHasADifferentName) {
  std::set<std::string> names;
  for (mma_row const& row : mma_rows) {
    for (mma_atom const& a : atoms_of(row)) {
      mma_name const s = name_of(a);
      ASSERT_EQ(detail::parse_mma(s.text, s.length), a) << s.text;
      ASSERT_TRUE(names.insert(s.text).second) << "two rows have " << s.text;
    }
  }
}

TEST(MmaName, EveryRowFindsItsAtoms) {
  for (int i = 0; i < mma_row_count; ++i) {
    std::vector<mma_atom> const atoms = atoms_of(mma_rows[i]);
    for (mma_atom const& a : {atoms.front(), atoms.back()}) {
      EXPECT_EQ(find_row(a), i) << to_string(a);
      EXPECT_EQ(match_mma(to_string(a)), std::vector{a});
    }
  }
}

TEST(MmaName, PartsMayBeLeftOut) {
  std::vector<mma_atom> const f16 = match_mma("mma.sm90.m64n96k16.f16");
  EXPECT_EQ(f16.size(), 12U);  // two sums x (ss with four majors, rs with two)
  EXPECT_EQ(tv_layout("mma.sm90.m64n96k16.f16", mma_operand::c),
            "((4,8,4),(2,2,12)):((128,1,16),(64,8,512))"_L);
  EXPECT_EQ(evaluate("tv(mma.sm90.m64n96k16.f16, C)").res,
            "((4,8,4),(2,2,12)):((128,1,16),(64,8,512))");
  EXPECT_EQ(evaluate("tv(SM90_64x96x16_F32BF16BF16_SS, B)").res, "(128,(96,16)):(0,(1,96))");
  EXPECT_EQ(evaluate("thr_id(mma.sm70.m8n8k4.f16.f16.f16)").res, "(4,2):(1,16)");
  EXPECT_EQ(evaluate("shape_mnk(mma.sm80.m16n8k4)").res, "(16,8,4)");
  EXPECT_EQ(evaluate("mma_atom(SM90_64x96x16_F32BF16BF16_SS)").res,
            "mma.sm90.m64n96k16.f32.bf16.bf16.ss");
}

TEST(MmaName, AmbiguousNamesListTheCandidates) {
  try {
    evaluate("tv(mma.sm90.m64n96k16.f16, A)");
    FAIL();
  } catch (rejected const& e) {
    EXPECT_EQ(e.why().code, "TW0212");
    EXPECT_NE(e.why().hint.find("mma.sm90.m64n96k16.f32.f16.f16.rs"), std::string::npos);
    EXPECT_NE(e.why().hint.find("and 4 more"), std::string::npos) << e.why().hint;
  }
  EXPECT_EQ(code_of([] { one_mma("mma.sm90.m64n96k16.f16"); }), "TW0212");
}

TEST(MmaName, TextThatIsNotANameIsRefused) {
  EXPECT_EQ(code_of([] { match_mma("mma.sm90.m64n96k16.f32.x17"); }), "TW0211");
  EXPECT_EQ(code_of([] { match_mma("mma.sm91.m64n96k16"); }), "TW0210");
  EXPECT_EQ(code_of([] { match_mma("mna.sm90.m64n96k16"); }), "TW0210");
  EXPECT_EQ(code_of([] { match_mma("SM90_64x96x16_F32BF16BF16_SX"); }), "TW0210");
  EXPECT_EQ(code_of([] { match_mma(""); }), "TW0210");
  EXPECT_EQ(code_of([] { match_mma("SM90_64x100x16_F32BF16BF16_SS"); }), "TW0211");
  EXPECT_EQ(code_of([] { match_mma("SM90_64x40x32_S32S8S8_SS_TN"); }), "TW0211");  // N mod 16
  EXPECT_EQ(code_of([] { match_mma("SM90_64x64x8_F32TF32TF32_SS_MN_K"); }), "TW0211");
  EXPECT_EQ(code_of([] { evaluate("tv(mma.sm80.m16n8k16.f32.f16.f16, E)"); }), "TW0213");
  for (char const* name : {"mma.sm90.m64n96k16.f32.ss.bf16.bf16", "mma.sm80.m16n8k16.f32.f16",
                           "mma.sm90.m64n96.f32.bf16.bf16.ss", "mma.sm80.m16n8k16.f32.f16.f16.",
                           "mma.sm90.m64n96k16.f32.f16.f16.b_mn.ss"}) {
    int const n = static_cast<int>(std::string_view(name).size());
    EXPECT_EQ(code_of([&] { find_mma(name, n); }), "TW0210") << name;
  }
  try {
    match_mma("mma.sm90.m64n100k16.f32.bf16.bf16.ss");
    FAIL();
  } catch (rejected const& e) {
    EXPECT_EQ(e.why().code, "TW0211");
    EXPECT_NE(e.why().need.find("N = 8 to 256 in steps of 8"), std::string::npos) << e.what();
  }
}

/// The field's names of whole families, and what they mean.
TEST(MmaName, TheFieldsSpelling) {
  auto const means = [](std::string const& spelled, std::string const& name) {
    EXPECT_EQ(to_string(one_mma(spelled)), name) << spelled;
  };
  int names = 0;
  for (int n = 8; n <= 256; n += 8) {
    for (char const* from : {"SS", "RS"}) {
      std::string const own = *from == 'S' ? "ss" : "rs";
      for (char const* f : {"F32F16F16", "F16F16F16", "F32BF16BF16"}) {
        std::string const dab = f[1] == '1'   ? "f16.f16.f16"
                                : f[3] == 'B' ? "f32.bf16.bf16"
                                              : "f32.f16.f16";
        means(fmt::format("SM90_64x{}x16_{}_{}", n, f, from),
              fmt::format("mma.sm90.m64n{}k16.{}.{}", n, dab, own));
        ++names;
      }
      means(fmt::format("SM90_64x{}x8_F32TF32TF32_{}_TN", n, from),
            fmt::format("mma.sm90.m64n{}k8.f32.tf32.tf32.{}", n, own));
      for (char const* d : {"F16", "F32"})
        for (char const* a : {"E4M3", "E5M2"})
          for (char const* b : {"E4M3", "E5M2"}) {
            EXPECT_EQ(one_mma(fmt::format("SM90_64x{}x32_{}{}{}_{}_TN", n, d, a, b, from)).n, n);
            ++names;
          }
      if (n > 32 && n % 16 != 0) continue;
      for (char const* a : {"S8", "U8"})
        for (char const* b : {"S8", "U8"})
          for (char const* saturate : {"", "_SATURATE"}) {
            mma_atom const m =
                one_mma(fmt::format("SM90_64x{}x32_S32{}{}_{}_TN{}", n, a, b, from, saturate));
            EXPECT_EQ(m.option == mma_option::saturate, *saturate != '\0');
            ++names;
          }
    }
  }
  EXPECT_EQ(names, 32 * 2 * (3 + 8) + 18 * 2 * 8);
  means("SM90_64x96x16_F32BF16BF16_SS_K_MN", "mma.sm90.m64n96k16.f32.bf16.bf16.ss.b_mn");
  means("SM90_64x96x16_F32F16F16_SS<GMMA::Major::MN,GMMA::Major::K>",
        "mma.sm90.m64n96k16.f32.f16.f16.ss.a_mn");
  means("SM80_8x8x4_GC64C64C64GC64_TN", "mma.sm80.m8n8k4.gc64.c64.c64");
  means("SM80_16x8x64_S32U4S4S32_TN_SATURATE", "mma.sm80.m16n8k64.s32.u4.s4.sat");
  means("SM80_16x8x128_S32U1U1S32_TN_XORPOPC", "mma.sm80.m16n8k128.s32.b1.b1.xor_popc");
  means("SM70_8x8x4_F32F16F16F32_NT", "mma.sm70.m8n8k4.f32.f16.f16.a_mn.b_mn");
  means("SM100_MMA_F16BF16_2x1SM_SS<bf16,bf16,f32,256,128,K,MN>",
        "mma.sm100.m256n128k16.f32.bf16.bf16.ss.b_mn.cta2");
  means("SM100_MMA_F16BF16_TS<half_t, half_t, float, 128, 64, UMMA::Major::K, UMMA::Major::K>",
        "mma.sm100.m128n64k16.f32.f16.f16.ts");
  means("SM100_MMA_TF32_SS<64,128>", "mma.sm100.m64n128k8.f32.tf32.tf32.ss");
  means("SM100_MMA_S8_SS<int8_t,uint8_t,int32_t,128,128,K,K>",
        "mma.sm100.m128n128k32.s32.s8.u8.ss");
  means("SM100_MMA_F8F6F4_2x1SM_SS<e4m3,e2m1,f32,256,256,K,K>",
        "mma.sm100.m256n256k32.f32.e4m3.e2m1.ss.cta2");
  means("SM100_MMA_MXF8F6F4_SS<e4m3,e5m2,f32,ue8m0,128,128,K,K>",
        "mma.sm100.m128n128k32.f32.e4m3.e5m2.ss.ue8m0.block32");
  means("SM100_MMA_MXF4_SS<e2m1,e2m1,f32,ue4m3,128,128,16,K,K>",
        "mma.sm100.m128n128k64.f32.e2m1.e2m1.ss.ue4m3.block16");
  means("SM120_16x8x32_TN<float_e4m3_t,float_e2m1_t,float>", "mma.sm120.m16n8k32.f32.e4m3.e2m1");
  means("UniversalFMA_double", "mma.fma.m1n1k1.f64.f64.f64");
}

}  // namespace
}  // namespace tw
