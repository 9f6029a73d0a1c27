// SPDX-License-Identifier: Apache-2.0
// batch_test.cpp  Batches by strides and by pointers: the guide's examples, refusals, same results.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "family/folded.hpp"
#include "family/sm90_gemm/config_of.hpp"
#include "family/sm90_gemm/params.hpp"
#include "family/workspace.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tilewright/arch/emu/options.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw::test {
namespace {

constexpr std::int64_t m = 64, n = 512, k = 128, batch = 3;

/// Aligned memory of 16-bit elements, and matrices in it.
struct operand_memory {
  std::vector<std::uint16_t> all;
  std::uint16_t* first;

  explicit operand_memory(std::int64_t elems, std::uint16_t value = 0)
      : all(static_cast<std::size_t>(elems) + 128, value) {
    auto const address = reinterpret_cast<std::uintptr_t>(all.data());
    first = all.data() + (256 - address % 256) % 256 / 2;
  }
};

struct example {
  operand_memory a{batch * m * k}, b{n * k}, d{batch * m * n};
  operand_memory space{(1 << 17) + (1 << 20)};  // 2-byte elements
  gemm_problem p;

  example() {
    for (std::int64_t i = 0; i < batch * m * k; ++i)
      a.first[i] = to_bf16(static_cast<float>(i % 31 - 15) / 8).bits;
    for (std::int64_t i = 0; i < n * k; ++i)
      b.first[i] = to_bf16(static_cast<float>(i % 29 - 14) / 8).bits;
    p.m = m, p.n = n, p.k = k;
    p.a = {elem::bf16, order::row_major, k};
    p.b = {elem::bf16, order::col_major, k};
    p.d = {elem::bf16, order::row_major, n};
    p.batch = batch;
    p.a.batch_stride_elems = m * k;
    p.d.batch_stride_elems = m * n;
  }
  gemm_operands operands() {
    return {.a = a.first,
            .b = b.first,
            .d = d.first,
            .workspace = space.first,
            .workspace_bytes = static_cast<std::int64_t>(2 * space.all.size() - 256)};
  }
  std::vector<std::uint16_t> results() const { return {d.first, d.first + batch * m * n}; }
};

TEST(Batch, PointersGiveTheBitsOfStrides) {
  example by_strides, by_pointers;
  gemm_emulated(by_strides.p, by_strides.operands());
  std::vector<void const*> a_addresses;
  std::vector<void*> d_addresses;
  for (int i = 0; i < batch; ++i) {
    a_addresses.push_back(by_pointers.a.first + i * m * k);
    d_addresses.push_back(by_pointers.d.first + i * m * n);
  }
  by_pointers.p.a.batch_stride_elems = matrix_desc::by_pointers;
  by_pointers.p.d.batch_stride_elems = matrix_desc::by_pointers;
  gemm_operands o = by_pointers.operands();
  o.a = nullptr, o.d = nullptr;
  o.a_array = a_addresses.data(), o.d_array = d_addresses.data();
  gemm_plan const plan = plan_gemm(by_pointers.p, o, with_sm_count(known_device("h200"), 4));
  EXPECT_TRUE(plan.schedule.split_k_tiles > 0 || plan.workspace_bytes == 0);
  test::emulate(plan, o);
  EXPECT_EQ(by_pointers.results(), by_strides.results());
}

std::string code_of(gemm_problem const& p, gemm_operands const& o) {
  try {
    gemm_emulated(p, o);
  } catch (rejected const& r) {
    return r.why().code;
  }
  return "";
}

TEST(Batch, PointersAreRefusedWithoutTheirArrayAndWithAFusedEpilogue) {
  example e;
  e.p.a.batch_stride_elems = matrix_desc::by_pointers;
  gemm_operands o = e.operands();
  EXPECT_EQ(code_of(e.p, o), "TW0408");  // no array
  std::vector<void const*> addresses(batch, e.a.first);
  o.a_array = addresses.data();
  o.workspace = nullptr, o.workspace_bytes = 0;
  EXPECT_EQ(code_of(e.p, o), "");
  e.p.epilogue.act = activation::relu;
  EXPECT_EQ(code_of(e.p, o), "TW0425");
}

TEST(Batch, PlansByPointersTakeKernelsThatDo) {
  example e;
  e.p.a.batch_stride_elems = matrix_desc::by_pointers;
  e.p.m = e.p.n = 4096;
  e.p.d = {elem::bf16, order::row_major, 4096, 4096 * 4096};
  for (gemm_plan const& plan : plan_candidates(e.p, e.operands(), known_device("h200"))) {
    if (is_sm90_gemm(plan))
      EXPECT_TRUE(config_of(plan).by_pointers()) << plan.kernel;
    else
      EXPECT_EQ(plan.family->id(), "sm80_gemm") << plan.kernel;
    EXPECT_EQ(plan.family->facts(plan.instance).epilogue, epilogue_operands{}) << plan.kernel;
  }
}

/// On every device that has kernels of a family which takes them.
TEST(Batch, AmpereAndBlackwellGpusTakePointersToo) {
  for (char const* const name : {"a100", "b200"}) {
    example by_strides, by_pointers;
    gemm_emulated(by_strides.p, by_strides.operands());
    std::vector<void const*> a_addresses;
    std::vector<void*> d_addresses;
    for (int i = 0; i < batch; ++i) {
      a_addresses.push_back(by_pointers.a.first + i * m * k);
      d_addresses.push_back(by_pointers.d.first + i * m * n);
    }
    by_pointers.p.a.batch_stride_elems = matrix_desc::by_pointers;
    by_pointers.p.d.batch_stride_elems = matrix_desc::by_pointers;
    gemm_operands o = by_pointers.operands();
    o.a_array = a_addresses.data(), o.d_array = d_addresses.data();
    // The addresses of matrices that lie elsewhere are not read.
    o.a = reinterpret_cast<void const*>(3), o.d = reinterpret_cast<void*>(5);
    std::vector<gemm_plan> plans = plan_candidates(by_pointers.p, o, known_device(name));
    std::erase_if(plans, [](gemm_plan const& x) { return !x.built; });
    ASSERT_FALSE(plans.empty()) << name;
    EXPECT_EQ(plans.front().family->id(),
              std::string_view(name) == "b200" ? "sm100_gemm" : "sm80_gemm");
    test::emulate(plans.front(), o);
    EXPECT_EQ(by_pointers.results(), by_strides.results()) << name;
  }
}

/// cp.async reads 16 bytes, which begin at a multiple of 16.
TEST(Batch, AnOddAddressIsDiagnosedInAmpereKernels) {
  example e;
  std::vector<void const*> a_addresses;
  for (int i = 0; i < batch; ++i) a_addresses.push_back(e.a.first + i * m * k);
  e.p.a.batch_stride_elems = matrix_desc::by_pointers;
  gemm_operands o = e.operands();
  o.a = nullptr, o.a_array = a_addresses.data();
  std::vector<gemm_plan> plans = plan_candidates(e.p, o, known_device("a100"));
  std::erase_if(plans,
                [](gemm_plan const& x) { return x.family->id() != "sm80_gemm" || !x.built; });
  ASSERT_FALSE(plans.empty());
  test::emulate(plans.front(), o);
  a_addresses[1] = e.a.first + m * k - 1;
  try {
    test::emulate(plans.front(), o);
    ADD_FAILURE() << "no diagnosis";
  } catch (emu::fault const& f) {
    EXPECT_TRUE(std::string(f.what()).starts_with("E0047")) << f.what();
  }
}

TEST(Batch, ContiguousRowsAreOneGemm) {
  example e, one_by_one;
  gemm_plan const plan = plan_gemm(e.p, e.operands(), with_sm_count(known_device("h200"), 4));
  EXPECT_EQ(plan.problem.batch, batch);
  EXPECT_EQ(plan.normal.batch, 1);
  EXPECT_EQ(plan.swapped ? plan.normal.n : plan.normal.m, batch * m);
  EXPECT_NE(plan.why.find("the batch as one GEMM"), std::string::npos) << plan.why;
  test::emulate(plan, e.operands());
  gemm_problem single = one_by_one.p;
  single.batch = 1;
  for (int i = 0; i < batch; ++i) {
    gemm_operands o = one_by_one.operands();
    o.a = one_by_one.a.first + i * m * k;
    o.d = one_by_one.d.first + i * m * n;
    gemm_emulated(single, o);
  }
  EXPECT_EQ(e.results(), one_by_one.results());  // sums of small fractions are exact
}

TEST(Batch, OnlyWhatGoesOnIsFolded) {
  gemm_problem const p = example().p;
  EXPECT_EQ(folded(p).batch, 1);
  EXPECT_EQ(folded(transposed(p)).n, batch * m);
  auto const stays = [](gemm_problem q) { return folded(q) == q; };
  gemm_problem q = p;
  q.b.batch_stride_elems = n * k;  // a B for each
  EXPECT_TRUE(stays(q));
  q = p, q.a.batch_stride_elems += 8;  // a gap
  EXPECT_TRUE(stays(q));
  q = p, q.d.batch_stride_elems = n, q.d.pitch_elems = batch * n;  // side by side
  EXPECT_TRUE(stays(q));
  q = p, q.c = p.d, q.c->batch_stride_elems = 0, q.beta = 1;  // one C for all
  EXPECT_TRUE(stays(q));
  q = p, q.epilogue.bias = along::rows;  // m values
  EXPECT_TRUE(stays(q));
  q = p, q.a.batch_stride_elems = matrix_desc::by_pointers;
  EXPECT_TRUE(stays(q));
  q = p, q.batch = 1 << 28;  // more rows than a GEMM can have
  EXPECT_TRUE(stays(q));
}

namespace guide {

[[maybe_unused]] void by_strides(void const* a, void const* b, void* d, cudaStream_t stream) {
  tw::gemm_problem p;
  p.m = 64, p.n = 512, p.k = 128;
  p.a = {tw::elem::bf16, tw::order::row_major, 128};
  p.b = {tw::elem::bf16, tw::order::col_major, 128};
  p.d = {tw::elem::bf16, tw::order::row_major, 512};
  p.batch = 128;
  p.a.batch_stride_elems = 64 * 128;  // from a matrix to the next, in elements
  p.b.batch_stride_elems = 0;         // the same matrix for all
  p.d.batch_stride_elems = 64 * 512;
  tw::gemm(p, {.a = a, .b = b, .d = d}, stream);
}

[[maybe_unused]] void by_pointers(tw::gemm_problem p, void const* b, void const* const* a_addresses,
                                  void* const* d_addresses, cudaStream_t stream) {
  p.a.batch_stride_elems = tw::matrix_desc::by_pointers;  // any of A, B, C and D
  p.d.batch_stride_elems = tw::matrix_desc::by_pointers;
  tw::gemm_operands o{.b = b};
  o.a_array = a_addresses;
  o.d_array = d_addresses;
  tw::gemm(p, o, stream);
}

}  // namespace guide

}  // namespace
}  // namespace tw::test
