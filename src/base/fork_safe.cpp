// SPDX-License-Identifier: Apache-2.0
// fork_safe.cpp  The list of all mutexes of the type, statics that are initialised, and what fork()
//                calls.
#include "base/fork_safe.hpp"

#include <pthread.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace tw {
namespace {

// Ready before any code of the program runs: a fork can come before the first mutex, and the
// guard of a static here would call static_begins().
constinit std::mutex list_mutex;
constinit fork_safe_mutex* first = nullptr;  // of the list; guarded by list_mutex
constinit std::mutex statics;                // held over a fork
constinit int begun = 0;  // statics that are initialised now; guarded by the mutex
thread_local constinit int begun_here = 0;

void lock_all() {
  list_mutex.lock();
  for (fork_safe_mutex* e = first; e != nullptr; e = e->next()) e->lock();
}

void unlock_all() {
  for (fork_safe_mutex* e = first; e != nullptr; e = e->next()) e->unlock();
  list_mutex.unlock();
}

/// Locks all. An initialisation may wait for one of the mutexes, which are therefore free while
/// fork() waits for it.
void before_fork() {
  constexpr auto longest = std::chrono::seconds(1);
  auto const begin = std::chrono::steady_clock::now();
  for (;;) {
    lock_all();
    statics.lock();
    if (begun == begun_here || std::chrono::steady_clock::now() - begin > longest) return;
    statics.unlock();
    unlock_all();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

void after_fork_in_parent() {
  statics.unlock();
  unlock_all();
}

void after_fork_in_child() {
  for (fork_safe_mutex* e = first; e != nullptr; e = e->next()) e->renew();
  std::construct_at(&list_mutex);
  std::construct_at(&statics);
  begun = begun_here;
}

/// Runs when the program or the library is loaded.
[[gnu::constructor]] void register_for_fork() {
  ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

}  // namespace

fork_safe_mutex::fork_safe_mutex() {
  std::scoped_lock const lock(list_mutex);
  next_ = std::exchange(first, this);
  if (next_ != nullptr) next_->previous_ = this;
}

fork_safe_mutex::~fork_safe_mutex() {
  std::scoped_lock const lock(list_mutex);
  (previous_ != nullptr ? previous_->next_ : first) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
}

void static_begins() {
  std::scoped_lock const lock(statics);
  ++begun, ++begun_here;
}

void static_ends() {
  std::scoped_lock const lock(statics);
  --begun, --begun_here;
}

}  // namespace tw
