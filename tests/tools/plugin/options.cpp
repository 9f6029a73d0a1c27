// SPDX-License-Identifier: Apache-2.0
// options.cpp  A plugin whose kernels are correct, but for one option of `tilewright check` each
//              (tests/tools/check_options_test.py).
#include "tilewright/arch/emu/plugin.hpp"
#include "tilewright/arch/select.hpp"

using namespace tw;

namespace {

/// Q and K are columns of one tensor: the K coordinates of the two operands differ (E0039).
struct packed {
  struct params {
    tensor_map columns;  // 64 rows of 128 bf16, boxes of 64 x 64
    int* done;
  };
  struct smem {
    alignas(1024) std::uint16_t q[64 * 64], k[64 * 64];
    mbarrier landed;
  };
  static constexpr int threads = 128, cluster = 1, smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) {
      s.landed.init(1);
      fence_mbarrier_init();
      s.landed.arrive_expect_tx(2 * 64 * 64 * 2);
      tma_load(s.q, p.columns, s.landed, tma_coord{0, 0});
      tma_load(s.k, p.columns, s.landed, tma_coord{64, 0});
    }
    cta_sync();
    s.landed.wait(0);
    accumulator<64> acc;
    auto const operand = [](void const* tile) {
      return make_smem_desc(smem_addr(tile), 16, 1024, swizzle_mode::b128);
    };
    wgmma_fence(acc);
    wgmma<elem::bf16, operand_major::k, operand_major::k>(acc, operand(s.q), operand(s.k), false);
    wgmma_commit();
    wgmma_wait<0>(acc);
    p.done[thread_id()] = 1;
  }
};
void test_packed(emu::trial& t) {
  std::vector<std::uint16_t> const in(64 * 128);
  tensor_map_desc d;
  d.base = t.input(in);
  d.dim[0] = 128, d.dim[1] = 64;
  d.box[0] = d.box[1] = 64;
  d.stride_bytes[0] = 256;
  d.swizzle = swizzle_mode::b128;
  int* const done = t.output<int>(packed::threads);
  t.run(packed{}, 1, {t.map(d), done});
  t.compare(done, packed::threads, [](std::int64_t) { return 1; });
}

/// The thread that copies has the proxy fence, not the threads that wrote (E0044).
struct reader_fence {
  struct params {
    int* between;
    int* out;
  };
  struct smem {
    alignas(16) int part[128];
    mbarrier landed;
  };
  static constexpr int threads = 128, cluster = 1, smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const t = thread_id();
    if (t == 0) {
      s.landed.init(1);
      fence_mbarrier_init();
    }
    p.between[t] = 3 * t;
    cta_sync();
    if (t == 0) {
      fence_proxy_async_global();
      s.landed.arrive_expect_tx(sizeof s.part);
      bulk_load(s.part, p.between, sizeof s.part, s.landed);
    }
    s.landed.wait(0);
    p.out[t] = s.part[t];
  }
};
void test_reader_fence(emu::trial& t) {
  int* const between = t.output<int>(reader_fence::threads);
  int* const out = t.output<int>(reader_fence::threads);
  t.run(reader_fence{}, 1, {between, out});
  t.compare(out, reader_fence::threads, [](std::int64_t i) { return static_cast<int>(3 * i); });
}

/// All lanes of a warp in one bank (E0041).
struct columns {
  struct params {
    int* out;
  };
  struct smem {
    int tile[32][32];
  };
  static constexpr int threads = 32, cluster = 1, smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const t = thread_id();
    for (int i = 0; i < 32; ++i) s.tile[i][t] = 32 * i + t;
    cta_sync();
    for (int i = 0; i < 32; ++i) p.out[32 * i + t] = s.tile[t][i];
  }
};
void test_columns(emu::trial& t) {
  int* const out = t.output<int>(1024);
  t.run(columns{}, 1, {out});
  t.compare(out, 1024, [](std::int64_t i) { return static_cast<int>(i % 32 * 32 + i / 32); });
}

/// reader_fence, and then all lanes of a warp read one bank (E0044, then E0041).
struct two_faults {
  struct params {
    int* between;
    int* out;
  };
  struct smem {
    alignas(16) int part[1024];
    mbarrier landed;
  };
  static constexpr int threads = 32, cluster = 1, smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const t = thread_id();
    if (t == 0) {
      s.landed.init(1);
      fence_mbarrier_init();
    }
    for (int i = 0; i < 32; ++i) p.between[32 * i + t] = 32 * i + t;
    cta_sync();
    if (t == 0) {
      fence_proxy_async_global();
      s.landed.arrive_expect_tx(sizeof s.part);
      bulk_load(s.part, p.between, sizeof s.part, s.landed);
    }
    s.landed.wait(0);
    for (int i = 0; i < 32; ++i) p.out[32 * i + t] = s.part[32 * t + i];
  }
};
void test_two_faults(emu::trial& t) {
  int* const between = t.output<int>(1024);
  int* const out = t.output<int>(1024);
  t.run(two_faults{}, 1, {between, out});
  t.compare(out, 1024, [](std::int64_t i) { return static_cast<int>(i % 32 * 32 + i / 32); });
}

/// The first CTA waits for the second: on a device that holds one at a time for ever (E0001).
struct needs_two {
  struct params {
    unsigned* flag;
    int* out;
  };
  static constexpr int threads = 32, cluster = 1, smem_bytes = 0;

