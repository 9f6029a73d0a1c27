// SPDX-License-Identifier: Apache-2.0
// progress_bar.cpp  One line, drawn over itself.
#include "tools/progress_bar.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace tw {

std::string bar_text(double share, double elapsed_seconds) {
  constexpr int width = 40;
  share = std::clamp(share, 0.0, 1.0);
  int const full = static_cast<int>(share * width);
  std::string eta = "-:--";
  if (share > 0.0) {
    double const left = std::min(elapsed_seconds * (1.0 - share) / share, 359999.0);
    int const s = static_cast<int>(left + 0.5);
    eta = s >= 3600 ? fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
                    : fmt::format("{}:{:02}", s / 60, s % 60);
  }
  return fmt::format("[{:#<{}}{:.<{}}] {:3.0f} %  ETA {}", "", full, "", width - full,
                     100.0 * share, eta);
}

progress_bar::progress_bar(bool wanted) : enabled_(wanted && ::isatty(STDERR_FILENO) == 1) {}

progress_bar::~progress_bar() { wipe(); }

void progress_bar::wipe() {
  std::lock_guard const lock(mutex_);
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
  drawn_ = false;
}

void progress_bar::update(double share) {
  if (!enabled_) return;
  std::lock_guard const lock(mutex_);
  auto const now = clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  drawn_ = true;
  std::chrono::duration<double> const elapsed = now - start_;
  fmt::print(stderr, "\r{}\x1b[K", bar_text(share, elapsed.count()));
  std::fflush(stderr);
}

}  // namespace tw
