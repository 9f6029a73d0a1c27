// SPDX-License-Identifier: Apache-2.0
// words.hpp  Options that take one word of a list, and "did you mean" for words that are not known.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

namespace tw {

/// The known word that a typo is closest to; empty if none is close.
std::string closest_word(std::string const& typed, std::vector<std::string> const& known);

std::string lower_case(std::string text);

/// "did you mean WORD?", or nothing.
std::string did_you_mean(std::string const& typed, std::vector<std::string> const& known);

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
