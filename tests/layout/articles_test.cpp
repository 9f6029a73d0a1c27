// SPDX-License-Identifier: Apache-2.0
// articles_test.cpp  The expressions of five articles about CuTe and Hopper, as they stand there:
//                    each is read, or refused with the text to write.
//
// The articles: a guide to CuTe, Hopper and Blackwell; "From the Hopper architecture to HGEMM"; one
// on TMA and wgmma in CuTe; one on CUTLASS's shared-memory atoms for Ampere; one on wgmma m64n96k16
// and the 128-byte swizzle. Names of variables are theirs.
#include <gtest/gtest.h>

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

struct row {
  char const *written, *answer;
};

TEST(Articles, TheirExpressionsAreRead) {
  constexpr row rows[] = {
      // The guide, layouts
      {"auto layout_rm = make_layout(make_shape(_4{}, _8{}), make_stride(_8{}, _1{}));",
       "(4,8):(8,1)"},
      {"auto layout_cm = make_layout(make_shape(_4{}, _8{}), make_stride(_1{}, _4{}));",
       "(4,8):(1,4)"},
      {"auto layout_auto = make_layout(make_shape(_4{}, _8{}));  // stride = (8, 1)",
       "(4,8):(1,4)"},
      {"auto layout_nested = make_layout(\n"
       "    make_shape(_4{}, make_shape(_2{}, _4{})),    // (4, (2, 4))\n"
       "    make_stride(_8{}, make_stride(_4{}, _1{}))   // (8, (4, 1))\n"
       ");",
       "(4,(2,4)):(8,(4,1))"},
      {"auto shape = make_shape(_3{}, make_shape(_2{}, _3{}));", "(3,(2,3)):(1,(3,6))"},
      {"idx2crd(5, make_shape(_3{}, make_shape(_2{}, _3{})))", "(2,(1,0))"},
      {"crd2idx(make_coord(1, make_coord(1, 2)), make_shape(_3{}, make_shape(_2{}, _3{})))", "16"},
      {"Layout<Shape<_4,_8>,Stride<_8,_1>> layout;", "(4,8):(8,1)"},
      {"auto layout = make_layout(\n    make_shape(4, 8),   // 动态\n    make_stride(8, 1)  // "
       "动态\n);",
       "(4,8):(8,1)"},
      // Tensors
      {"auto gA_static = make_tensor(ptr_A,\n    make_layout(make_shape(Int<4096>{}, "
       "Int<2048>{})));",
       "(4096,2048):(1,4096)"},
      {"using SmemLayout = decltype(composition(\n    Swizzle<3,4,3>{},\n"
       "    Layout<Shape<_128,_64>, Stride<_64,_1>>{}\n));",
       "Sw<3,4,3> o 0 o (128,64):(64,1)"},
      {"auto rC = make_tensor<float>(make_shape(_16{}, _8{}));", "(16,8):(1,16)"},
      {"make_tensor(make_smem_ptr(smem_buf), Layout<Shape<_8,_64>,Stride<_64,_1>>{})",
       "(8,64):(64,1)"},
      // MMAs
      {"shape_mnk(SM80_16x8x8_F32F16F16F32_TN)", "(16,8,8)"},
      {"shape_mnk(SM80_16x8x16_F32F16F16F32_TN)", "(16,8,16)"},
      {"shape_mnk(SM80_16x8x16_F16F16F16F16_TN)", "(16,8,16)"},
      {"shape_mnk(SM90_64x64x16_F32BF16BF16_SS)", "(64,64,16)"},
      {"shape_mnk(SM90_64x128x16_F32BF16BF16_SS)", "(64,128,16)"},
      {"shape_mnk(SM90_64x256x16_F32BF16BF16_SS)", "(64,256,16)"},
      {"shape_mnk(SM90_64x128x32_S32S8S8_SS)", "(64,128,32)"},
      {"using MmaAtom = MMA_Atom<SM80_16x8x8_F32F16F16F32_TN>;", "mma.sm80.m16n8k8.f32.f16.f16"},
      {"TiledMMA<MMA_Atom<SM90_64x128x16_F32BF16BF16_SS<GMMA::Major::K>>,\n"
       "    Layout<Shape<_2,_2,_1>>,   // 2×2 Atoms → 128×256×16 per WG\n"
       "    Tile<_128, _256, _16>\n>",
       "tiled_mma(mma.sm90.m64n128k16.f32.bf16.bf16.ss,(2,2,1):(1,2,4),(128,256,16))"},
      {"TiledMMA tiled_mma = make_tiled_mma(\n"
       "                            SM90_64x64x16_F16F16F16_SS{},\n"
       "                            Layout<Shape<_2,_1,_1>>{}   // AtomLayoutMNK\n"
       "                         // PermutationMNK is barely used \n);",
       "tiled_mma(mma.sm90.m64n64k16.f16.f16.f16.ss,(2,1,1):(1,2,2))"},
      {"size(tiled_mma(SM90_64x128x16_F32BF16BF16_SS,(2,2,1)))", "512"},
      // Copies
      {"tv(Copy_Atom<SM80_CP_ASYNC_CACHEGLOBAL<cute::uint128_t>, half_t>, src)", "(1,8):(0,1)"},
      {"tv(SM80_CP_ASYNC_CACHEGLOBAL<cute::uint128_t>, src)", "(1,128):(0,1)"},
      {"tile_mnk(make_tiled_mma(SM80_16x8x8_F32F16F16F32_TN{}, Layout<Shape<_2,_2,_1>>{}))",
       "(32,16,8)"},
      {"tv(SM90_U32x4_STSM_N, src)", "(32,(32,4)):(32,(1,1024))"},
      {"tv(Copy_Atom<SM90_U32x4_STSM_N, half_t>{}, src)", "(32,(2,4)):"},
      {"tv(Copy_Atom< SM75_U32x4_LDSM_N , half_t >{}, dst)", "(32,(2,4)):(2,(1,64))"},
      // Swizzles and shared memory
      {"using Sw343 = Swizzle<3,4,3>;", "Sw<3,4,3>"},
      {"decltype(composition(Swizzle<3,3,3>{}, Layout<Shape<_64,_32>, Stride<_32,_1>>{}))",
       "Sw<3,3,3> o 0 o (64,32):(32,1)"},
      {"decltype(tile_to_shape(composition(Swizzle<3,4,3>{},\n"
       "                Layout<Shape<_8,_128>,Stride<_128,_1>>{}),\n"
       "    Shape<Int<128>, Int<128>, Int<4>>{}));",
       "Sw<3,4,3> o 0 o ((8,16),(128,1),(1,4)):((128,1024),(1,0),(0,16384))"},
      {"Layout_K_INTER_Atom_Bits  = ComposedLayout<Swizzle<0,4,3>, smem_ptr_flag, "
       "Layout<Shape<_8, _128>,Stride< _128,_1>>>;",
       "(8,128):(128,1)"},
      {"Layout_K_SW32_Atom_Bits   = ComposedLayout<Swizzle<1,4,3>, smem_ptr_flag, "
       "Layout<Shape<_8, _256>,Stride< _256,_1>>>;",
       "Sw<1,7,3> o 0 o (8,256):(256,1)"},
      {"Layout_K_SW64_Atom_Bits   = ComposedLayout<Swizzle<2,4,3>, smem_ptr_flag, "
       "Layout<Shape<_8, _512>,Stride< _512,_1>>>;",
       "Sw<2,7,3> o 0 o (8,512):(512,1)"},
      {"Layout_K_SW128_Atom_Bits  = ComposedLayout<Swizzle<3,4,3>, smem_ptr_flag, "
       "Layout<Shape<_8,_1024>,Stride<_1024,_1>>>;",
       "Sw<3,7,3> o 0 o (8,1024):(1024,1)"},
      {"decltype(upcast<sizeof_bits<half_t>::value>(Layout_K_SW128_Atom_Bits{}))",
       "Sw<3,3,3> o 0 o (8,64):(64,1)"},
      {"upcast<sizeof_bits<half_t>::value>(Layout_K_INTER_Atom_Bits{})", "(8,8):(8,1)"},
      {"ComposedLayout<Swizzle<3,4,3>, smem_ptr_flag_bits<16>, "
       "Layout<Shape<_8,_64>,Stride<_64,_1>>>",
       "Sw<3,3,3> o 0 o (8,64):(64,1)"},
      {"GMMA::Layout_K_SW128_Atom< half_t >", "Sw<3,3,3> o 0 o (8,64):(64,1)"},
      {"Layout<Shape <_8,_64>, Stride<_64, _1>>", "(8,64):(64,1)"},
      {"Layout<Shape <_64, _8>, Stride<_1,_64>>", "(64,8):(1,64)"},
      // Shapes in the text, also with full-width brackets
      {"(64,(64,3))", "(64,(64,3)):(1,(64,4096))"},
      {"（64，（32，6））", "(64,(32,6)):(1,(64,2048))"},
      // TMA tensors
      {"(64,128):(1@0,1@1)(1,2)", "(1,2)"},
      // As answers are written
      {"72 o (4,8):(8,1)", "72 o (4,8):(8,1)"},
      {"(0,64) o (128,64):(1@0,1@1)", "(0,64) o (128,64):(1@0,1@1)"},
      // Slices with the coordinate first, tilers that keep a mode
      {"slice((1,_), (4,8))", "1 o (8):(4)"},
      {"zipped_divide((64,50):(50,1), (32,_))", "((32,1),(2,50)):((50,0),(1600,1))"},
      {"tiled_divide((64,50):(50,1), (32,_))", "((32,1),2,50):((50,0),1600,1)"},
      {"flat_divide((64,50):(50,1), (32,_))", "(32,1,2,50):(50,0,1600,1)"},
  };
  for (auto const& [written, answer] : rows)
    EXPECT_EQ(text(written).substr(0, std::string(answer).size()), answer) << written << "\n"
                                                                           << text(written);
}

