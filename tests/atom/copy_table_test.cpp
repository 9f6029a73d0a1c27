// SPDX-License-Identifier: Apache-2.0
// copy_table_test.cpp  Each copy atom moves every bit once, to where the PTX ISA says.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "tilewright/atom/copy_find.hpp"
#include "tilewright/atom/copy_names.hpp"
#include "tilewright/base/check.hpp"

namespace tw {
namespace {

static_assert(copy_atom_named("copy.sm90.stmatrix.x4").dst == "(32,128):(128,1)"_L);
static_assert(in_values(copy_atom_named("copy.sm75.ldmatrix.x4"), 16).dst ==
              "(32,(2,4)):(2,(1,64))"_L);
static_assert(copy_atom_named("copy.sm90.tma.load.65536.multicast").src == "(1,65536):(0,1)"_L);
static_assert(copy_atom_named("copy.sm100.tcgen05.ld.16x64b.x2").dst ==
              "((2,2,8),(32,2)):((1024,32,128),(1,64))"_L);

/// How often each bit is named.
std::vector<int> visits(layout const& l) {
  std::vector<int> all;
  for (i64 i = 0, n = size(l); i < n; ++i) {
    auto const bit = static_cast<std::size_t>(l(i));
    if (bit >= all.size()) all.resize(bit + 1);
    ++all[bit];
  }
  return all;
}

/// Law: all of a side's bits are named equally often, and both sides name the same bits.
TEST(CopyTable, EachSideCoversItsBits) {
  int atoms = 0;
  for (std::string const& name : copy_names()) {
    SCOPED_TRACE(name);
    copy_atom const a = one_copy(name);
    EXPECT_EQ(size(a.thr_id), size(mode(a.src, 0)));
    EXPECT_EQ(size(a.thr_id), size(mode(a.dst, 0)));
    EXPECT_TRUE(a.ref == a.src || a.ref == a.dst);
    if (cosize(a.ref) > 1 << 14) continue;  // repetitions of smaller ones
    auto const give = visits(a.src);
    auto const take = visits(a.dst);
    EXPECT_EQ(give.size(), take.size());
    EXPECT_EQ(std::set(give.begin(), give.end()).size(), 1U);
    EXPECT_EQ(std::set(take.begin(), take.end()).size(), 1U);
    ++atoms;
  }
  EXPECT_GT(atoms, 120);
}

/// PTX ISA, "ldmatrix": thread t holds, of row t/4 of matrix r, elements 2(t%4) and + 1 in register
/// r; transposed, of column t/4, rows 2(t%4) and + 1. Rows are given by threads 8r + row.
TEST(CopyTable, MatricesLieAsThePtxIsaSays) {
  for (i64 n : {1, 2, 4}) {
    for (bool const transposed : {false, true}) {
      for (std::string const family : {"copy.sm75.ldmatrix.x", "copy.sm90.stmatrix.x"}) {
        copy_atom const a =
            in_values(one_copy(family + std::to_string(n) + (transposed ? ".t" : "")), 16);
        bool const load = family.find("ldmatrix") != std::string::npos;
        layout const& registers = load ? a.dst : a.src;
        layout const& rows = load ? a.src : a.dst;
        for (i64 t = 0; t < 32; ++t) {
          for (i64 v = 0; v < 2 * n; ++v) {
            i64 const along = 2 * (t % 4) + v % 2;
            i64 const row = transposed ? along : t / 4;
            i64 const column = transposed ? t / 4 : along;
            EXPECT_EQ(registers(t, v), v / 2 * 64 + row * 8 + column);
          }
          if (t < 8 * n) {
            for (i64 e = 0; e < 8; ++e) EXPECT_EQ(rows(t, e), t * 8 + e);
          }
        }
      }
    }
  }
}

/// PTX ISA, "Data Movement Shape": lane and 32-bit column of register r of thread t.
TEST(CopyTable, TensorMemoryLanesAndColumns) {
  struct place {
    i64 lane, column;
  };
  struct row {
    char const* shape;
    i64 columns;  // of one repetition
    i64 registers;
    place (*of)(i64 t, i64 r, i64 n);
  };
  row const rows[] = {
      {"32x32b", 1, 1,
       [](i64 t, i64 r, i64) {
         return place{t, r};
       }},
      {"16x64b", 2, 1,
       [](i64 t, i64 r, i64) {
         return place{t / 4 + (t % 2) * 8, 2 * r + t / 2 % 2};
       }},
      {"16x128b", 4, 2,
       [](i64 t, i64 r, i64) {
         return place{t / 4 + r % 2 * 8, r / 2 * 4 + t % 4};
       }},
      {"16x256b", 8, 4,
       [](i64 t, i64 r, i64) {
         return place{t / 4 + r / 2 % 2 * 8, r / 4 * 8 + t % 4 * 2 + r % 2};
       }},
      {"16x32bx2", 2, 1,
       [](i64 t, i64 r, i64 n) {
         return place{t % 16, t / 16 * n + r};
       }},
  };
  for (row const& s : rows) {
    for (i64 n : {1, 2, 8}) {
      SCOPED_TRACE(testing::Message() << s.shape << " x" << n);
      copy_atom const load = in_values(
          one_copy("copy.sm100.tcgen05.ld." + std::string(s.shape) + ".x" + std::to_string(n)), 32);
      copy_atom const store = in_values(
          one_copy("copy.sm100.tcgen05.st." + std::string(s.shape) + ".x" + std::to_string(n)), 32);
      EXPECT_EQ(load.dst, store.src);
      EXPECT_EQ(load.src, store.dst);
      for (i64 t = 0; t < 32; ++t) {
        for (i64 r = 0; r < s.registers * n; ++r) {
          place const p = s.of(t, r, n);
          EXPECT_EQ(load.dst(t, r), p.lane * s.columns * n + p.column) << t << ' ' << r;
        }
      }
    }
  }
}

/// 8-bit stmatrix reads back what the paired ldmatrix gives, rows exchanged.
TEST(CopyTable, EightBitPairs) {
  for (int n : {1, 2}) {
    copy_atom const load =
        one_copy("copy.sm100.ldmatrix.m16n16.x" + std::to_string(n) + ".t.b8.paired");
    copy_atom const store =
        one_copy("copy.sm100.stmatrix.m16n8.x" + std::to_string(2 * n) + ".t.b8");
    EXPECT_EQ(load.dst, store.src);
    // The plain instruction, its address rows and the halves of its registers exchanged.
    copy_atom const plain = one_copy("copy.sm100.ldmatrix.m16n16.x" + std::to_string(n) + ".t.b8");
    for (i64 t = 0; t < 32; ++t) {
      for (i64 m = 0; m < n; ++m) {
        for (i64 byte = 0; byte < 8; ++byte) {
          i64 const reg = byte / 4, b = byte % 4;
          i64 const given = plain.dst(t, 64 * m + 32 * reg + 8 * b);  // row in address order
          i64 const thread = given / 128, inside = given % 128;
          i64 const want = load.src(thread, inside);
          EXPECT_EQ(load.dst(t, 64 * m + 32 * (b / 2) + 16 * reg + 8 * (b % 2)), want);
        }
      }
    }
  }
}

TEST(CopyTable, ShuffleExchangesWithTheOtherThread) {
  for (i64 n : {1, 2, 4, 8, 16}) {
    copy_atom const a = in_values(one_copy("copy.sm50.shfl_transpose.xor" + std::to_string(n)), 32);
    for (i64 t = 0; t < 32; ++t) {  // (t0, r) -> (thread of the pair, register): transposed
      i64 const low = t & ~n;
      for (i64 r = 0; r < 2; ++r) {
        i64 const own = (t & n) != 0 ? 1 : 0;
        EXPECT_EQ(a.dst(t, r), a.src(r == 0 ? low : low | n, own)) << n << ' ' << t;
      }
    }
  }
}

TEST(CopyNames, SpellingsOfTheField) {
  EXPECT_EQ(canonical_copy_name("SM75_U32x4_LDSM_N"), "copy.sm75.ldmatrix.x4");
  EXPECT_EQ(canonical_copy_name("SM75_U16x4_LDSM_T"), "copy.sm75.ldmatrix.x2.t");
  EXPECT_EQ(canonical_copy_name("SM90_U16x8_STSM_T"), "copy.sm90.stmatrix.x4.t");
  EXPECT_EQ(canonical_copy_name("SM100_U8x16_LDSM_T"), "copy.sm100.ldmatrix.m16n16.x2.t.b8.paired");
  EXPECT_EQ(canonical_copy_name("SM100_TMEM_STORE_16dp32b8x_16b"),
            "copy.sm100.tcgen05.st.16x32bx2.x8.unpack16");
  EXPECT_EQ(canonical_copy_name("copy.sm80.cp_async.ca.64.zfill"),
            "copy.sm80.cp_async.ca.64.zfill");
  EXPECT_EQ(one_copy("SM80_CP_ASYNC_CACHEGLOBAL_ZFILL_128b"),
            one_copy("copy.sm80.cp_async.cg.128.zfill"));
}

}  // namespace
}  // namespace tw
