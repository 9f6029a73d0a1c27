// SPDX-License-Identifier: Apache-2.0
// words.cpp  Words of options, and other names of them.
#include "tools/request/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tilewright/base/elem_text.hpp"
#include "tilewright/problem/block_format.hpp"
#include "tilewright/problem/precision.hpp"

namespace tw {

CLI::Validator elem_word(std::vector<std::string> known) {
  std::map<std::string, std::string> aliases;
  for (auto const& [alias, name] : {std::pair{"bfloat16", "bf16"},
                                    {"float16", "f16"},
                                    {"fp16", "f16"},
                                    {"half", "f16"},
                                    {"float32", "f32"},
                                    {"fp32", "f32"},
                                    {"float", "f32"},
                                    {"tfloat32", "tf32"},
                                    {"fp8", "e4m3"},
                                    {"int8", "s8"},
                                    {"i8", "s8"},
                                    {"uint8", "u8"},
                                    {"int32", "s32"},
                                    {"i32", "s32"}})
    if (std::ranges::find(known, name) != known.end()) aliases[alias] = name;
  for (std::string const& word : known)
    if (auto const e = parse_elem(word); e && is_fp8(*e))
      for (char const* prefix : {"fp8_", "f8_", "float8_"})
        aliases[prefix + word] = aliases[prefix + word + "fn"] = word;
  return one_of(std::move(known), std::move(aliases));
}

std::optional<block_format> parse_block_format(std::string_view text) {
  for (block_format const f : {block_format::mxfp8, block_format::mxfp4, block_format::nvfp4})
    if (text == traits_of(f).name) return f;
  return std::nullopt;
}

std::vector<std::string> with_block_formats(std::vector<std::string> words) {
  words.insert(words.end(), {"mxfp8", "mxfp4", "nvfp4"});
  return words;
}

CLI::Validator scaling_word() {
  std::map<std::string, std::string> aliases;
  for (char const* const word : {"tensorwise", "per-tensor", "per_tensor"})
    aliases[word] = "tensor";
  for (char const* const word :
       {"rowwise", "per-row", "per_row", "per-token", "per_token", "per-channel", "per_channel"})
    aliases[word] = "row";
  return one_of({"tensor", "row", "1x128", "128x128"}, std::move(aliases));
}

CLI::Validator place_word(std::vector<std::string> known) {
  return one_of(std::move(known),
                {{"emulator", "emu"}, {"emulated", "emu"}, {"cpu", "emu"}, {"cuda", "gpu"}});
}

CLI::Validator device_word(std::vector<std::string> ids) {
  return one_of(std::move(ids), {{"h100", "h100_sxm"}});
}

CLI::Validator one_of(std::vector<std::string> known, std::map<std::string, std::string> aliases) {
  std::string const list = fmt::format("{}", fmt::join(known, ", "));
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        std::string const word = lower_case(text);
        if (auto const alias = aliases.find(word); alias != aliases.end()) {
          text = alias->second;
          return {};
        }
        for (std::string const& k : known)
          if (word == lower_case(k)) {
            text = k;
            return {};
          }
        std::string const hint = did_you_mean(text, known);
        return fmt::format("{} is none of {}{}", text.empty() ? "an empty text" : text, list,
                           hint.empty() ? "" : "; " + hint);
      },
      "{" + fmt::format("{}", fmt::join(known, ",")) + "}");
}

}  // namespace tw
