// SPDX-License-Identifier: Apache-2.0
// accept_edges_test.cpp  The last value that is accepted and the first that is refused, of every
//                        limit; and what a D of s32 excludes, each thing alone.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/dispatch/problems.hpp"
#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/scale_convention.hpp"

namespace tw::test {
namespace {

/// The code of a refusal; "" where the problem is accepted.
std::string code_of(gemm_problem const& p) {
  auto const r = accept(p);
  return r ? r->code : "";
}

TEST(AcceptEdges, AnExtentEndsWhereCoordinatesOfTmaDo) {
  constexpr std::int64_t last = 2147483135;  // 2^31 - 1 and a tile of 512 before
  struct extent {
    std::int64_t gemm_problem::*member;
    std::int64_t least;
  };
  for (extent const e :
       {extent{&gemm_problem::m, 1}, {&gemm_problem::n, 1}, {&gemm_problem::k, 0}}) {
    auto const with = [&](std::int64_t value) {
      gemm_problem p = tn(1, 1, 1);
      p.*e.member = value;
      p.a.pitch_elems = p.b.pitch_elems = std::max<std::int64_t>(1, p.k);
      p.d.pitch_elems = std::max<std::int64_t>(1, p.n);
      return code_of(p);
    };
    for (std::int64_t const value : {e.least, std::int64_t{1}, last - 1, last})
      EXPECT_EQ(with(value), "") << value;
    for (std::int64_t const value :
         {last + 1, last + 2, last + 512, last + 513, std::int64_t{1} << 32,
          (std::int64_t{1} << 32) + 1, std::numeric_limits<std::int64_t>::max(), e.least - 1,
          std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()})
      EXPECT_EQ(with(value), "TW0401") << value;
  }
}

/// 2^44 bytes of a matrix, 2^40 of a leading dimension and of a batch stride.
TEST(AcceptEdges, AMatrixEndsWhereAddressesOfTmaDo) {
  constexpr std::int64_t pitch_elems = std::int64_t{1} << 38;  // of bf16: half of the limit
  auto const sized = [](std::int64_t pitch, std::int64_t rows, matrix_desc gemm_problem::*of) {
    gemm_problem p = tn(rows, rows, 1);
    (p.*of).pitch_elems = pitch;
    return code_of(p);
  };
  for (matrix_desc gemm_problem::*const of :
       {&gemm_problem::a, &gemm_problem::b, &gemm_problem::d}) {
    EXPECT_EQ(sized(2 * pitch_elems - 1, 1, of), "");
    EXPECT_EQ(sized(2 * pitch_elems, 1, of), "TW0403");
    EXPECT_EQ(sized(pitch_elems, 32, of), "");
    EXPECT_EQ(sized(pitch_elems, 33, of), "TW0403");
    EXPECT_EQ(sized(pitch_elems + 1, 32, of), "TW0403");
  }
  // The last matrix of a batch counts, and each stride alone.
  auto const batched = [&](std::int64_t stride, std::int64_t batch, bool is_d) {
    gemm_problem p = batch_of(tn(1, 1, 1), batch);
    (is_d ? p.d : p.a).batch_stride_elems = stride;
    return code_of(p);
  };
  for (bool const is_d : {false, true}) {
    EXPECT_EQ(batched(2 * pitch_elems - 1, 2, is_d), "");
    EXPECT_EQ(batched(2 * pitch_elems, 2, is_d), "TW0403");
    EXPECT_EQ(batched(pitch_elems, 32, is_d), "");
    EXPECT_EQ(batched(pitch_elems, 33 + 1, is_d), "TW0403");
  }
  gemm_problem p = tn(2, 2, 2);
  for (std::int64_t const pitch : {2 * pitch_elems - 1, 2 * pitch_elems}) {
    bool const fits = pitch < 2 * pitch_elems;
    p.c = p.d, p.beta = 1, p.c->pitch_elems = pitch;
    EXPECT_EQ(code_of(p), fits ? "" : "TW0403") << "C";
    p.c.reset(), p.beta = 0;
    p.aux = p.d, p.aux->pitch_elems = pitch;
    EXPECT_EQ(code_of(p), fits ? "" : "TW0403") << "the auxiliary output";
    p.aux.reset();
  }
}

TEST(AcceptEdges, ABatchEndsWhereNumbersOfTilesDo) {
  constexpr std::int64_t most = std::int64_t{1} << 30;
  EXPECT_EQ(code_of(batch_of(tn(1, 1, 1), most)), "");
  EXPECT_EQ(code_of(batch_of(tn(1, 1, 1), most + 1)), "TW0420");
  EXPECT_EQ(code_of(batch_of(tn(128, 1, 1), most / 8)), "");
  for (std::int64_t const m : {129, 256}) {  // two blocks of rows
    gemm_problem p = batch_of(tn(m, 1, 1), most / 2);
    EXPECT_EQ(code_of(p), "") << m;
    p.batch += 1;
    EXPECT_EQ(code_of(p), "TW0421") << m;
    p = batch_of(tn(1, m, 1), most / 2 + 1);
    EXPECT_EQ(code_of(p), "TW0421") << m;
  }
  gemm_problem p = batch_of(tn(1, 1, 1), 0);
  EXPECT_EQ(code_of(p), "TW0420");
}

TEST(AcceptEdges, ALeadingDimensionHoldsALine) {
  for (order const ord : {order::row_major, order::col_major}) {
    gemm_problem p = tn(40, 24, 8);
    p.a.ord = p.b.ord = p.d.ord = ord;
    bool const rows = ord == order::row_major;
    p.a.pitch_elems = rows ? 8 : 40, p.b.pitch_elems = rows ? 24 : 8;
    p.d.pitch_elems = rows ? 24 : 40;
    p.c = p.aux = p.d;
    ASSERT_EQ(code_of(p), "");
    for (matrix_desc* m : {&p.a, &p.b, &p.d, &*p.c, &*p.aux}) {
      --m->pitch_elems;
      EXPECT_EQ(code_of(p), "TW0402") << static_cast<int>(ord);
      ++m->pitch_elems;
    }
  }
}

/// A D of s32 is the sum itself: each of these alone would make it another number.
TEST(AcceptEdges, NothingIsAddedToOrMultipliedWithADOfS32) {
  gemm_problem s32 = tn(32, 32, 256);
  s32.a.type = s32.b.type = elem::s8, s32.d.type = elem::s32;
  ASSERT_EQ(code_of(s32), "");
  gemm_problem unread = s32;  // with beta = 0 nothing is added
  unread.c = matrix_desc{elem::f32, order::row_major, 32};
  EXPECT_EQ(code_of(unread), "");

  auto const refused = [&](char const* what, auto const& change) {
    gemm_problem p = s32;
    change(p);
    EXPECT_EQ(code_of(p), "TW0438") << what;
    p.d.type = elem::f32;  // takes all of them
    if (p.aux) p.aux->type = elem::f32;
    EXPECT_EQ(code_of(p), "") << what;
  };
  for (float const alpha : {0.0F, -1.0F, 2.0F, std::nextafter(1.0F, 0.0F)})
    refused("alpha", [&](gemm_problem& p) { p.alpha = alpha; });
  for (float const beta : {1.0F, -1.0F, 0x1p-149F})
    refused("beta C", [&](gemm_problem& p) { p.c = unread.c, p.beta = beta; });
  refused("an auxiliary output", [](gemm_problem& p) { p.aux = p.d; });
  refused("an auxiliary output and a C that is not read",
          [&](gemm_problem& p) { p.aux = p.d, p.c = unread.c; });
  for (activation_names const& a : all_activations)
    if (a.id != activation::none && !is_gate_only(a.id))
      refused("an activation", [&](gemm_problem& p) { p.epilogue.act = a.id; });
  for (along const direction : {along::rows, along::cols})
    refused("a bias", [&](gemm_problem& p) { p.epilogue.bias = direction; });
  refused("scales of rows", [](gemm_problem& p) { p.epilogue.row_scale = along::rows; });
  refused("scales of columns", [](gemm_problem& p) { p.epilogue.col_scale = along::cols; });
  for (gating const gate : {gating::split, gating::interleaved})
    refused("a gate", [&](gemm_problem& p) { p.epilogue.gate = gate; });
  for (scaling const kind : {scaling::tensor, scaling::row}) {
    refused("scales of A", [&](gemm_problem& p) {
      p.scale_a = make_scale({false, p.m, p.k}, kind);
    });
    refused("scales of B", [&](gemm_problem& p) {
      p.scale_b = make_scale({true, p.n, p.k}, kind);
    });
  }
}

TEST(AcceptEdges, APromotionIntervalIsOneOfThree) {
  gemm_problem p = tn(64, 32, 16);
  p.a.type = p.b.type = elem::e4m3;
  for (int k = -129; k <= 300; ++k) {
    p.precision.promote_k = k;
    EXPECT_EQ(code_of(p), k == 0 || k == 64 || k == 128 ? "" : "TW0437") << k;
  }
}

TEST(AcceptEdges, AGateHasWholeGroupsOfColumns) {
  for (gating const gate : {gating::split, gating::interleaved})
    for (int n = 1; n <= 64; ++n) {
      gemm_problem p = tn(8, n, 16);
      p.epilogue.gate = gate;
      EXPECT_EQ(code_of(p), n % 16 == 0 ? "" : "TW0411") << n;
    }
}

/// Results of a batch share no element: one after the other, or side by side within a line.
TEST(AcceptEdges, ResultsOfABatchAreApartToTheElement) {
  for (order const ord : {order::row_major, order::col_major})
    for (int const batch : {2, 3, 5}) {
      gemm_problem p = batch_of(tn(7, 5, 4), batch);
      p.d.ord = ord;
      int const inner = ord == order::row_major ? 5 : 7, outer = 12 - inner;
      for (int pitch : {inner, inner * batch - 1, inner * batch, inner * batch + 1})
        for (int stride = 0; stride <= pitch * outer; ++stride) {
          p.d.pitch_elems = pitch, p.d.batch_stride_elems = stride;
          // Two results that share an element are not apart; those between others' lines may be
          // refused, if they reach into the next line.
          bool const behind = stride >= (outer - 1) * pitch + inner;
          bool const beside = stride >= inner && stride * (batch - 1) + inner <= pitch;
          EXPECT_EQ(code_of(p), behind || beside ? "" : "TW0423")
              << pitch << " " << stride << " x " << batch;
        }
    }
}

}  // namespace
}  // namespace tw::test
