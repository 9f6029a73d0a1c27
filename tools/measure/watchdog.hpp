// SPDX-License-Identifier: Apache-2.0
// watchdog.hpp  Ends the process when one measurement takes absurdly long.
#pragma once

#include <unistd.h>

#include <csignal>
#include <string_view>

namespace tw::bench {

/// While it lives, SIGALRM is armed: a process that a hanging device blocks in a driver call ends
/// with exit status 1 and TW0711 on stderr. What was written so far stays.
class watchdog {
 public:
  explicit watchdog(unsigned seconds) {
    std::signal(SIGALRM, [](int) {
      constexpr std::string_view text =
          "TW0711: measurement: got no end, need an end; the device or a kernel hangs\n";
      [[maybe_unused]] auto const written = write(STDERR_FILENO, text.data(), text.size());
      _exit(1);
    });
    alarm(seconds);
  }
  watchdog(watchdog const&) = delete;
  watchdog& operator=(watchdog const&) = delete;
  ~watchdog() { alarm(0); }
};

}  // namespace tw::bench