TEST(Articles, ExpressionsOfAProgramAreRefusedWithTheTextToWrite) {
  constexpr row rows[] = {
      {"int offset = layout_rm(2, 3);  // = 2×8 + 3×1 = 19", "layout_rm is a name of a program"},
      {"int off = layout_nested(1, make_coord(0, 3));", "layout_nested is a name of a program"},
      {"auto result = tiled_divide(layout_rm, make_shape(_2{}, _4{}));",
       "layout_rm is a name of a program"},
      {"print_layout(layout_rm)", "layout_rm is a name of a program"},
      {"make_tensor(ptr_A, make_layout(make_shape(M, K), make_stride(K, 1)))",
       "K is a name of a program"},
      {"make_tensor(make_smem_ptr(smem_buf), SmemLayout{})", "SmemLayout is a name of a program"},
      {"local_tile(gA, make_shape(Int<128>{}, Int<64>{}), make_coord(blockIdx.x, _0{}))",
       "gA is a name of a program"},
      {"make_coord(blockIdx.x, blockIdx.y, _0{})", "blockIdx.x is a name of a program"},
      {"tiled_mma.partition_fragment_C(sA, sB)", "partition(tiled_mma(...)"},
      {"auto tCsA = thr_mma.partition_A(sA);", "partition(tiled_mma(...)"},
      {"thr_copy_a.partition_S(gA)", "copy_partition_s(tiled_copy(...)"},
      {"auto thr_mma = tiled_mma.get_slice(threadIdx.x / 128);", "partition(tiled_mma(...)"},
      {"tma_load.get_tma_tensor(shape(gmem_tensor))", "make_identity_layout(shape)"},
      {"make_tma_copy(SM90_TMA_LOAD{}, tensor_A, SmemLayoutA{}, make_shape(Int<128>{}, Int<64>{}), "
       "Int<1>{})",
       "tma_params(tensor in global memory"},
      {"decltype(make_tiled_copy(CopyAtom{}, Layout<Shape<_32,_4>, Stride<_4,_1>>{}, "
       "Layout<Shape<_1,_8>>{}))",
       "copy_atom(NAME, element bits)"},
      {"tile_to_shape(SmemLayoutAtomA{}, Shape<Int<128>, Int<128>>{})",
       "SmemLayoutAtomA is a name of a program"},
      {"Shape<Int<BLK_M>, Int<BLK_K>, Int<Stages>>{}", "BLK_M is a name of a program"},
      {"Shape<Alignment, SizeK>", "Alignment is a name of a program"},
      {"Layout_K_SW128_Atom<Type>", "smem_atom(K,128,16)"},
      {"GMMA::Layout_K_SW64_Atom", "smem_atom(K,64,16)"},
      {"decltype(upcast<sizeof_bits<Type>::value>(Layout_K_INTER_Atom_Bits{}))",
       "write the type of your elements for Type"},
      {"TiledMMA<MMA_Atom<SM90_64x128x16_F32BF16BF16_SS<GMMA::Major::K>>>, "
       "Layout<Shape<_2,_2,_1>>, Tile<_128, _256, _16>>",
       "one > is too many"},
      {"TiledMMA<MMA_Atom<SM80_16x8x8_F32F16F16F32_TN>, Layout<Shape<_2,_2,_1>>, "
       "Layout<Shape<_1,_2,_1>>>",
       "for these values write (32,32,8)"},
      {"shape_mnk(SM100_64x128x32_S32S8S8_SS)",
       "write mma.sm100.m64n128k32.s32.s8.s8.ss, or SM100_MMA_S8_SS<"},
      {"SM100_64x128x32_S32S8S8_SS", "write mma.sm100.m64n128k32.s32.s8.s8.ss"},
      {"tv(SM90_U32x4_STSM_X, src)", "docs/atoms.md lists the copies"},
      {"shape_mnk(SM100_64x256x16_F32BF16BF16_SS)",
       "write mma.sm100.m64n256k16.f32.bf16.bf16.ss, or SM100_MMA_F16BF16_SS<"},
      {"TiledMMA<MMA_Atom<SM100_64x128x32_F32E4M3E4M3_SS>, Layout<Shape<_2,_2,_1>>>",
       "SM100_MMA_F8F6F4_SS<"},
      {"shape_mnk(SM100_64x128x64_F32E2M1E2M1_SS)", "SM100_MMA_F8F6F4_SS<"},
      {"Tensor(\n    shape=(M, N),\n    stride=(1, M)\n)", "shape:stride"},
      {"tv(Copy_Atom<SM75_U32x4_LDSM_N, my_t>, src)", "write the type of your elements for my_t"},
      {"(4,8):(8,1) o (2,2)", "A o B is composition(A, B)"},
      {"auto layout_rm = make_layout(make_shape(_4{}, _8{}), make_stride(_8{}, _1{}));\n\n"
       "auto layout_cm = make_layout(make_shape(_4{}, _8{}), make_stride(_1{}, _4{}));",
       "one at a time: auto layout_rm = make_layout(make_shape(_4{}, _8{}), "
       "make_stride(_8{}, _1{}))"},
  };
  for (auto const& [written, hint] : rows)
    EXPECT_NE(text(written).find(hint), std::string::npos) << written << "\n" << text(written);
}

