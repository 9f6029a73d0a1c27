// SPDX-License-Identifier: Apache-2.0
// compose.cpp  The program of docs/layouts.md: every other row and column of a matrix.
#include <cstdio>

#include "tilewright/layout/layout.hpp"

using namespace tw;

int main() {
  constexpr layout matrix = "(4,8):(8,1)"_L;                   // row-major
  constexpr layout every_other = "(2,4):(2,8)"_L;              // rows 0 and 2, columns 0, 2, 4, 6
  constexpr layout picked = composition(matrix, every_other);  // a value, known to the compiler
  static_assert(picked(1, 2) == matrix(2, 4));

  std::printf("%s\n", print(picked).text);
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 4; ++j) std::printf("%4d", static_cast<int>(picked(i, j)));
    std::printf("\n");
  }
}
