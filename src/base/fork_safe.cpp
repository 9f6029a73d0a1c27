// SPDX-License-Identifier: Apache-2.0
// fork_safe.cpp  The list of all mutexes of the type, statics that are initialised, and what fork()
//                calls.
#include "base/fork_safe.hpp"

#include <pthread.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace tw {
namespace {

struct fork_list {
  std::mutex mutex;
  std::vector<fork_safe_mutex*> entries;  // guarded by the mutex

  void lock() {
    mutex.lock();
    for (fork_safe_mutex* const e : entries) e->lock();
  }
  void unlock() {
    for (fork_safe_mutex* const e : entries) e->unlock();
    mutex.unlock();
  }
};

constinit std::mutex statics;  // held over a fork
constinit int begun = 0;       // statics that are initialised now; guarded by the mutex
thread_local constinit int begun_here = 0;

fork_list& the_fork_list();

/// Locks all. An initialisation may wait for one of the mutexes, which are therefore free while
/// fork() waits for it.
void before_fork() {
  constexpr auto longest = std::chrono::seconds(1);
  auto const begin = std::chrono::steady_clock::now();
  for (;;) {
    the_fork_list().lock();
    statics.lock();
    if (begun == begun_here || std::chrono::steady_clock::now() - begin > longest) return;
    statics.unlock();
    the_fork_list().unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

void after_fork_in_parent() {
  statics.unlock();
  the_fork_list().unlock();
}

void after_fork_in_child() {
  for (fork_safe_mutex* const e : the_fork_list().entries) e->renew();
  std::construct_at(&the_fork_list().mutex);
  std::construct_at(&statics);
  begun = begun_here;
}

/// Never destroyed: entries leave it while the program ends.
fork_list& the_fork_list() {
  static auto* const list = [] {
    auto* const made = new fork_list;
    ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    return made;
  }();
  return *list;
}

}  // namespace

fork_safe_mutex::fork_safe_mutex() {
  std::scoped_lock const lock(the_fork_list().mutex);
  the_fork_list().entries.push_back(this);
}

fork_safe_mutex::~fork_safe_mutex() {
  std::scoped_lock const lock(the_fork_list().mutex);
  std::erase(the_fork_list().entries, this);
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
