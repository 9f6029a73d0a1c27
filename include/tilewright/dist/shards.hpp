// SPDX-License-Identifier: Apache-2.0
// shards.hpp  The operations of a group of ranks, and which rows each rank has.
#pragma once

#include <cstdint>
#include <vector>

namespace tw::dist {

/// More ranks are refused: the counters of a group have room for this many.
inline constexpr int max_ranks = 16;

/// A GEMM and the communication before or after it, for rank r of P ranks:
///   all_gather_gemm      D_r = A B_r           A (M, K) is gathered from shards of rows
///   gemm_reduce_scatter  D_r = rows of S       S = sum over r of A_r B_r: K is split
///   gemm_all_reduce      D = S                 each rank has all rows
enum class operation : std::uint8_t { all_gather_gemm, gemm_reduce_scatter, gemm_all_reduce };
inline constexpr char const* operation_names[] = {"all-gather", "reduce-scatter", "all-reduce"};
constexpr char const* name(operation op) { return operation_names[static_cast<int>(op)]; }
/// Is K split over the ranks, so that partial results are added?
constexpr bool splits_k(operation op) { return op != operation::all_gather_gemm; }

/// How an operation is cut into launches:
///   serial      one GEMM, before or after the communication
///   two_pieces  one GEMM of the rank's own shard, and one or two of the other rows
///   pieces      one GEMM of each shard, which is sent during the other GEMMs
///   direct      one GEMM, before or after one launch that stores to all peers and waits for them:
///               for small M
///   gated       all-gather + GEMM: one GEMM, which waits for the rows of a tile before it loads
///               them
enum class path : std::uint8_t { serial, two_pieces, pieces, direct, gated };
inline constexpr char const* path_names[] = {"serial", "two-pieces", "pieces", "direct", "gated"};
constexpr char const* name(path p) { return path_names[static_cast<int>(p)]; }
constexpr bool has_one_gemm(path p) { return p != path::two_pieces && p != path::pieces; }

/// Rows [begin, begin + size).
struct range {
  std::int64_t begin = 0, size = 0;
  constexpr std::int64_t end() const { return begin + size; }
  constexpr bool empty() const { return size == 0; }
  constexpr bool operator==(range const&) const = default;
};

/// Rows of each rank, one after the other from row 0. A shard may be empty.
class shards {
 public:
  shards() = default;
  /// sizes[r] >= 0: the rows of rank r.
  explicit shards(std::vector<std::int64_t> sizes);
  /// The first extent % ranks shards have one row more than the last ones (numpy.array_split).
  static shards even(std::int64_t extent, int ranks);

  int ranks() const { return static_cast<int>(sizes_.size()); }
  std::int64_t extent() const { return extent_; }
  range of(int rank) const {
    return {begins_[static_cast<std::size_t>(rank)], sizes_[static_cast<std::size_t>(rank)]};
  }
  /// Rows of the largest shard.
  std::int64_t largest() const;
  bool operator==(shards const&) const = default;

 private:
  std::vector<std::int64_t> sizes_, begins_;
  std::int64_t extent_ = 0;
};

}  // namespace tw::dist
