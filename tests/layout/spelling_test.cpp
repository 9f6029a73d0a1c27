// SPDX-License-Identifier: Apache-2.0
// spelling_test.cpp  Expressions as people write them: CuTe's spellings, coordinates, parts of
//                    coordinate tensors, tiled copies, and what is said of mistakes.
#include <gtest/gtest.h>

#include "tests/layout/random.hpp"
#include "tilewright/atom/call.hpp"

namespace tw {
namespace {

std::string text(std::string const& expression) {
  try {
    return evaluate(expression).text();
  } catch (rejected const& e) {
    return e.what();
  }
}

TEST(Spelling, OfCuTeIsRead) {
  constexpr char const* rows[][2] = {
      {"Layout<Shape<_4,_8>,Stride<_8,_1>>", "(4,8):(8,1)"},
      {"Layout<Shape <_4, Shape<_2,_4>>, Stride<_1,Stride<_4,_8>>>{}", "(4,(2,4)):(1,(4,8))"},
      {"cute::Layout<cute::Shape<cute::Int<4>,C<8>>,Stride<Int<8>,_1>>", "(4,8):(8,1)"},
      {"(_4,_8):(_8,_1)", "(4,8):(8,1)"},
      {"Swizzle<3,4,3> o 0 o (8,64):(64,1)", "Sw<3,4,3> o 0 o (8,64):(64,1)"},
      {"S<3,4,3> o _0 o (_8,_64):(_64,_1)", "Sw<3,4,3> o 0 o (8,64):(64,1)"},
      {"Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)", "Sw<3,3,3> o 0 o (8,64):(64,1)"},
      {"Sw<3,4,3> o smem_ptr[8b](unset) o (_8,_128):(_128,_1)", "Sw<3,4,3> o 0 o (8,128):(128,1)"},
      {"ComposedLayout<Swizzle<2,3,3>,_0,Layout<Shape<_8,_32>,Stride<_32,_1>>>",
       "Sw<2,3,3> o 0 o (8,32):(32,1)"},
      {"GMMA::Layout_K_SW128_Atom<half_t>", "Sw<3,3,3> o 0 o (8,64):(64,1)"},
      {"GMMA::Layout_MN_SW32_Atom<float>", "Sw<1,2,3> o 0 o (8,8):(1,8)"},
      {"UMMA::Layout_K_INTER_Atom<bfloat16_t>", "(8,8):(8,1)"},
      {"coalesce(Layout<Shape<_2,_4>,Stride<_1,_2>>)", "8:1"},
      {"Swizzle<3,4,3>", "Sw<3,4,3>"},
      {"S<3,4,3>", "Sw<3,4,3>"},
      {"_64", "64:1"},
      {"Int<4>{}", "4:1"},
      {"make_layout(make_shape(Int<4>{},_8{}), make_stride(Int<8>{}, _1{}))", "(4,8):(8,1)"},
      {"make_layout(make_shape(4, make_shape(2,2)), LayoutRight{})", "(4,(2,2)):(4,(2,1))"},
      {"make_layout(make_shape(4,8))", "(4,8):(1,4)"},
      {"composition(Swizzle<3,3,3>{}, Layout<Shape<_8,_64>,Stride<_64,_1>>{})",
       "Sw<3,3,3> o 0 o (8,64):(64,1)"},
      {"tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, make_shape(_128{},_64{}))",
       "Sw<3,3,3> o 0 o ((8,16),(64,1)):((64,512),(1,0))"},
      {"logical_divide(make_layout(make_shape(8,8)), make_tile(_4{},Layout<_4,_2>{}))",
       "((4,2),(4,2)):((1,4),(16,8))"},
      {"slice(make_layout(make_shape(4,8)), make_coord(1,_))", "1 o (8):(4)"},
      {"gmem_ptr[32b](0x7f01) o (_4,_8):(_8,_1)", "(4,8):(8,1)"},
      {"tile_mnk(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2,_2,_1>>{}))",
       "(32,16,16)"},
      {"tv(Copy_Atom<SM75_U32x4_LDSM_N,half_t>{},dst)", "(32,(2,4)):(2,(1,64))"},
      {"zipped_divide(Layout<Shape<_4,_8>,Stride<_8,_1>>, Shape<_2,_4>)",
       "((2,4),(2,2)):((8,1),(16,4))"},
  };
  for (auto const& [cute, ours] : rows) EXPECT_EQ(text(cute), ours) << cute;
}

TEST(Spelling, CallsWithTemplateArgumentsAreRead) {
  constexpr char const* rows[][2] = {
      {"upcast<4>((4,8):(8,1))", "(4,2):(2,1)"},
      {"downcast<Int<2>>((4,(2,2)):(1,(8,4)))", "(8,(2,2)):(1,(16,8))"},
      {"recast_layout<half_t,float>((8,4):(4,1))", "(8,2):(2,1)"},
      {"recast_layout<float, cute::uint8_t>((4,2):(1,8))", "(16,2):(1,32)"},
      {"recast_layout<float_e2m1_t,int8_t>((8,4):(4,1))", "(8,2):(2,1)"},
      {"select<1,0>((4,8,2):(8,1,32))", "(8,4):(1,8)"},
      {"select<2>((4,8,2):(8,1,32))", "(2):(32)"},
      {"group_modes<1,3>((2,3,5,7):(105,35,7,1))", "(2,(3,5),7):(105,(35,7),1)"},
      {"take<0,2>((4,8,2):(8,1,32))", "(4,8):(8,1)"},
      {"append<4>((2,3):(1,2))", "(2,3,1,1):(1,2,0,0)"},
      {"get<1>((4,(3,5)):(1,(4,12)))", "(3,5):(4,12)"},
      {"layout<1,0>((4,(3,5)):(1,(4,12)))", "3:4"},
      {"get<1>(make_shape(4,make_shape(3,5)))", "(3,5)"},
      {"size<1>((4,(3,5)):(1,(4,12)))", "15"},
      {"size<1,1>(Shape<_4,Shape<_3,_5>>{})", "5"},
      {"rank<1>((4,(3,5)):(1,(4,12)))", "2"},
      {"depth<0>((4,(3,5)):(1,(4,12)))", "0"},
      {"shape<1>((4,(3,5)):(1,(4,12)))", "(3,5)"},
      {"stride<1>((4,(3,5)):(1,(4,12)))", "(4,12)"},
      {"shape((4,(3,5)):(1,(4,12)))", "(4,(3,5))"},
      {"stride<0>(make_identity_layout((4,8)))", "1@0"},
      {"size<1>(zipped_divide((16,8):(8,1),(4,4)))", "8"},
      {"layout<0>(zipped_divide((16,8):(8,1),(4,4)))", "(4,4):(8,1)"},
      {"layout<1>(Sw<3,3,3> o 0 o (8,64):(64,1))", "Sw<3,3,3> o 0 o 64:1"},
      {"cosize<0>((4,8):(8,1))", "25"},
  };
  for (auto const& [cute, ours] : rows) EXPECT_EQ(text(cute), ours) << cute;
  EXPECT_EQ(text("get<2>((4,8):(8,1))").rfind("TW0112", 0), 0U) << text("get<2>((4,8):(8,1))");
  EXPECT_EQ(text("mode((4,8):(8,1))").rfind("TW0120", 0), 0U);
  EXPECT_EQ(text("shape(Swizzle<2,0,3>)").rfind("TW0101", 0), 0U) << text("shape(Swizzle<2,0,3>)");
  EXPECT_EQ(text("shape(size((4,8)))").rfind("TW0170", 0), 0U);
}

TEST(Spelling, DeeplyNestedCallsAreReadInTime) {
  std::string call = "4:1", shape = "4", unknown = "4";
  for (int i = 0; i < 100; ++i) {
    call = "coalesce(" + call + ")";
    unknown = "T<" + unknown + ">";
    if (i < 12) shape = "make_shape(" + shape + ")";
  }
  EXPECT_EQ(text(call), "4:1");
  EXPECT_EQ(text(unknown).substr(0, 6), "TW0101");
  EXPECT_EQ(text("size(" + shape + ")"), "4");
}

TEST(Spelling, ArgumentsMayHaveTheOrderOfCuTe) {
  constexpr char const* rows[][2] = {
      {"crd2idx(make_coord(1,make_coord(2,3)), make_shape(4,make_shape(3,5)), "
       "make_stride(10,make_stride(1,100)))",
       "312"},
      {"crd2idx(7, make_shape(4,make_shape(3,5)), make_stride(10,make_stride(1,100)))", "31"},
      {"crd2idx(make_coord(1,2), Layout<Shape<_4,_8>,Stride<_8,_1>>{})", "10"},
      {"crd2idx(13, Layout<Shape<_4,_8>,Stride<_8,_1>>{})", "11"},
      {"idx2crd(9, make_shape(4,8), make_stride(8,1))", "(1,1)"},
      {"slice(make_coord(_,make_coord(1,_)), ((2,3),(4,5)):((1,2),(6,24)))",
       "6 o ((2,3),5):((1,2),24)"},
      {"slice_and_offset(make_coord(2,_), Layout<Shape<_4,_8>,Stride<_8,_1>>{})", "16 o (8):(1)"},
      {"dice(make_coord(_,2), Layout<Shape<_4,_8>,Stride<_8,_1>>{})", "(8):(1)"},
      {"slice((2,_), zipped_divide((16,8):(8,1),(4,4)))", "16 o ((4,2)):((32,4))"},
      {"make_layout(Layout<_4,_1>{}, Layout<_8,_4>{})", "(4,8):(1,4)"},
      {"make_layout(Layout<Shape<_2,_2>,Stride<_1,_4>>{}, _3{}, 5:7)", "TW0120"},
      {"make_layout((2,2):(1,4), 5:7)", "((2,2),5):((1,4),7)"},
      {"Layout<Shape<_4,_8>,GenRowMajor>{}", "(4,8):(8,1)"},
      {"composition(Layout<Shape<_4,_8>,LayoutRight>{}, Layout<_4,_2>{})", "(2,2):(16,1)"},
      {"make_identity_tensor(make_shape(4,8))", "(4,8):(1@0,1@1)"},
      {"make_composed_layout(Swizzle<2,0,3>{}, 0, Layout<Shape<_8,_4>,Stride<_4,_1>>{})",
       "Sw<2,0,3> o 0 o (8,4):(4,1)"},
  };
  for (auto const& [cute, ours] : rows)
    EXPECT_EQ(text(cute).substr(0, std::string(ours).size()), ours) << cute;
}

TEST(Spelling, AtomsWithoutElementsAreAnsweredWithOurs) {
  constexpr char const* rows[][2] = {{"SW128", "smem_atom(K,128,16)"},
                                     {"tile_to_shape(SW64, (128,32))", "smem_atom(K,64,16)"},
                                     {"Layout_K_SW128_Atom<T>", "smem_atom(K,128,16)"},
                                     {"GMMA::Layout_MN_SW64_Atom", "smem_atom(MN,64,16)"},
                                     {"Layout_K_INTER_Atom<T>", "smem_atom(K,0,16)"}};
  for (auto const& [cute, ours] : rows) {
    EXPECT_EQ(text(cute).rfind("TW0101", 0), 0U) << cute;
    EXPECT_NE(text(cute).find(ours), std::string::npos) << text(cute);
  }
}

TEST(Spelling, SwizzlesOfARefusalAreWritten) {
  std::string const refused = text("wgmma_descriptor(Sw<3,4,3> o 0 o (64,64):(64,1),K,16,0)");
  EXPECT_NE(refused.find("got Sw<3,5,3>, need Sw<1,4,3>"), std::string::npos) << refused;
}

TEST(Spelling, LayoutsAreEvaluatedAtCoordinates) {
  constexpr char const* rows[][2] = {
      {"(4,8):(8,1)(2,3)", "19"},
      {"(4,8):(8,1)((2,3))", "19"},
      {"(4,8):(8,1)(4,8)", "40"},  // outside of its modes
      {"((2,2),8):((1,16),2)(5,0)", "33"},
      {"Sw<2,0,3> o 0 o (8,4):(4,1)(2,3)", "10"},
      {"(4,8):(8,1)(5)", "9"},
      {"4:2(3)", "6"},
      {"Sw<3,3,3> o 0 o (8,64):(64,1)(1,0)", "72"},
      {"coalesce((2,4):(1,2))(5)", "5"},
      {"(4,8):(8,1)(2,_)", "16 o (8):(1)"},
      {"(4,8):(1@0,1@1)(2,3)", "(2,3)"},
      {"((2,2),8):((1,16),2)((1,0),3)", "7"},
  };
  for (auto const& [expression, want] : rows) {
    EXPECT_EQ(text(expression), want) << expression;
  }
}

TEST(Spelling, EveryCoordinateOfRandomLayouts) {
  tw_test::holds_often(41, 300, [](tw_test::random_source& r) {
    layout const l = tw_test::random_layout(r);
    i64 const i = r.below(size(l));
    std::string const written = to_string(l);
    ASSERT_EQ(text(written + "(" + std::to_string(i) + ")"), std::to_string(l(i))) << written;
    std::string const at = to_string(idx2crd(i, l.shape));
    ASSERT_EQ(text(written + "(" + at + ")"), std::to_string(l(i))) << written << at;
  });
}

TEST(Spelling, PartsAreShownWithTheirBase) {
  EXPECT_EQ(text("slice((4,8):(8,1),(1,2))"), "10 o ():()");
  EXPECT_EQ(text("slice((4,8):(8,1),(0,_))"), "(8):(1)");
  EXPECT_EQ(text("slice((4,8):(1@0,1@1),(2,_))"), "(2,0) o (8):(1@1)");
  EXPECT_EQ(evaluate("slice((4,8):(8,1),(1,_))").res, "(8):(1)");
  EXPECT_EQ(text("local_tile((128,64):(64,1),(16,16),3)"), "3072 o (16,16):(64,1)");
  EXPECT_EQ(text("local_tile((128,64):(64,1),(16,16),(3))").find("3072 o (16,16"), 0U);
  EXPECT_EQ(text("local_tile((128,64):(1@0,1@1),(16,16),(3,1))"), "(48,16) o (16,16):(1@0,1@1)");
}

char const* const mma = "tiled_mma(SM80_16x8x16_F32F16F16F32_TN,(2,2,1),(32,32,16))";

/// The coordinates that a part visits are the places that the part of a column-major tensor names.
TEST(Spelling, CoordinatePartitionsOfEveryThread) {
  EXPECT_EQ(text(std::string("partition(") + mma + ",C,37,(64,64):(1@0,1@1))"),
            "(17,2) o ((2,2),2,4):((1@1,8@0),32@0,16@1)");
  for (int thread = 0; thread < 128; ++thread) {
    for (char const* which : {"A", "B", "C"}) {
      std::string const call =
          std::string("partition(") + mma + "," + which + "," + std::to_string(thread) + ",";
      answer const coordinates = evaluate(call + "(64,64):(1@0,1@1))");
      answer const places = evaluate(call + "(64,64):(1,64))");
      ASSERT_EQ(size(*coordinates.function), size(*places.function));
      for (i64 v = 0; v < size(*places.function); ++v) {
        i64 const place = places.base + (*places.function)(v);
        ASSERT_EQ(coordinates.offset_text(v), to_string(make_coord(place % 64, place / 64)))
            << call << v;
      }
    }
  }
  std::string const copy = "tiled_copy(copy_atom(copy.universal.128,16),(16,8):(8,1),(1,8):(0,1))";
  for (int thread = 0; thread < 128; ++thread) {
    for (char const* side : {"s", "d"}) {
      std::string const call =
          std::string("copy_partition_") + side + "(" + copy + "," + std::to_string(thread) + ",";
      answer const coordinates = evaluate(call + "(64,64):(1@0,1@1))");
      answer const places = evaluate(call + "(64,64):(1,64))");
      for (i64 v = 0; v < size(*places.function); ++v) {
        i64 const place = places.base + (*places.function)(v);
        ASSERT_EQ(coordinates.offset_text(v), to_string(make_coord(place % 64, place / 64)));
      }
    }
  }
}

TEST(Spelling, PartitionsWithCellsOutsideSaySo) {
  std::string const of_mma = text(std::string("partition(") + mma + ",C,3,(40,64):(64,1))");
  EXPECT_NE(of_mma.find("tiles of (32,32) fill (64,64), the tensor is (40,64)"), std::string::npos)
      << of_mma;
  EXPECT_EQ(text(std::string("partition(") + mma + ",C,3,(64,64):(64,1))").find('\n'),
            std::string::npos);
  std::string const copy = "tiled_copy(copy_atom(copy.universal.128,16),(16,8):(8,1),(1,8):(0,1))";
  std::string const of_copy = text("copy_partition_s(" + copy + ",0,(40,64):(64,1))");
  EXPECT_NE(of_copy.find("tiles of (16,64) fill (48,64), the tensor is (40,64)"), std::string::npos)
      << of_copy;
  EXPECT_EQ(text("copy_partition_s(" + copy + ",0,(48,64):(64,1))").find('\n'), std::string::npos);
}

TEST(Spelling, TiledCopiesAtTheTopLevel) {
  for (char const* which : {"A", "B", "C"}) {
    std::string const copy =
        std::string("tiled_copy_") + which + "(copy_atom(copy.universal.16,16)," + mma + ")";
    std::string const shown = text(copy);
    std::string const tv = text("tv(" + copy + ",src)");
    EXPECT_NE(shown.find("128 threads"), std::string::npos) << shown;
    EXPECT_NE(shown.find("source          " + tv), std::string::npos) << shown << "\n" << tv;
  }
}

TEST(Spelling, MistakesAreShownInTheText) {
  EXPECT_EQ(text("(4,8:(8,1)"),
            "TW0101: text of a layout: got ':' at position 5, need a comma, ), @ or the end; "
            "docs/layouts.md has the notation\n    (4,8:(8,1)\n        ^");
  EXPECT_NE(text("coalesc((4,8):(8,1))").find("did you mean coalesce"), std::string::npos);
  EXPECT_NE(text("logical_devide((4,8):(8,1),2)").find("did you mean logical_divide"),
            std::string::npos);
}

TEST(Spelling, WrongCountsOfArgumentsAreAnsweredWithTheArguments) {
  EXPECT_NE(text("smem_atom(K)").find("smem_atom(K,128,16)"), std::string::npos);
  EXPECT_NE(text("zip()").find("zip(layout), such as zip("), std::string::npos);
}

TEST(Spelling, CosizeOfNegativeStrides) {
  EXPECT_EQ(text("cosize(4:-1)"), "4");
  EXPECT_EQ(text("cosize((4,8):(-1,4))"), "32");
}

}  // namespace
}  // namespace tw
