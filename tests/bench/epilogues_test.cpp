// SPDX-License-Identifier: Apache-2.0
// epilogues_test.cpp  What the names of epilogues in shape files mean, and which are refused.
#include "bench/epilogues.hpp"

#include <gtest/gtest.h>

namespace tw::bench {
namespace {

TEST(Epilogues, WordsAreJoined) {
  auto const e = find_epilogue("bias_gelu");
  ASSERT_TRUE(e);
  EXPECT_EQ(e->epilogue.bias, along::cols);
  EXPECT_EQ(e->epilogue.act, activation::gelu_tanh);
  EXPECT_EQ(e->epilogue.gate, gating::none);
  EXPECT_FALSE(e->residual);
  EXPECT_EQ(find_epilogue("gelu_erf")->epilogue.act, activation::gelu_erf);
  auto const glu = find_epilogue("swiglu_interleaved_residual");
  ASSERT_TRUE(glu);
  EXPECT_EQ(glu->epilogue.act, activation::silu);
  EXPECT_EQ(glu->epilogue.gate, gating::interleaved);
  EXPECT_TRUE(glu->residual && glu->epilogue.c_last);
  EXPECT_FALSE(is_fused(find_epilogue("")->epilogue));
}

TEST(Epilogues, OthersAreUnknown) {
  for (char const* name : {"softmax", "_bias", "gelu_relu", "erf", "silu_interleaved", "Bias"})
    EXPECT_FALSE(find_epilogue(name)) << name;
}

}  // namespace
}  // namespace tw::bench
