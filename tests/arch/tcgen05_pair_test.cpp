// SPDX-License-Identifier: Apache-2.0
// tcgen05_pair_test.cpp  CTA pairs: a block-scaled multiply of 128 and of 256 rows, and loads to
//                        several pairs whose bytes the even CTAs count.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/arch/kernels/scaled_data.hpp"

namespace tw::test {
namespace {

struct pair_probe {
  struct params {
    std::uint8_t const *a, *b, *sfa, *sfb;  // the images of all rows
    std::uint32_t const* a_words;           // of each CTA: [128 lanes][32]
    float* d;                               // [256][N]
    int m;
    scaled_problem what;
  };
  struct smem {
    alignas(1024) std::uint8_t a[128 * row_bytes], b[128 * row_bytes];
    alignas(128) std::uint8_t sfa[512], sfb[2][512];
    mbarrier done;
    std::uint32_t at;
  };
  static constexpr int threads = 128, cluster = 2, smem_bytes = sizeof(smem);
  static constexpr int sfa_column = 256, sfb_column = 260, a_column = 384;

  static umma_desc tile(void const* at) {
    return make_umma_desc(smem_addr(at), 16, 8 * row_bytes, swizzle_mode::b128);
  }
  static umma_desc factors(void const* at) {
    return make_umma_desc(smem_addr(at), 16, 128, swizzle_mode::none);
  }
  static void bytes(std::uint8_t* to, std::uint8_t const* from, int count) {
    for (int i = thread_id(); i < count; i += threads) to[i] = from[i];
  }
  static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const rank = cluster_rank(), rows = p.m / 2, columns = p.what.n / 2, t = thread_id();
    if (t == 0) {
      s.done.init(1);
      fence_mbarrier_init();
    }
    cluster_sync();
    if (warp_id() == 0) tmem_alloc<2>(&s.at, 512);
    bytes(s.a, p.a + rank * rows * row_bytes, rows * row_bytes);
    bytes(s.b, p.b + rank * columns * row_bytes, columns * row_bytes);
    // The factors of the CTA's rows of A, in the rows of an atom from 0 on; of all columns of B.
    for (int i = t; i < rows * 4; i += threads) {
      int const r = i / 4, global = rank * rows + r;
      s.sfa[r % 32 * 16 + r / 32 * 4 + i % 4] =
          p.sfa[global / 128 * 2048 + global % 32 * 16 + global % 128 / 32 * 4 + i % 4];
    }
    if (p.m == 128) {  // the factors of each half of B, in the rows of its lanes
      for (int i = t; i < p.what.n * 4; i += threads) {
        int const n = i / 4, in_half = n % columns;
        s.sfb[n / columns][in_half % 32 * 16 + in_half / 32 * 4 + i % 4] =
            p.sfb[n / 128 * 2048 + n % 32 * 16 + n % 128 / 32 * 4 + i % 4];
      }
    } else {
      for (int i = 0; i < 2; ++i) bytes(s.sfb[i], p.sfb + 2048 * i, 512);
    }
    fence_proxy_async();
    cluster_sync();
    if (p.what.a_in_tmem) {
      tmem_words<tmem_shape::l32x32b, row_bytes / 4> row;
      for (int i = 0; i < row_bytes / 4; ++i)
        row.r[i] = p.a_words[(rank * rows + t % rows) * row_bytes / 4 + i];
      tmem_store<tmem_shape::l32x32b, row_bytes / 4>(tmem_at(s.at, 32 * warp_id(), a_column), row);
      tmem_wait_store();
      tcgen05_fence_before();
    }
    cluster_sync();
    tcgen05_fence_after();
    if (rank == 0 && warp_id() == 0 && elect_one()) multiply(p, s);
    warp_sync();
    s.done.wait(0);
    tcgen05_fence_after();
    bool const halves = p.m == 128;
    for (int c = 0; c < (halves ? columns : p.what.n); ++c) {
      auto v = tmem_load<tmem_shape::l32x32b, 1>(tmem_at(s.at, 32 * warp_id(), c));
      tmem_wait_load(v);
      int const n = c + (halves ? t / 64 * columns : 0);
      p.d[(rank * rows + t % rows) * p.what.n + n] = tmem_float(v.r[0]);
    }
    cluster_sync();
    if (warp_id() == 0) tmem_dealloc<2>(s.at, 512);
  }
  static void multiply(params const& p, smem& s) {
    tmem_copy<tmem_copy_shape::c32x128b_x4, 2>(s.at + sfa_column, factors(s.sfa));
    if (p.m == 128)
      tmem_copy<tmem_copy_shape::c64x128b_01_23, 2>(s.at + sfb_column, factors(s.sfb));
    else
      for (int i = 0; i < (p.what.n + 127) / 128; ++i)
        tmem_copy<tmem_copy_shape::c32x128b_x4, 2>(
            s.at + static_cast<std::uint32_t>(sfb_column + 4 * i), factors(s.sfb[i]));
    for (int step = 0; step < 4; ++step) {
      umma_scaled_idesc const idesc{.b_scale_id = step,
                                    .a_scale_id = step,
                                    .a_format = idesc_format(mma_type_of(p.what.a)),
                                    .b_format = idesc_format(mma_type_of(p.what.b)),
                                    .n = p.what.n,
                                    .m = p.m,
                                    .ue8m0 = true};
      umma_desc const b = tile(s.b) + 32 * step;
      std::uint32_t const sfa = s.at + sfa_column, sfb = s.at + sfb_column;
      if (p.what.a_in_tmem)
        umma_scaled_ts<umma_kind::mxf8f6f4, 32, 2>(s.at, tmem_at(s.at, 0, a_column + 8 * step), b,
                                                   idesc.bits(), sfa, sfb, step > 0);
      else
        umma_scaled<umma_kind::mxf8f6f4, 32, 2>(s.at, tile(s.a) + 32 * step, b, idesc.bits(), sfa,
                                                sfb, step > 0);
    }
    umma_commit_multicast<2>(s.done, 0b11);
  }
};

void check_pair(int m, int n, bool a_in_tmem) {
  SCOPED_TRACE(testing::Message() << "M " << m << " N " << n << " A in TMEM " << a_in_tmem);
  scaled_problem const q{umma_kind::mxf8f6f4, 32, elem::e4m3, elem::e5m2,
                         elem::ue8m0,         n,  a_in_tmem};
  std::mt19937 random(static_cast<unsigned>(m + n));
  operand_data const a = make_operand(q, q.a, m, m, random);
  operand_data const b = make_operand(q, q.b, n, most_n, random);
  std::vector<std::uint32_t> const words = rows_in_words(q, a, m);
  std::vector<float> d(static_cast<std::size_t>(m * n), -1.0F);
  emu::report const r =
      emu::run(pair_probe{}, 2,
               pair_probe::params{a.image.data(), b.image.data(), a.factors.data(),
                                  b.factors.data(), words.data(), d.data(), m, q});
  ASSERT_TRUE(r.clean()) << r.text();
  int wrong = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float const got = d[static_cast<std::size_t>(i * n + j)];
      double const sum = scaled_sum(q, a, b, i, j);
      if (static_cast<double>(got) != sum && ++wrong <= 3)
        ADD_FAILURE() << i << ", " << j << ": " << got << ", not " << sum;
    }
}

