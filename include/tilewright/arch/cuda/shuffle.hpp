// SPDX-License-Identifier: Apache-2.0
// shuffle.hpp  Shuffles, votes and reductions among the lanes of a warp, in registers.
//
// All lanes of `mask` that have not ended execute the operation together, each with its own bit in
// the mask. T of a shuffle: 1, 2, 4 or 8 bytes, trivially copyable. A shuffle that reads from a
// lane which does not execute it returns anything; in the emulator that is E0071.
#pragma once

#include <cstdint>

#include "tilewright/arch/lane_value.hpp"
#include "tilewright/arch/types.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

/// x of lane `lane` of the caller's part of `width` lanes (a power of two up to 32), counted modulo
/// the width. PTX ISA, "shfl.sync": .idx.
template <class T>
TW_DEVICE T shuffle(T x, int lane, int width = 32, std::uint32_t mask = all_lanes) {
  detail::lane_bits<T> bits(x);
  for (std::uint32_t& w : bits.word) w = __shfl_sync(mask, w, lane, width);
  return bits.value();
}
/// x of the lane `distance` (0 to 31) before the caller; x itself where that is in another part of
/// `width` lanes. PTX ISA, "shfl.sync": .up.
template <class T>
TW_DEVICE T shuffle_up(T x, int distance, int width = 32, std::uint32_t mask = all_lanes) {
  detail::lane_bits<T> bits(x);
  for (std::uint32_t& w : bits.word)
    w = __shfl_up_sync(mask, w, static_cast<unsigned>(distance), width);
  return bits.value();
}
/// x of the lane `distance` (0 to 31) after the caller; x itself where that is in another part of
/// `width` lanes. PTX ISA, "shfl.sync": .down.
template <class T>
TW_DEVICE T shuffle_down(T x, int distance, int width = 32, std::uint32_t mask = all_lanes) {
  detail::lane_bits<T> bits(x);
  for (std::uint32_t& w : bits.word)
    w = __shfl_down_sync(mask, w, static_cast<unsigned>(distance), width);
  return bits.value();
}
/// x of lane `lane_id() ^ lanes`; x itself where that lies after the caller's part of `width`
/// lanes. PTX ISA, "shfl.sync": .bfly.
template <class T>
TW_DEVICE T shuffle_xor(T x, int lanes, int width = 32, std::uint32_t mask = all_lanes) {
  detail::lane_bits<T> bits(x);
  for (std::uint32_t& w : bits.word) w = __shfl_xor_sync(mask, w, lanes, width);
  return bits.value();
}

/// The lanes, as bits, where the condition is true. PTX ISA, "vote.sync": .ballot.
TW_DEVICE std::uint32_t ballot(bool condition, std::uint32_t mask = all_lanes) {
  return __ballot_sync(mask, condition);
}
/// Is it true in any lane of the mask? PTX ISA, "vote.sync": .any.
TW_DEVICE bool vote_any(bool condition, std::uint32_t mask = all_lanes) {
  return __any_sync(mask, condition) != 0;
}
/// Is it true in all lanes of the mask? PTX ISA, "vote.sync": .all.
TW_DEVICE bool vote_all(bool condition, std::uint32_t mask = all_lanes) {
  return __all_sync(mask, condition) != 0;
}
/// The lanes, as bits, whose x has the same bits as the caller's. PTX ISA, "match.sync": .any.
template <class T>
TW_DEVICE std::uint32_t match_any(T x, std::uint32_t mask = all_lanes) {
  detail::lane_bits<T> const bits(x);
  if constexpr (detail::lane_words<T> == 1)
    return __match_any_sync(mask, bits.word[0]);
  else
    return __match_any_sync(mask, bits.word[0] | static_cast<unsigned long long>(bits.word[1])
                                                     << 32);
}

// Each returns the same in all lanes of the mask. T: int or unsigned, of 32 bits.

/// The sum modulo 2^32. PTX ISA, "redux.sync": .add.
template <class T>
TW_DEVICE T redux_add(T x, std::uint32_t mask = all_lanes) {
  static_assert(detail::is_redux_type<T>, "[TW0261] redux takes integers of 32 bits");
  return __reduce_add_sync(mask, x);
}
/// PTX ISA, "redux.sync": .min.
template <class T>
TW_DEVICE T redux_min(T x, std::uint32_t mask = all_lanes) {
  static_assert(detail::is_redux_type<T>, "[TW0261] redux takes integers of 32 bits");
  return __reduce_min_sync(mask, x);
}
/// PTX ISA, "redux.sync": .max.
template <class T>
TW_DEVICE T redux_max(T x, std::uint32_t mask = all_lanes) {
  static_assert(detail::is_redux_type<T>, "[TW0261] redux takes integers of 32 bits");
  return __reduce_max_sync(mask, x);
}
/// PTX ISA, "redux.sync": .and.
template <class T>
TW_DEVICE T redux_and(T x, std::uint32_t mask = all_lanes) {
  static_assert(detail::is_redux_type<T>, "[TW0261] redux takes integers of 32 bits");
  return static_cast<T>(__reduce_and_sync(mask, static_cast<std::uint32_t>(x)));
}
/// PTX ISA, "redux.sync": .or.
template <class T>
TW_DEVICE T redux_or(T x, std::uint32_t mask = all_lanes) {
  static_assert(detail::is_redux_type<T>, "[TW0261] redux takes integers of 32 bits");
  return static_cast<T>(__reduce_or_sync(mask, static_cast<std::uint32_t>(x)));
}
/// PTX ISA, "redux.sync": .xor.
template <class T>
TW_DEVICE T redux_xor(T x, std::uint32_t mask = all_lanes) {
  static_assert(detail::is_redux_type<T>, "[TW0261] redux takes integers of 32 bits");
  return static_cast<T>(__reduce_xor_sync(mask, static_cast<std::uint32_t>(x)));
}

}  // namespace tw
