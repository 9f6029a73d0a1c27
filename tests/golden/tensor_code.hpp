// SPDX-License-Identifier: Apache-2.0
// tensor_code.hpp  Kernels written twice, with tensors and by hand: what do tensors cost?
//
// tensor_code_test.py counts the instructions of both; tests/tensor/kernel_test.cpp runs both in
// the emulator and compares what they write. The versions by hand are written for the
// layouts: one offset per thread, constants for unrolled steps, 16-byte accesses.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/layout/layout.hpp"
#include "tilewright/tensor/tensor.hpp"

namespace tw_test {

using namespace tw;

enum class written : bool { with_tensors, by_hand };
using enum written;

inline constexpr layout sw128 = swizzled(make_swizzle(3, 3, 3), "(8,64):(64,1)"_L);

struct alignas(16) chunk {  // 16 bytes
  std::uint32_t r[4];
};

/// Loads a (128, 64) tile of A into shared memory, SW128; reads it with eight ldmatrix; adds its
/// halves in float; stores a (64, 64) tile through shared memory with stmatrix, 16 bytes a thread.
template <written W>
struct tile_kernel {
  struct params {
    bf16 const* a;  // (m, k), rows at pitch lda, a multiple of 8
    bf16* d;        // (m / 2, k), rows at pitch ldd, a multiple of 8
    int m, k, lda, ldd;
    int tiles_k;
  };
  struct smem {
    alignas(1024) bf16 a[128 * 64];
    alignas(1024) bf16 d[64 * 64];
  };
  static constexpr int threads = 128, cluster = 1, smem_bytes = sizeof(smem);

  static constexpr layout a_tile = tile_to_shape(sw128, make_shape(128, 64));
  static constexpr layout d_tile = tile_to_shape(sw128, make_shape(64, 64));
  static constexpr layout rows = "((8,16),8):((128,1),16)"_L;  // (thread, value): 16 rows of 64
  static constexpr layout matrices = "(((16,2),4),8):(((1,512),16),64)"_L;  // 4 warps: (64, 16)

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const bx = cta_id() / p.tiles_k;
    int const by = cta_id() % p.tiles_k;
    if constexpr (W == with_tensors)
      tensors(p, s, bx, by);
    else
      hand(p, s, bx, by);
  }

  /// Sums of the two bf16 of each register and its partner in the other half, rounded again.
  TW_DEVICE static b32<4> add(b32<4> const& x, b32<4> const& y) {
    b32<4> sum;
    TW_UNROLL
    for (int i = 0; i < 4; ++i) {
      float const lo = to_float<elem::bf16>(static_cast<std::uint16_t>(x.r[i])) +
                       to_float<elem::bf16>(static_cast<std::uint16_t>(y.r[i]));
      float const hi = to_float<elem::bf16>(static_cast<std::uint16_t>(x.r[i] >> 16)) +
                       to_float<elem::bf16>(static_cast<std::uint16_t>(y.r[i] >> 16));
      sum.r[i] = pack2<elem::bf16>(lo, hi);
    }
    return sum;
  }

  TW_DEVICE static void tensors(params const& p, smem& s, int bx, int by) {
    auto const A = gmem_view<16>(p.a, p.m, p.k, p.lda);             // (m, k)
    auto const D = gmem_view<16>(p.d, p.m / 2, p.k, p.ldd);         // (m / 2, k)
    auto const sA = make_tensor<a_tile>(make_smem_ptr<1024>(s.a));  // (128, 64)
    auto const sD = make_tensor<d_tile>(make_smem_ptr<1024>(s.d));  // (64, 64)
    auto const gA = local_tile<tile(128, 64)>(A, bx, by);           // (128, 64)
    auto const gD = local_tile<tile(64, 64)>(D, bx, by);            // (64, 64)
    copy(partition<tile(16, 64), rows>(gA, thread_id()),
         partition<tile(16, 64), rows>(sA, thread_id()));
    cta_sync();

    auto const from = partition<tile(64, 16), matrices>(sA, thread_id());  // (8, half, k step)
    auto const to = partition<tile(64, 16), matrices>(sD, thread_id());    // (8, 1, k step)
    TW_UNROLL
    for (int k = 0; k < 4; ++k) {
      b32<4> const x = ldmatrix<4>(&from(0, 0, k));
      b32<4> const y = ldmatrix<4>(&from(0, 1, k));
      stmatrix<4>(&to(0, 0, k), add(x, y));
    }
    cta_sync();
    copy(partition<tile(16, 64), rows>(sD, thread_id()),
         partition<tile(16, 64), rows>(gD, thread_id()));
  }

