// SPDX-License-Identifier: Apache-2.0
// exercises_test.cpp  The check of each exercise passes with its solution, and fails without.
#include <gtest/gtest.h>

#include "ladder/exercises/checks.hpp"
#include "tests/ladder/solutions.hpp"

namespace ladder {
namespace {

TEST(Exercises, AreSolvedByTheSolutions) {
  auto const checks = check_exercises<solutions>();
  EXPECT_EQ(checks.size(), 15U);
  for (auto const& [number, wrong] : checks) EXPECT_EQ(wrong, "") << "exercise " << number;
}

TEST(Exercises, AreNotSolvedAsTheyCome) {
  for (auto const& [number, wrong] : check_exercises<exercises>())
    EXPECT_NE(wrong, "") << "exercise " << number;
}

/// Solutions that are wrong in one place.
struct nearly : solutions {
  static slot slot_of(int k, int stages) { return {k % stages, static_cast<unsigned>(k) & 1U}; }
  static int swizzled_byte(int row, int column) {
    return 128 * row + (column / 8 ^ row % 4) * 16 + column % 8 * 2;
  }
  static place curve(int i, int side) { return {i / side, i % side}; }
  static int byte_of_factor(int row, int block, int blocks) { return row * blocks + block; }
};

TEST(Exercises, NearlyRightIsWrong) {
  auto const checks = check_exercises<nearly>();
  for (auto const& [number, wrong] : checks)
    EXPECT_EQ(wrong.empty(), number != 4 && number != 10 && number != 11 && number != 15)
        << "exercise " << number;
}

TEST(Exercises, AMessageHasWhatTheFunctionReturned) {
  for (auto const& [number, wrong] : check_exercises<nearly>())
    EXPECT_TRUE(wrong.empty() || wrong.find(": returned ") != std::string::npos) << wrong;
  EXPECT_EQ(check_exercises<exercises>()[1].wrong,
            "wrong for thread 0, element 1: returned row 0, column 0, right is row 0, column 1");
}

}  // namespace
}  // namespace ladder
