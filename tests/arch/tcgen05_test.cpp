// SPDX-License-Identifier: Apache-2.0
// tcgen05_test.cpp  Loads and stores of tensor memory reach the cells that their shapes name, and a
//                   multiply computes D = A B + C for all shapes, types and operand layouts.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "tilewright/arch/select.hpp"
#include "tilewright/atom/umma_idesc.hpp"
#include "tilewright/base/convert.hpp"

namespace tw::test {
namespace {

constexpr int columns = 256;

/// Writes lane * 1000 + column everywhere, loads with one shape, and gives each thread's registers.
template <tmem_shape S, int Count, int Split>
struct load_probe {
  struct params {
    std::uint32_t* out;  // [thread][register]
  };
  struct smem {
    std::uint32_t at;
  };
  static constexpr int threads = 128, cluster = 1, smem_bytes = sizeof(smem);
  static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (warp_id() == 0) tmem_alloc(&s.at, columns);
    cta_sync();
    std::uint32_t const own = tmem_at(s.at, 32 * warp_id(), 0);
    for (int c = 0; c < columns; ++c)
      tmem_store<tmem_shape::l32x32b, 1>(own + static_cast<std::uint32_t>(c),
                                         {{static_cast<std::uint32_t>(1000 * thread_id() + c)}});
    tmem_wait_store();
    auto v = tmem_load<S, Count, Split>(own);
    tmem_wait_load(v);
    constexpr int n = tmem_registers(S, Count);
    for (int i = 0; i < n; ++i) p.out[thread_id() * n + i] = v.r[i];
    auto packed = tmem_load_packed<S, Count, Split>(own);
    tmem_wait_load(packed);
    for (int i = 0; i < n; ++i) p.out[(128 + thread_id()) * n + i] = packed.r[i];
    // A load in the same shape returns the registers that were stored.
    tmem_store_unpacked<S, Count, Split>(own, packed);
    tmem_wait_store();
    auto again = tmem_load_packed<S, Count, Split>(own);
    tmem_wait_load(again);
    for (int i = 0; i < n; ++i) p.out[(256 + thread_id()) * n + i] = again.r[i];
    cta_sync();
    if (warp_id() == 0) tmem_dealloc(s.at, columns);
  }
};

/// PTX ISA, "Data Movement Shape": the 32 bits of a thread for each 16 x 64, 128 or 256 bits.
template <tmem_shape S, int Count, int Split = 0>
void check_load(std::array<int, 2> (*cell)(int t, int r)) {
  constexpr int n = tmem_registers(S, Count);
  std::vector<std::uint32_t> out(384 * n);
  using kernel = load_probe<S, Count, Split>;
  emu::report const report = emu::run(kernel{}, 1, typename kernel::params{out.data()});
  ASSERT_TRUE(report.clean()) << report.text();
  for (int t = 0; t < 128; ++t)
    for (int r = 0; r < n; ++r) {
      auto const [lane, column] = cell(t % 32, r);
      int const at = 32 * (t / 32) + lane;
      EXPECT_EQ(out[static_cast<std::size_t>(t * n + r)],
                static_cast<std::uint32_t>(1000 * at + column))
          << t << ", " << r;
      int const split = S == tmem_shape::l16x32bx2 && t % 32 >= 16 ? Split : 0;
      int const low = 2 * (column - split) + split;
      std::uint32_t const pair = static_cast<std::uint32_t>(1000 * at + low) & 0xFFFF;
      std::uint32_t const expected =
          pair | (static_cast<std::uint32_t>(1000 * at + low + 1) & 0xFFFF) << 16;
      EXPECT_EQ(out[static_cast<std::size_t>((128 + t) * n + r)], expected) << t << ", " << r;
      EXPECT_EQ(out[static_cast<std::size_t>((256 + t) * n + r)], expected) << t << ", " << r;
    }
}

TEST(TensorMemory, LoadsReachTheCellsOfTheirShape) {
  check_load<tmem_shape::l32x32b, 32>([](int t, int r) { return std::array{t, r}; });
  // 16 rows of 64 bits: thread 4 i and 4 i + 2 hold row i, threads 4 i + 1 and 4 i + 3 row i + 8.
  check_load<tmem_shape::l16x64b, 16>([](int t, int r) {
    return std::array{t / 4 + (t & 1) * 8, 2 * r + ((t >> 1) & 1)};
  });
  check_load<tmem_shape::l16x128b, 8>([](int t, int r) {
    return std::array{t / 4 + (r & 1) * 8, t % 4 + (r >> 1) * 4};
  });
  check_load<tmem_shape::l16x256b, 4>([](int t, int r) {
    return std::array{t / 4 + ((r >> 1) & 1) * 8, (t % 4) * 2 + (r & 1) + (r >> 2) * 8};
  });
  check_load<tmem_shape::l16x32bx2, 16, 64>([](int t, int r) {
    return std::array{t & 15, r + (t >= 16 ? 64 : 0)};
  });
}

struct problem {
  int m, n;
  elem type;
  operand_major a_major, b_major;
  swizzle_mode swizzle;
  bool d_f16 = false, a_in_tmem = false, negate = false, accumulate = true;
  int lane = 0;  // of the accumulator
};
/// Elements of 4 and 6 bits lie in containers of a byte each, 16 packed and then padding.
int container_bytes(elem type) { return size_bits(type) < 8 ? 1 : size_bytes(type); }
int k_of(elem type) { return 32 / container_bytes(type); }
constexpr int image_bytes = 128 * 128;  // of an operand in shared memory

/// The canonical layouts: byte of the container (mn, k) before the swizzle, and the two offsets.
struct places {
  int leading, stride;
  int (*byte)(int mn, int k, int span, int bytes);
};
places places_of(operand_major major, int span, int bytes) {
  if (major == operand_major::k)
    return span == 16 ? places{128, 256,
                               [](int mn, int k, int, int e) {
                                 return mn % 8 * 16 + mn / 8 * 256 + k * e / 16 * 128 + k * e % 16;
                               }}
                      : places{16, 8 * span, [](int mn, int k, int w, int e) {
                                 return mn % 8 * w + mn / 8 * 8 * w + k * e;
                               }};
  // MN-major: 8 rows of k, each of one span along MN.
  if (span == 16)
    return {2048, 128, [](int mn, int k, int, int e) {
              return mn % (16 / e) * e + mn / (16 / e) * 128 + k % 8 * 16 + k / 8 * 2048;
            }};
  return {32 / bytes * span, 8 * span, [](int mn, int k, int w, int e) {
            return mn % (w / e) * e + mn / (w / e) * (32 / e) * w + k % 8 * w + k / 8 * 8 * w;
          }};
}

struct multiply_probe {
  struct params {
    std::uint8_t const *a, *b;
    std::uint32_t const* a_words;  // [128][8]: A in tensor memory
    std::uint32_t const* c;        // [128][256]
    std::uint32_t* d;
    std::uint32_t idesc;
    places of_a, of_b;
    problem what;
  };
  struct smem {
    alignas(1024) std::uint8_t a[image_bytes], b[2 * image_bytes];
    std::uint32_t at;
    mbarrier done;
  };
  static constexpr int threads = 128, cluster = 1, smem_bytes = sizeof(smem);
  static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const t = thread_id();
    if (t == 0) {
      s.done.init(1);
      fence_mbarrier_init();
    }
    if (warp_id() == 0) tmem_alloc(&s.at, 2 * columns);
    for (int i = t; i < image_bytes; i += 128) s.a[i] = p.a[i];
    for (int i = t; i < 2 * image_bytes; i += 128) s.b[i] = p.b[i];
    fence_proxy_async();
    cta_sync();
    std::uint32_t const own = tmem_at(s.at, 32 * warp_id(), 0);
    for (int c = 0; c < columns; ++c)
      tmem_store<tmem_shape::l32x32b, 1>(own + static_cast<std::uint32_t>(c),
                                         {{p.c[t * columns + c]}});
    for (int c = 0; c < 8; ++c)
      tmem_store<tmem_shape::l32x32b, 1>(own + static_cast<std::uint32_t>(columns + c),
                                         {{p.a_words[8 * t + c]}});
    tmem_wait_store();
    tcgen05_fence_before();
    cta_sync();
    tcgen05_fence_after();
    if (warp_id() == 0 && elect_one()) {
      std::uint32_t const d = tmem_at(s.at, p.what.lane, 0);
      auto const leading = [](places const& x) { return static_cast<std::uint32_t>(x.leading); };
      auto const stride = [](places const& x) { return static_cast<std::uint32_t>(x.stride); };
      umma_desc const a =
          make_umma_desc(smem_addr(s.a), leading(p.of_a), stride(p.of_a), p.what.swizzle);
      umma_desc const b =
          make_umma_desc(smem_addr(s.b), leading(p.of_b), stride(p.of_b), p.what.swizzle);
      if (p.what.type == elem::tf32)
        issue<umma_kind::tf32>(p, s, d, a, b);
      else if (container_bytes(p.what.type) == 1)
        issue<umma_kind::f8f6f4>(p, s, d, a, b);
      else
        issue<umma_kind::f16>(p, s, d, a, b);
      umma_commit(s.done);
    }
    s.done.wait(0);
    tcgen05_fence_after();
    for (int c = 0; c < columns; ++c) {
      auto v = tmem_load<tmem_shape::l32x32b, 1>(own + static_cast<std::uint32_t>(c));
      tmem_wait_load(v);
      p.d[t * columns + c] = v.r[0];
    }
    cta_sync();
    if (warp_id() == 0) tmem_dealloc(s.at, 2 * columns);
  }
  template <umma_kind K>
  static void issue(params const& p, smem& s, std::uint32_t d, umma_desc a, umma_desc b) {
    if (p.what.a_in_tmem)
      umma_ts<K>(d, tmem_at(s.at, p.what.lane, columns), b, p.idesc, p.what.accumulate);
    else
      umma<K>(d, a, b, p.idesc, p.what.accumulate);
  }
};

