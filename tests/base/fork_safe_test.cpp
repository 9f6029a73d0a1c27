// SPDX-License-Identifier: Apache-2.0
// fork_safe_test.cpp  The law of fork_safe: a child of a fork can lock it at once.
#include "base/fork_safe.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace tw::test {
namespace {

void work_briefly() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

/// Forks while other threads hold the mutex nearly all the time; the child locks it.
template <class Hold>
void expect_free_in_children(fork_safe_mutex& mutex, Hold const& hold) {
  std::atomic<bool> stop{false};
  std::atomic<int> holds{0};
  std::vector<std::jthread> holders;
  for (int i = 0; i < 2; ++i)
    holders.emplace_back([&] {
      while (!stop) {
        hold();
        ++holds;
        std::this_thread::yield();
      }
    });
  while (holds == 0) std::this_thread::yield();
  int stuck = 0;
  for (int i = 0; i < 20 && stuck == 0; ++i) {
    pid_t const child = ::fork();
    if (child == 0) {
      ::alarm(20);  // ends a child that waits for ever
      mutex.lock();
      mutex.unlock();
      ::_exit(mutex.try_lock() ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    if (status != 0) ++stuck;
  }
  stop = true;
  EXPECT_EQ(stuck, 0);
  mutex.lock();  // the parent can still lock it
  mutex.unlock();
}

TEST(ForkSafe, AMutexIsFreeInTheChild) {
  fork_safe_mutex mutex;
  expect_free_in_children(mutex, [&] {
    std::scoped_lock const lock(mutex);
    work_briefly();
  });
}

TEST(ForkSafe, MutexesComeAndGo) {
  auto first = std::make_unique<fork_safe_mutex>();
  fork_safe_mutex second;
  first.reset();
  expect_free_in_children(second, [&] {
    {
      std::scoped_lock const lock(second);
      work_briefly();
    }
    auto const third = std::make_unique<fork_safe_mutex>();
    third->lock();
    third->unlock();
  });
}

}  // namespace
}  // namespace tw::test
