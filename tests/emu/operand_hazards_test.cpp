// SPDX-License-Identifier: Apache-2.0
// operand_hazards_test.cpp  Faults without a mutant: rows of an operand, and a copy that lands
// late.
#include <gtest/gtest.h>

#include "tilewright/arch/select.hpp"

namespace tw::test {
namespace {

struct smem {
  alignas(1024) std::uint16_t a[64 * 64];
  alignas(1024) std::uint16_t b[128 * 64];
  mbarrier landed;
};

struct params {
  tensor_map a, b;
  int stride_bytes;  // of B's descriptor, from 8 rows to the next 8
  int expect_bytes;  // of the first phase
};

struct multiply {
  using params = test::params;
  using smem = test::smem;
  static constexpr int threads = 128, cluster = 1, smem_bytes = sizeof(smem);

  static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) {
      s.landed.init(1);
      fence_mbarrier_init();
    }
    cta_sync();
    if (thread_id() == 0) {
      s.landed.arrive_expect_tx(p.expect_bytes);
      tma_load(s.a, p.a, s.landed, tma_coord<2>{{0, 0}});
      tma_load(s.b, p.b, s.landed, tma_coord<2>{{0, 0}});
    }
    s.landed.wait(0);
    accumulator<64> acc;
    wgmma_fence(acc);
    wgmma<elem::bf16, operand_major::k, operand_major::k>(
        acc, make_smem_desc(smem_addr(s.a), 16, 1024, swizzle_mode::b128),
        make_smem_desc(smem_addr(s.b), 16, static_cast<std::uint32_t>(p.stride_bytes),
                       swizzle_mode::b128),
        false);
    wgmma_commit();
    wgmma_wait<0>(acc);
  }
};

tensor_map map_of(std::vector<std::uint16_t>& memory, int rows) {
  tensor_map_desc d;
  d.base = memory.data();
  d.dim[0] = 64;
  d.dim[1] = rows;
  d.stride_bytes[0] = 128;
  d.box[0] = 64;
  d.box[1] = rows;
  d.swizzle = swizzle_mode::b128;
  return make_tensor_map(d, target::emu);
}

emu::report run_with(int stride_bytes, int missing_bytes, emu::async_policy policy) {
  std::vector<std::uint16_t> a(64 * 64), b(128 * 64);
  emu::options o;
  o.policy = policy;
  o.os_threads = 1;
  int const bytes = static_cast<int>(2 * (a.size() + b.size()));
  return emu::run(multiply{}, 1,
                  {map_of(a, 64), map_of(b, 128), stride_bytes, bytes - missing_bytes}, o);
}

TEST(OperandHazards, GroupsOfEightRowsMayLieApart) {
  for (auto policy : {emu::async_policy::eager, emu::async_policy::lazy}) {
    EXPECT_TRUE(run_with(1024, 0, policy).clean()) << run_with(1024, 0, policy).text();
    EXPECT_TRUE(run_with(2048, 0, policy).clean()) << run_with(2048, 0, policy).text();
  }
}

TEST(OperandHazards, RowsOfACoreMatrixAreConsecutive) {
  emu::report const r = run_with(512, 0, emu::async_policy::eager);
  EXPECT_TRUE(r.has("E0038")) << r.text();
  EXPECT_NE(r.text().find("b"), std::string::npos);
}

TEST(OperandHazards, ACopyLandsInThePhaseItWasIssuedIn) {
  emu::report const r = run_with(1024, 16384, emu::async_policy::lazy);
  EXPECT_TRUE(r.has("E0015")) << r.text();
  EXPECT_TRUE(r.has("E0032") || r.has("E0026")) << r.text();
}

}  // namespace
}  // namespace tw::test