std::uint32_t bits_of(elem type, float x) {
  switch (type) {
    case elem::bf16: return to_bf16(x).bits;
    case elem::f16: return to_f16(x).bits;
    case elem::tf32: return to_tf32(x).bits;
    case elem::e4m3: return to_e4m3(x, saturation::none).bits;
    case elem::e5m2: return to_e5m2(x, saturation::none).bits;
    case elem::e2m3: return to_e2m3(x).bits;
    case elem::e3m2: return to_e3m2(x).bits;
    default: return to_e2m1(x).bits;
  }
}
mma_type type_of(elem e) {
  switch (e) {
    case elem::bf16: return mma_type::bf16;
    case elem::f16: return mma_type::f16;
    case elem::tf32: return mma_type::tf32;
    case elem::e4m3: return mma_type::e4m3;
    case elem::e5m2: return mma_type::e5m2;
    case elem::e2m3: return mma_type::e2m3;
    case elem::e3m2: return mma_type::e3m2;
    default: return mma_type::e2m1;
  }
}
/// Writes element `index` of a chunk of 16 bytes.
void put_element(std::uint8_t* chunk, elem type, int index, float x) {
  std::uint64_t const bits = bits_of(type, x);
  for (int i = 0; i < size_bits(type); ++i) {
    int const at = size_bits(type) * index + i;
    chunk[at / 8] = static_cast<std::uint8_t>(chunk[at / 8] | (bits >> i & 1U) << at % 8);
  }
}

