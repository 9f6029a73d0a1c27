// SPDX-License-Identifier: Apache-2.0
// limits_test.cpp  Kernels that leave their arrays, their stack or their time, and kernels that
//                  crash: the run ends with a report that names the line, and the process lives.
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "tests/hazard/hazard_kernels.hpp"

namespace tw::test {
namespace {

struct limits_params {
  float* in;   // 256 elements, 1 KiB of margin on both sides
  float* out;  // the same
  unsigned* counter;
  int zero;
  int* nowhere;
};

template <class Body>
struct limits_kernel {
  using params = limits_params;
  struct smem {
    float x[256];
  };
  static constexpr int threads = 128, cluster = 1, smem_bytes = sizeof(smem);
  static void run(params const& p) { Body{}(dynamic_smem<smem>().x, p); }
};

class Limits : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!plain_accesses_seen) GTEST_SKIP() << "built without sight of ordinary loads and stores";
  }
  template <class Body>
  emu::report run(Body) {
    constexpr std::size_t margin = 256, count = 256;
    std::vector<float> in(count + 2 * margin, 1), out(count + 2 * margin, 0);
    std::vector<unsigned> counter(3 * margin);
    emu::options o = scheduled(GetParam());
    o.time_limit_seconds = 0.5;
    for (float* const p : {in.data(), out.data()})
      o.arrays.push_back({p + margin, count * sizeof(float), margin * sizeof(float)});
    o.arrays.push_back({counter.data() + margin, sizeof(unsigned), margin * sizeof(unsigned)});
    return emu::run<limits_kernel<Body>, plain_accesses_seen>(
        {}, 2, {in.data() + margin, out.data() + margin, counter.data() + margin, 0, nullptr}, o);
  }
  template <class Body>
  void expect(char const* code, char const* part, Body body) {
    emu::report const r = run(body);
    ASSERT_FALSE(r.clean()) << code << " was not seen";
    EXPECT_EQ(r.diagnoses.front().code, code) << r.text();
    EXPECT_NE(r.diagnoses.front().text.find(part), std::string::npos) << r.text();
    EXPECT_NE(r.diagnoses.front().text.find("limits_test.cpp:"), std::string::npos) << r.text();
    expect_readable(r);
  }
};

TEST_P(Limits, AccessesInsideTheArraysAreClean) {
  emu::report const r = run([](float*, limits_params const& p) {
    int const i = thread_id() + 128 * cta_id();
    p.out[i] = p.in[i];
    red_add_release(p.counter, 1);
  });
  EXPECT_TRUE(r.clean()) << r.text();
}

TEST_P(Limits, LoadPastTheEnd) {
  expect("E0052", "it begins at byte 1024 of global memory in+0x0",
         [](float* x, limits_params const& p) { x[thread_id()] = p.in[2 * thread_id() + 2]; });
}

TEST_P(Limits, StoreBeforeTheBegin) {
  expect("E0052", "it begins 4 bytes before global memory out+0x0",
         [](float*, limits_params const& p) { p.out[thread_id() - 1] = 0; });
}

TEST_P(Limits, AtomicBesideTheCounter) {
  expect("E0052", "An atomic operation of 4 bytes", [](float*, limits_params const& p) {
    red_add_release(p.counter + (thread_id() == 77 ? 1 : 0), 1);
  });
}

TEST_P(Limits, CpAsyncPastTheEnd) {
  expect("E0052", "A cp.async of 16 bytes", [](float* x, limits_params const& p) {
    if (thread_id() < 64) cp_async<16>(x + 4 * thread_id(), p.in + 4 * (thread_id() + 1));
    cp_async_commit();
    cp_async_wait<0>();
  });
}

TEST_P(Limits, LoopWithoutEnd) {
  expect("E0058", "0.5 s of processor time", [](float* x, limits_params const& p) {
    if (thread_id() != 5) return;
    int volatile still = 1;
    while (still + p.zero != 0) {
    }
    x[0] = 1;
  });
}

TEST_P(Limits, DivisionByZero) {
  expect("E0059", "divides an integer by zero", [](float* x, limits_params const& p) {
    int volatile by = p.zero;
    x[thread_id()] = static_cast<float>(thread_id() / by);
  });
}

TEST_P(Limits, NullPointer) {
  expect("E0059", "accesses address 0x",
         [](float* x, limits_params const& p) { x[thread_id()] = static_cast<float>(*p.nowhere); });
}

TEST_P(Limits, Abort) {
  expect("E0059", "calls abort()", [](float* x, limits_params const&) {
    x[thread_id()] = 1;
    if (thread_id() == 9) std::abort();
  });
}

TEST_P(Limits, ExceptionThatLeavesTheKernel) {
  expect("E0059", "throws an exception: no such tile", [](float* x, limits_params const&) {
    x[thread_id()] = 1;
    if (thread_id() == 9) throw std::runtime_error("no such tile");
  });
}

TEST_P(Limits, LocalArraysThatFitTheStack) {
  emu::report const r = run([](float* x, limits_params const&) {
    float volatile local[60 * 256];
    for (int i = 0; i < 60 * 256; i += 256) local[i] = static_cast<float>(i);
    x[thread_id()] = local[256];
  });
  EXPECT_TRUE(r.clean()) << r.text();
}

TEST_P(Limits, LocalArrayLargerThanTheStack) {
  expect("E0060", "more stack than the emulator gives it", [](float* x, limits_params const&) {
    float volatile local[120 * 256];
    for (int i = 0; i < 120 * 256; i += 256) local[i] = static_cast<float>(i);
    x[thread_id()] = local[256];
  });
}

// The pages promise so much to each thread, wherever its stack begins.
TEST_P(Limits, LocalArraysOfAlmostTheStack) {
  emu::report const r = run([](float* x, limits_params const&) {
    float volatile local[95 * 256];
    for (int i = 0; i < 95 * 256; i += 256) local[i] = static_cast<float>(i);
    cta_sync();
    x[thread_id()] = local[256];
  });
  EXPECT_TRUE(r.clean()) << r.text();
}

[[gnu::noinline]] int depth(int n, int volatile* last) {
  int volatile here[64];
  here[0] = n;
  *last = n;
  return n == 0 ? here[0] : depth(n - 1, last) + here[0];
}

TEST_P(Limits, RecursionDeeperThanTheStack) {
  expect("E0060", "more stack than the emulator gives it", [](float* x, limits_params const&) {
    int volatile last = 0;
    x[thread_id()] = static_cast<float>(depth(100'000, &last));
  });
}

INSTANTIATE_TEST_SUITE_P(Schedules, Limits, testing::Range(0, 4));

}  // namespace
}  // namespace tw::test
