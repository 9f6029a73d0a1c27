// SPDX-License-Identifier: Apache-2.0
// group.cpp  Arenas in host memory, flags as atomic words, waits with a time-out.
#include "tilewright/dist/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <thread>

#include "dist/membership.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/base/round_up.hpp"

namespace tw::dist {
namespace {

std::int64_t head_bytes() {
  return round_up(static_cast<std::int64_t>(sizeof(arena_head)), arena_alignment);
}

std::int64_t buffer_bytes(group_options const& o) {
  return round_up(o.gathered_bytes, arena_alignment);
}

void check(int ranks, group_options const& o) {
  if (ranks < 1 || ranks > max_ranks)
    throw rejected({"TW0903", "ranks of a group", fmt::format("{}", ranks),
                    fmt::format("1 to {}", max_ranks), ""});
  if (o.gathered_bytes < 0 || !(o.timeout_s > 0))
    throw rejected(
        {"TW0903", "options of a group",
         fmt::format("gathered_bytes = {}, timeout_s = {}", o.gathered_bytes, o.timeout_s),
         "bytes that are not negative, and a time above 0", ""});
}

std::atomic_ref<std::uint64_t> word(shared_word& w) { return std::atomic_ref(w.value); }

/// Does epoch `a` belong to call `b` or to a later one? Modulo 2^32.
bool reached(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) >= 0; }

void put_text(char* to, std::size_t bytes, std::string const& text) {
  std::size_t const n = std::min(text.size(), bytes - 1);
  std::memcpy(to, text.data(), n);
  to[n] = 0;
}

}  // namespace

void copy_lines(void const* from, void* to, lines const& l) {
  auto const* source = static_cast<std::byte const*>(from);
  auto* target = static_cast<std::byte*>(to);
  for (std::int64_t i = 0; l.bytes > 0 && i < l.count; ++i)
    std::memcpy(target + i * l.to_stride, source + i * l.from_stride,
                static_cast<std::size_t>(l.bytes));
}

group::membership::membership(int rank, std::vector<void*> arenas, group_options const& options,
                              std::shared_ptr<void> memory)
    : rank_(rank),
      arenas_(std::move(arenas)),
      options_(options),
      memory_(std::move(memory)),
      epoch_(options.epoch) {
  std::uint64_t const none = std::uint64_t{epoch_} << 32 | 1;  // of the call before the first
  for (int peer = 0; peer < ranks(); ++peer)
    for (auto& kind : head(peer).flags) word(kind[rank_]).store(none, std::memory_order_release);
}

group::membership::~membership() {
  for (int peer = 0; peer < ranks(); ++peer)
    word(head(peer).left[rank_]).store(1, std::memory_order_release);
}

void group::membership::begin(std::uint32_t digest, std::string const& problem) {
  if (in_call_.exchange(true))
    throw rejected({"TW0903", fmt::format("call of rank {}", rank_),
                    "another call of this rank, which has not ended", "one call at a time",
                    "each rank calls from one thread"});
  if (broken()) {
    in_call_ = false;
    refuse_broken();
  }
  ++epoch_;
  digest_ = std::max(digest, 1U);  // a flag is never 0
  problem_ = problem;
  call_record& mine = head(rank_).calls[epoch_ % 2];
  put_text(mine.text, sizeof mine.text, problem);
  mine.epoch = epoch_;
}

void group::membership::end(std::string const& failed) {
  if (!failed.empty()) break_all(fmt::format("rank {} failed in a call: {}", rank_, failed));
  in_call_ = false;
}

std::byte* group::membership::buffer_of(std::uint32_t epoch, int rank) const {
  return static_cast<std::byte*>(arenas_[static_cast<std::size_t>(rank)]) + head_bytes() +
         epoch % 2 * buffer_bytes(options_);
}

void group::membership::set(flag kind, int peer) {
  std::uint64_t const value = std::uint64_t{epoch_} << 32 | digest_;
  word(head(peer).flags[static_cast<int>(kind)][rank_]).store(value, std::memory_order_release);
}

