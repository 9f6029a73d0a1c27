// SPDX-License-Identifier: Apache-2.0
// tcgen05_scaled_test.cpp  Copies to tensor memory reach the lanes that their shapes name, and a
//                          block-scaled multiply computes the sum of (a sa)(b sb) for every kind,
//                          vector length and element type.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/arch/kernels/scaled_data.hpp"

namespace tw::test {
namespace {

constexpr int copied_columns = 8;
constexpr std::uint32_t untouched = 0x5A5A5A5A;

template <tmem_copy_shape S, tmem_unpack U>
struct copy_probe {
  struct params {
    std::uint8_t const* in;  // 4096 bytes
    std::uint32_t* out;      // [lane][column]
  };
  struct smem {
    alignas(1024) std::uint8_t in[4096];
    mbarrier done;
    std::uint32_t at;
  };
  static constexpr int threads = 128, cluster = 1, smem_bytes = sizeof(smem);
  static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) {
      s.done.init(1);
      fence_mbarrier_init();
    }
    if (warp_id() == 0) tmem_alloc(&s.at, 32);
    for (int i = thread_id(); i < 4096; i += 128) s.in[i] = p.in[i];
    fence_proxy_async();
    tmem_words<tmem_shape::l32x32b, copied_columns> before;
    cta_sync();
    for (std::uint32_t& word : before.r) word = untouched;
    tmem_store<tmem_shape::l32x32b, copied_columns>(tmem_at(s.at, 32 * warp_id(), 0), before);
    tmem_wait_store();
    tcgen05_fence_before();
    cta_sync();
    tcgen05_fence_after();
    if (warp_id() == 0 && elect_one()) {
      // Groups of 8 rows 128 bytes apart; the second 16 bytes of a row 2048 bytes further on.
      tmem_copy<S, 1, U>(s.at, make_umma_desc(smem_addr(s.in), 2048, 128, swizzle_mode::none));
      umma_commit(s.done);
    }
    s.done.wait(0);
    tcgen05_fence_after();
    for (int c = 0; c < 4 * tmem_copy_chunks(S); ++c) {
      auto v = tmem_load<tmem_shape::l32x32b, 1>(tmem_at(s.at, 32 * warp_id(), c));
      tmem_wait_load(v);
      p.out[thread_id() * copied_columns + c] = v.r[0];
    }
    cta_sync();
    if (warp_id() == 0) tmem_dealloc(s.at, 32);
  }
};

/// row(lane): the row that lane gets, -1: none. bits: of an element; 8 if nothing is unpacked.
template <tmem_copy_shape S, tmem_unpack U = tmem_unpack::none>
void check_copy(int (*row)(int lane), int bits = 8) {
  std::mt19937 random(7);
  std::vector<std::uint8_t> in(4096);
  for (auto& x : in) x = static_cast<std::uint8_t>(random());
  std::vector<std::uint32_t> out(128 * copied_columns);
  using probe = copy_probe<S, U>;
  emu::report const r = emu::run(probe{}, 1, typename probe::params{in.data(), out.data()});
  ASSERT_TRUE(r.clean()) << r.text();
  EXPECT_EQ(r.counts.tmem_copies, 1);
  for (int lane = 0; lane < 128; ++lane)
    for (int byte = 0; byte < 16 * tmem_copy_chunks(S); ++byte) {
      std::uint32_t const word = out[static_cast<std::size_t>(lane * copied_columns + byte / 4)];
      if (row(lane) < 0) {
        EXPECT_EQ(word, untouched) << lane << " " << byte;
        continue;
      }
      std::uint8_t const* const chunk =
          &in[static_cast<std::size_t>(row(lane) * 16 + byte / 16 * 2048)];
      int expected = 0;
      for (int i = 0; i < bits; ++i) {
        int const at = byte % 16 * bits + i;
        expected |= (chunk[at / 8] >> at % 8 & 1) << (bits == 4 ? i + 2 : i);
      }
      EXPECT_EQ(static_cast<int>(word >> byte % 4 * 8 & 0xFF), expected) << lane << " " << byte;
    }
}

