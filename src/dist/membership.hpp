// SPDX-License-Identifier: Apache-2.0
// membership.hpp  A rank's view of a group: arenas, flags, waits, and how a group breaks.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/dist/group.hpp"
#include "tilewright/dist/shards.hpp"

namespace tw::dist {

/// Arenas, and the parts of receive buffers, begin at multiples of this many bytes.
inline constexpr std::int64_t arena_alignment = 256;

/// Flags of one kind are of one protocol, and are never reset.
enum class flag : std::uint8_t { sent, results };
inline constexpr int flag_kinds = 2;

/// A word that other ranks write, in a separate cache line.
struct alignas(64) shared_word {
  std::uint64_t value;
};

/// The problem of a call in words, for the rank that finds that another rank has another one.
struct alignas(64) call_record {
  static constexpr int text_bytes = 248;
  std::uint64_t epoch;
  char text[text_bytes];
};

/// The head of an arena; all zero at first. Rank s writes flags[kind][s], left[s] and `broken` of
/// every arena, and the other members of its arena.
struct arena_head {
  shared_word flags[flag_kinds][max_ranks];  // epoch << 32 | digest
  shared_word left[max_ranks];               // 1: the rank has destroyed its group
  shared_word broken;                        // 0; 1: `why` is being written; 2: it is there
  char why[512];
  call_record calls[2];  // of call i: calls[i % 2]
};

/// Rows of equal length in memory.
struct lines {
  std::int64_t count = 0, bytes = 0;            // of each line
  std::int64_t from_stride = 0, to_stride = 0;  // bytes from a line to the next
};

class group::membership {
 public:
  /// `memory` keeps the arenas alive.
  membership(int rank, std::vector<void*> arenas, group_options const& options,
             std::shared_ptr<void> memory);
  ~membership();

  int rank() const { return rank_; }
  int ranks() const { return static_cast<int>(arenas_.size()); }
  group_options const& options() const { return options_; }

  /// Begins the next call: refuses a broken group (TW0906) and a call during another one (TW0903).
  void begin(std::uint32_t digest, std::string const& problem);
  /// Ends the call. failed: why it failed, which breaks the group; empty: it did not.
  void end(std::string const& failed = {});

  /// The receive buffer of this call in a rank's arena, and of the call that begins next.
  std::byte* buffer(int rank) const { return buffer_of(epoch_, rank); }
  std::byte* next_buffer(int rank) const { return buffer_of(epoch_ + 1, rank); }

  /// Sets this rank's flag in the arena of a peer, after all that this thread wrote before.
  void set(flag kind, int peer);
  /// Waits for the flag of a peer. `before`: the next act of the rank, for the message. Throws
  /// TW0901 if the peer's problem is another one, TW0905 after the time-out, TW0906 if the group
  /// is broken or the peer has left.
  void wait(flag kind, int peer, std::string const& before);

  /// Breaks the group on all ranks; the first reason counts.
  void break_all(std::string const& why);
  bool broken() const;

 private:
  arena_head& head(int rank) const {
    return *static_cast<arena_head*>(arenas_[static_cast<std::size_t>(rank)]);
  }
  std::byte* buffer_of(std::uint32_t epoch, int rank) const;
  [[noreturn]] void refuse_broken() const;
  [[noreturn]] void refuse_other_problem(int peer);

  int rank_;
  std::vector<void*> arenas_;
  group_options options_;
  std::shared_ptr<void> memory_;
  std::uint32_t epoch_, digest_ = 0;
  std::string problem_;
  std::atomic<bool> in_call_ = false;
};

/// Copies lines.
void copy_lines(void const* from, void* to, lines const& l);

}  // namespace tw::dist
