// SPDX-License-Identifier: Apache-2.0
// plan_test.cpp  What is refused and why, what is planned and why; every plan is compiled in.
#include "dispatch/params.hpp"

#include <gtest/gtest.h>

#include "registry/registry.hpp"

namespace tw::test {
namespace {

gemm_problem tn(std::int64_t m, std::int64_t n, std::int64_t k) {
  gemm_problem p;
  p.m = m, p.n = n, p.k = k;
  p.a = {elem::bf16, order::row_major, k};
  p.b = {elem::bf16, order::col_major, k};
  p.d = {elem::bf16, order::row_major, n};
  return p;
}
gemm_operands aligned() {
  auto* const p = reinterpret_cast<void*>(std::uintptr_t{0x1000});
  return {p, p, p, p};
}

struct bad_case {
  char const* code;
  void (*spoil)(gemm_problem&);
};

TEST(Accept, RefusesWithTheCodeOfTheRule) {
  bad_case const cases[] = {
      {"TW0401", [](gemm_problem& p) { p.m = 0; }},
      {"TW0401", [](gemm_problem& p) { p.n = -4; }},
      {"TW0401", [](gemm_problem& p) { p.k = std::int64_t{1} << 31; }},
      {"TW0402", [](gemm_problem& p) { p.a.pitch_elems = p.k - 1; }},
      {"TW0402", [](gemm_problem& p) { p.b.pitch_elems = 0; }},
      {"TW0402", [](gemm_problem& p) { p.d.pitch_elems = p.n - 1; }},
      {"TW0403", [](gemm_problem& p) { p.a.pitch_elems = std::int64_t{1} << 45; }},
      {"TW0404", [](gemm_problem& p) { p.a.type = elem::f16; }},
      {"TW0404", [](gemm_problem& p) { p.a.type = p.b.type = elem::f32; }},
      {"TW0405", [](gemm_problem& p) { p.d.type = elem::e4m3; }},
      {"TW0405",
       [](gemm_problem& p) {
         p.c = matrix_desc{elem::tf32, order::row_major, p.n};
       }},
      {"TW0406", [](gemm_problem& p) { p.alpha = 1e38F * 100; }},
      {"TW0407", [](gemm_problem& p) { p.beta = 1; }},
  };
  EXPECT_FALSE(accept(tn(64, 32, 16)));
  for (bad_case const& c : cases) {
    gemm_problem p = tn(64, 32, 16);
    c.spoil(p);
    auto const r = accept(p);
    ASSERT_TRUE(r) << c.code;
    EXPECT_EQ(r->code, c.code) << to_string(*r);
    EXPECT_FALSE(r->got.empty() || r->need.empty()) << to_string(*r);
    EXPECT_THROW(plan_gemm(p, aligned(), 132), rejected);
  }
}

std::string refusal(gemm_problem const& p, gemm_operands const& o) {
  try {
    check_operands(p, o);
  } catch (rejected const& r) {
    return r.why().code;
  }
  return "";
}

TEST(Operands, MissingAndMisalignedAddressesAreRefused) {
  gemm_problem const p = tn(64, 32, 16);
  gemm_operands o = aligned();
  EXPECT_EQ(refusal(p, o), "");
  o.d = nullptr;
  EXPECT_EQ(refusal(p, o), "TW0408");
  o = aligned();
  o.a = reinterpret_cast<void*>(std::uintptr_t{0x1001});
  EXPECT_EQ(refusal(p, o), "TW0409");
}

TEST(Plan, AKernelThatIsNotCompiledInIsRefused) {
  std::vector<std::uint16_t> memory(64 * 64);
  gemm_operands const o{memory.data(), memory.data(), nullptr, memory.data()};
  gemm_plan plan = plan_gemm(tn(16, 16, 16), o, 2);
  plan.config.tile_n = 192;
  try {
    gemm_emulated(plan, o);
    FAIL() << "accepted";
  } catch (rejected const& r) {
    EXPECT_EQ(r.why().code, "TW0505");
  }
}

TEST(Plan, LargeProductsTakeTheLargeTile) {
  gemm_plan const p = plan_gemm(tn(8192, 8192, 8192), aligned(), 132);
  EXPECT_EQ(p.kernel, "sm90_bf16_bf16_tn_128x256x64_2x1_s4") << p.why;
  EXPECT_TRUE(p.hints.empty());
  gemm_params const params = make_params(p, p.normal, aligned(), target::emu);
  EXPECT_EQ(persistent_ctas(p, params, 132), 128);  // 16 waves of 64 clusters; 66 need 16 too
}

TEST(Plan, ColumnMajorDIsTheTransposedProduct) {
  gemm_problem p = tn(100, 200, 64);
  p.d = {elem::bf16, order::col_major, 104};
  gemm_plan const plan = plan_gemm(p, aligned(), 132);
  EXPECT_TRUE(plan.swapped);
  EXPECT_EQ(plan.normal.m, 200);
  EXPECT_EQ(plan.normal.d.ord, order::row_major);
  EXPECT_EQ(plan.normal.a.ord, order::row_major);  // B col-major, transposed
}

TEST(Plan, SlowerPathsAreAnnounced) {
  gemm_problem p = tn(64, 33, 31);
  gemm_plan const plan = plan_gemm(p, aligned(), 132);
  EXPECT_TRUE(plan.repitch_a && plan.repitch_b && plan.direct_d);
  ASSERT_EQ(plan.hints.size(), 3U);
  EXPECT_NE(plan.hints[0].find("62 bytes"), std::string::npos) << plan.hints[0];
  gemm_problem const vector = tn(1, 40, 31);  // one row: its pitch does not matter
  EXPECT_FALSE(plan_gemm(vector, aligned(), 132).repitch_a);
}

TEST(Plan, EveryPlanIsCompiledIn) {
  for (elem ab : {elem::bf16, elem::f16})
    for (elem d : {elem::bf16, elem::f16, elem::f32})
      for (order oa : {order::row_major, order::col_major})
        for (order ob : {order::row_major, order::col_major})
          for (order od : {order::row_major, order::col_major})
            for (int size : {1, 100, 1000, 10000}) {
              gemm_problem p;
              p.m = p.n = p.k = size;
              p.a = {ab, oa, size};
              p.b = {ab, ob, size};
              p.d = {d, od, size};
              gemm_plan const plan = plan_gemm(p, aligned(), 132);
              EXPECT_NE(registry::find_emu(plan.config), nullptr) << plan.kernel;
            }
}

TEST(Plan, ARowThatEndsInsideAChunkKeepsItsLastBoxFromTma) {
  gemm_problem p = tn(64, 200, 64);
  gemm_plan plan = plan_gemm(p, aligned(), 132);
  EXPECT_GT(make_params(plan, plan.normal, aligned(), target::emu).epilogue.tma_cols, 256);
  p.n = 201;
  p.d.pitch_elems = 208;
  plan = plan_gemm(p, aligned(), 132);
  EXPECT_FALSE(plan.direct_d);
  EXPECT_EQ(make_params(plan, plan.normal, aligned(), target::emu).epilogue.tma_cols, 192);
}

}  // namespace
}  // namespace tw::test
