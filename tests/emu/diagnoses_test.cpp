// SPDX-License-Identifier: Apache-2.0
// diagnoses_test.cpp  Small kernels that each break one rule: the engine names it, under every
//                     completion policy.
#include <gtest/gtest.h>

#include "tilewright/arch/select.hpp"

namespace tw::test {
namespace {

/// A kernel of `Threads` threads in clusters of `Cluster` CTAs around a body.
template <auto Body, int Threads = 128, int Cluster = 1>
struct kernel {
  using params = tensor_map;
  static constexpr int threads = Threads, cluster = Cluster, smem_bytes = 64 * 1024;
  static void run(params const& p) { Body(p); }
};

struct smem {
  alignas(1024) std::byte box[2][8192];
  mbarrier bar[4];
};

tensor_map map_of(std::vector<std::uint16_t>& memory) {
  tensor_map_desc d;
  d.base = memory.data();
  d.dim[0] = 64;
  d.dim[1] = 64;
  d.stride_bytes[0] = 128;
  d.box[0] = 64;
  d.box[1] = 64;
  d.swizzle = swizzle_mode::b128;
  return make_tensor_map(d, target::emu);
}

template <class K>
emu::diagnosis diagnose(emu::async_policy policy) {
  std::vector<std::uint16_t> memory(64 * 64);  // malloc aligns to 16 bytes, as TMA needs
  emu::options o;
  o.policy = policy;
  o.os_threads = 1;
  try {
    launch<K>(K::cluster, map_of(memory), o);
  } catch (emu::fault const& f) {
    return f.diagnoses().front();
  }
  return {};
}

class Diagnoses : public testing::TestWithParam<emu::async_policy> {
 protected:
  template <auto Body>
  void expect_code(std::string const& code) {  // a diagnosis of an exit has no line to name
    EXPECT_EQ(diagnose<kernel<Body>>(GetParam()).code, code);
  }
  template <auto Body, int Threads = 128, int Cluster = 1>
  void expect(std::string const& code, std::string const& part) {
    emu::diagnosis const d = diagnose<kernel<Body, Threads, Cluster>>(GetParam());
    EXPECT_EQ(d.code, code) << d.text;
    EXPECT_NE(d.text.find(part), std::string::npos) << d.code << ": " << d.text;
    if (!code.empty()) {
      EXPECT_NE(d.text.find("diagnoses_test.cpp:"), std::string::npos) << d.text;
    }
  }
};

void make_barriers(int arrivals) {
  smem& s = dynamic_smem<smem>();
  if (thread_id() == 0) {
    for (mbarrier& b : s.bar) b.init(arrivals);
    fence_mbarrier_init();
  }
  cluster_sync();
}

void correct(tensor_map const& map) {
  smem& s = dynamic_smem<smem>();
  make_barriers(1);
  if (thread_id() == 0) {
    s.bar[0].arrive_expect_tx(8192);
    tma_load(s.box[0], map, s.bar[0], tma_coord{0, 0});
  }
  s.bar[0].wait(0);
  if (thread_id() == 0) {
    tma_store(map, s.box[0], tma_coord{0, 0});
    tma_store_commit();
    tma_store_wait_read<0>();
  }
}
TEST_P(Diagnoses, CorrectKernelHasNone) { expect<correct>("", ""); }

void expects_too_much(tensor_map const& map) {
  smem& s = dynamic_smem<smem>();
  make_barriers(1);
  if (thread_id() == 0) {
    s.bar[0].arrive_expect_tx(8192 + 1024);
    tma_load(s.box[0], map, s.bar[0], tma_coord{0, 0});
  }
  s.bar[0].wait(0);
}
TEST_P(Diagnoses, ExpectTxTooLargeIsADeadlockThatNamesTheBytes) {
  expect<expects_too_much>("E0001", "expect_tx is 1024 bytes too large");
}

void arrival_missing(tensor_map const&) {
  make_barriers(3);
  smem& s = dynamic_smem<smem>();
  if (thread_id() < 2) s.bar[1].arrive();
  s.bar[1].wait(0);
}
TEST_P(Diagnoses, MissingArrivalIsADeadlockThatCountsThem) {
  expect<arrival_missing>("E0001", "1 of 3 arrivals never came");
}

void parity_wrong(tensor_map const&) {
  make_barriers(1);
  smem& s = dynamic_smem<smem>();
  if (thread_id() == 0) s.bar[0].arrive();
  s.bar[0].wait(1);  // phase 0 is over; phase 1 never ends
}
TEST_P(Diagnoses, WrongParityIsADeadlockThatNamesThePhase) {
  expect<parity_wrong>("E0001", "the end of phase 1 (parity 1)");
}

void polls_forever(tensor_map const&) {
  make_barriers(1);
  smem& s = dynamic_smem<smem>();
  while (!s.bar[0].try_wait(0)) {
  }
}
TEST_P(Diagnoses, PollingForeverIsADeadlock) { expect<polls_forever>("E0001", "1 of 1 arrivals"); }

void lane_stays_away(tensor_map const&) {
  make_barriers(1);
  if (thread_id() == 77)
    dynamic_smem<smem>().bar[0].wait(0);  // cta_sync counts it: it has not ended
  cta_sync();
}
TEST_P(Diagnoses, DivergedCtaSyncIsADeadlock) {
  expect<lane_stays_away>("E0001", "127 of 128 threads came)");
}

void no_init(tensor_map const&) { dynamic_smem<smem>().bar[2].wait(0); }
TEST_P(Diagnoses, BarrierWithoutInit) { expect<no_init>("E0002", "no init() ran there"); }

void too_many(tensor_map const& map) {
  make_barriers(1);
  smem& s = dynamic_smem<smem>();
  if (thread_id() != 0) return;
  s.bar[0].arrive_expect_tx(8192);  // the phase stays open until the bytes land
  s.bar[0].arrive();
  tma_load(s.box[0], map, s.bar[0], tma_coord{0, 0});
}
TEST_P(Diagnoses, TooManyArrivals) { expect<too_many>("E0003", "an arrival too many in phase 0"); }

void tx_range(tensor_map const&) {
  make_barriers(1);
  if (thread_id() == 0) dynamic_smem<smem>().bar[0].expect_tx(1 << 20);
}
TEST_P(Diagnoses, ExpectTxRange) { expect<tx_range>("E0004", "1048576"); }

void misaligned(tensor_map const& map) {
  make_barriers(1);
  smem& s = dynamic_smem<smem>();
  if (thread_id() == 0) tma_load(s.box[0] + 128, map, s.bar[0], tma_coord{0, 0});
}
TEST_P(Diagnoses, TmaAlignment) { expect<misaligned>("E0005", "aligned to 1024 bytes"); }

void outside(tensor_map const& map) {
  make_barriers(1);
  smem& s = dynamic_smem<smem>();
  if (thread_id() == 0) tma_load(s.box[0] + 60 * 1024, map, s.bar[0], tma_coord{0, 0});
}
TEST_P(Diagnoses, SmemOutOfBounds) { expect<outside>("E0006", "lie outside"); }

void bad_rank(tensor_map const&) {
  make_barriers(1);
  if (thread_id() == 0) dynamic_smem<smem>().bar[0].arrive_remote(2);
}
TEST_P(Diagnoses, BadClusterRank) {
  (expect<bad_rank, 128, 2>("E0007", "CTA 2 of a cluster of 2"));
}

void odd_registers(tensor_map const&) { set_max_regs_inc<237>(); }
TEST_P(Diagnoses, SetMaxRegs) { expect<odd_registers>("E0008", "237"); }

void diverged_wgmma(tensor_map const&) {
  accumulator<64> acc;
  smem_desc const d = make_smem_desc(0x400 + 1024U * static_cast<std::uint32_t>(warp_id() / 3), 16,
                                     1024, swizzle_mode::b128);
  wgmma_fence(acc);
  wgmma<elem::bf16, operand_major::k, operand_major::k>(acc, d, d, false);
  wgmma_commit();
  wgmma_wait<0>(acc);
}
TEST_P(Diagnoses, WgmmaDiverged) { expect<diverged_wgmma>("E0009", "do not agree on a wgmma"); }

void barrier_counts(tensor_map const&) { named_barrier_sync(3, thread_id() < 64 ? 128 : 64); }
TEST_P(Diagnoses, NamedBarrierCounts) {
  expect<barrier_counts>("E0010", "earlier: barrier for 128 threads");
}

void exits_early(tensor_map const& map) {
  smem& s = dynamic_smem<smem>();
  if (thread_id() != 0) return;
  tma_store(map, s.box[0], tma_coord{0, 0});
  tma_store_commit();
}
TEST_P(Diagnoses, ExitWithPendingStore) { expect<exits_early>("E0011", "never waited for"); }

void narrow_scope(tensor_map const&) {
  make_barriers(1);
  smem& s = dynamic_smem<smem>();
  if (cluster_rank() == 0 && thread_id() == 0) {
    *dsmem(reinterpret_cast<int*>(s.box[0]), 1) = 7;
    s.bar[0].arrive_remote_relaxed(1);
  }
  if (cluster_rank() == 1) s.bar[0].wait<scope::cluster>(0);
  cluster_sync();
}
TEST_P(Diagnoses, RelaxedArriveAfterAPeerAccess) {
  (expect<narrow_scope, 128, 2>("E0014", "orders no memory access between CTAs"));
}

void wide_scope(tensor_map const&) {
  make_barriers(1);
  smem& s = dynamic_smem<smem>();
  if (cluster_rank() == 0 && thread_id() == 0) {
    *dsmem(reinterpret_cast<int*>(s.box[0]), 1) = 7;
    s.bar[0].arrive_remote<scope::cluster>(1);
  }
  if (cluster_rank() == 1) s.bar[0].wait<scope::cluster>(0);
  cluster_sync();
}
TEST_P(Diagnoses, ReleaseAtClusterScopeIsEnough) { (expect<wide_scope, 128, 2>("", "")); }

void expects_too_little(tensor_map const& map) {
  smem& s = dynamic_smem<smem>();
  make_barriers(1);
  if (thread_id() == 0) {
    tma_load(s.box[0], map, s.bar[0], tma_coord{0, 0});
    tma_load(s.box[1], map, s.bar[0], tma_coord{0, 0});
    s.bar[0].arrive_expect_tx(8192);
  }
}
TEST(DiagnosesEager, ExpectTxTooSmall) {
  emu::diagnosis const d = diagnose<kernel<expects_too_little>>(emu::async_policy::eager);
  EXPECT_EQ(d.code, "E0015");
  EXPECT_NE(d.text.find("expected: 16384, not 8192"), std::string::npos);
}

void peer_gone(tensor_map const&) {
  make_barriers(1);
  if (cluster_rank() == 1) return;
  for (int i = 0; i < 4; ++i) warp_sync();
  cta_sync();
  if (thread_id() == 0) dynamic_smem<smem>().bar[0].arrive_remote(1);
}
TEST(DiagnosesEager, AccessToExitedCta) {
  emu::diagnosis const d = diagnose<kernel<peer_gone, 128, 2>>(emu::async_policy::eager);
  EXPECT_EQ(d.code, "E0016") << d.text;
}

struct odd_threads : kernel<correct> {
  static constexpr int threads = 2048;
};
TEST(DiagnosesEager, LaunchShape) {
  EXPECT_EQ(diagnose<odd_threads>(emu::async_policy::eager).code, "E0018");
}

void no_arrivals(tensor_map const&) {
  if (thread_id() == 0) dynamic_smem<smem>().bar[0].init(0);
}
TEST_P(Diagnoses, BarrierOfNoArrivals) { expect<no_arrivals>("E0019", "0 arrivals"); }

void wrong_rank(tensor_map const& map) {
  if (thread_id() == 0)
    tma_load(dynamic_smem<smem>().box[0], map, dynamic_smem<smem>().bar[0], tma_coord{0, 0, 0});
}
TEST_P(Diagnoses, CoordinatesOfAnotherRank) { expect<wrong_rank>("E0013", "3 coordinates"); }

void not_a_map(tensor_map const&) {
  static tensor_map const garbage{};
  tma_prefetch_map(garbage);
}
TEST_P(Diagnoses, GarbageInsteadOfATensorMap) { expect<not_a_map>("E0013", "cannot read"); }

void unfinished_wgmma(tensor_map const&) {
  accumulator<64> acc;
  smem_desc const d = make_smem_desc(0x400, 16, 1024, swizzle_mode::b128);
  wgmma_fence(acc);
  wgmma<elem::bf16, operand_major::k, operand_major::k>(acc, d, d, false);
  wgmma_commit();
}
TEST_P(Diagnoses, ExitWithUnfinishedWgmma) { expect_code<unfinished_wgmma>("E0012"); }

struct too_big : kernel<correct> {
  static constexpr int smem_bytes = 228 * 1024;
};
TEST(DiagnosesEager, SmemOverflow) {
  EXPECT_EQ(diagnose<too_big>(emu::async_policy::eager).code, "E0017");
}

void bad_descriptor(tensor_map const&) {
  accumulator<64> acc;
  smem_desc const d = make_smem_desc(0x400 + 63 * 1024, 16, 1024, swizzle_mode::b128);
  wgmma_fence(acc);
  wgmma<elem::bf16, operand_major::k, operand_major::k>(acc, d, d, false);
  wgmma_commit();
  wgmma_wait<0>(acc);
}
TEST_P(Diagnoses, WgmmaOperandOutsideSharedMemory) { expect<bad_descriptor>("E0020", "wgmma at"); }

void diverged_stmatrix(tensor_map const&) {
  smem& s = dynamic_smem<smem>();
  if (lane_id() < 16)
    stmatrix<4>(s.box[0] + lane_id() * 16, b32<4>{});
  else
    stmatrix<2>(s.box[0] + lane_id() * 16, b32<2>{});
}
TEST_P(Diagnoses, WarpDiverged) { (expect<diverged_stmatrix, 32>("E0021", "different shapes")); }

void odd_row(tensor_map const&) {
  stmatrix<4>(dynamic_smem<smem>().box[0] + lane_id() * 16 + 8, b32<4>{});
}
TEST_P(Diagnoses, MatrixRowAlignment) { (expect<odd_row, 32>("E0022", "aligned to 16")); }

void odd_coordinate(tensor_map const& map) {
  make_barriers(1);
  smem& s = dynamic_smem<smem>();
  if (thread_id() == 0) tma_load(s.box[0], map, s.bar[0], tma_coord{4, 0});
}
TEST_P(Diagnoses, CoordinateInsideAChunk) { expect<odd_coordinate>("E0023", "16 bytes"); }

void negative_store(tensor_map const& map) {
  smem& s = dynamic_smem<smem>();
  if (thread_id() == 0) tma_store(map, s.box[0], tma_coord{0, -1});
}
TEST_P(Diagnoses, NegativeCoordinateOfAStore) { expect<negative_store>("E0023", "negative"); }

INSTANTIATE_TEST_SUITE_P(Policies, Diagnoses,
                         testing::Values(emu::async_policy::eager, emu::async_policy::lazy,
                                         emu::async_policy::random));

}  // namespace
}  // namespace tw::test
