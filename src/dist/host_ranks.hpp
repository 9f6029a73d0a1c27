// SPDX-License-Identifier: Apache-2.0
// host_ranks.hpp  Ranks in host memory, whose GEMMs the emulator multiplies: flags are atomic
//                 words, and each act of a call is done at once.
#pragma once

#include <atomic>

#include "dist/membership.hpp"

namespace tw::dist {

/// A word that other ranks write, in a separate cache line.
struct alignas(64) shared_word {
  std::uint64_t value;
};

/// The problem of a call in words, for the rank that finds that another rank has another one.
struct alignas(64) call_record {
  std::uint64_t epoch;
  char text[call_text_bytes];
};

inline constexpr int host_flags = 2;  // sent, results

/// The head of an arena; all zero at first. Rank s writes flags[kind][s], left[s] and `broken` in
/// the arena of every rank, and all other members in its own arena. The peers read its records
/// of calls and its refusals there.
struct arena_head {
  shared_word flags[host_flags][max_ranks];  // epoch << 32 | digest
  shared_word left[max_ranks];               // 1: the rank has destroyed its group
  shared_word broken;                        // 0; 1: `why` is being written; 2: it is there
  char why[512];
  call_record calls[2];              // of call i: calls[i % 2]
  shared_word refusals;              // refusals_word() after the rank's last refusal
  char refusal[2][call_text_bytes];  // of refusal i of a call: refusal[i % 2]
};

class host_rank final : public group::membership {
 public:
  /// `memory` keeps the arenas alive.
  host_rank(int rank, std::vector<void*> arenas, group_options const& options,
            std::shared_ptr<void> memory);
  ~host_rank() override;

  bool on_gpu() const override { return false; }
  std::shared_ptr<gemm_plan const> plan(gemm_problem const& p, gemm_operands const& o,
                                        call_options const& how) const override;
  std::shared_ptr<gemm_plan const> plan_gated(gemm_problem const& p, gemm_operands const& o,
                                              call_options const& how) const override;
  void begin(std::string const& problem, call_options const& how, beginning by) override;
  void end(std::string const& failed) override;
  std::byte* buffer(int rank) const override { return buffer_of(epoch_, rank); }
  std::byte* next_buffer(int rank) const override { return buffer_of(epoch_ + 1, rank); }
  void multiply(gemm_plan const& plan, gemm_operands const& o) override;
  /// Waits for the peers first: then the gates are open.
  void multiply_gated(gemm_plan const& plan, gemm_operands const& o, gate_form gate) override;
  void add(add_partials_params const& p) override;
  void copy(void const* from, void* to, lines const& l) override { copy_lines(from, to, l); }
  void results_are_there() override {}
  void send(void const* from, std::byte* to, lines const& l) override { copy_lines(from, to, l); }
  void set(rank_flag kind, int peer) override;
  void wait(rank_flag kind, std::vector<int> const& from, awaited const& before) override;
  void break_all(std::string const& why) override;
  bool broken() const override;
  void check() const override;
  void tell_refusal(std::uint64_t refusals, std::string const& why) override;

  static std::int64_t head_bytes();

 private:
  arena_head& head(int rank) const {
    return *static_cast<arena_head*>(arenas_[static_cast<std::size_t>(rank)]);
  }
  std::byte* buffer_of(std::uint32_t epoch, int rank) const;
  void wait_for(rank_flag kind, int peer, std::string const& before);
  [[noreturn]] void refuse_broken() const;
  [[noreturn]] void refuse_other_problem(int peer);
  [[noreturn]] void refuse_refused_call(int peer, std::string const& before);

  std::vector<void*> arenas_;
  std::shared_ptr<void> memory_;
  std::uint32_t epoch_, digest_ = 0;
  std::string problem_;
  emu::options emulator_;
  std::unique_ptr<gpu_arena_head> gates_;  // flags as kernels read them, of path::gated
  std::atomic<bool> in_call_ = false;
};

}  // namespace tw::dist
