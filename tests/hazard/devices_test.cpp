// SPDX-License-Identifier: Apache-2.0
// devices_test.cpp  Launches on several devices: the exchange of small results without a hazard,
//                   and a kernel of two devices with each of its waits, releases, scopes, fences
//                   and buffer rules left out in turn.
#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <vector>

#include "tilewright/arch/emu/devices.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/ranks/exchange.hpp"

namespace tw::test {
namespace {

emu::options schedule(int which, std::uint64_t seed) {
  emu::options o;
  o.os_threads = 1;
  o.policy = which % 3 == 0   ? emu::async_policy::eager
             : which % 3 == 1 ? emu::async_policy::lazy
                              : emu::async_policy::random;
  o.random_warps = which % 2 == 1;
  o.seed = seed;
  return o;
}

// ---- A kernel of two devices and its faults -----------------------------------------------------

enum class fault {
  none,
  release_of_gpu,  // the flag's scope ends at the device
  acquire_of_gpu,
  relaxed_store,  // no release
  relaxed_load,   // no acquire
  no_wait,
  no_sync_before_flag,
  no_sync_after_wait,
  reused_early,  // the peer's buffer is written again before the peer has read it
  no_flag,       // a wait that no rank satisfies
};

/// Each device stores 64 numbers into its peer's buffer, and adds those that it receives.
template <fault F>
struct pair_kernel {
  struct params {
    std::uint32_t const* own;
    std::uint32_t* to_peer;
    std::uint64_t* flag_there;
    std::uint64_t const* flag_here;
    std::uint32_t const* received;
    std::uint32_t* sum;
  };
  static constexpr int threads = 64, cluster = 1, smem_bytes = 0;

  TW_DEVICE static void run(params const& p) {
    int const i = thread_id();
    p.to_peer[i] = p.own[i];
    if (F != fault::no_sync_before_flag) cta_sync();
    if (i == 0) {
      if constexpr (F == fault::release_of_gpu)
        store_release<scope::gpu>(p.flag_there, std::uint64_t{1});
      else if constexpr (F == fault::relaxed_store)
        store_relaxed<scope::sys>(p.flag_there, std::uint64_t{1});
      else if constexpr (F != fault::no_flag)
        store_release<scope::sys>(p.flag_there, std::uint64_t{1});
      if constexpr (F != fault::no_wait)
        while (arrived(p.flag_here) == 0) backoff();
    }
    if (F != fault::no_sync_after_wait) cta_sync();
    p.sum[i] = p.own[i] + p.received[i];
    if constexpr (F == fault::reused_early) p.to_peer[i] = 7;
  }

 private:
  TW_DEVICE static std::uint64_t arrived(std::uint64_t const* flag) {
    if constexpr (F == fault::acquire_of_gpu) return load_acquire<scope::gpu>(flag);
    if constexpr (F == fault::relaxed_load) return load_relaxed<scope::sys>(flag);
    return load_acquire<scope::sys>(flag);
  }
};

struct pair_memory {
  struct device {
    alignas(64) std::uint32_t own[64], received[64], sum[64];
    alignas(64) std::uint64_t flag;
  };
  std::unique_ptr<device[]> of = std::make_unique<device[]>(2);

  pair_memory() {
    for (int d = 0; d < 2; ++d)
      for (std::uint32_t i = 0; i < 64; ++i) of[d].own[i] = 100U * d + i;
  }
  emu::device_layout layout(bool window = true) const {
    emu::device_layout l;
    for (int d = 0; d < 2; ++d) {
      l.memory.push_back({d, of[d].own, sizeof of[d].own});
      l.memory.push_back({d, of[d].received, sizeof of[d].received, window});
      l.memory.push_back({d, of[d].sum, sizeof of[d].sum});
      l.memory.push_back({d, &of[d].flag, sizeof of[d].flag, true});
    }
    return l;
  }
  template <fault F>
  emu::report run(emu::options const& o, bool window = true) {
    using params = typename pair_kernel<F>::params;
    std::vector<params> p;
    for (int d = 0; d < 2; ++d)
      p.push_back(
          {of[d].own, of[1 - d].received, &of[1 - d].flag, &of[d].flag, of[d].received, of[d].sum});
    return emu::run_on_devices(pair_kernel<F>{}, 1, std::span<params const>(p), o, layout(window));
  }
};

template <fault F>
emu::report run_pair(int which, std::uint64_t seed) {
  return pair_memory().run<F>(schedule(which, seed));
}

class Devices : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!plain_accesses_seen) GTEST_SKIP() << "built without interception";
  }
  /// Every seed reports `code`, or one of two.
  template <fault F>
  void expect(std::string const& code, std::string const& text, std::string const& other = "") {
    int named = 0;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      emu::report const r = run_pair<F>(GetParam(), seed);
      ASSERT_FALSE(r.clean()) << code << " was not seen";
      EXPECT_TRUE(r.has(code) || (!other.empty() && r.has(other))) << r.text();
      named += r.has(code) && r.text().find(text) != std::string::npos ? 1 : 0;
    }
    EXPECT_GT(named, 0) << run_pair<F>(GetParam(), 1).text();
  }
};
INSTANTIATE_TEST_SUITE_P(Schedules, Devices, testing::Range(0, 6));

