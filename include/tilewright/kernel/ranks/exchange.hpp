// SPDX-License-Identifier: Apache-2.0
// exchange.hpp  The exchange of a small call in one launch: each CTA stores its part of the rows
//               into the arenas of the peers, sets a flag there, waits for the flags of the peers'
//               CTAs of equal number, and adds the partial results of its part.
//
// The launch counts the call itself (begin_call.hpp does so for other paths). All ranks run it with
// equal `ctas`. A CTA waits only for CTAs of equal number.
#pragma once

#include "tilewright/kernel/partials/add.hpp"
#include "tilewright/kernel/ranks/wait.hpp"

namespace tw {

/// Lines of equal length that a rank stores into a peer's arena.
struct pushed_lines {
  void const* from;
  std::byte* to;
  std::int64_t from_stride, to_stride;  // bytes from a line to the next
  int lines, bytes;                     // of each line
};

struct exchange_params {
  ranks_view at;
  std::uint32_t digest;          // of the problem; not 0
  std::uint32_t buffer;          // the receive buffer of the call: 0 or 1
  int ctas;                      // at most exchange_ctas
  int unit;                      // bytes: a CTA has whole units of each line; a multiple of 16
  wait_place before;             // after the waits
  pushed_lines to[arena_ranks];  // the rank itself too, or no lines
  bool adds;
  add_partials_params sum;  // a unit is 8 columns; no gate
  call_text text;           // the problem
};

struct exchange_kernel {
  using params = exchange_params;
  static constexpr int threads = 256, cluster = 1, smem_bytes = 0;

  TW_DEVICE static void run(params const& p) { run(p, cta_id()); }

  /// CTA number `cta` of the rank.
  TW_DEVICE static void run(params const& p, int cta) {
    if constexpr (dependent_launches()) grid_dependency_wait();
    int const thread = thread_id();
    gpu_arena_head& own = *p.at.heads[p.at.rank];
    auto const epoch = static_cast<std::uint32_t>(own.epoch.value) + 1;
    bool const again = own.used.value == p.buffer + 1;
    std::uint64_t const mine = std::uint64_t{epoch} << 32 | p.digest;
    bool const other = thread < p.at.ranks && thread != p.at.rank;
    // CTA 0 compares the problems; the flags of other CTAs lack a digest.
    std::uint64_t const flag = cta == 0 ? mine : std::uint64_t{epoch} << 32 | 1;
    if (cta == 0) {
      for (int i = thread; i < call_text_words; i += threads)
        own.text[epoch % 2].words[i] = p.text.words[i];
      cta_sync();
      if (other)
        store_release<scope::sys>(
            &p.at.heads[thread]->flags[static_cast<int>(rank_flag::begun)][p.at.rank].value, mine);
    }
    // A rank that has begun this call has read the buffer of the last one.
    if (again)
      wait(rank_wait::of(p.at, others(p), rank_flag::begun, {rank_act::begin, 0, 0}, mine));
    for (int step = 1; step < p.at.ranks; ++step)
      push(p, p.to[(p.at.rank + p.at.ranks - step) % p.at.ranks], cta);
    cta_sync();  // the stores of all threads come before the flags
    if (other) store_release<scope::sys>(&p.at.heads[thread]->pushed[p.at.rank][cta], flag);
    push(p, p.to[p.at.rank], cta);
    rank_wait arrived{p.at, others(p),           rank_flag::sent, p.before,
                      flag, &own.pushed[0][cta], exchange_ctas};
    arrived.place.in = rank_waiter::exchange;
    arrived.place.part = cta, arrived.place.parts = p.ctas;
    arrived.compares = cta == 0;
    wait(arrived);
    if constexpr (dependent_launches()) grid_dependents_launch();
    if (p.adds) add(p, cta);
    count(p, own, epoch, mine);
  }

 private:
  TW_DEVICE static std::uint32_t others(params const& p) {
    return ((1U << p.at.ranks) - 1) & ~(1U << p.at.rank);
  }

  /// Of a CTA. When the group breaks the call goes on with old data, as on other paths.
  TW_DEVICE static void wait(rank_wait const& w) {
    if (thread_id() < 32) w.run();
    cta_sync();
  }

  /// The units [first, end) of `count` that a CTA has.
  struct part {
    int first, end;
    TW_DEVICE part(params const& p, int count, int cta)
        : first(static_cast<int>(static_cast<std::int64_t>(count) * cta / p.ctas)),
          end(static_cast<int>(static_cast<std::int64_t>(count) * (cta + 1) / p.ctas)) {}
  };

  TW_DEVICE static void push(params const& p, pushed_lines const& x, int cta) {
    if (x.lines == 0 || x.bytes == 0) return;
    bool const whole = reinterpret_cast<std::uintptr_t>(x.from) % 16 == 0 &&
                       x.from_stride % 16 == 0 && x.bytes % 16 == 0;
    int const per_line = (x.bytes + p.unit - 1) / p.unit, per_unit = p.unit / 16;
    part const mine(p, x.lines * per_line, cta);
    auto const place = [&](int i) {  // word i: its line, and its first byte there
      return place_of_word{i / per_unit / per_line,
                           i / per_unit % per_line * p.unit + i % per_unit * 16};
    };
    constexpr int at_once = 4;  // loads of a thread
    for (int i = mine.first * per_unit + thread_id(); i < mine.end * per_unit;
         i += at_once * threads) {
      b32<4> v[at_once];
      TW_UNROLL
      for (int j = 0; j < at_once; ++j) {
        place_of_word const w = place(i + j * threads);
        if (whole && i + j * threads < mine.end * per_unit && w.at < x.bytes)
          v[j] = load_16(static_cast<std::byte const*>(x.from) + w.line * x.from_stride + w.at);
      }
      TW_UNROLL
      for (int j = 0; j < at_once; ++j) {
        place_of_word const w = place(i + j * threads);
        if (i + j * threads >= mine.end * per_unit || w.at >= x.bytes) continue;
        std::byte* const to = x.to + w.line * x.to_stride + w.at;
        if (whole) {
          *reinterpret_cast<sixteen*>(to) = {v[j]};
          continue;
        }
        auto const* const from = static_cast<std::byte const*>(x.from) + w.line * x.from_stride;
        for (int b = 0; b < 16 && w.at + b < x.bytes; ++b)
          reinterpret_cast<words::b8*>(to)[b] = reinterpret_cast<words::b8 const*>(from)[w.at + b];
      }
    }
  }
  struct place_of_word {
    int line, at;
  };
  struct alignas(16) sixteen {
    b32<4> per_unit;
  };

  TW_DEVICE static void add(params const& p, int cta) {
    constexpr int wide = add_partials_kernel::wide;
    int const per_row = (p.sum.cols + wide - 1) / wide;
    part const mine(p, p.sum.rows * per_row, cta);
    for (int i = mine.first + thread_id(); i < mine.end; i += threads)
      add_partials_kernel::add_eight(p.sum, i / per_row, i % per_row * wide);
  }

  /// The last CTA counts the call: all have read the words of the one before.
  TW_DEVICE static void count(params const& p, gpu_arena_head& own, std::uint32_t epoch,
                              std::uint64_t mine) {
    if (thread_id() != 0) return;
    auto const ended = atomic_add<mem_order::acq_rel>(&own.ended.value, std::uint64_t{1});
    if (ended + 1 != static_cast<std::uint64_t>(p.ctas)) return;
    own.ended.value = 0;
    own.epoch.value = epoch;
    own.used.value = p.buffer + 1;
    own.outgoing.value = mine;
  }
};

}  // namespace tw
