// SPDX-License-Identifier: Apache-2.0
// membership.hpp  A rank's part in a group: its arena, and the acts of which calls consist. Host
//                 ranks (host_ranks.hpp) do them at once, GPU ranks (gpu_ranks.cu) enqueue them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dist/placement.hpp"
#include "dist/slice.hpp"
#include "family/gate_form.hpp"
#include "tilewright/dist/gemm.hpp"
#include "tilewright/dist/group.hpp"
#include "tilewright/dist/shards.hpp"
#include "tilewright/family/plan.hpp"
#include "tilewright/kernel/partials/add.hpp"
#include "tilewright/kernel/ranks/arena.hpp"

namespace tw::dist {

static_assert(max_ranks == arena_ranks);

/// Arenas, and the parts of receive buffers, begin at multiples of this many bytes.
inline constexpr std::int64_t arena_alignment = 256;

/// Rows of equal length in memory.
struct lines {
  std::int64_t count = 0, bytes = 0;            // of each line
  std::int64_t from_stride = 0, to_stride = 0;  // bytes from a line to the next
  /// Are they adjacent on both sides?
  bool adjacent() const { return count <= 1 || (from_stride == bytes && to_stride == bytes); }
};

/// A copy into a receive buffer: from an address here to an offset there.
struct placed_lines {
  void const* from;
  std::int64_t offset;
  lines of;
};

/// The act before which a rank waits, and its rows.
struct awaited {
  rank_act act;
  range rows;
};
/// The waiting work, for messages. "all tiles of its GEMM of 16 rows from 32": no tile of the GEMM
/// of rows 32 to 47 has begun.
std::string text_of(wait_place const& p);
inline std::string text_of(awaited const& a) {
  return text_of(wait_place{a.act, a.rows.begin, a.rows.size});
}

/// NCCL's collectives on memory of the group, in the order of the GEMMs. Counts are of elements.
class collectives {
 public:
  virtual ~collectives() = default;
  /// All ranks receive rank r's bytes `own` at parts[r] of `all`.
  virtual void gather(void const* own, std::byte* all, std::vector<range> const& parts) = 0;
  /// `to` = the sum over the ranks of the elements parts[rank] of `all`.
  virtual void reduce_scatter(void const* all, void* to, std::vector<range> const& parts,
                              elem type) = 0;
  /// `to` = the sum over the ranks of `count` elements.
  virtual void all_reduce(void const* from, void* to, std::int64_t count, elem type) = 0;
};

/// The exchange of path::direct: each rank sends lines to every peer, waits for all, and adds.
struct exchange {
  std::vector<placed_lines> to;  // to rank r, at an offset of its receive buffer
  int unit = 16;                 // bytes of a line that are sent together, a multiple of 16
  std::int64_t most_bytes = 0;   // that a rank sends to a peer
  std::optional<add_partials_params> sum;
  awaited before;
};

/// How a call begins: alone; on all ranks together, for NCCL; by its exchange, which counts it.
enum class beginning { alone, together, by_exchange };

class group::membership {
 public:
  membership(int rank, int ranks, group_options const& options)
      : rank_(rank),
        ranks_(ranks),
        options_(options) {}
  virtual ~membership() = default;
  membership(membership const&) = delete;
  membership& operator=(membership const&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  group_options const& options() const { return options_; }
  /// Are operands in the memory of a GPU?
  virtual bool on_gpu() const = 0;
  /// CUDA's number of the GPU; -1: host memory.
  virtual int device() const { return -1; }
  /// Does a peer compute on this rank's GPU? Its kernels then share the SMs with the peer's.
  virtual bool shares_gpu() const { return false; }
  /// Ranks whose arenas this rank cannot write. If there are any, NCCL's collectives are left.
  virtual std::vector<int> unreached() const { return {}; }
  bool reaches_all() const { return unreached().empty(); }
  /// nullptr: none.
  virtual collectives* nccl() { return nullptr; }

  /// The plan of a GEMM of this rank.
  virtual std::shared_ptr<gemm_plan const> plan(gemm_problem const& p, gemm_operands const& o,
                                                call_options const& how) const = 0;
  /// Of path::gated: dispatch/plan/gated.hpp's plan for this rank's device.
  virtual std::shared_ptr<gemm_plan const> plan_gated(gemm_problem const& p, gemm_operands const& o,
                                                      call_options const& how) const = 0;

  /// Throws TW0911 for operands that the rank's GPU cannot use in a call with these options.
  virtual void check_memory(std::vector<operand_address> const&, call_options const&) const {}
  /// Begins the next call: refuses a broken group (TW0906) and a call during another one (TW0903).
  /// `problem`: in words, equal on all ranks.
  virtual void begin(std::string const& problem, call_options const& how, beginning by) = 0;
  /// Ends the call. failed: why it failed, which breaks the group; empty: it did not.
  virtual void end(std::string const& failed) = 0;
  /// Reports to the peers that this rank refuses its next call, and why: a peer that begins the
  /// call, instead of refusing it too, breaks the group.
  void refuse_call(std::string const& why) {
    ++refused_;
    if (ranks_ > 1) tell_refusal(refusals_word(begun_, refused_), why);
  }
  virtual void tell_refusal(std::uint64_t refusals, std::string const& why) = 0;

  /// The receive buffer of this call in a rank's arena, and of the call that begins next.
  virtual std::byte* buffer(int rank) const = 0;
  virtual std::byte* next_buffer(int rank) const = 0;

  // The acts of a call. GEMMs, sums and local copies are done in order, and so are sends and flags.
  virtual void multiply(gemm_plan const& plan, gemm_operands const& o) = 0;
  /// Waits for the flags `sent` of all peers while it multiplies. gate: without the ranks.
  virtual void multiply_gated(gemm_plan const& plan, gemm_operands const& o, gate_form gate) = 0;
  virtual void add(add_partials_params const& p) = 0;
  virtual void copy(void const* from, void* to, lines const& l) = 0;
  /// Later sends contain all results that were computed before.
  virtual void results_are_there() = 0;
  /// Copies to an address in the arena of a peer.
  virtual void send(void const* from, std::byte* to, lines const& l) = 0;
  /// Sets this rank's flag in the arena of a peer, after all that was sent before.
  virtual void set(rank_flag kind, int peer) = 0;
  /// Later GEMMs and sums see the data that these ranks sent before their flags. Throws, or on a
  /// GPU lets the next call throw: TW0901 if a problem is another one, TW0905 after the time-out,
  /// TW0906 if the group is broken or a rank has left.
  virtual void wait(rank_flag kind, std::vector<int> const& from, awaited const& before) = 0;
  /// Sends, waits and adds; by the acts above, unless a rank has one launch for it.
  virtual void run(exchange const& x);

  /// Breaks the group on all ranks; the first reason counts. Any thread.
  virtual void break_all(std::string const& why) = 0;
  virtual bool broken() const = 0;
  /// Throws TW0901, TW0905 or TW0906 if the group is broken.
  virtual void check() const = 0;

 protected:
  /// Of a call that begins.
  void count_call() {
    ++begun_;
    refused_before_ = refused_.exchange(0);
  }
  std::uint32_t call_number() const { return begun_; }
  std::uint32_t refused_before() const { return refused_before_; }

 private:
  int rank_, ranks_;
  group_options options_;
  // Calls; refusals after the last call, and before it (has_refused()).
  std::atomic<std::uint32_t> begun_ = 0, refused_ = 0;
  std::uint32_t refused_before_ = 0;
};

/// Throws `rejected` (TW0903) for impossible ranks or options.
void check_group(int ranks, group_options const& options);
/// Throws `rejected` (TW0903) for an impossible rank, options or addresses of arenas.
void check_arenas(int rank, std::vector<void*> const& arenas, group_options const& options);
/// Bytes of a receive buffer, and of the head of an arena.
std::int64_t buffer_bytes(group_options const& options);

/// A digest of the words that all ranks must agree on; not 0.
std::uint32_t digest_of(std::string const& text);

/// Copies lines.
void copy_lines(void const* from, void* to, lines const& l);

/// Writes at most bytes - 1 characters, and a zero.
void put_text(char* to, std::size_t bytes, std::string const& text);
inline void put_text(call_text& to, std::string const& text) {
  put_text(reinterpret_cast<char*>(to.words), sizeof to.words, text);
}

/// Why a group is broken, in words.
std::string late_text(int rank, double waited_s, int peer, std::uint32_t epoch,
                      std::string const& before, std::string const& seen);
std::string left_text(int rank, int peer, std::uint32_t epoch, std::string const& before);
std::string refused_text(int rank, int peer, std::uint32_t epoch, std::string const& before,
                         std::string const& why);
std::string problems_text(int rank, std::string const& problem, int peer,
                          std::string const& of_peer);
std::string disagreement_text(std::uint32_t epoch, std::string const& problems);
/// Throw TW0905, TW0901 and TW0906.
[[noreturn]] void refuse_late(std::string const& why, double timeout_s);
[[noreturn]] void refuse_disagreement(std::uint32_t epoch, std::string const& problems);
[[noreturn]] void refuse_broken_group(std::string const& why);

}  // namespace tw::dist