TEST_P(Devices, AFlagOfScopeSysOrdersTwoDevices) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    pair_memory m;
    emu::report const r = m.run<fault::none>(schedule(GetParam(), seed));
    EXPECT_TRUE(r.clean()) << r.text();
    for (int d = 0; d < 2; ++d)
      for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(m.of[d].sum[i], 100 + 2 * i);
  }
}

TEST_P(Devices, E0130AFlagThatEndsAtTheDevice) {
  expect<fault::release_of_gpu>("E0130", "scope::sys");
  expect<fault::acquire_of_gpu>("E0130", "scope::sys");
}

TEST_P(Devices, E0042WaitsReleasesAndBarriersThatAreLeftOut) {
  expect<fault::relaxed_store>("E0042", "without release");
  expect<fault::relaxed_load>("E0042", "without acquire");
  expect<fault::no_wait>("E0042", "device", "E0131");
  expect<fault::no_sync_before_flag>("E0042", "device");
  expect<fault::no_sync_after_wait>("E0042", "device", "E0131");
}

TEST_P(Devices, E0131ABufferIsWrittenWhileItsReaderReads) {
  expect<fault::reused_early>("E0131", "still reads the bytes", "E0042");
}

TEST_P(Devices, E0133AWaitThatNoRankSatisfies) {
  expect<fault::no_flag>("E0133", "waiting: device 1");
}

TEST_P(Devices, E0132MemoryOutsideOfTheWindow) {
  emu::report const r = pair_memory().run<fault::none>(schedule(GetParam(), 1), false);
  ASSERT_TRUE(r.has("E0132")) << r.text();
  EXPECT_NE(r.text().find("memory of device"), std::string::npos) << r.text();
}

// ---- Copy engines -------------------------------------------------------------------------------

enum class gate_fault { none, no_acquire, no_fence, no_wait };

/// Waits for a flag, then loads 1 KB by the bulk copy unit, and by ordinary loads.
template <gate_fault F>
struct gate_kernel {
  struct params {
    std::uint64_t const* flag;
    std::uint32_t const* received;
    std::uint32_t* d;
  };
  struct memory {
    alignas(16) std::uint32_t a[256];
    mbarrier full;
  };
  static constexpr int threads = 64, cluster = 1, smem_bytes = sizeof(memory);

  TW_DEVICE static void run(params const& p) {
    auto& s = dynamic_smem<memory>();
    if (thread_id() == 0) {
      s.full.init(1);
      fence_mbarrier_init();
    }
    cta_sync();
    if (thread_id() == 0) {
      if constexpr (F == gate_fault::no_acquire)
        while (load_relaxed<scope::sys>(p.flag) == 0) backoff();
      else if constexpr (F != gate_fault::no_wait)
        while (load_acquire<scope::sys>(p.flag) == 0) backoff();
      if constexpr (F != gate_fault::no_fence) fence_proxy_async_global();
      s.full.arrive_expect_tx(sizeof s.a);
      bulk_load(s.a, p.received, sizeof s.a, s.full);
    }
    s.full.wait(0);
    for (int i = thread_id(); i < 256; i += threads) p.d[i] = s.a[i];
  }
};

struct gate_memory {
  alignas(64) std::uint32_t source[256], received[256], d[256];
  alignas(64) std::uint64_t outgoing = 1, flag = 0;

  gate_memory() { std::iota(source, source + 256, 1U); }
  /// early: the queue writes the buffer again, as for a next call.
  template <gate_fault F>
  emu::report run(emu::options const& o, bool early = false) {
    using params = typename gate_kernel<F>::params;
    std::vector<params> const p = {{&flag, received, d}};
    emu::device_layout l;
    l.memory = {{0, received, sizeof received, true}, {0, &flag, sizeof flag, true}};
    l.queues = {{1, {{source, received, sizeof received}, {&outgoing, &flag, sizeof flag, true}}}};
    if (early) l.queues[0].copies.push_back({source, received, sizeof received});
    return emu::run_on_devices(gate_kernel<F>{}, 1, std::span<params const>(p), o, l);
  }
};

TEST_P(Devices, AGateOrdersTheBytesOfACopyEngine) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    auto const m = std::make_unique<gate_memory>();
    emu::report const r = m->run<gate_fault::none>(schedule(GetParam(), seed));
    EXPECT_TRUE(r.clean()) << r.text();
    for (std::uint32_t i = 0; i < 256; ++i) EXPECT_EQ(m->d[i], i + 1);
  }
}