  TW_DEVICE static void hand(params const& p, smem& s, int bx, int by) {
    auto const t = static_cast<unsigned>(thread_id());
    auto* const a_bytes = reinterpret_cast<char*>(s.a);
    auto* const d_bytes = reinterpret_cast<char*>(s.d);
    unsigned const place = (16 * t) ^ (t / 8 % 8 * 16);  // of the thread's chunk, in bytes
    bf16 const* a = p.a + (std::int64_t{128} * bx + t / 8) * p.lda + 64 * by + t % 8 * 8;
    TW_UNROLL
    for (int i = 0; i < 8; ++i) {
      *reinterpret_cast<chunk*>(a_bytes + place + 2048 * i) = *reinterpret_cast<chunk const*>(a);
      a += std::int64_t{16} * p.lda;
    }
    cta_sync();

    unsigned const first = t / 32 * 2048 + t % 16 * 128;
    unsigned const column = (t / 16 % 2 * 16) ^ (t % 8 * 16);
    TW_UNROLL
    for (unsigned k = 0; k < 4; ++k) {
      unsigned const at = first + (column ^ (32 * k));
      b32<4> const x = ldmatrix<4>(a_bytes + at);
      b32<4> const y = ldmatrix<4>(a_bytes + 8192 + at);
      stmatrix<4>(d_bytes + at, add(x, y));
    }
    cta_sync();
    bf16* d = p.d + (std::int64_t{64} * bx + t / 8) * p.ldd + 64 * by + t % 8 * 8;
    TW_UNROLL
    for (int i = 0; i < 4; ++i) {
      *reinterpret_cast<chunk*>(d) = *reinterpret_cast<chunk const*>(d_bytes + place + 2048 * i);
      d += std::int64_t{16} * p.ldd;
    }
  }
};

/// One element at run-time coordinates (thread, CTA) of a layout; or at one index.
struct element_params {
  std::uint16_t* out;
};
enum class place { swizzled_tile, nested, index_by_6 };

template <place P, written W>
struct element_kernel {
  using params = element_params;
  static constexpr int threads = 128, cluster = 1, smem_bytes = 0;

  TW_DEVICE static void run(params const& p) {
    auto const r = static_cast<unsigned>(thread_id());
    auto const c = static_cast<unsigned>(cta_id());
    auto const value = static_cast<std::uint16_t>(1 + r);
    if constexpr (P == place::swizzled_tile && W == with_tensors)
      make_tensor<tile_to_shape(sw128, make_shape(128, 64))>(p.out)(r, c) = value;
    else if constexpr (P == place::swizzled_tile)
      p.out[64 * r + (c ^ (8 * (r % 8)))] = value;
    else if constexpr (P == place::nested && W == with_tensors)
      make_tensor<"((8,16),(4,4)):((4,512),(32,128))"_L>(p.out)(r, c) = value;
    else if constexpr (P == place::nested)
      p.out[4 * (r % 8) + 512 * (r / 8) + 32 * c] = value;
    else if constexpr (W == with_tensors)
      make_tensor<"((6,2),(4,5)):((1,40),(10,200))"_L>(p.out)(r) = value;
    else
      p.out[r % 6 + r / 6 % 2 * 40 + r / 12 % 4 * 10 + r / 48 * 200] = value;
  }
};

/// One element of tile (x, y) of a matrix whose extents and pitch are known at run time.
template <written W>
struct run_time_kernel {
  struct params {
    float const* a;
    float* out;
    int m, k, ld, tiles_k;
  };
  static constexpr int threads = 128, cluster = 1, smem_bytes = 0;

  TW_DEVICE static void run(params const& p) {
    int const t = thread_id();
    int const bx = cta_id() / p.tiles_k;
    int const by = cta_id() % p.tiles_k;
    int const at = cta_id() * 128 + t;
    if constexpr (W == with_tensors)
      p.out[at] = local_tile<tile(128, 64)>(gmem_view(p.a, p.m, p.k, p.ld), bx, by)(t, 5);
    else
      p.out[at] = p.a[std::int64_t{128 * bx + t} * p.ld + 64 * by + 5];
  }
};

