// SPDX-License-Identifier: Apache-2.0
// run_ncu.hpp  The command line of Nsight Compute, and its run.
#pragma once

#include <string>
#include <vector>

namespace tw::profile {

struct ncu_request {
  std::vector<std::string> metrics;
  std::string kernel_name;  // a regular expression; empty: all kernels
  int skip = 0, launches = 1;
  std::vector<std::string> command;
};

/// The words of `ncu ... COMMAND`; the CSV goes to `log_path`, or to stdout if that is empty.
std::vector<std::string> ncu_words(ncu_request const& r, std::string const& ncu,
                                   std::string const& log_path);

/// The words as a line for a shell.
std::string shell_line(std::vector<std::string> const& words);

/// Runs ncu and returns the CSV; the command's own output goes where it goes without ncu. Throws
/// `rejected` TW0655 where ncu fails.
std::string run_ncu(ncu_request const& r, std::string const& ncu);

}  // namespace tw::profile
