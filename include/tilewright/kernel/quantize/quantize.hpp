// SPDX-License-Identifier: Apache-2.0
// quantize.hpp  A matrix in 8 bits, with scales: problem/quantize.hpp says what is computed.
//
// A block of 128 elements belongs to a warp, a larger one to a CTA, which reads it twice: for its
// amax and for its values, the second time from L1 or L2. One scale for a whole matrix takes two
// launches, since its amax is that of all CTAs.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/quantize/params.hpp"
#include "tilewright/problem/quantize.hpp"

namespace tw {

struct quantize_kernel {
  using params = quantize_params;
  static constexpr int threads = 256;
  static constexpr int cluster = 1;
  static constexpr int warps = threads / warp_threads;
  struct smem {
    std::uint32_t amax[warps];
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    if constexpr (dependent_launches()) grid_dependency_wait();
    if (p.pass != quantize_pass::whole_blocks) return share_block(p);
    int const team = thread_id() / p.team, teams = threads / p.team;
    // All teams of a CTA make as many turns: they synchronise.
    for (std::int64_t first = std::int64_t{cta_id()} * teams; first < p.blocks;
         first += std::int64_t{cta_count()} * teams) {
      std::int64_t const block = first + team;
      elements const e = block < p.blocks ? elements_of(p, block) : elements{};
      int const t = thread_id() % p.team;
      std::uint32_t const amax = of_team(p, amax_of(p, e, t, p.team));
      if (block >= p.blocks) continue;
      float const scale = scale_of(p, amax);
      if (t == 0) store_scale(p, block, scale);
      store_values(p, e, t, p.team, scale);
    }
  }

 private:
  /// Part of a block: rows x cols elements from (outer, k).
  struct elements {
    std::int64_t outer = 0, k = 0;
    std::int64_t rows = 0, cols = 0;
  };

  TW_DEVICE static std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

  TW_DEVICE static elements elements_of(params const& p, std::int64_t block) {
    std::int64_t const i = block / p.k_blocks * p.block_outer, k = block % p.k_blocks * p.block_k;
    return {i, k, smaller(p.block_outer, p.outer - i), smaller(p.block_k, p.k - k)};
  }

  /// One block for all CTAs.
  TW_DEVICE static void share_block(params const& p) {
    elements const e = elements_of(p, 0);
    int const t = cta_id() * threads + thread_id(), all = cta_count() * threads;
    if (p.pass == quantize_pass::amax) {
      std::uint32_t const amax = of_team(p, amax_of(p, e, t, all));
      if (thread_id() == 0) atomic_max(p.amax, amax);
      return;
    }
    float const scale =
        p.given != 0 ? *static_cast<words::f32 const*>(p.scales) : scale_of(p, *p.amax);
    if (t == 0 && p.given == 0) store_scale(p, 0, scale);
    store_values(p, e, t, all, scale);
  }

  /// Calls `each` with the row and the first column of steps of Width elements, of `all` threads
  /// for number t.
  template <int Width, class Each>
  TW_DEVICE static void walk(params const& p, elements const& e, std::int64_t t, std::int64_t all,
                             Each const& each) {
    std::int64_t const steps = (e.cols + Width - 1) / Width;
    bool const rows_first = p.from_k != 1;  // neighbouring threads read neighbouring elements
    for (std::int64_t i = t; i < e.rows * steps; i += all) {
      std::int64_t const row = rows_first ? i % e.rows : i / steps;
      std::int64_t const step = rows_first ? i / e.rows : i % steps;
      each(e.outer + row, e.k + step * Width);
    }
  }