void check_multiply(problem const& q, std::mt19937& random) {
  SCOPED_TRACE(testing::Message() << "M " << q.m << " N " << q.n << " " << name(q.type) << " A "
                                  << static_cast<int>(q.a_major) << " B "
                                  << static_cast<int>(q.b_major) << " swizzle "
                                  << static_cast<int>(q.swizzle) << " lane " << q.lane);
  auto const small = [&] { return static_cast<float>(static_cast<int>(random() % 9) - 4); };
  int const k_extent = k_of(q.type), bytes = container_bytes(q.type);
  int const span = swizzle_span_bytes(q.swizzle);
  std::vector<float> a(static_cast<std::size_t>(q.m * k_extent)),
      b(static_cast<std::size_t>(q.n * k_extent));
  std::vector<std::uint8_t> image_a(image_bytes), image_b(2 * image_bytes);
  std::vector<std::uint32_t> a_words(128 * 8), c(128 * columns), d(128 * columns);
  places const of_a = places_of(q.a_major, span, bytes), of_b = places_of(q.b_major, span, bytes);
  auto const lane_of = [&](int m) { return q.m == 64 ? 32 * (m / 16) + m % 16 + q.lane : m; };
  // The swizzle moves whole chunks of 16 bytes.
  auto const put = [&](std::vector<std::uint8_t>& image, places const& x, int mn, int k, float v) {
    auto const plain = static_cast<std::uint32_t>(x.byte(mn, k, span, bytes));
    std::uint8_t* const chunk = &image[swizzled(plain, q.swizzle) & ~15U];
    put_element(chunk, q.type, static_cast<int>(plain % 16) / bytes, v);
  };
  for (int m = 0; m < q.m; ++m)
    for (int k = 0; k < k_extent; ++k) {
      float const x = a[static_cast<std::size_t>(m * k_extent + k)] = small();
      put(image_a, of_a, m, k, x);
      int const lowest = q.type == elem::e2m1 ? 2 : 0;  // of the bits in the byte
      a_words[static_cast<std::size_t>(lane_of(m) * 8 + k * bytes / 4)] |=
          bits_of(q.type, x) << (8 * (k * bytes % 4) + lowest);
    }
  for (int n = 0; n < q.n; ++n)
    for (int k = 0; k < k_extent; ++k)
      put(image_b, of_b, n, k, b[static_cast<std::size_t>(n * k_extent + k)] = small());
  for (std::uint32_t& w : c) {
    float const x = small();
    w = q.d_f16 ? to_f16(x).bits : __builtin_bit_cast(std::uint32_t, x);
  }
  umma_idesc const idesc{.d_format = q.d_f16 ? 0 : 1,
                         .a_format = idesc_format(type_of(q.type)),
                         .b_format = idesc_format(type_of(q.type)),
                         .negate_a = q.negate,
                         .a_major = q.a_major,
                         .b_major = q.b_major,
                         .n = q.n,
                         .m = q.m};
  multiply_probe::params const p{image_a.data(), image_b.data(), a_words.data(), c.data(), d.data(),
                                 idesc.bits(),   of_a,           of_b,           q};
  emu::report const report = emu::run(multiply_probe{}, 1, p);
  ASSERT_TRUE(report.clean()) << report.text();
  int wrong = 0;
  for (int lane = 0; lane < 128; ++lane)
    for (int n = 0; n < columns; ++n) {
      auto const at = static_cast<std::size_t>(lane * columns + n);
      int const m = q.m == 128 ? lane : lane / 32 * 16 + lane % 16;
      bool const inside = n < q.n && (q.m == 128 || lane % 32 / 16 == q.lane / 16);
      std::uint32_t expected = c[at];
      if (inside) {
        float sum = q.d_f16 ? to_float(f16{static_cast<std::uint16_t>(c[at])})
                            : __builtin_bit_cast(float, c[at]);
        if (!q.accumulate) sum = 0;
        for (int k = 0; k < k_extent; ++k)
          sum += (q.negate ? -1.0F : 1.0F) * a[static_cast<std::size_t>(m * k_extent + k)] *
                 b[static_cast<std::size_t>(n * k_extent + k)];
        expected = q.d_f16 ? to_f16(sum).bits : __builtin_bit_cast(std::uint32_t, sum);
      }
      bool const zero = inside && !q.d_f16 && (expected << 1) == 0 && (d[at] << 1) == 0;
      if (d[at] != expected && !zero && ++wrong <= 3)
        ADD_FAILURE() << "lane " << lane << ", column " << n << ": " << d[at] << ", not "
                      << expected;
    }
}