TEST_P(Devices, AGateWithoutOneOfItsStepsIsReported) {
  auto const o = schedule(GetParam(), 3);
  auto const m = std::make_unique<gate_memory>();
  emu::report const fence = m->run<gate_fault::no_fence>(o);
  EXPECT_TRUE(fence.has("E0044")) << fence.text();
  EXPECT_NE(fence.text().find("a copy engine wrote"), std::string::npos) << fence.text();
  emu::report const acquire = std::make_unique<gate_memory>()->run<gate_fault::no_acquire>(o);
  EXPECT_TRUE(acquire.has("E0042")) << acquire.text();
  emu::report const wait = std::make_unique<gate_memory>()->run<gate_fault::no_wait>(o);
  EXPECT_TRUE(wait.has("E0042") || wait.has("E0131")) << wait.text();
}

TEST_P(Devices, ACopyOfTheNextCallMayNotReachABufferThatIsRead) {
  bool named = false;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    emu::report const r =
        std::make_unique<gate_memory>()->run<gate_fault::none>(schedule(GetParam(), seed), true);
    EXPECT_TRUE(r.has("E0131") || r.has("E0042")) << r.text();
    named = named || r.has("E0131");
  }
  EXPECT_TRUE(named || GetParam() % 3 == 0);  // eager: it is written before the reader comes
}

// ---- The exchange -------------------------------------------------------------------------------

/// Ranks that exchange partial results of 5 rows and 40 columns, and add them.
struct exchange_memory {
  static constexpr int rows = 5, cols = 40, ctas = 3;
  struct rank {
    gpu_arena_head head = {};
    failure_record report = {};
    alignas(64) float slots[2][4][rows * cols] = {};  // of each buffer, from each rank
    alignas(64) float partial[rows * cols] = {};
    alignas(64) float d[rows * cols] = {};
  };
  int ranks;
  std::vector<std::unique_ptr<rank>> of;

  exchange_memory(int count, std::uint32_t epoch) : ranks(count) {
    for (int r = 0; r < ranks; ++r) {
      of.push_back(std::make_unique<rank>());
      of.back()->head.epoch.value = epoch;
    }
  }
  emu::report run(std::uint32_t buffer, int call, emu::options const& o) {
    std::vector<exchange_params> all;
    for (int r = 0; r < ranks; ++r) {
      rank& mine = *of[static_cast<std::size_t>(r)];
      for (int i = 0; i < rows * cols; ++i)
        mine.partial[i] = static_cast<float>((r + 2) * i + call);
      exchange_params p = {};
      for (int peer = 0; peer < ranks; ++peer)
        p.at.heads[peer] = &of[static_cast<std::size_t>(peer)]->head;
      p.at.rank = r, p.at.ranks = ranks, p.at.report = &mine.report, p.at.timeout_ns = ~0ULL;
      p.digest = 0xABCD, p.buffer = buffer, p.ctas = ctas, p.unit = 32, p.act = rank_act::sum;
      for (int peer = 0; peer < ranks; ++peer)
        if (peer != r)
          p.to[peer] = {
              mine.partial,
              reinterpret_cast<std::byte*>(of[static_cast<std::size_t>(peer)]->slots[buffer][r]),
              cols * 4,
              cols * 4,
              rows,
              cols * 4};
      p.adds = true;
      p.sum.parts = mine.slots[buffer], p.sum.part_stride = rows * cols, p.sum.pitch = cols;
      p.sum.own = mine.partial, p.sum.own_index = r;
      p.sum.count = ranks, p.sum.rows = rows, p.sum.cols = cols, p.sum.type = elem::f32;
      p.sum.d = {mine.d, cols, 1, elem::f32};
      p.sum.epilogue.alpha = 1;
      all.push_back(p);
    }
    return emu::run_on_devices(exchange_kernel{}, ctas, std::span<exchange_params const>(all), o);
  }
};

/// Calls with both buffers in turn, then with one buffer twice, as a replayed graph has it.
TEST_P(Devices, TheExchangeOfSmallResultsIsClean) {
  for (int const ranks : {2, 3, 4}) {
    exchange_memory m(ranks, 0xFFFFFFFEU);
    int call = 0;
    for (std::uint32_t const buffer : {1U, 0U, 1U, 1U}) {
      ++call;
      auto const o = schedule(GetParam(), static_cast<std::uint64_t>(call));
      emu::report const r = m.run(buffer, call, o);
      ASSERT_TRUE(r.clean()) << r.text();
      for (auto const& x : m.of) {
        EXPECT_EQ(x->report.whole, 0U);
        EXPECT_EQ(static_cast<std::uint32_t>(x->head.epoch.value),
                  0xFFFFFFFEU + static_cast<std::uint32_t>(call));
        for (int i = 0; i < exchange_memory::rows * exchange_memory::cols; ++i) {
          float want = 0;
          for (int s = 0; s < ranks; ++s) want += static_cast<float>((s + 2) * i + call);
          ASSERT_EQ(x->d[i], want) << "ranks " << ranks << " call " << call << " element " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tw::test
