// SPDX-License-Identifier: Apache-2.0
// fork_safe_test.cpp  The laws of fork_safe: a child of a fork can lock it at once, and finds no
//                     static half initialised.
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

/// Status of a child that forks now and returns what `seen` says.
template <class Seen>
int status_of_child(Seen const& seen) {
  pid_t const child = ::fork();
  if (child == 0) ::_exit(seen() ? 0 : 1);
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(ForkSafe, AForkWaitsForStaticsOfOtherThreads) {
  std::atomic<bool> begun{false}, ended{false};
  std::jthread const other([&] {
    static_begins();
    static_begins();  // of a static that the first one needs
    begun = true;
    fork_safe_mutex member;  // as a static with one has: its place is in the list of fork()
    work_briefly();
    static_ends();
    work_briefly();
    ended = true;
    static_ends();
  });
  while (!begun) std::this_thread::yield();
  EXPECT_EQ(status_of_child([&] { return ended.load(); }), 0);
}

TEST(ForkSafe, AForkDuringAnOwnInitialisationDoesNotWait) {
  auto const begin = std::chrono::steady_clock::now();
  static_begins();
  EXPECT_EQ(status_of_child([] { return true; }), 0);
  static_ends();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(900));
}

}  // namespace
}  // namespace tw::test
