// SPDX-License-Identifier: Apache-2.0
// gpu_condition_test.cpp  Each condition that keeps the GPU from being used is named, the first
// first.
#include "dispatch/launch/gpu_condition.hpp"

#include <gtest/gtest.h>

namespace tw::test {
namespace {

gpu_facts hopper() { return {13000, false, 1, "", "NVIDIA H200", 90}; }

std::string code_of(gpu_facts const& f) {
  auto const r = why_unusable(f);
  return r ? r->code : "";
}

TEST(GpuCondition, NamesTheFirstThatFails) {
  EXPECT_EQ(code_of(hopper()), "");
  gpu_facts f = hopper();
  f.compute_capability = 80;
  EXPECT_EQ(code_of(f), "");
  f.compute_capability = 75;
  EXPECT_EQ(code_of(f), "TW0504");
  EXPECT_EQ(why_unusable(f)->got, "7.5");
  f.devices = 0;
  EXPECT_EQ(code_of(f), "TW0503");
  f = hopper();
  f.error = "no CUDA-capable device is detected";
  EXPECT_EQ(why_unusable(f)->got, f.error);
  f.driver_too_old = true;
  f.driver_version = 12080;
  EXPECT_EQ(code_of(f), "TW0502");
  EXPECT_EQ(why_unusable(f)->got, "one for CUDA 12.8");
  f.driver_version = 0;
  EXPECT_EQ(code_of(f), "TW0502");
  EXPECT_EQ(why_unusable(f)->got, "none is loaded");
}

/// Not every command that needs a GPU has an emulator to fall back to.
TEST(GpuCondition, NamesNoOptionOfOneCommand) {
  gpu_facts f = hopper();
  f.compute_capability = 75;
  for (int driver : {13000, 0}) {
    f.driver_version = driver;
    EXPECT_EQ(why_unusable(f)->hint.find("--device"), std::string::npos) << why_unusable(f)->hint;
  }
}

}  // namespace
}  // namespace tw::test
