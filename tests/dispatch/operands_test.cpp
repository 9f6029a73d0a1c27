// SPDX-License-Identifier: Apache-2.0
// operands_test.cpp  Which addresses and which workspace a launch refuses.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "family/overlap.hpp"
#include "family/sm90_gemm/params.hpp"
#include "tests/dispatch/problems.hpp"
#include "tilewright/problem/operand.hpp"

namespace tw::test {
namespace {

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
  gemm_problem biased = p;
  biased.epilogue.bias = along::cols;
  EXPECT_EQ(refusal(biased, aligned()), "TW0408");
  o = aligned();
  o.bias = reinterpret_cast<void*>(std::uintptr_t{0x1002});
  EXPECT_EQ(refusal(biased, o), "TW0409");
  biased.epilogue.bias.type = elem::f16;
  EXPECT_EQ(refusal(biased, o), "");
  o = aligned();
  o.a = reinterpret_cast<void*>(std::uintptr_t{0x1001});
  EXPECT_EQ(refusal(p, o), "TW0409");
}

/// Every byte of the runs.
std::set<std::int64_t> bytes_of(strided_bytes const& x) {
  std::set<std::int64_t> all;
  for (std::int64_t i = 0; i < x.step[0].count; ++i)
    for (std::int64_t j = 0; j < x.step[1].count; ++j)
      for (std::int64_t b = 0; b < x.run; ++b)
        all.insert(x.begin + i * x.step[0].stride + j * x.step[1].stride + b);
  return all;
}

TEST(Overlap, AgreesWithTheSetsOfBytes) {
  std::mt19937 rng(3);
  auto const any = [&](int lo, int hi) {
    return lo + static_cast<int>(rng() % unsigned(hi - lo + 1));
  };
  int shared = 0;
  for (int i = 0; i < 20000; ++i) {
    auto const one = [&] {
      strided_bytes x{any(0, 60), any(1, 9), {}};
      for (auto& r : x.step) r = {any(0, 3) == 0 ? 12 : any(0, 25), any(1, 6)};
      return x;
    };
    strided_bytes const x = one(), y = one();
    std::set<std::int64_t> const of_y = bytes_of(y);
    bool const want =
        std::ranges::any_of(bytes_of(x), [&](std::int64_t b) { return of_y.contains(b); });
    shared += want ? 1 : 0;
    ASSERT_EQ(share_a_byte(x, y), want) << i;
    ASSERT_EQ(share_a_byte(y, x), want) << i;
  }
  EXPECT_GT(shared, 2000);
  EXPECT_LT(shared, 18000);
}

TEST(Overlap, IsDecidedAtOnceForLargeMatricesSideBySide) {
  std::int64_t const rows = std::int64_t{1} << 30, pitch = 1 << 10;
  strided_bytes const left{0, 512, {{pitch, rows}, {}}};
  strided_bytes right{512, 512, {{pitch, rows}, {}}};
  EXPECT_FALSE(share_a_byte(left, right));
  right.begin = 511;
  EXPECT_TRUE(share_a_byte(left, right));
}

/// Operands of one problem one after another, and how the rule of overlaps sees them.
struct placed_problem {
  gemm_problem p = tn(64, 32, 16);
  gemm_operands o;
  placed_problem() {
    p.c = p.d;
    p.beta = 1;
    o = {at(0x100000), at(0x200000), at(0x300000), at(0x400000)};
  }
  static void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }
  std::string code() const {
    try {
      check_apart(p, o);
    } catch (rejected const& r) {
      return r.why().code;
    }
    return "";
  }
};