TEST(ScaledPair, MultipliesOf128And256Rows) {
  for (int const m : {128, 256})
    for (int const n : {64, 128, 256})
      for (bool const a_in_tmem : {false, true}) check_pair(m, n, a_in_tmem);
}

/// CTA `from` of four loads a box to the CTAs of a mask.
struct multicast_probe {
  struct params {
    tensor_map map;     // a box of 256 bytes
    std::uint8_t* out;  // [CTA][256]
    int* phases;        // [CTA]: has the phase of its barrier ended?
    int from;
    std::uint16_t mask;
  };
  struct smem {
    alignas(128) std::uint8_t box[256];
    mbarrier landed;
  };
  static constexpr int threads = 32, cluster = 4, smem_bytes = sizeof(smem);
  static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const rank = cluster_rank();
    bool const leads = thread_id() == 0, even = rank % 2 == 0;
    int const boxes = (p.mask >> (rank & ~1) & 1) + (p.mask >> (rank | 1) & 1);
    if (leads) {
      for (auto& x : s.box) x = 0;
      s.landed.init(1);
      fence_mbarrier_init();
      fence_proxy_async();
      if (even) s.landed.arrive_expect_tx(256 * boxes);
    }
    cluster_sync();
    if (leads && rank == p.from)
      tma_load_pair_multicast(s.box, p.map, s.landed, tma_coord{0}, p.mask);
    // The even CTA's barrier counts the boxes of both CTAs of the pair.
    if (even) s.landed.wait(0);
    cluster_sync();
    p.phases[rank] = s.landed.try_wait(0) ? 1 : 0;
    for (int i = thread_id(); i < 256; i += threads) p.out[rank * 256 + i] = s.box[i];
  }
};

TEST(PairMulticast, BytesComeToTheMaskAndAreCountedByEvenCtas) {
  alignas(16) std::uint8_t source[256];
  std::iota(source, source + 256, static_cast<std::uint8_t>(1));
  tensor_map_desc x;
  x.base = source;
  x.type = elem::u8;
  x.rank = 1;
  x.dim[0] = x.box[0] = 256;
  for (int const from : {0, 1, 3})
    for (int const mask : {0b1111, 0b0101, 0b1010, 0b0110, 0b1000}) {
      SCOPED_TRACE(testing::Message() << "from " << from << " mask " << mask);
      std::vector<std::uint8_t> out(4 * 256);
      std::vector<int> phases(4);
      emu::options o;
      o.hazards = false;  // every thread stores one word
      emu::report const r =
          emu::run(multicast_probe{}, 4,
                   multicast_probe::params{make_tensor_map(x, target::emu), out.data(),
                                           phases.data(), from, static_cast<std::uint16_t>(mask)},
                   o);
      ASSERT_TRUE(r.clean()) << r.text();
      for (int rank = 0; rank < 4; ++rank) {
        EXPECT_EQ(phases[static_cast<std::size_t>(rank)], rank % 2 == 0 ? 1 : 0) << rank;
        for (int i = 0; i < 256; ++i)
          EXPECT_EQ(out[static_cast<std::size_t>(rank * 256 + i)],
                    (mask >> rank & 1) != 0 ? source[i] : 0)
              << rank << ", " << i;
      }
    }
}

}  // namespace
}  // namespace tw::test
