// SPDX-License-Identifier: Apache-2.0
// exchange.cpp  shuffle_xor and mma_sync: one instruction of 32 lanes in which each brings words
// and
//               goes on when the 32nd has brought its own; and loads of 16 bytes.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "emu/machine.hpp"
#include "emu/words.hpp"
#include "tilewright/base/convert.hpp"

namespace tw::emu {

void warp_unit::exchange(std::uint32_t const* mine, int count, char const* name, warp_words& all,
                         site where) {
  thread& t = *m_.sched.running();
  warp_state& w = m_.sched.warp_of(t);
  std::uint32_t const k = t.exchanges++;
  if (k - w.exchanges_base == w.exchanges.size()) w.exchanges.push_back({name, 0, 0, where, {}});
  warp_state::exchange_op* op = &w.exchanges[k - w.exchanges_base];
  if (std::strcmp(op->name, name) != 0)
    m_.reports.stop("E0021", "warp-diverged",
                    told({
                        .what = "The lanes of a warp give different instructions of the warp.",
                        .now = fmt::format("{} at {} by lane {} of {}", name, text_of(where),
                                           t.id % 32, name_of(t)),
                        .earlier = fmt::format("{} at {} by the first lane that came", op->name,
                                               text_of(op->where)),
                        .cause = "it is one instruction of 32 lanes",
                        .remedy = "no branch between the lanes of a warp around it",
                    }),
                    where, {.earlier = op->where});
  std::copy_n(mine, count, op->given.words[t.id % 32]);
  if (++op->arrived == w.threads) {
    m_.sched.progressed();
    m_.sched.wake_all(w.exchange_waiters);
  } else {
    w.exchange_waiters.push_back(&t);
    m_.sched.block(wait_kind::exchange, op->name, 0, where);
    op = &w.exchanges[k - w.exchanges_base];
  }
  all = op->given;
  if (++op->taken == w.threads) {
    w.exchanges.pop_front();
    ++w.exchanges_base;
  }
}

void exchange(std::uint32_t const* mine, int count, char const* name, warp_words& all, site where) {
  engine_call const inside;
  machine::current().warp.exchange(mine, count, name, all, where);
}

/// As the emulated wgmma: the products in the order of K, each added with one rounding.
void multiply_16x8x16(elem type, warp_words const& all, float* d) {
  engine_call const inside;
  auto const value = [&](int lane, int word, int half) {
    auto const bits = static_cast<std::uint16_t>(all.words[lane][word] >> 16 * half);
    return type == elem::bf16 ? to_float(bf16{bits}) : to_float(f16{bits});
  };
  int const lane = self->id % 32;
  for (int i = 0; i < 4; ++i) {
    int const row = lane / 4, col = 2 * (lane % 4) + i % 2;
    for (int k = 0; k < 16; ++k) {
      int const of_k = k % 8 / 2;
      float const a = value(4 * row + of_k, i / 2 + k / 8 * 2, k % 2);
      float const b = value(4 * col + of_k, 4 + k / 8, k % 2);
      d[i] = std::fma(a, b, d[i]);
    }
  }
}

void load_16(void const* from, std::uint32_t* regs, site where) {
  engine_call const inside;
  machine::current().memory.require_aligned(from, 16, "a load", where);
  machine::current().memory.plain_access(from, 16, false, true, where);
  std::memcpy(regs, from, 16);
}

}  // namespace tw::emu
