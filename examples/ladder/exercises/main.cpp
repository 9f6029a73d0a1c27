// SPDX-License-Identifier: Apache-2.0
// main.cpp  ladder_exercises [N]: which exercises are solved. Exit status 0: all of them, or N.
#include <cstdio>

#include "examples/ladder/exercises/checks.hpp"

int main(int argc, char** argv) {
  int const only = argc > 1 ? std::atoi(argv[1]) : 0;
  bool all = true;
  for (auto const& [number, wrong] : ladder::check_exercises<ladder::exercises>()) {
    if (only != 0 && number != only) continue;
    std::printf("exercise %2d  %s\n", number, wrong.empty() ? "solved" : wrong.c_str());
    all = all && wrong.empty();
  }
  return all ? 0 : 1;
}
