// SPDX-License-Identifier: Apache-2.0
// clock.hpp  Vector clocks: what is ordered before a thread; shared while equal.
//
// A component is something whose accesses complete in order: a CUDA thread, an mbarrier (its
// phases), a warpgroup (its wgmma groups), a thread's TMA stores (its bulk groups). A clock says
// for each component up to which count its accesses are known to have happened (`before`), and up
// to which they have passed a proxy fence too (`fenced`). Most of the 128 threads of a warpgroup
// know the same, so clocks are immutable and shared: a wait of 128 threads computes one join. A
// clock of tcgen05 operations holds few components, which follow the components of all threads:
// joins begin at the first one that is not 0.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tw::emu::hazard {

using component = std::uint32_t;
using stamp = std::uint32_t;

/// Immutable but for its reference count. One OS thread owns it.
struct clock {
  std::uint32_t refs = 0;
  component first = ~component{0};    // all components below it are at 0
  std::vector<stamp> before, fenced;  // absent components are at 0

  stamp happened(component c) const { return c < before.size() ? before[c] : 0; }
  stamp passed_fence(component c) const { return c < fenced.size() ? fenced[c] : 0; }
};

/// A counted reference to a clock; the last one gives the clock back to its pool.
class clock_ref {
 public:
  clock_ref() = default;
  clock_ref(clock* c, std::vector<clock*>* pool) : clock_(c), pool_(pool) { ++clock_->refs; }
  clock_ref(clock_ref const& o) : clock_(o.clock_), pool_(o.pool_) {
    if (clock_ != nullptr) ++clock_->refs;
  }
  clock_ref(clock_ref&& o) noexcept : clock_(std::exchange(o.clock_, nullptr)), pool_(o.pool_) {}
  clock_ref& operator=(clock_ref o) noexcept {
    std::swap(clock_, o.clock_);
    std::swap(pool_, o.pool_);
    return *this;
  }
  ~clock_ref() {
    if (clock_ != nullptr && --clock_->refs == 0) pool_->push_back(clock_);
  }
  clock const* operator->() const { return clock_; }
  clock const& operator*() const { return *clock_; }
  clock const* get() const { return clock_; }
  explicit operator bool() const { return clock_ != nullptr; }
  bool operator==(clock_ref const& o) const { return clock_ == o.clock_; }

 private:
  clock* clock_ = nullptr;
  std::vector<clock*>* pool_ = nullptr;
};

/// Makes clocks and reuses their memory. Outlives all references.
class clock_pool {
 public:
  clock_pool() { zero_ = make(); }
  clock_pool(clock_pool const&) = delete;
  clock_pool& operator=(clock_pool const&) = delete;

  /// Nothing is known.
  clock_ref zero() const { return zero_; }
  /// The join of both; one of the two itself if it includes the other.
  clock_ref joined(clock_ref const& a, clock_ref const& b);
  /// a, and component c up to s (in both halves: asynchronous accesses need no proxy fence).
  clock_ref with(clock_ref const& a, component c, stamp s);
  /// with() in the first half alone: accesses that still lack a proxy fence.
  clock_ref with_unfenced(clock_ref const& a, component c, stamp s);
  /// A copy of a in which everything known of these components counts as fenced.
  clock_ref with_fences(clock_ref const& a, std::vector<component> const& these);
  /// A copy of a in which nothing is known of these components.
  clock_ref without(clock_ref const& a, std::vector<component> const& these);
  /// A copy of a in which everything that is known counts as fenced.
  clock_ref all_fenced(clock_ref const& a);
  /// first: all components below it are at 0.
  clock_ref made(std::vector<stamp> const& before, std::vector<stamp> const& fenced,
                 component first);

 private:
  clock_ref make();

  std::vector<std::unique_ptr<clock>> all_;
  std::vector<clock*> free_;
  clock_ref zero_;
};

/// A memory of the last few results of an operation that many threads do alike.
template <class Key>
class remembered {
 public:
  clock_ref const* find(clock_ref const& from, Key key) const {
    for (entry const& e : entries_)
      if (e.from == from && e.key == key && e.result) return &e.result;
    return nullptr;
  }
  clock_ref const& keep(clock_ref const& from, Key key, clock_ref result) {
    entry& e = entries_[next_++ % 4];
    e = {from, key, std::move(result)};
    return e.result;
  }
  void clear() {
    for (entry& e : entries_) e = {};
  }

 private:
  struct entry {
    clock_ref from;
    Key key{};
    clock_ref result;
  };
  entry entries_[4];
  unsigned next_ = 0;
};

/// The clock of a barrier in the making: what those who arrived know.
class gathering {
 public:
  /// A thread's clock, without its own counters.
  void add(clock_ref const& known);
  /// The thread's own accesses: up to `own`, of which up to `own_fenced` have passed a fence.
  void add(component thread, stamp own, stamp own_fenced);
  /// Components from `first` on alone: asynchronous work that is known to be complete.
  void add_from(clock_ref const& known, component first);
  /// The gathered clock; the next round begins with nothing.
  clock_ref freeze(clock_pool& pool);
  void clear();

 private:
  static constexpr component nothing = ~component{0};
  struct thread_count {
    component thread;
    stamp own, own_fenced;
  };

  // The clock is the join of these three. Most barriers gather one clock and a few counts.
  clock_ref base_;
  std::vector<thread_count> counts_;
  std::vector<stamp> before_, fenced_;
  component first_ = nothing;  // all components of before_ and fenced_ below it are at 0
  clock_ref seen_[4];          // clocks that are already in
  unsigned next_ = 0;
};

}  // namespace tw::emu::hazard
