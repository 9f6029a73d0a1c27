// SPDX-License-Identifier: Apache-2.0
// checkpoint_layout.hpp  Names, shapes and types that a quantised weight and its scales have in
//                        checkpoints (docs/checkpoints.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/elem.hpp"
#include "tilewright/problem/block_format.hpp"
#include "tilewright/problem/scale.hpp"
#include "tools/io/matrix_file.hpp"

namespace tw {

/// deepseek: DeepSeek's and Qwen's FP8 of blocks, `fp8` of vLLM and SGLang; modelopt: NVIDIA's;
/// compressed_tensors: llm-compressor's.
enum class checkpoint_layout { deepseek, modelopt, compressed_tensors };

std::optional<checkpoint_layout> parse_checkpoint_layout(std::string_view word);
std::vector<std::string> checkpoint_layout_words();

/// How a weight is quantised: `format`, or `to` with scales of `kind`.
struct weight_quantisation {
  std::optional<block_format> format;
  elem to = elem::e4m3;
  scaling kind = scaling::tensor;
  elem scale_type = elem::f32;  // of `to`
};

/// The tensors of a weight, all in the file of the address that was given.
struct checkpoint_weight {
  matrix_address values, scales, second;
  bool reciprocal = false;  // of the second level 1 / it is stored
  bool in_bytes = false;    // values of 4 bits are uint8 with two each, scales of ue8m0 uint8
};

/// The tensors in which `layout` stores a weight. `out` is FILE.safetensors:NAME.weight. Throws
/// `rejected` TW0615 for another address, and if the layout does not know the quantisation.
checkpoint_weight checkpoint_weight_of(checkpoint_layout layout, weight_quantisation const& q,
                                       matrix_address const& out);

/// Shape in which `layout` stores the scales of a weight of `rows` x `cols`, in C order; nothing:
/// the shape that `tilewright quantize` writes without a layout.
std::optional<std::vector<std::int64_t>> scale_shape_in(checkpoint_layout layout, scaling kind,
                                                        std::int64_t rows, std::int64_t cols);

}  // namespace tw
