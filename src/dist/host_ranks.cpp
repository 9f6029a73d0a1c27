// SPDX-License-Identifier: Apache-2.0
// host_ranks.cpp  Arenas in host memory, flags as atomic words, waits with a time-out.
#include "dist/host_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "dispatch/plan/gated.hpp"
#include "dispatch/plan/plan_cache.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/base/round_up.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/dist/schedule.hpp"

namespace tw::dist {
namespace {

std::atomic_ref<std::uint64_t> word(shared_word& w) { return std::atomic_ref(w.value); }

/// The options of a rank's launches.
emu::options options_of(call_options const& how) {
  emu::options o = how.emulator;
  if (o.os_threads == 0) o.os_threads = 1;
  return o;
}

}  // namespace

host_rank::host_rank(int rank, std::vector<void*> arenas, group_options const& options,
                     std::shared_ptr<void> memory)
    : membership(rank, static_cast<int>(arenas.size()), options),
      arenas_(std::move(arenas)),
      memory_(std::move(memory)),
      epoch_(options.epoch) {
  std::uint64_t const none = std::uint64_t{epoch_} << 32 | 1;  // of the call before the first
  for (int peer = 0; peer < ranks(); ++peer)
    for (auto& kind : head(peer).flags) word(kind[rank]).store(none, std::memory_order_release);
}

host_rank::~host_rank() {
  for (int peer = 0; peer < ranks(); ++peer)
    word(head(peer).left[rank()]).store(1, std::memory_order_release);
}

std::int64_t host_rank::head_bytes() {
  return round_up(static_cast<std::int64_t>(sizeof(arena_head)), arena_alignment);
}

std::shared_ptr<gemm_plan const> host_rank::plan(gemm_problem const& p, gemm_operands const& o,
                                                 call_options const& how) const {
  constexpr int emulator = -1;
  return cached_plan(p, o, emulated_device(options_of(how), how.device), emulator);
}

std::shared_ptr<gemm_plan const> host_rank::plan_gated(gemm_problem const& p,
                                                       gemm_operands const& o,
                                                       call_options const& how) const {
  constexpr int emulator = -1;
  return cached_gated_plan(p, o, emulated_device(options_of(how), how.device), emulator);
}

void host_rank::begin(std::string const& problem, call_options const& how, beginning) {
  if (in_call_.exchange(true))
    throw rejected({"TW0903", fmt::format("call of rank {}", rank()),
                    "another call of this rank, which has not ended", "one call at a time",
                    "each rank calls from one thread"});
  if (broken()) {
    in_call_ = false;
    refuse_broken();
  }
  count_call();
  ++epoch_;
  digest_ = digest_of(problem);
  problem_ = problem;
  emulator_ = options_of(how);
  call_record& mine = head(rank()).calls[epoch_ % 2];
  put_text(mine.text, sizeof mine.text, problem);
  mine.epoch = epoch_;
}

void host_rank::end(std::string const& failed) {
  if (!failed.empty()) break_all(fmt::format("rank {} failed in a call: {}", rank(), failed));
  in_call_ = false;
}

std::byte* host_rank::buffer_of(std::uint32_t epoch, int rank) const {
  return static_cast<std::byte*>(arenas_[static_cast<std::size_t>(rank)]) + head_bytes() +
         epoch % 2 * buffer_bytes(options());
}

void host_rank::multiply(gemm_plan const& plan, gemm_operands const& o) {
  gemm_emulated(plan, o, emulator_);
}

void host_rank::multiply_gated(gemm_plan const& plan, gemm_operands const& o, gate_form gate) {
  if (!gates_) gates_ = std::make_unique<gpu_arena_head>();
  for (int i = 1; i < ranks(); ++i) {
    int const peer = sender(ranks(), rank(), i);
    auto const at = static_cast<std::size_t>(peer);
    int const first = gate.first_row[at], rows = gate.first_row[at + 1] - first;
    wait_for(rank_flag::sent, peer, text_of({rank_act::gemm, {first, rows}}));
  }
  std::uint64_t const flag = std::uint64_t{epoch_} << 32 | digest_;
  gates_->outgoing.value = flag;
  for (arena_word& w : gates_->flags[static_cast<int>(rank_flag::sent)]) w.value = flag;
  failure_record report = {};
  gate.at.heads[rank()] = gates_.get();
  gate.at.rank = rank(), gate.at.ranks = ranks(), gate.at.report = &report;
  gate.at.timeout_ns = ~std::uint64_t{0};
  gemm_emulated(plan, o, gate, emulator_);
}

void host_rank::add(add_partials_params const& p) {
  emu::options quiet = emulator_;
  quiet.catch_crashes = quiet.catch_crashes.value_or(false);
  quiet.progress = nullptr, quiet.record = nullptr;
  quiet.live_clusters = 1;  // its CTAs do not wait for each other
  launch<add_partials_kernel>(add_partials_kernel::ctas(p), p, quiet);
}

void host_rank::set(rank_flag kind, int peer) {
  std::uint64_t const value = std::uint64_t{epoch_} << 32 | digest_;
  word(head(peer).flags[static_cast<int>(kind)][rank()]).store(value, std::memory_order_release);
}

void host_rank::wait(rank_flag kind, std::vector<int> const& from, awaited const& before) {
  for (int const peer : from) wait_for(kind, peer, text_of(before));
}

void host_rank::wait_for(rank_flag kind, int peer, std::string const& before) {
  using clock = std::chrono::steady_clock;
  auto const start = clock::now();
  auto const seconds = [&] { return std::chrono::duration<double>(clock::now() - start).count(); };
  auto const flags = word(head(rank()).flags[static_cast<int>(kind)][peer]);
  auto const left = word(head(rank()).left[peer]);
  for (int spins = 0;; ++spins) {
    bool const has_left = left.load(std::memory_order_acquire) != 0;  // before the flag
    std::uint64_t const seen = flags.load(std::memory_order_acquire);
    std::uint32_t const epoch = epoch_of(seen);
    bool const made = seen != 0;  // the peer has made its group
    // After the flag, which a rank that makes another call instead sets later.
    if (has_refused(word(head(peer).refusals).load(std::memory_order_acquire), call_number(),
                    refused_before()))
      refuse_refused_call(peer, before);
    if (made && epoch_reached(epoch, epoch_)) {
      // A later call: the peer has compared the digests of this one.
      if (epoch == epoch_ && static_cast<std::uint32_t>(seen) != digest_)
        refuse_other_problem(peer);
      return;
    }
    if (broken()) refuse_broken();
    if (has_left) {
      std::string const why = left_text(rank(), peer, epoch_, before);
      break_all(why);
      throw rejected({"TW0906", "group", why, "ranks that make the same calls", ""});
    }
    if (seconds() > options().timeout_s) {
      std::string const why = late_text(
          rank(), seconds(), peer, epoch_, before,
          made ? fmt::format("was last seen in call {}", epoch) : "has not made its group");
      break_all(why);
      refuse_late(why, options().timeout_s);
    }
    if (spins < 100)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void host_rank::refuse_refused_call(int peer, std::string const& before) {
  std::string const why =
      refused_text(rank(), peer, epoch_, before, head(peer).refusal[(refused_before() + 1) % 2]);
  break_all(why);
  refuse_broken_group(why);
}

void host_rank::tell_refusal(std::uint64_t refusals, std::string const& why) {
  arena_head& own = head(rank());
  put_text(own.refusal[static_cast<std::uint32_t>(refusals) % 2], call_text_bytes, why);
  word(own.refusals).store(refusals, std::memory_order_release);
}

void host_rank::break_all(std::string const& why) {
  for (int r = 0; r < ranks(); ++r) {
    arena_head& h = head(r);
    std::uint64_t whole = 0;
    if (!word(h.broken).compare_exchange_strong(whole, 1)) continue;
    put_text(h.why, sizeof h.why, why);
    word(h.broken).store(2, std::memory_order_release);
  }
}

bool host_rank::broken() const {
  return word(head(rank()).broken).load(std::memory_order_acquire) != 0;
}

void host_rank::check() const {
  if (broken()) refuse_broken();
}

void host_rank::refuse_broken() const {
  arena_head& h = head(rank());
  while (word(h.broken).load(std::memory_order_acquire) == 1) std::this_thread::yield();
  refuse_broken_group(h.why);
}

void host_rank::refuse_other_problem(int peer) {
  // The peer wrote its record before its flag, and stays in this call until this rank's flag.
  call_record const& theirs = head(peer).calls[epoch_ % 2];
  std::string const why = problems_text(rank(), problem_, peer, theirs.text);
  break_all(disagreement_text(epoch_, why));
  refuse_disagreement(epoch_, why);
}

}  // namespace tw::dist
