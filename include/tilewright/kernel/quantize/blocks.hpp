// SPDX-License-Identifier: Apache-2.0
// blocks.hpp  A matrix of float32, bf16 or f16 in MXFP8, MXFP4 or NVFP4:
//             problem/block_quantize.hpp says what is computed, bit for bit.
//
// A thread has a block of 32 or 16 elements: it reads them once, finds their amax, and writes their
// values and their factor.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/quantize/block_code.hpp"
#include "tilewright/kernel/quantize/block_params.hpp"
#include "tilewright/problem/scale.hpp"

namespace tw {

struct block_quantize_kernel {
  using params = block_quantize_params;
  static constexpr int threads = 256;
  static constexpr int cluster = 1;
  static constexpr int smem_bytes = 0;

  TW_DEVICE static void run(params const& p) {
    if constexpr (dependent_launches()) grid_dependency_wait();
    switch (p.pass) {
      case block_quantize_pass::amax: return find_amax(p);
      case block_quantize_pass::second_level:
        if (cta_id() == 0 && thread_id() == 0) {
          auto* const level = reinterpret_cast<words::f32*>(p.second_level);
          *level = second_level_of(p.format, *level);
        }
        return;
      case block_quantize_pass::values: break;
    }
    switch (p.format) {
      case block_format::mxfp8: return quantise<block_format::mxfp8>(p);
      case block_format::mxfp4: return quantise<block_format::mxfp4>(p);
      case block_format::nvfp4: return quantise<block_format::nvfp4>(p);
    }
  }

 private:
  TW_DEVICE static float load(params const& p, std::int64_t row, std::int64_t col) {
    std::int64_t const e = row * p.from_pitch + col;
    if (p.from_type == elem::f32) return static_cast<words::f32 const*>(p.from)[e];
    auto const half = static_cast<std::uint16_t>(static_cast<words::b16 const*>(p.from)[e]);
    return p.from_type == elem::bf16 ? to_float(bf16{half}) : to_float(f16{half});
  }

  TW_DEVICE static void find_amax(params const& p) {
    std::uint32_t most = 0;
    std::int64_t const all = std::int64_t{cta_count()} * threads;
    for (std::int64_t i = std::int64_t{cta_id()} * threads + thread_id(); i < p.rows * p.cols;
         i += all) {
      std::uint32_t const bits = finite_magnitude_bits(load(p, i / p.cols, i % p.cols));
      most = most > bits ? most : bits;
    }
    std::uint32_t const of_warp = redux_max(most);
    if (lane_id() == 0) atomic_max(reinterpret_cast<std::uint32_t*>(p.second_level), of_warp);
  }

  template <block_format F>
  TW_DEVICE static void quantise(params const& p) {
    constexpr block_format_traits t = traits_of(F);
    std::int64_t const blocks = blocks_in(p.cols, t.block);
    // Factors that belong to no block are written too.
    bool const tiled = p.tiled != 0;
    std::int64_t const across =
        tiled ? blocks_in(blocks, scale_tile_blocks) * scale_tile_blocks : blocks;
    std::int64_t const down = tiled ? blocks_in(p.rows, scale_tile_rows) * scale_tile_rows : p.rows;
    float const second =
        F == block_format::nvfp4 ? *reinterpret_cast<words::f32 const*>(p.second_level) : 1.0F;
    std::int64_t const all = std::int64_t{cta_count()} * threads;
    for (std::int64_t i = std::int64_t{cta_id()} * threads + thread_id(); i < down * across;
         i += all) {
      std::int64_t const row = i / across, block = i % across;
      bool const there = row < p.rows && block < blocks;
      static_cast<words::b8*>(p.factors)[factor_place(p, row, block)] =
          there ? quantise_block<F>(p, row, block * t.block, second) : std::uint8_t{0};
    }
  }

  TW_DEVICE static std::int64_t factor_place(params const& p, std::int64_t row,
                                             std::int64_t block) {
    if (p.tiled == 0) return row * p.factor_outer + block * p.factor_k;
    return row / scale_tile_rows * p.factor_outer + block / scale_tile_blocks * p.factor_k +
           offset_in_scale_tile(row, block);
  }

  /// Quantises the block that begins at (row, col), writes its values, and returns its factor.
  template <block_format F>
  TW_DEVICE static std::uint8_t quantise_block(params const& p, std::int64_t row, std::int64_t col,
                                               float second) {
    using code = block_code<F>;
    std::int64_t const rest = p.cols - col;
    int const count = rest < code::elems ? static_cast<int>(rest) : code::elems;
    float x[code::elems];
    TW_UNROLL
    for (int j = 0; j < code::elems; ++j) x[j] = j < count ? load(p, row, col + j) : 0.0F;
    code const c = code_of_block<F>(x, second);
    std::int64_t const to = row * p.to_pitch_bytes + col * code::bits / 8;
    if (p.by_words != 0 && count == code::elems) {
      TW_UNROLL
      for (int w = 0; w < code::words; ++w) static_cast<words::b32*>(p.to)[to / 4 + w] = c.value[w];
    } else {
      store_bytes(static_cast<words::b8*>(p.to) + to, c, count);
    }
    return c.factor;
  }
};

}  // namespace tw
