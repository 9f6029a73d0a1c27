// SPDX-License-Identifier: Apache-2.0
// words.cpp  The edit distance of two words.
#include "tools/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <numeric>

#include "tilewright/base/elem_text.hpp"
#include "tilewright/problem/precision.hpp"

namespace tw {
namespace {

/// Insertions, removals and replacements of characters (Levenshtein).
std::size_t distance(std::string const& a, std::string const& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0U);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t const above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string closest_word(std::string const& typed, std::vector<std::string> const& known) {
  std::string best;
  std::size_t const limit = typed.size() < 3 ? 1 : std::max<std::size_t>(2, typed.size() / 3);
  std::size_t least = limit + 1;
  for (std::string const& word : known)
    if (std::size_t const d = distance(lower_case(typed), lower_case(word)); d < least)
      least = d, best = word;
  return best;
}

std::string did_you_mean(std::string const& typed, std::vector<std::string> const& known) {
  std::string const word = closest_word(typed, known);
  return word.empty() ? "" : "did you mean " + word + "?";
}

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
