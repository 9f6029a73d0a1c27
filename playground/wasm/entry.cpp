// SPDX-License-Identifier: Apache-2.0
// entry.cpp  The functions that a page calls with the words of a command line. The command's output
//            goes to wasm/output.js.
#include <cerrno>
#include <vector>

#include "playground/wasm/verbs.hpp"

namespace {

int status_of_last = 0;

}  // namespace

extern "C" {

/// Runs `tilewright WORDS...`: count words, each ended by a zero byte. In a module with fibers a
/// switch loses the result of the call, so tw_status() returns the status.
void tw_request(char* words, int count) {
  static char name[] = "tilewright";
  std::vector<char*> arguments{name};
  for (char* at = words; static_cast<int>(arguments.size()) <= count; ++at) {
    arguments.push_back(at);
    while (*at != '\0') ++at;
  }
  arguments.push_back(nullptr);
  status_of_last = -1;  // while it runs
  status_of_last = tw::run_words(static_cast<int>(arguments.size()) - 1, arguments.data());
}

/// Exit status of the last request; -1 while it runs.
int tw_status() { return status_of_last; }

/// The standard streams are not terminals: output without colours, in the default width.
int isatty(int) {
  errno = ENOTTY;
  return 0;
}

}  // extern "C"
