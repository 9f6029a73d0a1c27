// SPDX-License-Identifier: Apache-2.0
// copy_refusal_test.cpp  Each rule of copies, descriptors and TMA refuses with its code and
// numbers.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "tilewright/atom/copy_names.hpp"
#include "tilewright/atom/descriptor.hpp"
#include "tilewright/atom/smem_choice.hpp"
#include "tilewright/atom/tma_map.hpp"
#include "tilewright/base/check.hpp"

namespace tw {
namespace {

struct refusal {
  char const* code;
  char const* numbers;  // part of the message
  std::function<void()> act;
};

operand_places places(char const* text, operand_major major, i64 offset = 0) {
  layout const l = parse_layout(text, static_cast<int>(std::string(text).size()));
  return places_of_operand(l, offset, major, 16);
}

tma_params tma(char const* gmem, char const* smem, tiler const& t) {
  return make_tma_params(parse_layout(gmem, static_cast<int>(std::string(gmem).size())),
                         parse_layout(smem, static_cast<int>(std::string(smem).size())), t, 16);
}

refusal const refusals[] = {
    {"TW0230", "got 32, need a divisor of 16",
     [] { in_values(one_copy("SM75_U16x8_LDSM_T"), 32); }},
    {"TW0230", "got 32, need a divisor of 16",
     [] {
       tma_params const p = tma("(64,64):(64,1)", "(64,64):(64,1)", tile(64, 64));
       make_tensor_map_desc(p, elem::f32, nullptr);
     }},
    {"TW0231", "got 2, need a multiple of the atom's 4",
     [] { parse_tiled_copy("tiled_copy(copy_atom(UniversalCopy_128b,32),(32,8),(2,1))"); }},
    {"TW0231", "got 16, need a multiple of the atom's 32",
     [] { parse_tiled_copy("tiled_copy(copy_atom(SM75_U32x4_LDSM_N,16),(16,1),(1,8))"); }},
    {"TW0232", "got 127, need an address of the data layout, of 64",
     [] { parse_tiled_copy("cotiled_copy(copy_atom(UniversalCopy_64b,16),(32,4):(4,1),(8,8))"); }},
    {"TW0233", "'SM75_U32x3_LDSM_M'", [] { one_copy("SM75_U32x3_LDSM_M"); }},
    {"TW0233", "'copy_atom(UniversalCopy_8b)'",
     [] { parse_copy_atom("copy_atom(UniversalCopy_8b)"); }},
    {"TW0234", "got 8, need a size of its row, at most 4",
     [] { one_copy("copy.sm75.ldmatrix.x8"); }},
    {"TW0234", "got 100", [] { one_copy("copy.sm90.bulk.load.100"); }},
    {"TW0235", "got 48", [] { smem_atom(operand_major::k, smem_swizzle::b128, 48); }},
    {"TW0236", "got 20, need a multiple of 8",
     [] { widest_smem_atom(operand_major::k, 16, make_shape(128, 20)); }},
    {"TW0237", "got 353", [] { places("Sw<3,4,3> o 0 o (64,16):(64,1)", operand_major::k); }},
    {"TW0237", "got 252",
     [] {
       layout const t = smem_atom(operand_major::mn, smem_swizzle::b128_base32, 32);
       make_wgmma_descriptor(
           places_of_operand(tile_to_shape(t, make_shape(32, 8)), 0, operand_major::mn, 32));
     }},
    {"TW0238", "got 64 elements", [] { places("(64,16):(1,64)", operand_major::k); }},
    {"TW0239", "got 320 bits", [] { places("(64,16):(20,1)", operand_major::k); }},
    {"TW0239", "got 64 bits",
     [] { places("((8,8),(8,2)):((8,64),(1,512))", operand_major::k, 4); }},
    {"TW0240", "got 2 x 16 bytes, need 1 x 16 bytes",
     [] { places("(64,16):(16,1)", operand_major::k); }},
    {"TW0241", "got 64, need 16", [] { places("(64,64):(64,1)", operand_major::k); }},
    {"TW0241", "got 60, need 8",
     [] { places("Sw<3,3,3> o 0 o (60,16):(64,1)", operand_major::k); }},
    {"TW0242", "got 512 bytes",
     [] { places("Sw<3,3,3> o 0 o (64,16):(64,1)", operand_major::k, 256); }},
    {"TW0243", "got 524288 bytes", [] { places("(64,(8,2)):(8,(1,262144))", operand_major::k); }},
    {"TW0244", "got 8192, need 4096",
     [] { tma("(1024,512):(512,1)", "(64,64):(64,1)", tile(128, 64)); }},
    {"TW0245", "got 512, need 1",
     [] { tma("(1024,512):(512,1)", "(64,32):(1,64)", tile(64, 32)); }},
    {"TW0246", "got 512, need 1 to 256",
     [] { tma("(1024,512):(512,1)", "(512,64):(64,1)", tile(512, 64)); }},
    {"TW0247", "got 8 bytes, need a multiple of 16 bytes",
     [] { tma("(1024,512):(512,1)", "(64,4):(4,1)", tile(64, 4)); }},
    {"TW0247", "got 256 bytes, need at most 128 bytes",
     [] { tma("(1024,512):(512,1)", "Sw<3,3,3> o 0 o (64,128):(128,1)", tile(64, 128)); }},
    {"TW0248", "got 8000 bits", [] { tma("(1024,500):(500,1)", "(64,64):(64,1)", tile(64, 64)); }},
    {"TW0304", "got 8589934592, need 1 to 4294967296",
     [] { tma("(8589934592,64):(64,1)", "(64,64):(64,1)", tile(64, 64)); }},
    {"TW0305", "got 2199023255552 bytes, need less than 1099511627776 bytes",
     [] { tma("(1024,64):(1099511627776,1)", "(64,64):(64,1)", tile(64, 64)); }},
    {"TW0165", "got 64, need 128",
     [] { tma("(128,128):(128,1)", "Sw<3,3,3> o 0 o (4,32):(32,1)", tile(4, 32)); }},
    {"TW0165", "got 192, need 128",
     [] { tma("(128,128):(128,1)", "Sw<3,3,3> o 0 o (4,32):(96,1)", tile(4, 32)); }},
    {"TW0161", "got 144, need a multiple of 128",
     [] { tma("(128,128):(128,1)", "(4,64):(72,1)", tile(4, 64)); }},
    {"TW0161", "got 64, need a multiple of 128",
     [] { tma("(128,128):(128,1)", "(4,32):(32,1)", tile(layout(4, 2), 32)); }},
    {"TW0125", "got 0, need", [] { tma("(128,128):(128,1)", "(4,64):(0,1)", tile(4, 64)); }},
    {"TW0249", "got 6",
     [] {
       tma("(64,32,16,8,4,2):(1,72,2560,43008,400000,1700000)",
           "(16,2,2,2,2,2):(1,16,32,64,128,256)", tile(16, 2, 2, 2, 2, 2));
     }},
};

TEST(CopyRefusal, CodeAndNumbers) {
  std::set<std::string> codes;
  for (refusal const& r : refusals) {
    SCOPED_TRACE(testing::Message() << r.code << ' ' << r.numbers);
    codes.insert(r.code);
    try {
      r.act();
      ADD_FAILURE() << "not refused";
    } catch (rejected const& e) {
      EXPECT_EQ(e.why().code, r.code) << e.what();
      EXPECT_NE(std::string(e.what()).find(r.numbers), std::string::npos) << e.what();
    }
  }
  EXPECT_EQ(codes.size(), 25U);
}

}  // namespace
}  // namespace tw
