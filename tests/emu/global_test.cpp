// SPDX-License-Identifier: Apache-2.0
// global_test.cpp  Global memory between CTAs: what orders accesses, what does not, and cp.async.
#include <gtest/gtest.h>

#include "tilewright/arch/select.hpp"

extern "C" {
// The compiler calls these in an instrumented unit, and this unit by hand (src/emu/hook.cpp).
void __tsan_read4(void* at);   // NOLINT
void __tsan_write4(void* at);  // NOLINT
}

namespace tw::test {
namespace {

struct given {
  tensor_map map;  // 16 rows of 16 floats, boxes of 1 row
  float* data;
  unsigned* flag;
  unsigned long long* wide;
};

struct shared {
  alignas(128) float box[2][16];
  mbarrier bar;
};

template <auto Body, int Threads = 32>
struct kernel {
  using params = given;
  using smem = shared;
  static constexpr int threads = Threads, cluster = 1, smem_bytes = sizeof(smem);
  static void run(params const& p) { Body(p, dynamic_smem<smem>()); }
};
class Global : public testing::TestWithParam<emu::async_policy> {
 protected:
  std::vector<float> data = std::vector<float>(256, 1.0F);
  unsigned flag = 0;
  unsigned long long wide = 0;

  template <auto Body, int Ctas = 2, int Threads = 32>
  emu::report report(emu::options o = {}) {
    tensor_map_desc d;
    d.base = data.data();
    d.type = elem::f32;
    d.dim[0] = d.dim[1] = 16;
    d.stride_bytes[0] = 64;
    d.box[0] = 16;
    d.box[1] = 1;
    o.policy = GetParam();
    if (o.os_threads == 0) o.os_threads = 1;
    return emu::run(kernel<Body, Threads>{}, Ctas,
                    given{make_tensor_map(d, target::emu), data.data(), &flag, &wide}, o);
  }
  void expect(emu::report const& r, std::string const& code, std::string const& part = "") {
    ASSERT_FALSE(r.clean());
    EXPECT_EQ(r.diagnoses.front().code, code) << r.text();
    EXPECT_NE(r.diagnoses.front().text.find(part), std::string::npos) << r.text();
  }
};

void store(given const& p, int i, float v) {
  __tsan_write4(p.data + i);
  p.data[i] = v;
}
float load(given const& p, int i) {
  __tsan_read4(p.data + i);
  return p.data[i];
}

void handed_over(given const& p, auto const& raise, auto const& poll) {
  if (cta_id() == 0) {
    store(p, thread_id(), 2);
    warp_sync();
    if (thread_id() == 0) raise(p);
  } else {
    if (thread_id() == 0) poll(p);
    warp_sync();
    load(p, 31 - thread_id());
  }
}

void with_release_and_acquire(given const& p, shared&) {
  auto const raise = [](given const& q) { store_release(q.wide, 7); };
  auto const poll = [](given const& q) {
    while (load_acquire(q.wide) != 7) backoff();
  };
  handed_over(p, raise, poll);
}
TEST_P(Global, ReleaseAndAcquireOrderTwoCtas) {
  emu::report const r = report<with_release_and_acquire>();
  EXPECT_TRUE(r.clean()) << r.text();
  EXPECT_EQ(wide, 7U);
}
TEST_P(Global, AlsoInTwoOsThreads) {
  emu::options o;
  o.os_threads = 2;
  emu::report const r = report<with_release_and_acquire>(o);
  EXPECT_TRUE(r.clean()) << r.text();
}

void with_fences(given const& p, shared&) {
  auto const raise = [](given const& q) {
    fence_acq_rel();
    atomic_add<mem_order::relaxed>(q.flag, 1);
  };
  auto const poll = [](given const& q) {
    while (load_relaxed(q.flag) == 0) backoff();
    fence_acq_rel();
  };
  handed_over(p, raise, poll);
}
TEST_P(Global, FencesAroundRelaxedAccessesOrderToo) {
  emu::report const r = report<with_fences>();
  EXPECT_TRUE(r.clean()) << r.text();
}

void without_release(given const& p, shared&) {
  auto const raise = [](given const& q) { store_relaxed(q.flag, 1); };
  auto const poll = [](given const& q) {
    while (load_acquire(q.flag) == 0) backoff();
  };
  handed_over(p, raise, poll);
}
TEST_P(Global, RelaxedFlagIsNamed) {
  expect(report<without_release>(), "E0042", "without release");
}

void scope_too_narrow(given const& p, shared&) {
  auto const raise = [](given const& q) { store_release<scope::cta>(q.flag, 1); };
  auto const poll = [](given const& q) {
    while (load_acquire(q.flag) == 0) backoff();
  };
  handed_over(p, raise, poll);
}
TEST_P(Global, ScopeOfTheCtaIsTooNarrow) { expect(report<scope_too_narrow>(), "E0042", "scope"); }

void neighbours(given const& p, shared&) { store(p, 2 * thread_id() + cta_id(), 3); }
TEST_P(Global, DifferentBytesOfASectorAreNoRace) {
  emu::report const r = report<neighbours>();
  EXPECT_TRUE(r.clean()) << r.text();
}

void both_write(given const& p, shared&) { store(p, 5, 3); }
TEST_P(Global, TwoWritersRace) { expect(report<both_write>(), "E0042", "data+0x14"); }

void sums(given const& p, shared&) { atomic_add<mem_order::relaxed>(p.flag, 2); }
TEST_P(Global, AtomicsDoNotRace) {
  emu::report const r = report<sums>();
  EXPECT_TRUE(r.clean()) << r.text();
  EXPECT_EQ(flag, 2U * 2 * 32);
}

/// CTA 0 loads the tensor with TMA before anybody has written; CTA 1 overwrites it.
void overwritten(given const& p, shared& s) {
  if (thread_id() != 0) return;
  if (cta_id() == 0) {
    s.bar.init(1);
    fence_mbarrier_init();
    s.bar.arrive_expect_tx(64);
    tma_load(s.box[0], p.map, s.bar, tma_coord{0, 3});
    s.bar.wait(0);
    store_release(p.flag, 1);
  } else {
    while (load_relaxed(p.flag) == 0) backoff();
    store(p, 3 * 16, 0);
  }
}
TEST_P(Global, LoadsOfATensorThatIsWrittenLaterCount) { expect(report<overwritten>(), "E0042"); }

void polls_forever(given const& p, shared&) {
  while (load_acquire(p.flag) != 99) backoff();
}
TEST_P(Global, PollingForAFlagThatNeverComesIsADeadlock) {
  expect(report<polls_forever>(), "E0001", "now: poll at");
}

void copies(given const& p, shared& s) {
  if (thread_id() >= 4) return;
  cp_async<16>(s.box[0] + 4 * thread_id(), p.data + 4 * thread_id());
  cp_async_commit();
  cp_async<4>(s.box[1] + thread_id(), p.data + 16 + thread_id());
  cp_async_commit();
  cp_async_wait<1>();
  if (s.box[0][4 * thread_id() + 3] != 1.0F) store(p, 200, 0);
  cp_async_wait<0>();
  if (s.box[1][thread_id()] != 1.0F) store(p, 200, 0);
}
TEST_P(Global, CpAsyncBringsItsBytes) {
  EXPECT_TRUE((report<copies, 1>().clean()));
  EXPECT_EQ(data[200], 1.0F);
}

void misaligned(given const& p, shared& s) { cp_async<16>(s.box[0], p.data + 1); }
TEST_P(Global, CpAsyncNeedsItsAlignment) { expect(report<misaligned, 1>(), "E0047", "cp.async"); }

void misaligned_load(given const& p, shared&) { load_16(p.data + 1); }
TEST_P(Global, LoadsOf16BytesNeedTheirAlignment) {
  expect(report<misaligned_load, 1>(), "E0047", "a load of 16 bytes");
}

/// One CTA writes what the other loads 16 bytes at a time.
template <b32<4> (*Load)(void const*, emu::site)>
void unordered_load(given const& p, shared&) {
  if (cta_id() == 0)
    store(p, thread_id(), 2);
  else
    Load(p.data + 4 * thread_id(), emu::site::here());
}
TEST_P(Global, LoadsOf16BytesAreChecked) {
  expect(report<unordered_load<load_16>>(), "E0042");
  expect(report<unordered_load<load_16_once>>(), "E0042");
}

void different_instructions(given const&, shared&) {
  float d[4] = {};
  if (lane_id() < 16)
    shuffle_xor(1.0F, 1);
  else
    mma_sync<elem::bf16>(d, b32<4>{}, b32<2>{});
}
TEST_P(Global, TheLanesOfAWarpExecuteOneInstruction) {
  expect(report<different_instructions, 1>(), "E0021", "different instructions");
}

void lonely(given const&, shared&) {
  if (lane_id() != 3) shuffle_xor(1.0F, 1);
}
TEST_P(Global, AShuffleReadsFromALaneThatHasEnded) {
  expect(report<lonely, 1>(), "E0071", "reads from lane 3, which has ended");
}

void lane_elsewhere(given const&, shared&) {
  if (lane_id() != 3) shuffle_xor(1.0F, 16);
  warp_sync();
}
TEST_P(Global, AShuffleWaitsForAllLanes) {
  expect(report<lane_elsewhere, 1>(), "E0075", "the other lanes of its warp at shuffle_xor");
}

// The codes of kernels in tools/check/mutants: E0043, E0044, E0045, E0046 (tests/mutant).

INSTANTIATE_TEST_SUITE_P(All, Global,
                         testing::Values(emu::async_policy::eager, emu::async_policy::lazy,
                                         emu::async_policy::random));

}  // namespace
}  // namespace tw::test
