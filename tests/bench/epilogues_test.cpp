// SPDX-License-Identifier: Apache-2.0
// epilogues_test.cpp  Meaning of the names of epilogues, and refusals.
#include "tools/request/epilogues.hpp"

#include <gtest/gtest.h>

#include <utility>

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

TEST(Epilogues, GatesHaveAnOrder) {
  for (auto const& [name, act] : {std::pair{"swiglu", activation::silu},
                                  {"geglu", activation::gelu_tanh},
                                  {"geglu_erf", activation::gelu_erf},
                                  {"reglu", activation::relu},
                                  {"bilinear", activation::none}})
    for (auto const& [suffix, gate] : {std::pair{"", gating::split},
                                       {"_split", gating::split},
                                       {"_interleaved", gating::interleaved},
                                       {":interleaved", gating::interleaved}}) {
      auto const e = find_epilogue(std::string(name) + suffix);
      ASSERT_TRUE(e) << name << suffix;
      EXPECT_EQ(e->epilogue.act, act) << name;
      EXPECT_EQ(e->epilogue.gate, gate) << name << suffix;
    }
  EXPECT_EQ(find_epilogue("bias-gelu-erf")->epilogue.act, activation::gelu_erf);
}

TEST(Epilogues, OthersAreUnknown) {
  for (char const* name :
       {"softmax", "_bias", "bias_", "bias__relu", "_", "gelu_relu", "erf", "silu_interleaved",
        "Bias", "bilinear_gelu", "gelu_bilinear", "bilinear_relu", "swiglu_reglu", "split_swiglu",
        "swiglu_split_interleaved", "swiglu_silu"})
    EXPECT_FALSE(find_epilogue(name)) << name;
}

}  // namespace
}  // namespace tw::bench
