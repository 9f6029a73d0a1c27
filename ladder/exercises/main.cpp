// SPDX-License-Identifier: Apache-2.0
// main.cpp  ladder_exercises [N]: which exercises are solved. Exit status 0: all of them, or N; 2:
//           there is no exercise N.
#include <cstdio>
#include <cstdlib>

#include "ladder/exercises/checks.hpp"

int main(int argc, char** argv) {
  int const only = argc > 1 ? std::atoi(argv[1]) : 0;
  bool all = true, found = false;
  for (auto const& [number, wrong] : ladder::check_exercises<ladder::exercises>()) {
    if (argc > 1 && number != only) continue;
    std::printf("exercise %2d  %s\n", number, wrong.empty() ? "solved" : wrong.c_str());
    all = all && wrong.empty();
    found = true;
  }
  if (!found) {
    std::fprintf(stderr, "ladder_exercises: there is no exercise %s, only 1 to 15\n", argv[1]);
    return 2;
  }
  return all ? 0 : 1;
}