TEST(TensorCopy, RowsReachTheLanesOfTheirShape) {
  check_copy<tmem_copy_shape::c128x256b>([](int lane) { return lane; });
  check_copy<tmem_copy_shape::c128x128b>([](int lane) { return lane; });
  check_copy<tmem_copy_shape::c64x128b_02_13>([](int lane) { return lane % 64; });
  check_copy<tmem_copy_shape::c64x128b_01_23>(
      [](int lane) { return lane < 64 ? lane % 32 : 32 + lane % 32; });
  check_copy<tmem_copy_shape::c32x128b_x4>([](int lane) { return lane % 32; });
  check_copy<tmem_copy_shape::c4x256b>([](int lane) { return lane % 32 == 0 ? lane / 32 : -1; });
}

TEST(TensorCopy, UnpacksElementsOf4And6Bits) {
  check_copy<tmem_copy_shape::c128x128b, tmem_unpack::b4>([](int lane) { return lane; }, 4);
  check_copy<tmem_copy_shape::c128x128b, tmem_unpack::b6>([](int lane) { return lane; }, 6);
}

constexpr int d_columns = 256, a_column = 384;

struct scaled_probe {
  struct params {
    std::uint8_t const *a, *b, *sfa, *sfb;
    std::uint32_t const* a_words;  // [128][32]: A in tensor memory
    float* d;                      // [128][256]
    scaled_problem what;
  };
  struct smem {
    alignas(1024) std::uint8_t a[128 * row_bytes], b[most_n * row_bytes];
    alignas(1024) std::uint8_t sfa[2048], sfb[2][2048];  // [row tile][K]
    mbarrier done;
    std::uint32_t at;
  };
  static constexpr int threads = 128, cluster = 1, smem_bytes = sizeof(smem);
  static umma_desc tile(void const* at) {
    return make_umma_desc(smem_addr(at), 16, 8 * row_bytes, swizzle_mode::b128);
  }
  template <umma_kind K, int Block>
  static void issue(params const& p, smem& s) {
    constexpr int factors = umma_k(K) / Block;
    std::uint32_t const sfa = s.at + d_columns, sfb = sfa + 16;
    int const atoms = row_factors(p.what) / 4, tiles = (p.what.n + 127) / 128;
    if (p.what.a_copied) copy_a(p, s);
    for (int i = 0; i < atoms; ++i) {
      tmem_copy<tmem_copy_shape::c32x128b_x4>(
          sfa + static_cast<std::uint32_t>(4 * i),
          make_umma_desc(smem_addr(s.sfa + 512 * i), 16, 128, swizzle_mode::none));
      for (int t = 0; t < tiles; ++t)
        tmem_copy<tmem_copy_shape::c32x128b_x4>(
            sfb + static_cast<std::uint32_t>(4 * (i * tiles + t)),
            make_umma_desc(smem_addr(s.sfb[t] + 512 * i), 16, 128, swizzle_mode::none));
    }
    for (int step = 0; step < 4; ++step) {
      int const id = step * factors % 4, atom = step * factors / 4;
      bool const mxf4 = K >= umma_kind::mxf4;
      umma_scaled_idesc const idesc{.b_scale_id = id,
                                    .a_scale_id = id,
                                    .a_format = mxf4 ? 1 : idesc_format(mma_type_of(p.what.a)),
                                    .b_format = mxf4 ? 1 : idesc_format(mma_type_of(p.what.b)),
                                    .n = p.what.n,
                                    .m = 128,
                                    .ue8m0 = p.what.scale == elem::ue8m0};
      std::uint32_t const sfa_at = sfa + static_cast<std::uint32_t>(4 * atom);
      std::uint32_t const sfb_at = sfb + static_cast<std::uint32_t>(4 * atom * tiles);
      if (p.what.a_in_tmem)
        umma_scaled_ts<K, Block>(s.at, tmem_at(s.at, 0, a_column + 8 * step), tile(s.b) + 32 * step,
                                 idesc.bits(), sfa_at, sfb_at, step > 0);
      else
        umma_scaled<K, Block>(s.at, tile(s.a) + 32 * step, tile(s.b) + 32 * step, idesc.bits(),
                              sfa_at, sfb_at, step > 0);
    }
  }
  static void copy_a(params const& p, smem& s) {
    auto const copy = [&](auto unpack) {
      for (int step = 0; step < 4; ++step)
        tmem_copy<tmem_copy_shape::c128x256b, 1, decltype(unpack)::value>(
            tmem_at(s.at, 0, a_column + 8 * step),
            make_umma_desc(smem_addr(s.a + 4096 * step), 2048, 128, swizzle_mode::none));
    };
    bool const padded = size_bits(p.what.a) < 8 && p.what.kind < umma_kind::mxf4;
    if (!padded)
      copy(std::integral_constant<tmem_unpack, tmem_unpack::none>{});
    else if (size_bits(p.what.a) == 4)
      copy(std::integral_constant<tmem_unpack, tmem_unpack::b4>{});
    else
      copy(std::integral_constant<tmem_unpack, tmem_unpack::b6>{});
  }
  static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) {
      s.done.init(1);
      fence_mbarrier_init();
    }
    if (warp_id() == 0) tmem_alloc(&s.at, 512);
    auto const copy = [&](std::uint8_t* to, std::uint8_t const* from, std::size_t bytes) {
      for (std::size_t i = static_cast<std::size_t>(thread_id()); i < bytes; i += 128)
        to[i] = from[i];
    };
    copy(s.a, p.a, sizeof s.a);
    copy(s.b, p.b, sizeof s.b);
    copy(s.sfa, p.sfa, sizeof s.sfa);
    copy(s.sfb[0], p.sfb, sizeof s.sfb);
    fence_proxy_async();
    cta_sync();
    if (p.what.a_in_tmem && !p.what.a_copied && !p.what.a_missing) {
      tmem_words<tmem_shape::l32x32b, row_bytes / 4> row;
      for (int i = 0; i < row_bytes / 4; ++i) row.r[i] = p.a_words[thread_id() * row_bytes / 4 + i];
      tmem_store<tmem_shape::l32x32b, row_bytes / 4>(tmem_at(s.at, 32 * warp_id(), a_column), row);
      tmem_wait_store();
      tcgen05_fence_before();
      cta_sync();
      tcgen05_fence_after();
    }
    if (warp_id() == 0 && elect_one()) {
      if (p.what.kind == umma_kind::mxf8f6f4)
        issue<umma_kind::mxf8f6f4, 32>(p, s);
      else if (p.what.kind == umma_kind::mxf4)
        issue<umma_kind::mxf4, 32>(p, s);
      else if (p.what.block == 32)
        issue<umma_kind::mxf4nvf4, 32>(p, s);
      else
        issue<umma_kind::mxf4nvf4, 16>(p, s);
      umma_commit(s.done);
    }
    s.done.wait(0);
    tcgen05_fence_after();
    for (int c = 0; c < p.what.n; ++c) {
      auto v = tmem_load<tmem_shape::l32x32b, 1>(tmem_at(s.at, 32 * warp_id(), c));
      tmem_wait_load(v);
      p.d[thread_id() * d_columns + c] = tmem_float(v.r[0]);
    }
    cta_sync();
    if (warp_id() == 0) tmem_dealloc(s.at, 512);
  }
};

