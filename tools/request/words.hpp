// SPDX-License-Identifier: Apache-2.0
// words.hpp  Options that take one word of a list.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/problem/block_format.hpp"
#include "tools/io/close_word.hpp"

namespace tw {

std::optional<block_format> parse_block_format(std::string_view text);

/// These and the block-scaled formats.
std::vector<std::string> with_block_formats(std::vector<std::string> words);

/// Other names of element types: "float16", "fp16" and "half" for f16, and so on. Of `known` types.
CLI::Validator elem_word(std::vector<std::string> known);

/// A scaling, "tensor" to "128x128", also as torch and others name it: "rowwise", "per-token".
CLI::Validator scaling_word();

/// Where a verb runs: words of `known`, also "emulator" for emu, "cuda" for gpu.
CLI::Validator place_word(std::vector<std::string> known);

/// A device that plans are made for, by its id in any case, also "h100".
CLI::Validator device_word(std::vector<std::string> ids);

/// Accepts a word of `known` in any case, or one of `aliases`, which becomes the word that it maps
/// to. The refusal quotes what was typed: "f8 is none of bf16, f16".
CLI::Validator one_of(std::vector<std::string> known,
                      std::map<std::string, std::string> aliases = {});

}  // namespace tw
