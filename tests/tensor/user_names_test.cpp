// SPDX-License-Identifier: Apache-2.0
// user_names_test.cpp  Names that a kernel's author likes stay free beside `using namespace tw`.
#include <gtest/gtest.h>

#include "tilewright/tilewright.hpp"

using namespace tw;

struct plain {
  int value = 1;
};
struct params {
  int value = 2;
};
struct storage {
  int value = 3;
};
struct config {
  int value = 4;
};
struct tile_shape {
  int value = 5;
};
struct stage {
  int value = 6;
};
struct pipeline {
  int value = 7;
};

TEST(UserNames, AreNotTakenByTheLibrary) {
  plain const a;
  params const b;
  storage const c;
  config const d;
  tile_shape const e;
  stage const f;
  pipeline const g;
  EXPECT_EQ(a.value + b.value + c.value + d.value + e.value + f.value + g.value, 28);
}