  /// Element, or word of four elements, of a matrix.
  template <class T>
  TW_DEVICE static T const* at(void const* base, std::int64_t i) {
    return static_cast<T const*>(base) + i;
  }
  TW_DEVICE static float load(params const& p, std::int64_t i, std::int64_t k) {
    std::int64_t const e = i * p.from_outer + k * p.from_k;
    if (wide_float_bytes(p.from_type) == 4) return *at<words::f32>(p.from, e);
    return widened(p.from_type, *at<words::b16>(p.from, e));
  }
  TW_DEVICE static float widened(elem type, std::uint32_t bits) {
    auto const half = static_cast<std::uint16_t>(bits);
    return type == elem::bf16 ? to_float(bf16{half}) : to_float(f16{half});
  }
  struct four {
    float x[4];
  };
  TW_DEVICE static four load_four(params const& p, std::int64_t i, std::int64_t k) {
    std::int64_t const e = i * p.from_outer + k;
    four r;
    TW_UNROLL
    for (int j = 0; j < 4; ++j) {
      if (wide_float_bytes(p.from_type) == 4) {
        r.x[j] = at<words::f32>(p.from, e)[j];
      } else {
        std::uint32_t const word = *at<words::b32>(p.from, e / 2 + j / 2);
        r.x[j] = widened(p.from_type, j % 2 == 0 ? word : word >> 16);
      }
    }
    return r;
  }

  TW_DEVICE static std::uint32_t larger(std::uint32_t a, std::uint32_t b) { return a > b ? a : b; }

  /// Bits of the largest finite magnitude.
  TW_DEVICE static std::uint32_t amax_of(params const& p, elements const& e, std::int64_t t,
                                         std::int64_t all) {
    std::uint32_t amax = 0;
    if (p.by_fours != 0)
      walk<4>(p, e, t, all, [&](std::int64_t i, std::int64_t k) {
        four const v = load_four(p, i, k);
        TW_UNROLL
        for (int j = 0; j < 4; ++j) amax = larger(amax, finite_magnitude_bits(v.x[j]));
      });
    else
      walk<1>(p, e, t, all, [&](std::int64_t i, std::int64_t k) {
        amax = larger(amax, finite_magnitude_bits(load(p, i, k)));
      });
    return amax;
  }

  /// The largest of the threads that share a block.
  TW_DEVICE static std::uint32_t of_team(params const& p, std::uint32_t x) {
    std::uint32_t most = redux_max(x);
    if (p.team == warp_threads) return most;
    smem& s = dynamic_smem<smem>();
    cta_sync();                  // the values of the turn before have been read
    int const warp = warp_id();  // all lanes of the warp must call it
    if (lane_id() == 0) s.amax[warp] = most;
    cta_sync();
    for (int w = 0; w < warps; ++w) most = larger(most, s.amax[w]);
    return most;
  }

  TW_DEVICE static float scale_of(params const& p, std::uint32_t amax) {
    return quantize_scale(float_of_bits(amax), quantize_limit(p.to_type), p.power_of_two != 0);
  }

  TW_DEVICE static void store_scale(params const& p, std::int64_t block, float scale) {
    std::int64_t const kb = block % p.k_blocks, group = kb >> p.packed_log2;
    std::int64_t const to =
        block / p.k_blocks * p.scale_outer + group * p.scale_k + (kb - (group << p.packed_log2));
    if (p.scale_ue8m0 != 0)
      static_cast<words::b8*>(p.scales)[to] = to_ue8m0_up(scale).bits;
    else
      static_cast<words::f32*>(p.scales)[to] = scale;
  }

  TW_DEVICE static std::uint32_t code(params const& p, float x, float scale) {
    if (p.to_type == elem::e4m3) return quantized<e4m3>(x, scale).bits;
    if (p.to_type == elem::e5m2) return quantized<e5m2>(x, scale).bits;
    return static_cast<std::uint8_t>(quantized<std::int8_t>(x, scale));
  }
  TW_DEVICE static void store_values(params const& p, elements const& e, std::int64_t t,
                                     std::int64_t all, float scale) {
    if (p.by_fours != 0)
      walk<4>(p, e, t, all, [&](std::int64_t i, std::int64_t k) {
        four const v = load_four(p, i, k);
        std::uint32_t word = 0;
        TW_UNROLL
        for (int j = 0; j < 4; ++j) word |= code(p, v.x[j], scale) << (8 * j);
        static_cast<words::b32*>(p.to)[(i * p.to_outer + k) / 4] = word;
      });
    else
      walk<1>(p, e, t, all, [&](std::int64_t i, std::int64_t k) {
        static_cast<words::b8*>(p.to)[i * p.to_outer + k * p.to_k] =
            static_cast<std::uint8_t>(code(p, load(p, i, k), scale));
      });
  }
};

}  // namespace tw
