// SPDX-License-Identifier: Apache-2.0
// group.hpp  A group of ranks, through which the operations of dist/gemm.hpp communicate.
//
// Each rank has an arena: memory that all ranks of the group can write. It holds counters and two
// receive buffers, which calls use in turn. A rank sends by a copy into the arena of a peer and an
// 8-byte flag after it: the number of the call (its epoch) and a digest of the problem. It receives
// by waiting for flags in its own arena; no rank reads the memory of a peer.
//
// Two buffers need no barrier between ranks on two conditions, which every operation keeps: a rank
// sends for call i only after its own call i - 1 has ended, and in every call it waits for every
// peer, also for a peer that sends it no rows. A peer that overwrites the buffer of call i - 2 has
// then seen this rank's flag of call i - 1.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace tw::dist {

struct group_options {
  /// Size of one receive buffer; dist::gathered_bytes() returns the size that a problem needs.
  std::int64_t gathered_bytes = std::int64_t{64} << 20;
  /// A wait for a peer ends after this time, and the group is broken (TW0905).
  double timeout_s = 300;
  /// The number of the call before the first one; all ranks have the same. Epochs are compared
  /// modulo 2^32.
  std::uint32_t epoch = 0;
};

/// One rank's membership of a group. Copies refer to one membership; when the last is destroyed,
/// peers that wait for this rank are refused (TW0906). One call at a time: two threads that use the
/// same membership at once are refused (TW0903), except for abort() and broken().
class group {
 public:
  /// Ranks 0 .. ranks - 1 in this process, whose GEMMs the emulator multiplies. Operands are host
  /// memory. A call returns when the rank's result is there, and waits for the other ranks: call
  /// from a separate thread for each rank. Throws `rejected` (TW0903).
  static std::vector<group> virtual_ranks(int ranks, group_options const& options = {});

  /// A rank of a group whose arenas were mapped by the caller, for example as shared memory of
  /// several processes: arenas[r] is the address of rank r's arena here, of arena_bytes(options)
  /// bytes at a multiple of 256. All are zero before the first rank's call of this function, and
  /// stay mapped until the last rank's group is destroyed. The emulator multiplies. Throws
  /// `rejected` (TW0903).
  static group from_addresses(int rank, std::vector<void*> const& arenas,
                              group_options const& options = {});

  /// Bytes of an arena.
  static std::int64_t arena_bytes(group_options const& options);

  int rank() const;
  int ranks() const;

  /// Ends all waits of all ranks at once, from any thread: the calls in progress and all later ones
  /// are refused (TW0906). Results of calls in progress are undefined.
  void abort() const;
  /// Has a rank aborted, waited too long, or failed in a call?
  bool broken() const;

  class membership;
  membership& state() const { return *state_; }

 private:
  explicit group(std::shared_ptr<membership> state);
  std::shared_ptr<membership> state_;
};

/// Calls work(g) for each membership in a separate thread, and waits for all. Throws the
/// exception that came first.
void run_ranks(std::vector<group> const& groups, std::function<void(group const&)> const& work);

}  // namespace tw::dist
