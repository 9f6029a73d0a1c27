// SPDX-License-Identifier: Apache-2.0
// progress_bar.hpp  A bar with the remaining time on stderr, for work that takes more than a
// second.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

namespace tw {

/// The text of the bar: "[#####.....]  50 %  ETA 0:12". share: 0 to 1. Shorter than `columns`, the
/// width of the terminal: the bar shrinks, then goes, then the remaining time.
std::string bar_text(double share, double elapsed_seconds, int columns = 80);

/// Draws only on a terminal, not in the first second, at most ten times a second; wipes itself when
/// it ends. update() may be called from any thread.
class progress_bar {
 public:
  explicit progress_bar(bool wanted);
  ~progress_bar();
  progress_bar(progress_bar const&) = delete;
  progress_bar& operator=(progress_bar const&) = delete;

  void update(double share);
  /// Takes the bar away, so that a line can be printed; the next update draws it again.
  void wipe();

 private:
  using clock = std::chrono::steady_clock;
  bool const enabled_;
  clock::time_point const start_ = clock::now();
  std::mutex mutex_;
  clock::time_point next_ = start_ + std::chrono::seconds(1);
  bool drawn_ = false;
};

}  // namespace tw
