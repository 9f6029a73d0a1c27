// SPDX-License-Identifier: Apache-2.0
// schedule.cpp  Shards, and the steps of a rank.
#include "tilewright/dist/schedule.hpp"

#include <algorithm>

namespace tw::dist {

shards::shards(std::vector<std::int64_t> sizes) : sizes_(std::move(sizes)) {
  for (std::int64_t const size : sizes_) {
    begins_.push_back(extent_);
    extent_ += size;
  }
}

shards shards::even(std::int64_t extent, int ranks) {
  std::vector<std::int64_t> sizes;
  for (int r = 0; r < ranks; ++r) sizes.push_back(extent / ranks + (r < extent % ranks ? 1 : 0));
  return shards(std::move(sizes));
}

std::int64_t shards::largest() const {
  return sizes_.empty() ? 0 : *std::max_element(sizes_.begin(), sizes_.end());
}

namespace {

/// The other ranks, in the order in which they are sent to, or are received from.
std::vector<int> others(int ranks, int rank, int (*at_step)(int, int, int)) {
  std::vector<int> list;
  for (int i = 1; i < ranks; ++i) list.push_back(at_step(ranks, rank, i));
  return list;
}

range before(shards const& s, int rank) { return {0, s.of(rank).begin}; }
range after(shards const& s, int rank) { return {s.of(rank).end(), s.extent() - s.of(rank).end()}; }

}  // namespace

std::vector<gather_step> gather_steps(path via, shards const& s, int rank) {
  int const ranks = s.ranks();
  switch (via) {
    case path::direct:
    case path::gated:
    case path::serial: return {{others(ranks, rank, sender), {0, s.extent()}}};
    case path::two_pieces:
      return {
          {{}, s.of(rank)}, {others(ranks, rank, sender), before(s, rank)}, {{}, after(s, rank)}};
    case path::pieces: break;
  }
  std::vector<gather_step> steps{{{}, s.of(rank)}};
  for (int const from : others(ranks, rank, sender)) steps.push_back({{from}, s.of(from)});
  return steps;
}

std::vector<reduce_step> reduce_steps(path via, shards const& s, int rank) {
  int const ranks = s.ranks();
  switch (via) {
    case path::direct:
    case path::gated:  // of an all-gather alone
    case path::serial: return {{{0, s.extent()}, others(ranks, rank, receiver)}};
    case path::two_pieces:
      return {
          {before(s, rank), {}}, {after(s, rank), others(ranks, rank, receiver)}, {s.of(rank), {}}};
    case path::pieces: break;
  }
  std::vector<reduce_step> steps;
  for (int const to : others(ranks, rank, receiver)) steps.push_back({s.of(to), {to}});
  steps.push_back({s.of(rank), {}});
  return steps;
}

}  // namespace tw::dist
