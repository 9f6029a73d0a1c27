// SPDX-License-Identifier: Apache-2.0
// engine_test.cpp  Accesses that are not the kernel's: those of the engine and of the harness, even
//                  where they run inline functions of a unit whose accesses are announced.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

#include "emu/machine/machine.hpp"
#include "tilewright/arch/select.hpp"

// The engine keeps its threads in these, and the linker one copy of each function: this unit's.
template class std::vector<tw::emu::thread*>;
template class std::vector<tw::emu::bulk_op>;
template class std::vector<tw::emu::diagnosis>;
template class std::vector<std::uint64_t>;
template class std::deque<tw::emu::warp_state::matrix_op>;
template class std::deque<int>;

namespace tw {
namespace {

/// Every CTA of a pair sums 8 rounds of values that its peer and TMA brought.
struct relay {
  static constexpr int threads = 64, cluster = 2, rounds = 8;
  struct smem {
    alignas(128) float box[32][32];
    int sum[threads];
    mbarrier landed;
  };
  static constexpr int smem_bytes = sizeof(smem);
  struct params {
    tensor_map from;
    int const* in;        // (CTAs, threads)
    int* out;             // (CTAs, threads)
    std::uint32_t* done;  // CTAs that are through
    bool race;
  };

  static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const me = thread_id(), at = cta_id() * threads + me;
    if (me == 0) {
      s.landed.init(1);
      fence_mbarrier_init();
    }
    s.sum[me] = p.in[at];
    int sum = 0;
    for (int i = 0; i < rounds; ++i) {
      cluster_sync();
      if (me == 0) {
        s.landed.arrive_expect_tx(sizeof(s.box));
        tma_load(s.box, p.from, s.landed, tma_coord<2>{{0, 0}});
      }
      s.landed.wait(static_cast<std::uint32_t>(i) & 1U);
      sum += dsmem(s.sum, 1 - cluster_rank())[(me + i) % threads] +
             static_cast<int>(s.box[i][me % 32]);
      fence_proxy_async();
      cta_sync();
    }
    p.out[p.race ? at % 32 : at] = sum;
    cluster_sync();
    if (me == 0) red_add_release(p.done, 1);
  }
};

emu::report relayed(emu::async_policy policy, std::uint64_t seed, bool race,
                    std::vector<int>& out) {
  constexpr int ctas = 8;
  static std::vector<float> const box(32 * 32, 2.0F);
  std::mt19937_64 random(seed);  // one copy with the engine's, too
  std::vector<int> in(ctas * relay::threads);
  for (int& x : in) x = static_cast<int>(random() % 100);
  out.assign(in.size(), -1);
  std::uint32_t done = 0;
  tensor_map_desc d;
  d.base = const_cast<float*>(box.data());
  d.type = elem::f32;
  d.dim[0] = d.dim[1] = d.box[0] = d.box[1] = 32;
  d.stride_bytes[0] = 128;
  emu::options o;
  o.policy = policy;
  o.random_warps = seed % 2 == 0;
  o.seed = seed;
  return emu::run(relay{}, ctas,
                  {make_tensor_map(d, target::emu), in.data(), out.data(), &done, race}, o);
}

class Engine : public testing::TestWithParam<emu::async_policy> {
  void SetUp() override {
    if (!plain_accesses_seen) GTEST_SKIP() << "built without sight of ordinary loads and stores";
  }
};

TEST_P(Engine, ItsOwnAccessesAreNoKernels) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    std::vector<int> out;
    emu::report const r = relayed(GetParam(), seed, false, out);
    ASSERT_TRUE(r.clean()) << r.text();
    EXPECT_GT(*std::min_element(out.begin(), out.end()), 2 * relay::rounds - 1);
    EXPECT_EQ(r.counts.plain_stores, 8 * 64) << "of sum, and no others in shared memory";
    EXPECT_EQ(r.counts.plain_loads, 8 * 64 * relay::rounds * 2);
  }
}

TEST_P(Engine, TheKernelsAccessesAreStillSeen) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    std::vector<int> out;
    emu::report const r = relayed(GetParam(), seed, true, out);
    EXPECT_TRUE(r.has("E0042") || r.has("E0043")) << r.text();
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, Engine,
                         testing::Values(emu::async_policy::eager, emu::async_policy::lazy,
                                         emu::async_policy::random));

}  // namespace
}  // namespace tw
