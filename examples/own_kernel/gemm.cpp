// SPDX-License-Identifier: Apache-2.0
// gemm.cpp  A small GEMM with TMA and wgmma, and its test.
#include "tilewright/arch/emu/plugin.hpp"
#include "tilewright/atom/operand.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/pipeline/ring.hpp"

using namespace tw;

/// D[M,N] = A[M,K] B[N,K]^T in bf16. One warpgroup computes a tile of 64 x 64; thread 0 also keeps
/// a ring of three stages filled by TMA.
struct gemm {
  static constexpr int threads = 128, cluster = 1, stages = 3, tile = 64;
  using operand = operand_tile<elem::bf16, operand_major::k, swizzle_mode::b128, tile>;
  struct smem {
    alignas(1024) std::uint16_t a[stages][tile * tile];  // (m, k), each
    alignas(1024) std::uint16_t b[stages][tile * tile];  // (n, k), each
    alignas(1024) std::uint16_t d[tile * tile];          // (m, n)
    mbarrier landed[stages];
  };
  static constexpr int smem_bytes = sizeof(smem);
  struct params {
    tensor_map a, b, d;  // boxes of 64 x 64, 128-byte swizzle
    int n_tiles, k_tiles;
    bool refill_early, forget_the_fence;
  };

  TW_DEVICE static void load(params const& p, smem& s, int stage, int k, int m, int n) {
    s.landed[stage].arrive_expect_tx(sizeof(s.a[0]) + sizeof(s.b[0]));
    tma_load(s.a[stage], p.a, s.landed[stage], tma_coord<2>{{k * tile, m}});
    tma_load(s.b[stage], p.b, s.landed[stage], tma_coord<2>{{k * tile, n}});
  }

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const m = cta_id() / p.n_tiles * tile, n = cta_id() % p.n_tiles * tile;
    bool const leader = thread_id() == 0;
    if (leader) {
      for (int i = 0; i < stages; ++i) s.landed[i].init(1);
      fence_mbarrier_init();
      for (int k = 0; k < stages && k < p.k_tiles; ++k) load(p, s, k, k, m, n);
    }
    cta_sync();

    accumulator<tile> sum;  // (64, 64) over the 128 threads
    ring<stages> slot;
    for (int k = 0; k < p.k_tiles; ++k, slot.next()) {
      s.landed[slot.stage].wait(slot.phase);
      wgmma_fence(sum);
      TW_UNROLL
      for (int kk = 0; kk < tile; kk += 16)
        wgmma<elem::bf16, operand_major::k, operand_major::k>(
            sum, operand::desc(smem_addr(s.a[slot.stage]), tile, 0, kk),
            operand::desc(smem_addr(s.b[slot.stage]), tile, 0, kk), k > 0 || kk > 0);
      wgmma_commit();
      if (!p.refill_early) wgmma_wait<0>(sum);  // the wgmmas are done
      cta_sync();                               // ... in all warps: the stage is free
      if (leader && k + stages < p.k_tiles) load(p, s, slot.stage, k + stages, m, n);
    }
    wgmma_wait<0>(sum);

    // Eight columns of 16 bytes, swizzled as the TMA store reads them.
    int const row = 16 * warp_id() + lane_id() % 16, half = lane_id() / 16;
    TW_UNROLL
    for (int q = 0; q < 4; ++q) {
      int const i = 8 * q;
      constexpr elem t = elem::bf16;
      stmatrix<4>(s.d + row * tile + 8 * ((2 * q + half) ^ (row & 7)),
                  b32<4>{{pack2<t>(sum[i], sum[i + 1]), pack2<t>(sum[i + 2], sum[i + 3]),
                          pack2<t>(sum[i + 4], sum[i + 5]), pack2<t>(sum[i + 6], sum[i + 7])}});
    }
    if (!p.forget_the_fence) fence_proxy_async();  // TMA will see what stmatrix wrote
    cta_sync();
    if (leader) {
      tma_store(p.d, s.d, tma_coord<2>{{n, m}});
      tma_store_commit();
      tma_store_wait_read<0>();
    }
  }
};

tensor_map map_of(emu::trial const& t, void* base, std::int64_t inner, std::int64_t outer) {
  tensor_map_desc d;
  d.base = base;
  d.dim[0] = inner;
  d.dim[1] = outer;
  d.stride_bytes[0] = 2 * inner;
  d.box[0] = d.box[1] = gemm::tile;
  d.swizzle = swizzle_mode::b128;
  return t.map(d);
}

/// The right result, without the calls for the emulator: they would make it slow.
[[gnu::no_sanitize("thread")]] bf16 dot(float const* a, float const* b, std::int64_t k) {
  float sum = 0;  // exact: the operands are small fractions
  for (std::int64_t x = 0; x < k; ++x) sum += a[x] * b[x];
  return to_bf16(sum);
}

void test_gemm(emu::trial& t) {
  auto const m = t.extent(0), n = t.extent(1), k = t.extent(2);
  std::vector<float> fa(static_cast<std::size_t>(m * k)), fb(static_cast<std::size_t>(n * k));
  std::vector<bf16> a, b;
  for (float& x : fa) a.push_back(to_bf16(x = t.small_fraction()));
  for (float& x : fb) b.push_back(to_bf16(x = t.small_fraction()));
  bf16* const d = t.output<bf16>(m * n);

  t.run(gemm{}, static_cast<int>(m / 64 * (n / 64)),
        {map_of(t, t.input(a), k, m), map_of(t, t.input(b), k, n), map_of(t, d, n, m),
         static_cast<int>(n / 64), static_cast<int>(k / 64), t.bug(1), t.bug(2)});

  t.compare(d, m * n,
            [&](std::int64_t i) { return dot(fa.data() + i / n * k, fb.data() + i % n * k, k); });
}

constexpr emu::plugin_shape shapes[] = {{{64, 64, 256}}, {{128, 64, 320}}, {{64, 192, 512}}};
constexpr emu::plugin_bug bugs[] = {
    {"refill-early", "a stage is refilled before wgmma has read it"},
    {"no-fence", "no fence_proxy_async between stmatrix and the TMA store"}};
constexpr emu::plugin_kernel kernels[] = {emu::test_of<test_gemm>("gemm", "M,N,K", shapes, bugs)};
constexpr emu::plugin own = emu::plugin_of(kernels);

extern "C" emu::plugin const* tilewright_plugin() { return &own; }