/// D of the problem, after it was compared with the sums.
std::vector<float> check_scaled(scaled_problem const& q) {
  SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(q.kind) << " block " << q.block
                                  << " " << name(q.a) << " " << name(q.b) << " " << name(q.scale)
                                  << " N " << q.n << (q.a_in_tmem ? " A in tensor memory" : "")
                                  << (q.a_copied ? ", copied" : ""));
  std::mt19937 random(static_cast<unsigned>(q.n + q.block));
  operand_data a = make_operand(q, q.a, 128, 128, random);
  operand_data const b = make_operand(q, q.b, q.n, most_n, random);
  std::vector<std::uint32_t> const words = rows_in_words(q, a, 128);
  if (q.a_copied) a.image = chunks_in_columns(a, 128);
  std::vector<float> d(128 * d_columns);
  emu::report const r =
      emu::run(scaled_probe{}, 1,
               scaled_probe::params{a.image.data(), b.image.data(), a.factors.data(),
                                    b.factors.data(), words.data(), d.data(), q});
  EXPECT_TRUE(r.clean()) << r.text();
  int wrong = 0;
  for (int m = 0; m < 128; ++m)
    for (int n = 0; n < q.n; ++n) {
      double const sum = scaled_sum(q, a, b, m, n);
      float const got = d[static_cast<std::size_t>(m * d_columns + n)];
      if (static_cast<double>(got) != sum && ++wrong <= 3)
        ADD_FAILURE() << m << ", " << n << ": " << got << ", not " << sum;
    }
  return d;
}