TEST(Articles, TheNamesThatArePrintedCanBeWritten) {
  for (char const* const kind :
       {"S32S8S8", "F32BF16BF16", "F32F16F16", "F32E4M3E4M3", "F32TF32TF32"})
    for (int const n : {64, 128, 256}) {
      std::string const k = kind[3] == 'T' ? "8" : kind[4] == '8' || kind[3] == 'E' ? "32" : "16";
      std::string const name = "SM100_128x" + std::to_string(n) + "x" + k + "_" + kind + "_SS";
      std::string const refused = text("shape_mnk(" + name + ")");
      std::size_t const ours = refused.find("write "), theirs = refused.rfind(", or ");
      ASSERT_NE(theirs, std::string::npos) << refused;
      std::string const shape = "(128," + std::to_string(n) + "," + k + ")";
      EXPECT_EQ(text("shape_mnk(" + refused.substr(ours + 6, theirs - ours - 6) + ")"), shape);
      EXPECT_EQ(text("shape_mnk(" + refused.substr(theirs + 5) + ")"), shape) << refused;
    }
}

TEST(Articles, ARefusalDoesNotNeedTheTextThatWasWritten) {
  std::string const unclosed = text("((((((((2:1");
  EXPECT_NE(unclosed.find("got ':' at position 10, need a comma, ), @"), std::string::npos)
      << unclosed;
  std::string const same = text("upcast(tiled_mma(SM90_64x128x16_F32BF16BF16_SS,(2,2,1)), 2)");
  EXPECT_EQ(same.rfind("TW0266", 0), 0U) << same;
  EXPECT_EQ(same.find("did you mean upcast"), std::string::npos) << same;
}

}  // namespace
}  // namespace tw
