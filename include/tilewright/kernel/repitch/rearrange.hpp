// SPDX-License-Identifier: Apache-2.0
// rearrange.hpp  Operands of 8 and 32 bits, copied to the K-major lines that wgmma and TMA can
//                read: transposed and padded.
//
// A CTA copies a tile of lines and 64 or 128 bytes of K through shared memory: it reads along the
// contiguous side of the operand and writes along K. Elements of a line beyond K are not written.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/repitch/params.hpp"

namespace tw {

struct rearrange {
  using params = rearrange_params;
  static constexpr int threads = 128;
  static constexpr int cluster = 1;

  /// Elements of a tile along K and lines of it, by the size of an element.
  TW_HD static constexpr int tile(int element_bytes) { return element_bytes == 1 ? 64 : 32; }
  static constexpr int words_of_line = 33;  // odd: a column of words lies in different banks
  struct smem {
    std::uint32_t word[64][words_of_line];
  };
  static constexpr int smem_bytes = sizeof(smem);

  /// CTAs that copy operand x, and both of them: they share no CTA.
  TW_HD static constexpr int ctas(rearrange_of const& x) {
    return x.to == nullptr ? 0 : static_cast<int>(tiles_of(x).all(x.matrices));
  }
  TW_HD static constexpr int ctas(params const& p) {
    return ctas(p.operand[0]) + ctas(p.operand[1]);
  }

  /// In a grid of ctas(p) CTAs.
  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if constexpr (dependent_launches()) {
      grid_dependents_launch();  // the GEMM may set itself up meanwhile
      grid_dependency_wait();    // the launch before may write the operands, or read the copies
    }
    int const of_first = ctas(p.operand[0]);
    int const which = cta_id() < of_first ? 0 : 1;
    rearrange_of const& x = p.operand[which];
    tile_copy const t = copy_of(x, static_cast<std::uint32_t>(cta_id() - which * of_first));
    if (x.element_bytes == 1)
      copy_bytes(x, t, s);
    else
      copy_words(x, t, s);
  }

 private:
  struct tiles {
    std::uint32_t along_k, along_lines;
    TW_HD constexpr std::int64_t all(std::uint32_t matrices) const {
      return std::int64_t{along_k} * along_lines * matrices;
    }
  };
  TW_HD static constexpr tiles tiles_of(rearrange_of const& x) {
    auto const size = static_cast<std::uint32_t>(tile(x.element_bytes));
    return {(x.k + size - 1) / size, (x.lines + size - 1) / size};
  }

  /// A tile: its place, its extents, and the first elements of its matrices.
  struct tile_copy {
    std::byte const* from;
    std::byte* to;
    std::uint32_t k, line, depth, count;  // first element of K, first line; how many
  };
  TW_DEVICE static tile_copy copy_of(rearrange_of const& x, std::uint32_t i) {
    tiles const n = tiles_of(x);
    auto const size = static_cast<std::uint32_t>(tile(x.element_bytes));
    std::uint32_t const k = i % n.along_k * size, rest = i / n.along_k;
    std::uint32_t const line = rest % n.along_lines * size, matrix = rest / n.along_lines;
    auto const* const from =
        x.addresses != nullptr
            ? static_cast<std::byte const*>(x.addresses[matrix])
            : static_cast<std::byte const*>(x.from) + matrix * x.batch_stride * x.element_bytes;
    std::int64_t const matrix_elems = x.to_pitch * x.lines;
    return {from,
            static_cast<std::byte*>(x.to) + matrix * matrix_elems * x.element_bytes,
            k,
            line,
            least(size, x.k - k),
            least(size, x.lines - line)};
  }
  TW_DEVICE static std::uint32_t least(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }

