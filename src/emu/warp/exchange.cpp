// SPDX-License-Identifier: Apache-2.0
// exchange.cpp  Instructions in which the lanes of a warp give each other words: shuffles, votes,
//               reductions and mma_sync. A lane goes on when all lanes of the mask have come.
//
// A thread waits until every thread of its mask that has not exited executes the same instruction
// with the same mask. PTX ISA, "shfl.sync", "vote.sync", "match.sync", "redux.sync".
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"
#include "emu/wgmma/exact_sum.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/base/elem_traits.hpp"

namespace tw::emu {

namespace {

std::uint32_t bit_of(int lane) { return std::uint32_t{1} << lane; }

/// Lanes that have ended, and those that a warp of fewer than 32 threads lacks.
std::uint32_t absent(warp_state const& w) {
  return w.ended | (w.threads == 32 ? 0 : all_lanes << w.threads);
}

std::string mask_text(std::uint32_t mask) { return fmt::format("{:#010x}", mask); }

}  // namespace

void warp_unit::complete(warp_state& w, warp_state::exchange_op& op) {
  std::uint32_t const missing = op.mask & ~op.arrived;
  if ((op.all_must_run ? missing : missing & ~absent(w)) != 0) return;
  op.complete = true;
  op.given.took_part = op.arrived;
  // warp_id() and its like bring no other thread on: a loop that polls may call them in each turn.
  if (op.count > 0) m_.sched.progressed();
  for (std::uint32_t left = op.waiting; left != 0; left &= left - 1)
    m_.sched.wake(w.first + std::countr_zero(left));
}

void warp_unit::exchange(std::uint32_t const* mine, int count, char const* name, std::uint32_t mask,
                         bool all_must_run, warp_words& all, site where) {
  operation const op = join(mine, count, name, mask, all_must_run, where);
  all = op->given;
  leave(op);
}

std::uint32_t warp_unit::come_together(char const* name, site where) {
  operation const op = join(nullptr, 0, name, all_lanes, false, where);
  std::uint32_t const lanes = op->given.took_part;
  leave(op);
  return lanes;
}

void warp_unit::leave(operation op) {
  thread const& t = *m_.sched.running();
  op->taken |= bit_of(t.id % 32);
  if (op->taken == op->arrived) m_.sched.warp_of(t).exchanges.erase(op);
}

warp_unit::operation warp_unit::join(std::uint32_t const* mine, int count, char const* name,
                                     std::uint32_t mask, bool all_must_run, site where) {
  thread& t = *m_.sched.running();
  warp_state& w = m_.sched.warp_of(t);
  int const lane = t.id % 32;
  std::uint32_t const own = bit_of(lane);
  if ((mask & own) == 0)
    m_.reports.stop(
        "E0070", "lane-not-in-mask",
        report_text({
            .what = fmt::format("{} is executed by lane {}, which its mask {} does not name.", name,
                                lane, mask_text(mask)),
            .now = fmt::format("{} at {} by {}", name, text_of(where), name_of(t)),
            .cause = "PTX leaves open what the instruction does in a lane outside of its mask",
            .remedy = "a mask of all lanes that come here: what ballot(condition) returns before "
                      "the branch",
        }),
        where);
  // Deadlock: this mask needs a lane that waits with another mask, which in turn needs this lane.
  auto op = std::ranges::find_if(w.exchanges, [&](warp_state::exchange_op const& x) {
    return !x.complete && (x.mask & own) != 0 && (x.arrived & own) == 0 &&
           (x.mask == mask || (x.arrived & mask) != 0);
  });
  if (op == w.exchanges.end()) {
    op = w.exchanges.emplace(w.exchanges.end(), name, mask, count, all_must_run, where);
  }
  bool const same = (op->name == name || std::strcmp(op->name, name) == 0) && op->count == count;
  if (!same || op->mask != mask) {
    auto const text = [&](char const* of, std::uint32_t with, int words) {
      return fmt::format("{}{}{}", of, same ? " with mask " + mask_text(with) : "",
                         std::strcmp(op->name, name) != 0 || words == 1 || same
                             ? ""
                             : fmt::format(" of {} bytes", 4 * words));
    };
    m_.reports.stop(
        "E0021", "warp-diverged",
        report_text({
            .what = same ? fmt::format("The lanes of a warp give {} with different masks.", name)
                         : "The lanes of a warp give different instructions of the warp.",
            .now = fmt::format("{} at {} by lane {} of {}", text(name, mask, count), text_of(where),
                               lane, name_of(t)),
            .earlier = fmt::format("{} at {} by the first lane that came",
                                   text(op->name, op->mask, op->count), text_of(op->where)),
            .cause = "it is one instruction, which waits for all lanes of its mask",
            .remedy = "no branch between those lanes around it, and one mask for all of them",
        }),
        where, {.earlier = op->where});
  }
  std::copy_n(mine, count, op->given.words[lane]);
  op->arrived |= own;
  complete(w, *op);
  if (!op->complete) {
    op->waiting |= own;
    m_.sched.block(wait_kind::exchange, op->name, op->mask, where);
  }
  return op;
}

void warp_unit::left_by(thread const& t) {
  warp_state& w = m_.sched.warp_of(t);
  w.ended |= bit_of(t.id % 32);
  for (warp_state::exchange_op& op : w.exchanges)
    if (!op.complete) complete(w, op);
  check_stores(t);
}

void warp_unit::report_absent(char const* name, int source, std::uint32_t mask, site where) {
  thread const& t = *m_.sched.running();
  bool const ended = (mask & bit_of(source)) != 0;
  m_.reports.stop(
      "E0071", "absent-source-lane",
      report_text({
          .what = fmt::format("{} reads from lane {}, which {}.", name, source,
                              ended ? "has ended or does not exist" : "does not take part in it"),
          .now = fmt::format("{} with mask {} at {} by lane {} of {}", name, mask_text(mask),
                             text_of(where), t.id % 32, name_of(t)),
          .cause = "PTX leaves open what a shuffle returns from a lane that does not execute it",
          .remedy = "all 32 lanes at the shuffle, or a width that keeps the source among the lanes "
                    "of the mask",
      }),
      where);
}

void warp_unit::report_width(char const* name, int width, site where) {
  thread const& t = *m_.sched.running();
  m_.reports.stop(
      "E0072", "shuffle-width",
      report_text({
          .what = fmt::format("{} is given a width of {} lanes.", name, width),
          .now = fmt::format("{} at {} by {}", name, text_of(where), name_of(t)),
          .cause = "a shuffle divides the warp into parts of 1, 2, 4, 8, 16 or 32 lanes",
          .remedy = "a power of two from 1 to 32",
      }),
      where);
}

void exchange(std::uint32_t const* mine, int count, char const* name, warp_words& all, site where) {
  engine_call const inside;
  machine& m = machine::current();
  int const lanes = m.sched.warp_of(*m.sched.running()).threads;
  m.warp.exchange(mine, count, name, all_lanes >> (32 - lanes), true, all, where);
}

void exchange_among(std::uint32_t mask, std::uint32_t const* mine, int count, char const* name,
                    warp_words& all, site where) {
  engine_call const inside;
  machine::current().warp.exchange(mine, count, name, mask, false, all, where);
}

std::uint32_t lanes_that_arrive(char const* name, site where) {
  engine_call const inside;
  return machine::current().warp.come_together(name, where);
}

void first_lane_gives(char const* name, site where) {
  engine_call const inside;
  warp_unit& warp = machine::current().warp;
  if ((warp.come_together(name, where) & 1U) == 0) warp.report_absent(name, 0, all_lanes, where);
}

void shuffle(shuffle_mode mode, std::uint32_t* words, int count, int b, int width,
             std::uint32_t mask, site where) {
  engine_call const inside;
  machine& m = machine::current();
  static constexpr char const* names[] = {"shuffle", "shuffle_up", "shuffle_down", "shuffle_xor"};
  char const* const name = names[static_cast<int>(mode)];
  if (width < 1 || width > 32 || !std::has_single_bit(static_cast<unsigned>(width)))
    m.warp.report_width(name, width, where);
  warp_words all;
  m.warp.exchange(words, count, name, mask, false, all, where);
  // PTX ISA, "shfl.sync": b counts modulo 32; a source outside of the part of `width` lanes, for
  // exclusive_or after it, leaves the lane its own value.
  int const lane = self->id % 32, first = lane & ~(width - 1), last = first + width - 1;
  b &= 31;
  int source = lane;
  switch (mode) {
    case shuffle_mode::index: source = first | (b & (width - 1)); break;
    case shuffle_mode::up: source = lane - b >= first ? lane - b : lane; break;
    case shuffle_mode::down: source = lane + b <= last ? lane + b : lane; break;
    case shuffle_mode::exclusive_or: source = (lane ^ b) <= last ? lane ^ b : lane; break;
  }
  if ((all.took_part & bit_of(source)) == 0) m.warp.report_absent(name, source, mask, where);
  std::copy_n(all.words[source], count, words);
}

namespace {

/// d + the sum of a[k] b[k], as the emulated wgmma: in the order of K, each with one rounding.
float fast_sum(elem type, int products, std::uint16_t const* a, std::uint16_t const* b, float d) {
  return with_elem(type, [&](auto t) {
    using number = typename decltype(t)::type;
    float sum = d;
    if constexpr (size_bits(t.value) == 16)
      for (int k = 0; k < products; ++k)
        sum = std::fma(to_float(number{a[k]}), to_float(number{b[k]}), sum);
    return sum;
  });
}

/// The sum by the rule of base/accumulator_bits.hpp.
float exact_sum(elem type, elem sums, int products, std::uint16_t const* a, std::uint16_t const* b,
                float d) {
  sum_term terms[16];
  for (int k = 0; k < products; ++k)
    terms[k] = product_of(operand_number_of(type, a[k]), operand_number_of(type, b[k]));
  bool const halves = holds_half_sums(sums);
  std::uint32_t const in = halves ? to_f16(d).bits : std::bit_cast<std::uint32_t>(d);
  std::uint32_t const sum = sum_of_terms(terms, products, 2 * traits_of(type).format.mantissa_bits,
                                         accumulator_rule_of(type, sums), sums, in, true);
  return halves ? to_float(f16{static_cast<std::uint16_t>(sum)}) : std::bit_cast<float>(sum);
}

}  // namespace

void multiply_16x8(elem type, elem sums, int products, warp_words const& all, float* d) {
  engine_call const inside;
  auto const bits = [&](int lane, int word, int half) {
    return static_cast<std::uint16_t>(all.words[lane][word] >> 16 * half);
  };
  int const lane = self->id % 32;
  for (int i = 0; i < 4; ++i) {
    int const row = lane / 4, col = 2 * (lane % 4) + i % 2;
    std::uint16_t a[16], b[16];
    for (int k = 0; k < products; ++k) {
      int const of_k = k % 8 / 2;
      a[k] = bits(4 * row + of_k, i / 2 + k / 8 * 2, k % 2);
      b[k] = bits(4 * col + of_k, products / 4 + k / 8, k % 2);
    }
    d[i] = machine::current().options_.exact_sums ? exact_sum(type, sums, products, a, b, d[i])
                                                  : fast_sum(type, products, a, b, d[i]);
  }
}

void load_16(void const* from, std::uint32_t* regs, site where) {
  engine_call const inside;
  machine::current().memory.require_global(from, "A load of 16 bytes", where);
  machine::current().memory.require_aligned(from, 16, "a load", where);
  machine::current().memory.plain_access(from, 16, false, true, where);
  std::memcpy(regs, from, 16);
}

}  // namespace tw::emu
