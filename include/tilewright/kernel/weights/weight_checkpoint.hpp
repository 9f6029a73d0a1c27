// SPDX-License-Identifier: Apache-2.0
// weight_checkpoint.hpp  4-bit weights as checkpoints store them, recognised by types and shapes.
//
//   layout              values                     scales          zero points       w
//   GPTQ                s32 (K/8, N)               (K/g, N)        s32 (K/g, N/8)    (q - z - 1) s
//   AWQ                 s32 (K, N/8), permuted     (K/g, N)        s32 (K/g, N/8)    (q - z) s
//   compressed-tensors  s32 (N, K/8)               (N, K/g)        s32 (N/8, K/g)    (q - z) s
//   torch tinygemm      s32 (N/8, K/16i, 32, i/2)  bf16 (K/g, N, 2) with the scales (q - 8) s + z
//   int8 pairs          s8 (N, K/2)                (N, K/g)        none              signed q s
//   MXFP4 rows          u8 (N, K/2)                u8 (N, K/32)    none              e2m1 s
//   MXFP4 blocks        u8 (N, K/32, 16)           u8 (N, K/32)    none              e2m1 s
//   NVFP4 rows          u8 (N, K/2)                e4m3 (N, K/16)  none              e2m1 s t
//
// Eight elements of an int32 lie from its low bits on, of AWQ in the order 0 2 4 6 1 3 5 7. The
// tensors may have a first dimension of experts. GPTQ stores z - 1, in its second version z; zero
// points that are all 8 are dropped. g_idx of GPTQ permutes K
// (act_order) if it is not k / g: the weights are sorted along K, and so must the activations'
// columns be (checkpoint_weights::order). t is the float32 of NVFP4, or 1 / t.
// Sources: AutoGPTQ and GPTQModel, qlinear; AutoAWQ, packing_utils; compressed-tensors,
// pack_quantized; torch, _convert_weight_to_int4pack; gpt-oss, weights; SGLang, w4afp8.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/kernel/weights/weights.hpp"

namespace tw {

/// A tensor of a checkpoint, in C order.
struct checkpoint_tensor {
  elem type = elem::u8;
  std::vector<std::int64_t> shape;
  void const* data = nullptr;
};
struct checkpoint_tensors {
  checkpoint_tensor values, scales;
  std::optional<checkpoint_tensor> zeros;
  std::optional<checkpoint_tensor> second;  // float32 of nvfp4: one, or one for each matrix
  std::optional<checkpoint_tensor> order;   // g_idx
};
struct checkpoint_options {
  bool second_is_reciprocal = false;  // compressed-tensors
  int gptq_version = 1;
  std::optional<elem> scale;  // of prepared int4, bf16 or f16; nothing: as in the checkpoint
  bool reorders = false;      // may K be permuted (act_order)? else refused
};

/// Weights of a checkpoint in rows.
struct checkpoint_weights {
  std::string layout;
  weights_desc desc;
  elem scale = elem::ue8m0;  // type of the scales in `scales`
  std::vector<std::uint8_t> nibbles, scales, zeros;
  /// With act_order: element k of the weights multiplies column order[k] of the activations.
  std::vector<std::int32_t> order;
  weight_rows rows() const { return {nibbles.data(), scales.data(), zeros.data(), scale}; }
};

/// Two weights as one: the rows of `first`, then the rows of `second`, in each matrix: gate and up
/// rows of a checkpoint that has them apart. Throws `rejected` TW0468 unless matrices, K, format,
/// factor and order of K agree.
checkpoint_weights with_rows_of(checkpoint_weights first, checkpoint_weights second);

/// Throws `rejected` TW0468 for tensors that no layout has.
checkpoint_weights read_checkpoint(checkpoint_tensors const& t, checkpoint_options const& o = {});

}  // namespace tw