TEST(Operands, OutputsThatOverlapWhatIsReadAreRefused) {
  std::int64_t const d_bytes = 64 * 32 * 2;
  EXPECT_EQ(placed_problem().code(), "");
  struct operand {
    char const* name;
    void const* gemm_operands::*place;
    std::int64_t bytes;
  };
  for (operand const& x :
       {operand{"A", &gemm_operands::a, 64 * 16 * 2}, operand{"B", &gemm_operands::b, 32 * 16 * 2},
        operand{"C", &gemm_operands::c, d_bytes}}) {
    struct place {
      std::int64_t from_d;
      char const* code;
    };
    for (place const& y : {place{-x.bytes, ""}, place{2 - x.bytes, "TW0446"}, place{2, "TW0446"},
                           place{d_bytes - 2, "TW0446"}, place{d_bytes, ""}}) {
      placed_problem q;
      q.o.*x.place = static_cast<std::byte*>(q.o.d) + y.from_d;
      EXPECT_EQ(q.code(), y.code) << x.name << " at D + " << y.from_d;
    }
    placed_problem q;
    q.o.workspace = const_cast<void*>(q.o.*x.place), q.o.workspace_bytes = 1 << 20;
    EXPECT_EQ(q.code(), "TW0446") << "the workspace on " << x.name;
  }
  placed_problem q;
  q.o.workspace = q.o.d, q.o.workspace_bytes = 256;
  EXPECT_EQ(q.code(), "TW0428");
  q = {};
  q.p.epilogue.bias = along::cols;
  q.o.bias = static_cast<std::byte*>(q.o.d) + d_bytes - 4;
  EXPECT_EQ(q.code(), "TW0446");
}

TEST(Operands, CMayBeDItselfElementByElement) {
  placed_problem q;
  q.o.c = q.o.d;
  EXPECT_EQ(q.code(), "");
  q.p.c->type = elem::f16;  // the same place of each element
  EXPECT_EQ(q.code(), "");
  q.p.c->type = elem::f32;
  EXPECT_EQ(q.code(), "TW0446");
  q.p.c = q.p.d;
  q.p.c->pitch_elems += 8;
  EXPECT_EQ(q.code(), "TW0446");
  q.p.c = {elem::bf16, order::col_major, 64};
  EXPECT_EQ(q.code(), "TW0446");
  q.p.beta = 0;  // C is not read
  EXPECT_EQ(q.code(), "");
  q.p = batch_of(tn(64, 32, 16), 3);
  q.p.c = q.p.d;
  q.p.beta = 1;
  EXPECT_EQ(q.code(), "");
  q.p.c->batch_stride_elems = 0;  // the first D is the C of all
  EXPECT_EQ(q.code(), "TW0446");
}

TEST(Operands, MatricesSideBySideInOneBufferAreApart) {
  placed_problem q;  // rows of 512 elements: 16 of A, 32 of D, 32 of C
  q.p.a.pitch_elems = q.p.d.pitch_elems = q.p.c->pitch_elems = 512;
  q.o.d = static_cast<std::byte*>(const_cast<void*>(q.o.a)) + 32;
  q.o.c = static_cast<std::byte*>(q.o.d) + 64;
  EXPECT_EQ(q.code(), "");
  q.o.c = static_cast<std::byte*>(q.o.d) + 62;
  EXPECT_EQ(q.code(), "TW0446");
}

TEST(Operands, TwoResultsThatOverlapAreRefused) {
  placed_problem q;
  q.p.aux = q.p.d;
  EXPECT_EQ(refusal(q.p, q.o), "TW0408");
  q.o.aux = q.o.d;
  EXPECT_EQ(q.code(), "TW0428");
  q.o.aux = static_cast<std::byte*>(q.o.d) + 64 * 32 * 2 - 2;
  EXPECT_EQ(q.code(), "TW0428");
  q.o.aux = const_cast<void*>(q.o.a);
  EXPECT_EQ(q.code(), "TW0446");
  q.o.aux = placed_problem::at(0x900000);
  EXPECT_EQ(q.code(), "");
}

TEST(Operands, WithoutKAAndBNeedNoAddress) {
  placed_problem q;
  q.p.k = 0;
  q.o.a = q.o.b = nullptr;
  EXPECT_EQ(refusal(q.p, q.o), "");
  EXPECT_EQ(q.code(), "");
  q.p.k = 1;
  EXPECT_EQ(refusal(q.p, q.o), "TW0408");
}