  /// Four bytes from `at`, of which `left` may be read: together where they are a word.
  TW_DEVICE static std::uint32_t load_4(std::byte const* at, std::uint32_t left) {
    if (left >= 4 && reinterpret_cast<std::uintptr_t>(at) % 4 == 0)
      return *reinterpret_cast<words::b32 const*>(at);
    std::uint32_t word = 0;
    TW_UNROLL
    for (std::uint32_t b = 0; b < 4; ++b)
      if (b < left)
        word |= static_cast<std::uint32_t>(*reinterpret_cast<words::b8 const*>(at + b)) << 8 * b;
    return word;
  }

  /// The transpose of 4 x 4 bytes.
  TW_DEVICE static void transpose_4(std::uint32_t (&w)[4]) {
    std::uint32_t const a = prmt(w[0], w[1], 0x5140), b = prmt(w[2], w[3], 0x5140);
    std::uint32_t const c = prmt(w[0], w[1], 0x7362), d = prmt(w[2], w[3], 0x7362);
    w[0] = prmt(a, b, 0x5410), w[1] = prmt(a, b, 0x7632);
    w[2] = prmt(c, d, 0x5410), w[3] = prmt(c, d, 0x7632);
  }

  /// A tile of 64 lines x 64 bytes, a word of 4 bytes of K at a time.
  TW_DEVICE static void copy_bytes(rearrange_of const& x, tile_copy const& t, smem& s) {
    constexpr std::uint32_t size = 64, line_words = size / 4;
    auto const thread = static_cast<std::uint32_t>(thread_id());
    if (x.transpose) {
      for (std::uint32_t i = thread; i < line_words * line_words; i += threads) {
        std::uint32_t const line = i % line_words * 4, k = i / line_words * 4;
        std::uint32_t word[4];
        TW_UNROLL
        for (std::uint32_t r = 0; r < 4; ++r)
          word[r] = k + r < t.depth && line < t.count
                        ? load_4(t.from + (t.k + k + r) * x.pitch + t.line + line, t.count - line)
                        : 0;
        transpose_4(word);
        TW_UNROLL
        for (std::uint32_t r = 0; r < 4; ++r) s.word[line + r][k / 4] = word[r];
      }
    } else {
      for (std::uint32_t i = thread; i < size * line_words; i += threads) {
        std::uint32_t const line = i / line_words, k = i % line_words * 4;
        if (line < t.count && k < t.depth)
          s.word[line][k / 4] = load_4(t.from + (t.line + line) * x.pitch + t.k + k, t.depth - k);
      }
    }
    cta_sync();
    for (std::uint32_t i = thread; i < size * line_words; i += threads) {
      std::uint32_t const line = i / line_words, k = i % line_words * 4;
      // The pitch is whole words: the last one of a line may be written whole.
      if (line < t.count && k < t.depth)
        *reinterpret_cast<words::b32*>(t.to + (t.line + line) * x.to_pitch + t.k + k) =
            s.word[line][k / 4];
    }
  }

  /// A tile of 32 lines x 32 words.
  TW_DEVICE static void copy_words(rearrange_of const& x, tile_copy const& t, smem& s) {
    constexpr std::uint32_t size = 32;
    auto const thread = static_cast<std::uint32_t>(thread_id());
    auto const* const from = reinterpret_cast<words::b32 const*>(t.from);
    auto* const to = reinterpret_cast<words::b32*>(t.to);
    for (std::uint32_t i = thread; i < size * size; i += threads) {
      std::uint32_t const inner = i % size, outer = i / size;
      std::uint32_t const line = x.transpose ? inner : outer, k = x.transpose ? outer : inner;
      if (line >= t.count || k >= t.depth) continue;
      std::int64_t const at =
          x.transpose ? (t.k + k) * x.pitch + t.line + line : (t.line + line) * x.pitch + t.k + k;
      s.word[line][k] = from[at];
    }
    cta_sync();
    for (std::uint32_t i = thread; i < size * size; i += threads) {
      std::uint32_t const line = i / size, k = i % size;
      if (line < t.count && k < t.depth)
        to[(t.line + line) * x.to_pitch + t.k + k] = s.word[line][k];
    }
  }
};

}  // namespace tw