TEST(TensorMemory, MultipliesOfAllOperandLayouts) {
  std::mt19937 random(12);
  for (int const m : {64, 128})
    for (operand_major const a : {operand_major::k, operand_major::mn})
      for (operand_major const b : {operand_major::k, operand_major::mn})
        for (swizzle_mode const s :
             {swizzle_mode::none, swizzle_mode::b32, swizzle_mode::b64, swizzle_mode::b128})
          check_multiply({m, 64, elem::bf16, a, b, s}, random);
}

TEST(TensorMemory, MultipliesOfMnMajorBytes) {
  std::mt19937 random(15);
  constexpr auto k = operand_major::k, mn = operand_major::mn;
  for (swizzle_mode const s :
       {swizzle_mode::none, swizzle_mode::b32, swizzle_mode::b64, swizzle_mode::b128}) {
    check_multiply({128, 64, elem::e4m3, mn, k, s}, random);
    check_multiply({128, 128, elem::e5m2, k, mn, s}, random);
    check_multiply({64, 128, elem::e4m3, mn, mn, s, true}, random);
  }
  check_multiply({128, 16, elem::e4m3, k, mn, swizzle_mode::none, false, true}, random);
}

TEST(TensorMemory, MultipliesOfAllShapesAndTypes) {
  std::mt19937 random(13);
  constexpr auto k = operand_major::k;
  for (int n = 16; n <= 256; n += 48)
    check_multiply({128, n, elem::f16, k, k, swizzle_mode::b128}, random);
  check_multiply({64, 8, elem::f16, k, k, swizzle_mode::b128, true}, random);
  check_multiply({64, 256, elem::bf16, k, k, swizzle_mode::b32, false, false, true}, random);
  check_multiply({64, 32, elem::f16, k, k, swizzle_mode::b128, false, false, false, true, 16},
                 random);
  check_multiply({128, 32, elem::bf16, k, k, swizzle_mode::b128, false, true}, random);
  check_multiply({64, 32, elem::f16, k, k, swizzle_mode::b128, true, true, false, false, 16},
                 random);
}

TEST(TensorMemory, MultipliesOfEveryType) {
  std::mt19937 random(14);
  constexpr auto k = operand_major::k;
  for (elem const type : {elem::tf32, elem::e4m3, elem::e5m2, elem::e2m3, elem::e3m2, elem::e2m1})
    for (swizzle_mode const s : {swizzle_mode::none, swizzle_mode::b32, swizzle_mode::b128}) {
      check_multiply({128, 64, type, k, k, s}, random);
      check_multiply({64, 48, type, k, k, s, type != elem::tf32}, random);
    }
  for (elem const type : {elem::tf32, elem::e4m3, elem::e5m2, elem::e2m3, elem::e3m2, elem::e2m1}) {
    check_multiply({128, 32, type, k, k, swizzle_mode::b64, false, true}, random);
    check_multiply({64, 32, type, k, k, swizzle_mode::b64, false, true, false, true, 16}, random);
  }
}

}  // namespace
}  // namespace tw::test