  TW_DEVICE static void run(params const& p) {
    if (cta_id() == 1 && thread_id() == 0) store_release(p.flag, 1U);
    if (cta_id() == 0)
      while (load_acquire(p.flag) == 0) backoff();
    p.out[cta_id() * threads + thread_id()] = cta_id();
  }
};
template <class Kernel>
void test_needs_two(emu::trial& t) {
  std::vector<unsigned> const zero(1);
  int* const out = t.output<int>(2 * needs_two::threads);
  t.run(Kernel{}, 2, {t.input(zero), out});
  t.compare(out, 2 * needs_two::threads,
            [](std::int64_t i) { return static_cast<int>(i / needs_two::threads); });
}

/// needs_two with shared memory for which an SM holds one CTA.
struct whole_sm : needs_two {
  static constexpr int smem_bytes = 150 << 10;
};

/// Writes, and lets the next kernel of the stream start.
struct first_of_two {
  struct params {
    int* between;
  };
  static constexpr int threads = 64, cluster = 1, smem_bytes = 0;

  TW_DEVICE static void run(params const& p) {
    grid_dependents_launch();
    p.between[thread_id()] = thread_id();
  }
};
/// Reads what the kernel before it has written (E0046 if it does not wait).
struct second_of_two {
  struct params {
    int const* between;
    int* out;
    bool waits;
  };
  static constexpr int threads = 64, cluster = 1, smem_bytes = 0;

  TW_DEVICE static void run(params const& p) {
    if (p.waits) grid_dependency_wait();
    p.out[thread_id()] = p.between[thread_id()];
  }
};
void test_second_of_two(emu::trial& t) {
  int* const between = t.output<int>(64);
  int* const out = t.output<int>(64);
  t.run(first_of_two{}, 1, {between});
  t.run_early(second_of_two{}, 1, {between, out, !t.bug(1)});
  t.compare(out, 64, [](std::int64_t i) { return static_cast<int>(i); });
}
constexpr emu::plugin_bug no_wait[] = {{"no-wait", "no grid_dependency_wait"}};

/// Warps 4 to 7 load from tensor memory what warps 0 to 3 have stored, ordered by a barrier without
/// tcgen05.fence (E0101).
struct no_fences {
  struct params {
    std::uint32_t* out;
  };
  struct smem {
    std::uint32_t at;
  };
  static constexpr int threads = 256, cluster = 1, smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (warp_id() == 0) {
      tmem_alloc(&s.at, 32);
      tmem_relinquish();
    }
    cta_sync();
    std::uint32_t const lanes = tmem_at(s.at, 32 * (warp_id() % 4), 0);
    if (warp_id() < 4) {
      tmem_store<tmem_shape::l32x32b, 1>(lanes, {{static_cast<std::uint32_t>(5 * thread_id())}});
      tmem_wait_store();
    }
    cta_sync();
    if (warp_id() >= 4) {
      auto v = tmem_load<tmem_shape::l32x32b, 1>(lanes);
      tmem_wait_load(v);
      p.out[thread_id() - 128] = v.r[0];
    }
    cta_sync();
    if (warp_id() == 0) tmem_dealloc(s.at, 32);
  }
};
void test_no_fences(emu::trial& t) {
  std::uint32_t* const out = t.output<std::uint32_t>(128);
  t.run(no_fences{}, 1, {out});
  t.compare(out, 128, [](std::int64_t i) { return static_cast<std::uint32_t>(5 * i); });
}

/// Values, with ways to be wrong.
struct values {
  struct params {
    bf16* out;
    float add;
    bool hangs, never_ends;
  };
  struct smem {
    mbarrier ready;
  };
  static constexpr int threads = 32, cluster = 1, smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) s.ready.init(1);
    cta_sync();
    if (p.hangs) s.ready.wait(0);
    for (int volatile i = 0; p.never_ends;) i = 1 - i;
    p.out[32 * cta_id() + thread_id()] =
        to_bf16(static_cast<float>(thread_id()) + (thread_id() == 7 ? p.add : 0.0F));
  }
};
void test_values(emu::trial& t) {
  bf16* const out = t.output<bf16>(32 * 300);
  float const add = t.bug(1) ? -0.25F : t.bug(2) ? 1.0F : t.bug(3) ? 0.125F : 0.0F;
  t.run(values{}, 300, {out, add, t.bug(4), t.bug(5)});
  auto const right = [](std::int64_t i) { return static_cast<float>(i % 32); };
  if (t.bug(2) || t.bug(3))
    t.compare_near(out, 32 * 300, right, 0.25, 0.0625);
  else
    t.compare(out, 32 * 300, [&](std::int64_t i) { return to_bf16(right(i)); });
}
constexpr emu::plugin_bug value_bugs[] = {{"other-bits", "element 7 is 0.25 too small"},
                                          {"too-far", "farther than compare_near allows"},
                                          {"near", "nearer than compare_near allows"},
                                          {"hangs", "a wait for an arrive that never comes"},
                                          {"never-ends", "a loop without end"}};

constexpr emu::plugin_shape shapes[] = {{{1}}};
constexpr emu::plugin_kernel kernels[] = {
    emu::test_of<test_packed>("packed", "N", shapes),
    emu::test_of<test_reader_fence>("reader_fence", "N", shapes),
    emu::test_of<test_columns>("columns", "N", shapes),
    emu::test_of<test_two_faults>("two_faults", "N", shapes),
    emu::test_of<test_needs_two<needs_two>>("needs_two", "N", shapes),
    emu::test_of<test_needs_two<whole_sm>>("whole_sm", "N", shapes),
    emu::test_of<test_no_fences>("no_fences", "N", shapes),
    emu::test_of<test_second_of_two>("second_of_two", "N", shapes, no_wait),
    emu::test_of<test_values>("values", "N", shapes, value_bugs)};
constexpr emu::plugin own = emu::plugin_of(kernels);

}  // namespace

extern "C" emu::plugin const* tilewright_plugin() { return &own; }
