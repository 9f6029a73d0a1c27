// SPDX-License-Identifier: Apache-2.0
// model_plan.hpp  The GEMMs of a transformer's layers, and the plan of each: which kernel, which
//                 predicted time, by number of tokens and format.
//
// A layer has four GEMMs: qkv (Q, K and V at once), o, gate_up (SwiGLU: the gate in the kernel) and
// down. With tp GPUs a layer's heads and its feed-forward columns are divided; each GPU has at
// least one head of K and V.
// Needs:    positive extents; heads and intermediate are multiples of tp [TW0484]; a format that
//           is known [TW0484]
// Example:  tests/dispatch/model_plan_test.cpp
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/base/check.hpp"
#include "tilewright/device/device.hpp"
#include "tilewright/family/plan.hpp"

namespace tw {

/// The extents of a transformer, as its configuration names them.
struct model_shape {
  std::int64_t hidden = 0;        // hidden_size
  std::int64_t intermediate = 0;  // intermediate_size, of the feed-forward network
  std::int64_t heads = 0;         // num_attention_heads
  std::int64_t kv_heads = 0;      // num_key_value_heads; 0: equal to heads
  std::int64_t head_size = 0;     // head_dim; 0: hidden / heads
  std::int64_t layers = 1;        // num_hidden_layers
};

/// D = A W^T of one layer on one GPU: A has a row for each token, W is (n, k).
struct model_gemm {
  std::string_view name;
  std::int64_t n = 0, k = 0;
  bool gated = false;  // SwiGLU: D has n / 2 columns
};

/// The GEMMs of a layer on one of tp GPUs, in the order of the computation.
std::vector<model_gemm> layer_gemms(model_shape const& model, std::int64_t tp = 1);

struct model_request {
  std::vector<std::int64_t> tokens = {1, 64, 4096};
  /// "bf16", "mxfp8", "e4m3:1x128": a type or a block-scaled format of both operands, or a type
  /// with its scaling; with 1x128 the weights have scales for 128x128.
  std::vector<std::string> formats = {"bf16", "e4m3:1x128", "nvfp4"};
  std::int64_t tp = 1;
};

struct model_row {
  model_gemm gemm;
  std::int64_t tokens = 0;
  std::string format;
  gemm_plan plan;

  double tflops() const;  // at the predicted time
};

struct model_plan {
  std::vector<model_row> rows;  // by format, then GEMM, then tokens
  std::int64_t layers = 1;
  /// Formats without a kernel for the device, with the reason (TW0471 or TW0505).
  std::vector<std::pair<std::string, rejection>> left_out;

  /// The predicted time of the GEMMs of all layers.
  double us(std::int64_t tokens, std::string_view format) const;
};

/// The problem of one GEMM: operands of the format, D in bf16 (f16 of f16, f32 of tf32).
gemm_problem problem_of(model_gemm const& gemm, std::int64_t tokens, std::string_view format);

/// Plans for operands aligned to 256 bytes, with as much workspace as they take.
model_plan plan_model(model_shape const& model, model_request const& request, device const& dev);

}  // namespace tw
