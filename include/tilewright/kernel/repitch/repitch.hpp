// SPDX-License-Identifier: Apache-2.0
// repitch.hpp  Operands that TMA cannot address, copied to a padded pitch before the GEMM.
//
// A warp copies a piece of a line, or a few short lines, in words of two elements. Where a line
// begins in the middle of a word, each word is put together from two; where these reach beyond the
// matrix, elements are read. Elements after the end of a line become zero.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/repitch/params.hpp"

namespace tw {

struct repitch {
  using params = repitch_params;
  static constexpr int threads = 128;
  static constexpr int cluster = 1;
  static constexpr int smem_bytes = 0;
  static constexpr int at_once = 12;  // words of a thread

  /// CTAs that copy operand x, and both of them: they share no CTA.
  TW_HD static constexpr int ctas(repitch_of const& x) {
    if (x.to == nullptr) return 0;
    std::int64_t const pieces_of_all = std::int64_t{x.matrices} * x.outer * pieces(x);
    return static_cast<int>((pieces_of_all * lanes(x) + threads - 1) / threads);
  }
  TW_HD static constexpr int ctas(params const& p) {
    return ctas(p.operand[0]) + ctas(p.operand[1]);
  }

  /// In a grid of ctas(p) CTAs.
  TW_DEVICE static void run(params const& p) {
    if constexpr (dependent_launches()) {
      grid_dependents_launch();  // the GEMM may set itself up meanwhile
      grid_dependency_wait();    // the launch before may write the operands, or read the copies
    }
    int const of_first = ctas(p.operand[0]);
    int const which = cta_id() < of_first ? 0 : 1;
    repitch_of const& x = p.operand[which];
    int const cta = cta_id() - which * of_first;
    if (std::uint32_t const n = lanes(x); n < 32)
      copy(x, cta, n);
    else
      copy(x, cta, 32);  // a constant, once inlined
  }

 private:
  /// Lanes that share a piece: no more than its words need.
  TW_HD static constexpr std::uint32_t lanes(repitch_of const& x) {
    std::uint32_t n = 32;
    while (n > 1 && n / 2 * at_once >= 4 * x.chunks) n /= 2;
    return n;
  }
  /// Of a line: one where a few lanes are enough.
  TW_HD static constexpr std::uint32_t pieces(repitch_of const& x) {
    return lanes(x) < 32 ? 1 : (4 * x.chunks + 32 * at_once - 1) / (32 * at_once);
  }

  /// A line of a matrix and its words. It begins `odd` elements after the first.
  struct source {
    words::b16 const* line;
    std::uint32_t odd, inner;
    std::uint32_t begin, end;  // words of the copy that are made of whole words of the matrix

    TW_DEVICE bool has(std::uint32_t w) const { return w - begin < end - begin; }
  };
  TW_DEVICE static source source_of(repitch_of const& x, std::uint32_t matrix, std::uint32_t line) {
    auto const* const first =
        x.addresses != nullptr ? static_cast<words::b16 const*>(x.addresses[matrix])
                               : static_cast<words::b16 const*>(x.from) + matrix * x.batch_stride;
    auto const* const at = first + line * x.pitch;
    auto const odd = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(at) / 2 % 2);
    // An odd line reads an element before it, and one after its last whole word.
    std::uint32_t const begin = line == 0 ? odd : 0;
    std::uint32_t const end = (x.inner - (line + 1 == x.outer ? odd : 0)) / 2;
    return {at, odd, x.inner, begin, end < begin ? begin : end};
  }

  /// Where a piece lies.
  struct place {
    std::uint32_t piece;  // in its line
    std::uint32_t line, matrix;
    std::int64_t line_of_all;
  };
  template <class Number>
  TW_DEVICE static place place_of(repitch_of const& x, Number i) {
    Number const line = i / pieces(x);
    return {static_cast<std::uint32_t>(i % pieces(x)), static_cast<std::uint32_t>(line % x.outer),
            static_cast<std::uint32_t>(line / x.outer), static_cast<std::int64_t>(line)};
  }

  /// The pieces of a CTA, `lanes` lanes each.
  TW_DEVICE static void copy(repitch_of const& x, int cta, std::uint32_t lanes) {
    auto const t = static_cast<std::uint32_t>(thread_id()), lane = t % lanes;
    std::uint64_t const i = static_cast<std::uint64_t>(cta) * (threads / lanes) + t / lanes;
    place const at =
        i >> 32 == 0 ? place_of(x, static_cast<std::uint32_t>(i)) : place_of(x, i);  // slower
    if (at.matrix >= x.matrices) return;
    source const from = source_of(x, at.matrix, at.line);
    auto const* const word = reinterpret_cast<words::b32 const*>(from.line - from.odd);
    std::uint32_t const piece_words = lanes * at_once, line_words = 4 * x.chunks;
    std::uint32_t const first = at.piece * piece_words;
    auto* const to = static_cast<words::b32*>(x.to) + at.line_of_all * line_words;
    if (first == 0 && lane == 0 && from.begin > 0) copy_end(from, to, 0);
    if (first == 0 && lane == lanes - 1) copy_end(from, to, from.end);
    if (from.begin <= first && first + piece_words <= from.end) {
      copy_inside(word + first + lane, from.odd != 0, to + first + lane, lanes);
      return;
    }
    std::uint32_t low[at_once], high[at_once];
    TW_UNROLL
    for (std::uint32_t i = 0; i < at_once; ++i) {  // all loads before the first use
      std::uint32_t const w = first + lanes * i + lane;
      low[i] = from.has(w) ? word[w] : 0;
      high[i] = from.has(w) && from.odd != 0 ? word[w + 1] : 0;
    }
    TW_UNROLL
    for (std::uint32_t i = 0; i < at_once; ++i) {
      std::uint32_t const w = first + lanes * i + lane;
      std::uint32_t const value = from.odd == 0 ? low[i] : low[i] >> 16 | high[i] << 16;
      if (w < line_words && (from.has(w) || 2 * w >= x.inner)) to[w] = value;
    }
  }

  /// A piece of whole words; nearly all are.
  TW_DEVICE static void copy_inside(words::b32 const* from, bool odd, words::b32* to,
                                    std::uint32_t lanes) {
    std::uint32_t low[at_once], high[at_once];
    TW_UNROLL
    for (int i = 0; i < at_once; ++i) low[i] = from[lanes * i];
    if (odd) {
      TW_UNROLL
      for (int i = 0; i < at_once; ++i) high[i] = from[lanes * i + 1];
      TW_UNROLL
      for (int i = 0; i < at_once; ++i) low[i] = low[i] >> 16 | high[i] << 16;
    }
    TW_UNROLL
    for (int i = 0; i < at_once; ++i) to[lanes * i] = low[i];
  }

  /// A word that is not made of whole ones, an element at a time.
  TW_DEVICE static void copy_end(source const& from, words::b32* to, std::uint32_t w) {
    std::uint32_t const e = 2 * w;
    if (e >= from.inner) return;
    std::uint32_t const low = from.line[e];
    to[w] = e + 1 < from.inner ? low | static_cast<std::uint32_t>(from.line[e + 1]) << 16 : low;
  }
};

}  // namespace tw