TEST(ScaledMultiply, ComputesEveryKindAndVectorLength) {
  for (elem const t : {elem::e4m3, elem::e5m2, elem::e2m3, elem::e3m2, elem::e2m1})
    check_scaled({umma_kind::mxf8f6f4, 32, t, elem::e4m3, elem::ue8m0, 64});
  check_scaled({umma_kind::mxf8f6f4, 32, elem::e4m3, elem::e2m1, elem::ue8m0, 256});
  check_scaled({umma_kind::mxf4, 32, elem::e2m1, elem::e2m1, elem::ue8m0, 128});
  check_scaled({umma_kind::mxf4nvf4, 32, elem::e2m1, elem::e2m1, elem::ue8m0, 192});
  check_scaled({umma_kind::mxf4nvf4, 16, elem::e2m1, elem::e2m1, elem::ue8m0, 16});
  check_scaled({umma_kind::mxf4nvf4, 16, elem::e2m1, elem::e2m1, elem::ue4m3, 256});
}

TEST(ScaledMultiply, TakesAFromTensorMemory) {
  check_scaled({umma_kind::mxf8f6f4, 32, elem::e4m3, elem::e2m1, elem::ue8m0, 64, true});
  check_scaled({umma_kind::mxf8f6f4, 32, elem::e5m2, elem::e4m3, elem::ue8m0, 128, true});
  check_scaled({umma_kind::mxf4, 32, elem::e2m1, elem::e2m1, elem::ue8m0, 128, true});
  check_scaled({umma_kind::mxf4nvf4, 16, elem::e2m1, elem::e2m1, elem::ue4m3, 64, true});
}

TEST(ScaledMultiply, NarrowAInTensorMemoryHasTheBitsOfAInSharedMemory) {
  for (elem const a : {elem::e2m1, elem::e2m3, elem::e3m2, elem::e4m3})
    for (elem const b : {elem::e4m3, elem::e5m2, elem::e2m3, elem::e3m2, elem::e2m1}) {
      scaled_problem q{umma_kind::mxf8f6f4, 32, a, b, elem::ue8m0, 64};
      std::vector<float> const in_smem = check_scaled(q);
      q.a_in_tmem = true;
      EXPECT_EQ(check_scaled(q), in_smem);
      q.a_copied = true;
      EXPECT_EQ(check_scaled(q), in_smem);
    }
}

TEST(ScaledMultiply, NarrowAThatNothingHasWrittenIsReported) {
  scaled_problem q{umma_kind::mxf8f6f4, 32, elem::e2m1, elem::e4m3, elem::ue8m0, 64, true};
  q.a_missing = true;
  std::mt19937 random(1);
  operand_data const a = make_operand(q, q.a, 128, 128, random);
  operand_data const b = make_operand(q, q.b, q.n, most_n, random);
  std::vector<std::uint32_t> const words = rows_in_words(q, a, 128);
  std::vector<float> d(128 * d_columns);
  emu::report const r =
      emu::run(scaled_probe{}, 1,
               scaled_probe::params{a.image.data(), b.image.data(), a.factors.data(),
                                    b.factors.data(), words.data(), d.data(), q});
  EXPECT_TRUE(r.has("E0102")) << r.text();
}

TEST(ScaledMultiply, OtherBitsOfNarrowAAreReported) {
  for (std::uint32_t const bit : {0x00000001U, 0x00008000U, 0x40000000U}) {
    scaled_problem const q{umma_kind::mxf8f6f4, 32, elem::e2m1, elem::e4m3, elem::ue8m0, 64, true};
    std::mt19937 random(1);
    operand_data const a = make_operand(q, q.a, 128, 128, random);
    operand_data const b = make_operand(q, q.b, q.n, most_n, random);
    std::vector<std::uint32_t> words = rows_in_words(q, a, 128);
    words[77] |= bit;
    std::vector<float> d(128 * d_columns);
    emu::report const r =
        emu::run(scaled_probe{}, 1,
                 scaled_probe::params{a.image.data(), b.image.data(), a.factors.data(),
                                      b.factors.data(), words.data(), d.data(), q});
    EXPECT_TRUE(r.has("E0114")) << r.text();
    EXPECT_NE(r.text().find("lane 2, column 397"), std::string::npos) << r.text();
  }
}

}  // namespace
}  // namespace tw::test
