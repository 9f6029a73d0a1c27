// SPDX-License-Identifier: Apache-2.0
// repitch.hpp  Operands that TMA cannot address, copied to a padded pitch before the GEMM.
//
// A thread writes chunks of 8 elements. It reads the two aligned chunks that hold them and shifts
// them together; where these reach beyond the matrix, it reads elements. What is behind the end of
// a line becomes zero.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/repitch_params.hpp"
#include "tilewright/tensor/vec.hpp"

namespace tw {

struct repitch {
  using params = repitch_params;
  static constexpr int threads = 256;
  static constexpr int cluster = 1;
  static constexpr int smem_bytes = 0;
  static constexpr int at_once = 4;  // chunks that a thread has under way

  /// Chunks of both copies.
  static std::int64_t chunks(params const& p) {
    std::int64_t sum = 0;
    for (repitch_of const& x : p.operand)
      if (x.to != nullptr) sum += std::int64_t{x.matrices} * x.outer * x.chunks;
    return sum;
  }
  /// A chunk for each thread, but no more than `most` CTAs.
  static int ctas(params const& p, int most) {
    std::int64_t const wanted = (chunks(p) + threads - 1) / threads;
    return static_cast<int>(wanted < most ? wanted : most);
  }

  TW_DEVICE static void run(params const& p) {
    grid_dependency_wait();  // the launch before may write the operands, or read the copies
    copy(p.operand[0]);
    copy(p.operand[1]);
    grid_dependents_launch();
  }

 private:
  using chunk = packet<std::uint32_t, 4>;
  static constexpr std::uint32_t elems = 8;  // of a chunk

  /// Chunk, line and matrix: digits of a number that counts all chunks of an operand.
  struct place {
    std::uint32_t chunk, line, matrix;
  };
  TW_DEVICE static place place_of(repitch_of const& x, std::uint32_t i) {
    std::uint32_t const line = i / x.chunks;
    return {i % x.chunks, line % x.outer, line / x.outer};
  }
  /// The place `step` chunks further on; the division has been done in place_of.
  TW_DEVICE static place after(repitch_of const& x, place at, place step) {
    at.chunk += step.chunk;
    at.line += step.line;
    at.matrix += step.matrix;
    if (at.chunk >= x.chunks) at.chunk -= x.chunks, ++at.line;
    if (at.line >= x.outer) at.line -= x.outer, ++at.matrix;
    return at;
  }

  TW_DEVICE static void copy(repitch_of const& x) {
    if (x.to == nullptr) return;
    auto const all_threads = static_cast<std::uint32_t>(cta_count() * threads);
    place const step = place_of(x, all_threads);
    place at = place_of(x, static_cast<std::uint32_t>(cta_id() * threads + thread_id()));
    while (at.matrix < x.matrices) {
      place to[at_once];
      chunk value[at_once];
      TW_UNROLL
      for (int i = 0; i < at_once; ++i) {
        to[i] = at;
        value[i] = {};
        if (at.matrix < x.matrices) value[i] = read(x, at);
        at = after(x, at, step);
      }
      TW_UNROLL
      for (int i = 0; i < at_once; ++i) {
        if (to[i].matrix >= x.matrices) continue;
        std::int64_t const line = std::int64_t{to[i].matrix} * x.outer + to[i].line;
        static_cast<chunk*>(x.to)[line * x.chunks + to[i].chunk] = value[i];
      }
    }
  }

  /// Chunk `at` of the copy.
  TW_DEVICE static chunk read(repitch_of const& x, place at) {
    auto const* const matrix =
        x.addresses != nullptr
            ? static_cast<std::uint16_t const*>(x.addresses[at.matrix])
            : static_cast<std::uint16_t const*>(x.from) + at.matrix * x.batch_stride;
    std::uint16_t const* const end = matrix + (x.outer - 1) * x.pitch + x.inner;
    std::uint32_t const first = at.chunk * elems;
    if (first >= x.inner) return {};
    std::uint32_t const left = x.inner - first;  // elements of the line
    std::uint16_t const* const from = matrix + at.line * x.pitch + first;
    // The elements before `from` in its aligned chunk, and how many from there on are read.
    std::uint32_t const before = reinterpret_cast<std::uintptr_t>(from) / 2 % elems;
    std::uint32_t const behind = before == 0 ? elems : 2 * elems - before;
    if (from - matrix < before || end - from < behind) return elements(from, left);
    auto const* const aligned = reinterpret_cast<chunk const*>(from - before);
    chunk const second = before == 0 ? chunk{} : aligned[1];
    return head(joined(aligned[0], second, before), left);
  }

  /// Elements `before` and up of two chunks that follow each other.
  TW_DEVICE static chunk joined(chunk const& a, chunk const& b, std::uint32_t before) {
    std::uint32_t w[8] = {a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]};
    TW_UNROLL
    for (int i = 0; i < 6; ++i) w[i] = (before & 4) != 0 ? w[i + 2] : w[i];
    TW_UNROLL
    for (int i = 0; i < 5; ++i) w[i] = (before & 2) != 0 ? w[i + 1] : w[i];
    chunk value;
    TW_UNROLL
    for (int i = 0; i < 4; ++i) {
      std::uint64_t const two = std::uint64_t{w[i + 1]} << 32 | w[i];
      value[i] = static_cast<std::uint32_t>(two >> (before & 1) * 16);
    }
    return value;
  }

  /// The first `count` elements; the others become zero.
  TW_DEVICE static chunk head(chunk value, std::uint32_t count) {
    TW_UNROLL
    for (std::uint32_t i = 0; i < 4; ++i) {
      std::uint32_t const mask = count >= 2 * i + 2 ? ~0U : count == 2 * i + 1 ? 0xFFFFU : 0U;
      value[static_cast<int>(i)] &= mask;
    }
    return value;
  }

  /// The same, an element at a time.
  TW_DEVICE static chunk elements(std::uint16_t const* from, std::uint32_t count) {
    chunk value{};
    TW_UNROLL
    for (std::uint32_t i = 0; i < elems; ++i)
      if (i < count)
        value[static_cast<int>(i / 2)] |= static_cast<std::uint32_t>(from[i]) << 16 * (i % 2);
    return value;
  }
};

}  // namespace tw