void group::membership::wait(flag kind, int peer, std::string const& before) {
  using clock = std::chrono::steady_clock;
  auto const start = clock::now();
  auto const seconds = [&] { return std::chrono::duration<double>(clock::now() - start).count(); };
  auto const flags = word(head(rank_).flags[static_cast<int>(kind)][peer]);
  auto const left = word(head(rank_).left[peer]);
  for (int spins = 0;; ++spins) {
    bool const has_left = left.load(std::memory_order_acquire) != 0;  // before the flag
    std::uint64_t const seen = flags.load(std::memory_order_acquire);
    auto const epoch = static_cast<std::uint32_t>(seen >> 32);
    bool const made = seen != 0;  // the peer has made its group
    if (made && reached(epoch, epoch_)) {
      // A later call: the peer has compared the digests of this one.
      if (epoch == epoch_ && static_cast<std::uint32_t>(seen) != digest_)
        refuse_other_problem(peer);
      return;
    }
    if (broken()) refuse_broken();
    if (has_left) {
      std::string const why = fmt::format(
          "rank {} has destroyed its group, and rank {} waits for it in call {} before {}", peer,
          rank_, epoch_, before);
      break_all(why);
      throw rejected({"TW0906", "group", why, "ranks that make the same calls", ""});
    }
    if (seconds() > options_.timeout_s) {
      std::string const why = fmt::format(
          "rank {} waited {:.1f} s for rank {} in call {} before {}; rank {} {}", rank_, seconds(),
          peer, epoch_, before, peer,
          made ? fmt::format("was last seen in call {}", epoch) : "has not made its group");
      break_all(why);
      throw rejected({"TW0905", "wait for a rank", why,
                      fmt::format("the rank's rows within {:g} s", options_.timeout_s),
                      "group_options::timeout_s; the group is broken on all ranks"});
    }
    if (spins < 100)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void group::membership::break_all(std::string const& why) {
  for (int r = 0; r < ranks(); ++r) {
    arena_head& h = head(r);
    std::uint64_t whole = 0;
    if (!word(h.broken).compare_exchange_strong(whole, 1)) continue;
    put_text(h.why, sizeof h.why, why);
    word(h.broken).store(2, std::memory_order_release);
  }
}

bool group::membership::broken() const {
  return word(head(rank_).broken).load(std::memory_order_acquire) != 0;
}

void group::membership::refuse_broken() const {
  arena_head& h = head(rank_);
  while (word(h.broken).load(std::memory_order_acquire) == 1) std::this_thread::yield();
  throw rejected({"TW0906", "group", std::string(h.why), "a group that is not broken",
                  "make a new group; the process and its other groups go on"});
}

void group::membership::refuse_other_problem(int peer) {
  // The peer wrote its record before its flag, and stays in this call until this rank's flag.
  call_record const& theirs = head(peer).calls[epoch_ % 2];
  std::string const why = fmt::format("rank {} has {}; rank {} has {}", rank_, problem_, peer,
                                      std::string(theirs.text));
  break_all(fmt::format("the ranks disagree in call {}: {}", epoch_, why));
  throw rejected({"TW0901", fmt::format("call {} of the group", epoch_), why,
                  "one operation with equal extents and types on all ranks", ""});
}

group::group(std::shared_ptr<membership> state) : state_(std::move(state)) {}

std::int64_t group::arena_bytes(group_options const& options) {
  return head_bytes() + 2 * buffer_bytes(options);
}

group group::from_addresses(int rank, std::vector<void*> const& arenas,
                            group_options const& options) {
  auto const ranks = static_cast<int>(arenas.size());
  check(ranks, options);
  if (rank < 0 || rank >= ranks)
    throw rejected({"TW0903", "rank", fmt::format("{}", rank),
                    fmt::format("0 to {}, for {} arenas", ranks - 1, ranks), ""});
  for (void const* const at : arenas)
    if (at == nullptr || reinterpret_cast<std::uintptr_t>(at) % arena_alignment != 0)
      throw rejected({"TW0903", "address of an arena", fmt::format("{}", fmt::ptr(at)),
                      fmt::format("a multiple of {}", arena_alignment), ""});
  return group(std::make_shared<membership>(rank, arenas, options, nullptr));
}

std::vector<group> group::virtual_ranks(int ranks, group_options const& options) {
  check(ranks, options);
  std::int64_t const bytes = arena_bytes(options);
  auto const all = static_cast<std::size_t>(bytes * ranks);
  std::shared_ptr<std::byte[]> const memory(
      static_cast<std::byte*>(::operator new (all, std::align_val_t{arena_alignment})),
      [](std::byte* p) { ::operator delete (p, std::align_val_t{arena_alignment}); });
  std::vector<void*> arenas;
  for (int r = 0; r < ranks; ++r) {
    arenas.push_back(memory.get() + r * bytes);
    std::memset(arenas.back(), 0, sizeof(arena_head));
  }
  std::vector<group> list;
  for (int r = 0; r < ranks; ++r)
    list.push_back(group(std::make_shared<membership>(r, arenas, options, memory)));
  return list;
}

int group::rank() const { return state_->rank(); }
int group::ranks() const { return state_->ranks(); }
void group::abort() const {
  state_->break_all(fmt::format("rank {} called abort()", state_->rank()));
}
bool group::broken() const { return state_->broken(); }

void run_ranks(std::vector<group> const& groups, std::function<void(group const&)> const& work) {
  std::mutex mutex;
  std::exception_ptr first;
  std::vector<std::thread> threads;
  for (group const& g : groups)
    threads.emplace_back([&] {
      try {
        work(g);
      } catch (...) {
        std::scoped_lock const lock(mutex);
        if (!first) first = std::current_exception();
      }
    });
  for (std::thread& t : threads) t.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace tw::dist
