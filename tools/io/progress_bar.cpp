// SPDX-License-Identifier: Apache-2.0
// progress_bar.cpp  One line, drawn over itself.
#include "tools/io/progress_bar.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace tw {

namespace {

/// Read each time, because the window may change.
int columns_of_stderr() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string bar_text(double share, double elapsed_seconds, int columns) {
  share = std::clamp(share, 0.0, 1.0);
  std::string eta = "-:--";
  if (share > 0.0) {
    double const left = std::min(elapsed_seconds * (1.0 - share) / share, 359999.0);
    int const s = static_cast<int>(left + 0.5);
    eta = s >= 3600 ? fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
                    : fmt::format("{}:{:02}", s / 60, s % 60);
  }
  std::string const percent = fmt::format("{:3.0f} %", 100.0 * share);
  std::string const numbers = percent + "  ETA " + eta;
  // The last column stays free: a cursor beyond it would begin a line.
  int const width = std::min(40, columns - 4 - static_cast<int>(numbers.size()));
  constexpr int min_width = 5;
  if (width < min_width) {
    std::string const& text = static_cast<int>(numbers.size()) < columns ? numbers : percent;
    return text.substr(0, static_cast<std::size_t>(std::max(0, columns - 1)));
  }
  int const full = static_cast<int>(share * width);
  return fmt::format("[{:#<{}}{:.<{}}] {}", "", full, "", width - full, numbers);
}

progress_bar::progress_bar(bool wanted) : enabled_(wanted && ::isatty(STDERR_FILENO) == 1) {}

progress_bar::~progress_bar() { wipe(); }

void progress_bar::wipe() {
  std::lock_guard const lock(mutex_);
  if (drawn_) std::fputs("\r\x1b[K", stderr);
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
  std::string const text =
      fmt::format("\r{}\x1b[K", bar_text(share, elapsed.count(), columns_of_stderr()));
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace tw
