// SPDX-License-Identifier: Apache-2.0
// shuffle.hpp  Shuffles, votes and reductions among the lanes of a warp (emulated). PTX ISA,
//              "shfl.sync", "vote.sync", "match.sync", "redux.sync".
#pragma once

#include "tilewright/arch/emu/engine.hpp"
#include "tilewright/arch/lane_value.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

namespace emu {

template <class T>
T shuffled(shuffle_mode mode, T x, int b, int width, std::uint32_t mask, site where) {
  tw::detail::lane_bits<T> bits(x);
  shuffle(mode, bits.word, tw::detail::lane_words<T>, b, width, mask, where);
  return bits.value();
}

/// f over the words of the lanes that took part.
template <class F>
std::uint32_t reduced(std::uint32_t x, std::uint32_t mask, char const* name, site where, F f) {
  warp_words all;
  exchange_among(mask, &x, 1, name, all, where);
  bool first = true;
  std::uint32_t total = 0;
  for (int lane = 0; lane < 32; ++lane) {
    if ((all.took_part >> lane & 1U) == 0) continue;
    total = first ? all.words[lane][0] : f(total, all.words[lane][0]);
    first = false;
  }
  return total;
}

template <class T>
T largest(T x, std::uint32_t mask, char const* name, site where) {
  return static_cast<T>(reduced(static_cast<std::uint32_t>(x), mask, name, where,
                                [](std::uint32_t a, std::uint32_t b) {
                                  return static_cast<T>(a) > static_cast<T>(b) ? a : b;
                                }));
}

inline std::uint32_t ballot(bool condition, std::uint32_t mask, char const* name, site where) {
  warp_words all;
  std::uint32_t const mine = condition ? 1 : 0;
  exchange_among(mask, &mine, 1, name, all, where);
  std::uint32_t lanes = 0;
  for (int lane = 0; lane < 32; ++lane)
    if ((all.took_part >> lane & 1U) != 0) lanes |= all.words[lane][0] << lane;
  return lanes;
}

}  // namespace emu

template <class T>
TW_DEVICE T shuffle(T x, int lane, int width = 32, std::uint32_t mask = all_lanes,
                    emu::site where = emu::site::here()) {
  return emu::shuffled(emu::shuffle_mode::index, x, lane, width, mask, where);
}
template <class T>
TW_DEVICE T shuffle_up(T x, int distance, int width = 32, std::uint32_t mask = all_lanes,
                       emu::site where = emu::site::here()) {
  return emu::shuffled(emu::shuffle_mode::up, x, distance, width, mask, where);
}
template <class T>
TW_DEVICE T shuffle_down(T x, int distance, int width = 32, std::uint32_t mask = all_lanes,
                         emu::site where = emu::site::here()) {
  return emu::shuffled(emu::shuffle_mode::down, x, distance, width, mask, where);
}
template <class T>
TW_DEVICE T shuffle_xor(T x, int lanes, int width = 32, std::uint32_t mask = all_lanes,
                        emu::site where = emu::site::here()) {
  return emu::shuffled(emu::shuffle_mode::exclusive_or, x, lanes, width, mask, where);
}

TW_DEVICE std::uint32_t ballot(bool condition, std::uint32_t mask = all_lanes,
                               emu::site where = emu::site::here()) {
  return emu::ballot(condition, mask, "ballot", where);
}
TW_DEVICE bool vote_any(bool condition, std::uint32_t mask = all_lanes,
                        emu::site where = emu::site::here()) {
  return emu::ballot(condition, mask, "vote_any", where) != 0;
}
TW_DEVICE bool vote_all(bool condition, std::uint32_t mask = all_lanes,
                        emu::site where = emu::site::here()) {
  return emu::ballot(!condition, mask, "vote_all", where) == 0;
}
template <class T>
TW_DEVICE std::uint32_t match_any(T x, std::uint32_t mask = all_lanes,
                                  emu::site where = emu::site::here()) {
  detail::lane_bits<T> const mine(x);
  emu::warp_words all;
  constexpr int words = detail::lane_words<T>;
  emu::exchange_among(mask, mine.word, words, "match_any", all, where);
  std::uint32_t lanes = 0;
  for (int lane = 0; lane < 32; ++lane) {
    bool same = (all.took_part >> lane & 1U) != 0;
    for (int i = 0; i < words; ++i) same = same && all.words[lane][i] == mine.word[i];
    if (same) lanes |= std::uint32_t{1} << lane;
  }
  return lanes;
}

template <class T>
TW_DEVICE T redux_add(T x, std::uint32_t mask = all_lanes, emu::site where = emu::site::here()) {
  static_assert(detail::is_redux_type<T>, "[TW0261] redux takes integers of 32 bits");
  return static_cast<T>(emu::reduced(static_cast<std::uint32_t>(x), mask, "redux_add", where,
                                     [](std::uint32_t a, std::uint32_t b) { return a + b; }));
}
template <class T>
TW_DEVICE T redux_min(T x, std::uint32_t mask = all_lanes, emu::site where = emu::site::here()) {
  static_assert(detail::is_redux_type<T>, "[TW0261] redux takes integers of 32 bits");
  return static_cast<T>(emu::reduced(static_cast<std::uint32_t>(x), mask, "redux_min", where,
                                     [](std::uint32_t a, std::uint32_t b) {
                                       return static_cast<T>(a) < static_cast<T>(b) ? a : b;
                                     }));
}
template <class T>
TW_DEVICE T redux_max(T x, std::uint32_t mask = all_lanes, emu::site where = emu::site::here()) {
  static_assert(detail::is_redux_type<T>, "[TW0261] redux takes integers of 32 bits");
  return emu::largest(x, mask, "redux_max", where);
}
template <class T>
TW_DEVICE T redux_and(T x, std::uint32_t mask = all_lanes, emu::site where = emu::site::here()) {
  static_assert(detail::is_redux_type<T>, "[TW0261] redux takes integers of 32 bits");
  return static_cast<T>(emu::reduced(static_cast<std::uint32_t>(x), mask, "redux_and", where,
                                     [](std::uint32_t a, std::uint32_t b) { return a & b; }));
}
template <class T>
TW_DEVICE T redux_or(T x, std::uint32_t mask = all_lanes, emu::site where = emu::site::here()) {
  static_assert(detail::is_redux_type<T>, "[TW0261] redux takes integers of 32 bits");
  return static_cast<T>(emu::reduced(static_cast<std::uint32_t>(x), mask, "redux_or", where,
                                     [](std::uint32_t a, std::uint32_t b) { return a | b; }));
}
template <class T>
TW_DEVICE T redux_xor(T x, std::uint32_t mask = all_lanes, emu::site where = emu::site::here()) {
  static_assert(detail::is_redux_type<T>, "[TW0261] redux takes integers of 32 bits");
  return static_cast<T>(emu::reduced(static_cast<std::uint32_t>(x), mask, "redux_xor", where,
                                     [](std::uint32_t a, std::uint32_t b) { return a ^ b; }));
}

}  // namespace tw
