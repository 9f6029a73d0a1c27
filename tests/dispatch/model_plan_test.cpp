// SPDX-License-Identifier: Apache-2.0
// model_plan_test.cpp  The GEMMs of a transformer's layers: their shapes, their problems, sums of
//                      their times.
#include "tilewright/dispatch/model_plan.hpp"

#include <gtest/gtest.h>

#include "tilewright/base/check.hpp"
#include "tilewright/problem/block_scaled.hpp"

namespace tw {
namespace {

/// Llama 3 8B.
model_shape llama() {
  return {.hidden = 4096, .intermediate = 14336, .heads = 32, .kv_heads = 8, .layers = 32};
}

std::string code_of(auto const& f) {
  try {
    f();
  } catch (rejected const& e) {
    return e.why().code;
  }
  return "";
}

/// All weights of a layer are counted once, by whichever number of GPUs.
TEST(ModelPlan, TheGemmsHoldAllWeights) {
  for (std::int64_t const tp : {1, 2, 4, 8}) {
    std::int64_t weights = 0;
    for (model_gemm const& g : layer_gemms(llama(), tp)) weights += tp * g.n * g.k;
    EXPECT_EQ(weights, 4096LL * (32 + 2 * 8) * 128 + 4096LL * 32 * 128 + 3 * 4096LL * 14336) << tp;
  }
  auto const shared = layer_gemms(llama(), 16);  // each of 16 GPUs has a head of K and of V
  EXPECT_EQ(shared[0].n, (2 + 2) * 128);
  model_shape other = llama();
  other.kv_heads = 0, other.head_size = 96;
  EXPECT_EQ(layer_gemms(other)[0].n, 3 * 32 * 96);
  EXPECT_EQ(layer_gemms(other)[1].k, 32 * 96);
}

TEST(ModelPlan, AFormatIsTheTypeAndTheScalesOfBothOperands) {
  model_gemm const g{"gate_up", 512, 256, true};
  gemm_problem const bf16 = problem_of(g, 64, "bf16");
  EXPECT_EQ(bf16.a.type, elem::bf16);
  EXPECT_EQ(bf16.d.pitch_elems, 256) << "SwiGLU halves the columns";
  EXPECT_FALSE(bf16.scale_a || bf16.scale_b);
  gemm_problem const fp8 = problem_of(g, 64, "e4m3:1x128");
  EXPECT_EQ(fp8.d.type, elem::bf16);
  ASSERT_TRUE(fp8.scale_a && fp8.scale_b);
  EXPECT_FALSE(*fp8.scale_a == *fp8.scale_b) << "weights have scales for 128 x 128";
  EXPECT_TRUE(is_block_scaled(problem_of(g, 64, "nvfp4")));
  for (char const* const word : {"", "bf17", "e4m3:", "e4m3:1x127", "e4m3:torch", "nvfp4:row"})
    EXPECT_EQ(code_of([&] { problem_of(g, 64, word); }), "TW0484") << word;
}

TEST(ModelPlan, TheTimeOfAModelIsThatOfItsLayers) {
  model_request const request{{1, 64}, {"bf16"}, 1};
  model_plan const p = plan_model(llama(), request, known_device("h200"));
  ASSERT_EQ(p.rows.size(), 8U);
  double sum = 0;
  for (model_row const& r : p.rows) {
    EXPECT_GT(r.plan.predicted_us, 0);
    EXPECT_FALSE(r.plan.kernel.empty());
    if (r.tokens == 64) sum += r.plan.predicted_us;
  }
  EXPECT_DOUBLE_EQ(p.us(64, "bf16"), 32 * sum);
  EXPECT_EQ(code_of([&] { p.us(65, "bf16"); }), "TW0484");
}

TEST(ModelPlan, FormatsWithoutAKernelAreLeftOutByName) {
  model_plan const p = plan_model(llama(), {{64}, {"nvfp4", "bf16"}, 1}, known_device("h200"));
  EXPECT_EQ(p.rows.size(), 4U);
  ASSERT_EQ(p.left_out.size(), 1U);
  EXPECT_EQ(p.left_out[0].first, "nvfp4");
  EXPECT_EQ(p.left_out[0].second.code, "TW0471");
}

TEST(ModelPlan, ExtentsOfZeroAndOddDivisorsAreRefused) {
  auto const code = [](model_shape const& m, model_request const& r) {
    return code_of([&] { plan_model(m, r, known_device("h200")); });
  };
  EXPECT_EQ(code({}, {}), "TW0484");
  EXPECT_EQ(code(llama(), {.tp = 3}), "TW0484");
  EXPECT_EQ(code(llama(), {.tp = 0}), "TW0484");
  EXPECT_EQ(code(llama(), {.tokens = {0}}), "TW0484");
}

}  // namespace
}  // namespace tw