/// A (192, 64) stage of a ring, read at a stage known at run time: N = 192 is no power of two.
template <written W>
struct ring_kernel {
  struct params {
    std::uint32_t* out;
    int stage;
  };
  struct smem {
    alignas(1024) bf16 b[3 * 192 * 64];
  };
  static constexpr int threads = 128, cluster = 1, smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const t = thread_id();
    for (int i = t; i < 3 * 192 * 64; i += threads)
      s.b[i].bits = static_cast<std::uint16_t>(40503 * i);
    cta_sync();
    std::uint32_t sum = 0;
    auto const add = [&sum](b32<4> const& x) {
      sum = 3 * sum + (x.r[0] ^ (x.r[1] >> 1) ^ (x.r[2] >> 2) ^ (x.r[3] >> 3));
    };
    if constexpr (W == with_tensors) {
      constexpr layout ring = tile_to_shape(sw128, make_shape(192, 64, 3));
      constexpr layout matrices = "(((16,2),4),8):(((1,512),16),64)"_L;
      auto const sB = make_tensor<ring>(make_smem_ptr<1024>(s.b));  // (n, k, stage)
      auto const from = partition<tile(64, 16), matrices>(sB, t);   // (8, n, k, stage)
      auto const now = from(_, _, _, p.stage);
      TW_UNROLL
      for (int k = 0; k < 4; ++k) {
        TW_UNROLL
        for (int n = 0; n < 3; ++n) add(ldmatrix<4>(&now(0, n, k)));
      }
    } else {
      auto const u = static_cast<unsigned>(t);
      auto const* const first =
          reinterpret_cast<char const*>(s.b) + 24576 * p.stage + u / 32 * 2048 + u % 16 * 128;
      unsigned const column = (u / 16 % 2 * 16) ^ (u % 8 * 16);
      TW_UNROLL
      for (int k = 0; k < 4; ++k) {
        TW_UNROLL
        for (int n = 0; n < 3; ++n) add(ldmatrix<4>(first + 8192 * n + (column ^ (32U * k))));
      }
    }
    p.out[t] = sum;
  }
};

/// A tile that may stick out of the matrix, in vectors of 16 bytes with predicates; what is outside
/// is zero.
template <written W>
struct ragged_kernel {
  struct params {
    bf16 const* a;  // (m, k), rows at pitch lda; k and lda multiples of 8
    bf16* out;      // (128, 64) for each CTA
    int m, k, lda, tiles_k;
  };
  static constexpr int threads = 128, cluster = 1, smem_bytes = 0;

  TW_DEVICE static void run(params const& p) {
    int const t = thread_id();
    int const bx = cta_id() / p.tiles_k;
    int const by = cta_id() % p.tiles_k;
    bf16* const out = p.out + 128 * 64 * cta_id();
    if constexpr (W == with_tensors) {
      constexpr layout rows = "((8,16),8):((128,1),16)"_L;
      auto const A = gmem_view<16>(p.a, p.m, p.k, p.lda);
      auto const part = [&](auto const& whole) {
        return partition<tile(16, 64), rows>(local_tile<tile(128, 64)>(whole, bx, by), t);
      };
      auto const from = part(A);                        // (8, 8, 1)
      auto const at = part(identity_like(A))(0, _, _);  // (8, 1)
      auto held = fragment_like(from);
      clear(held);
      copy_if(inside(at, p.m, p.k), vec<8>(from)(0, _, _), vec<8>(held)(0, _, _));
      auto const to = make_tensor<"(128,64):(64,1)"_L>(make_gmem_ptr<16>(out));
      copy(held, partition<tile(16, 64), rows>(to, t));
    } else {
      auto const u = static_cast<unsigned>(t);
      int const row = 128 * bx + static_cast<int>(u / 8);
      int const column = 64 * by + static_cast<int>(u % 8 * 8);
      std::int64_t const pitch = p.lda;
      bf16 const* a = p.a + row * pitch + column;
      chunk held[8] = {};
      TW_UNROLL
      for (int i = 0; i < 8; ++i) {
        if (row + 16 * i < p.m && column < p.k) held[i] = *reinterpret_cast<chunk const*>(a);
        a += 16 * pitch;
      }
      TW_UNROLL
      for (int i = 0; i < 8; ++i) *reinterpret_cast<chunk*>(out + 8 * u + 1024 * i) = held[i];
    }
  }
};

}  // namespace tw_test