TEST(Operands, APlanThatSharesTilesNeedsItsWorkspace) {
  gemm_problem const p = tn(600, 600, 16384);
  gemm_operands o = aligned();
  EXPECT_EQ(plan_gemm(p, o, h200()).schedule.split_k_tiles, 0);  // no workspace
  o.workspace = reinterpret_cast<void*>(std::uintptr_t{0x1000});
  o.workspace_bytes = std::int64_t{64} << 20;
  gemm_plan const plan = plan_gemm(p, o, h200());
  ASSERT_GT(plan.schedule.split_k_tiles, 0) << plan.why;
  ASSERT_LE(plan.workspace_bytes, o.workspace_bytes);
  EXPECT_NO_THROW(check_workspace(plan, o));
  auto const code = [&] {
    try {
      check_workspace(plan, o);
    } catch (rejected const& r) {
      return r.why().code;
    }
    return std::string();
  };
  o.workspace = reinterpret_cast<void*>(std::uintptr_t{0x1010});
  EXPECT_EQ(code(), "TW0410");  // misaligned
  o.workspace = reinterpret_cast<void*>(std::uintptr_t{0x1000});
  o.workspace_bytes = plan.workspace_bytes - 1;
  EXPECT_EQ(code(), "TW0410");  // too small
  gemm_plan const alone = plan_gemm(tn(8192, 8192, 64), gemm_operands{}, h200());
  try {
    check_workspace(alone, {.workspace_bytes = 1});
    FAIL() << "promised, not there";
  } catch (rejected const& r) {
    EXPECT_EQ(r.why().code, "TW0410");
    EXPECT_EQ(r.why().need.find("0 bytes at"), std::string::npos) << r.what();
    EXPECT_EQ(r.why().need.find("first"), std::string::npos) << r.what();
  }
}

/// Each role by name, not from operands_of(): a problem that has them all loses none.
TEST(Operands, EachIsNeededAndLiesApartFromTheResults) {
  constexpr std::int64_t m = 64, n = 96, k = 256;
  gemm_problem p = tn(m, n, k);
  p.a.type = p.b.type = elem::e4m3;
  p.c = p.d;
  p.beta = 1;
  p.aux = p.d;
  p.epilogue.bias = along::cols;
  p.epilogue.row_scale = along::rows, p.epilogue.col_scale = along::cols;
  p.scale_a = {.block_outer = 1, .block_k = 128, .stride_outer = 2, .stride_k = 1};
  p.scale_b = {.block_outer = 128, .block_k = 128, .stride_outer = 2, .stride_k = 1};
  p.scale_a->second_level = p.scale_b->second_level = true;
  p.scale_d = output_scales{{.block_outer = 1, .stride_outer = 1}};
  p.groups = group_desc{.count = 1, .alpha = true, .gather_from = p.m, .scatter_to = p.m};
  p.epilogue.row_weight = along::rows;
  std::vector<std::byte> memory(std::size_t{role_count + 1} << 20);
  auto const place = [&](int i) {
    auto const begin = (reinterpret_cast<std::uintptr_t>(memory.data()) + 255) / 256 * 256;
    return reinterpret_cast<void*>(begin + (static_cast<std::uintptr_t>(i) << 20));
  };
  gemm_operands all;
  for (int i = 0; i < role_count; ++i) set_address(all, static_cast<role>(i), place(i));
  EXPECT_EQ(refusal(p, all), "");
  EXPECT_NO_THROW(check_apart(p, all));
  auto const apart = [&](gemm_operands const& o) -> std::string {
    try {
      check_apart(p, o);
    } catch (rejected const& r) {
      return r.why().code;
    }
    return "";
  };
  for (int i = 0; i < role_count; ++i) {
    auto const r = static_cast<role>(i);
    gemm_operands o = all;
    set_address(o, r, nullptr);
    EXPECT_EQ(refusal(p, o), "TW0408") << row_of(r).word;
    for (role const result : {role::d, role::aux, role::scale_d}) {
      if (r == result) continue;
      bool const both = r == role::d || r == role::aux || r == role::scale_d;
      o = all;
      set_address(o, r, static_cast<std::byte*>(const_cast<void*>(address(all, result))) + 4);
      EXPECT_EQ(apart(o), both ? "TW0428" : "TW0446")
          << row_of(r).word << " in " << row_of(result).word;
    }
  }
}

}  // namespace
}  // namespace tw::test
