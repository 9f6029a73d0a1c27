// SPDX-License-Identifier: Apache-2.0
// fork_safe.cpp  The list of all mutexes of the type, and what fork() calls.
#include "base/fork_safe.hpp"

#include <pthread.h>

#include <memory>
#include <mutex>
#include <vector>

namespace tw {
namespace {

struct fork_list {
  std::mutex mutex;
  std::vector<fork_safe_mutex*> entries;  // guarded by the mutex
};

/// Never destroyed: entries leave it while the program ends.
fork_list& the_fork_list() {
  static auto* const list = [] {
    auto* const made = new fork_list;
    ::pthread_atfork(
        [] {
          the_fork_list().mutex.lock();
          for (fork_safe_mutex* const e : the_fork_list().entries) e->lock();
        },
        [] {
          for (fork_safe_mutex* const e : the_fork_list().entries) e->unlock();
          the_fork_list().mutex.unlock();
        },
        [] {
          for (fork_safe_mutex* const e : the_fork_list().entries) e->renew();
          std::construct_at(&the_fork_list().mutex);
        });
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

}  // namespace tw
