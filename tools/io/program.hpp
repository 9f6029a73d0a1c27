// SPDX-License-Identifier: Apache-2.0
// program.hpp  Finds another program on PATH, and runs it.
#pragma once

#include <string>
#include <vector>

namespace tw {

/// How a program ended.
struct program_end {
  int error = 0;   // errno, if it did not start
  int status = 0;  // of waitpid()

  /// It started and ended with status 0.
  bool good() const;
  /// "exit status 3", "signal 9", or why it did not start.
  std::string text() const;
};

/// The path of a program on PATH; empty: it is not there.
std::string find_program(std::string const& name);

/// Runs the program whose path is words[0], and waits for its end. Its output and its errors go to
/// the file `log`, which is replaced, or to ours if `log` is empty. Several threads may call it.
program_end run_program(std::vector<std::string> words, std::string const& log = "");

}  // namespace tw
