// SPDX-License-Identifier: Apache-2.0
// group.hpp  A group of ranks, through which the operations of dist/gemm.hpp communicate.
//
// Each rank has an arena: memory that all ranks of the group can write. It holds counters and two
// receive buffers, which calls use in turn. A rank sends by a copy into the arena of a peer and an
// 8-byte flag after it: the number of the call (its epoch) and a digest of the problem. It receives
// by waiting for flags in its own arena; no rank reads the memory of a peer.
//
// On a GPU a call enqueues its GEMMs on call_options::stream, its copies on a stream of the group
// (copy engines do them during the GEMMs), and launches of one warp that wait for flags. It returns
// at once. The epoch is in device memory, so that calls may be captured in a CUDA graph; a
// call that uses the buffer of the call before it (a graph of an odd number of calls, replayed)
// waits first until all ranks have begun.
//
// Two buffers need no barrier between ranks on two conditions, which every operation keeps: a rank
// sends for call i only after its own call i - 1 has ended, and in every call it waits for every
// peer, also for a peer that sends it no rows. A peer that overwrites the buffer of call i - 2 has
// then seen this rank's flag of call i - 1.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

typedef struct ncclComm* ncclComm_t;  // same declaration as NCCL's

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

  /// Bytes of an arena in host memory.
  static std::int64_t arena_bytes(group_options const& options);

  /// A rank of a group on GPUs, from a communicator with one rank on each GPU. All ranks call it
  /// with equal options (TW0903). The memory of the arena is NCCL's (ncclMemAlloc, one window with
  /// all ranks, which is registered here and never in a call), peers are written at their
  /// addresses, and path::serial uses the collectives. The current device is the communicator's.
  /// libnccl is the one that the process has loaded, or else libnccl.so.2; nccl_library names
  /// another file. The communicator must outlive the group, which does not destroy or abort it.
  /// Ranks that cannot address each other's memory run every call as path::serial.
  /// NCCL_NVLS_ENABLE=0 before the first call of NCCL keeps NCCL from multicast objects, which the
  /// group does not need. Throws `rejected`: TW0908 if NCCL is absent, is older than 2.28, is
  /// loaded twice or fails; TW0903 if options differ between ranks; TW0910 if the current device is
  /// not the communicator's; TW0506 if CUDA fails.
  static group from_nccl(ncclComm_t comm, group_options const& options = {},
                         std::string const& nccl_library = {});

  /// A rank of a group on GPUs whose arenas were mapped by the caller (torch symmetric memory, XLA,
  /// cuMem): arenas[r] is the address of rank r's arena on the current device, of
  /// gpu_arena_bytes(options) bytes at a multiple of 256. All are zero before the first rank's call
  /// of this function, and stay mapped until the last rank's group is destroyed. Throws `rejected`
  /// (TW0903, TW0506; TW0911 for other memory, or an allocation that ends too early).
  static group from_gpu_addresses(int rank, std::vector<void*> const& arenas,
                                  group_options const& options = {});

  /// Ranks 0 .. ranks - 1 on the current device, to try calls on one GPU. Call from a separate
  /// thread for each rank, with another stream: a call returns when the other ranks have enqueued
  /// the copies that it waits for. Replays of CUDA graphs lack this order: set
  /// CUDA_MODULE_LOADING=EAGER and CUDA_DEVICE_MAX_CONNECTIONS=32 before the first call of CUDA.
  static std::vector<group> virtual_ranks_on_gpu(int ranks, group_options const& options = {});

  /// Bytes of an arena on a GPU.
  static std::int64_t gpu_arena_bytes(group_options const& options);

  int rank() const;
  int ranks() const;

  /// Ends all waits of all ranks at once, from any thread: the calls in progress and all later ones
  /// are refused (TW0906). Results of calls in progress are undefined.
  void abort() const;
  /// Has a rank aborted, waited too long, or failed in a call?
  bool broken() const;
  /// Throws `rejected` if the group is broken: TW0901 or TW0905 on the rank that found the cause,
  /// else TW0906. On a GPU a failed wait shows in its stream: results are valid if check() returns
  /// after the stream has been synchronised. It must not be called during a capture.
  void check() const;
  /// Do the ranks address each other's memory? If not, every call is path::serial by NCCL.
  bool has_peer_addresses() const;
  /// Ranks whose memory this rank's GPU cannot write: without P2P access between the two GPUs, or
  /// on another host.
  std::vector<int> unreached() const;

  class membership;  // src/dist/membership.hpp
  explicit group(std::shared_ptr<membership> state);
  membership& state() const { return *state_; }

 private:
  std::shared_ptr<membership> state_;
};

/// Calls work(g) for each membership in a separate thread, and waits for all. Throws the
/// exception that came first.
void run_ranks(std::vector<group> const& groups, std::function<void(group const&)> const& work);

}  // namespace tw::dist
