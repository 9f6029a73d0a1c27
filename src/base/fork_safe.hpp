// SPDX-License-Identifier: Apache-2.0
// fork_safe.hpp  A mutex that a forked child finds free, and statics that it finds initialised.
#pragma once

#include <memory>
#include <mutex>

namespace tw {

/// A mutex of the process that a forked child finds free.
///
/// fork() copies a mutex as it is. If another thread holds the mutex at that moment, the child
/// waits for a thread that the child does not have. The forking thread therefore locks all mutexes
/// of this type before the fork (pthread_atfork). The parent unlocks them, the child makes them
/// anew.
///
/// Precondition: a thread that holds a fork_safe_mutex takes no other one, calls no function of the
/// user, and does not fork.
class fork_safe_mutex {
 public:
  fork_safe_mutex();
  fork_safe_mutex(fork_safe_mutex const&) = delete;
  fork_safe_mutex& operator=(fork_safe_mutex const&) = delete;
  ~fork_safe_mutex();

  void lock() { mutex_.lock(); }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }
  /// Makes a new, unlocked mutex: in a child, the thread that held the old one does not exist.
  void renew() { std::construct_at(&mutex_); }
  /// The next one in the list of all, which fork() walks.
  fork_safe_mutex* next() const { return next_; }

 private:
  std::mutex mutex_;
  fork_safe_mutex* next_ = nullptr;
  fork_safe_mutex* previous_ = nullptr;
};

/// The initialisation of a static of a function, by the thread that calls.
///
/// If a thread initialises a static when another thread forks, the child waits at the static's
/// guard for a thread that the child does not have. fork() therefore waits until no other thread is
/// between static_begins() and static_ends(), for a second at most. The C library calls them around
/// the guards of the compiler (capi/guards.cpp).
void static_begins();
void static_ends();

}  // namespace tw
