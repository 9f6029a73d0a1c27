// SPDX-License-Identifier: Apache-2.0
// epilogues.hpp  Names of epilogues, in shape files and on command lines: words joined by _, - or
// :.
//
// bias, row_scale, col_scale: vectors (problem/operand.hpp), a bias per column. The words and gated
// words of problem/activation.hpp; a gate is split (the first N/2 columns of B) or interleaved
// (gate and up columns in turn). residual: a matrix is added last. A bias and the matrix have D's
// type.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/problem/operand.hpp"

namespace tw::bench {

/// Does `text` begin with this word, whose '-' may be written '_', and end or go on with '_' after
/// it?
inline bool begins_with(std::string_view text, std::string_view word) {
  if (text.size() < word.size() || (text.size() > word.size() && text[word.size()] != '_'))
    return false;
  return std::equal(word.begin(), word.end(), text.begin(),
                    [](char w, char t) { return (w == '-' ? '_' : w) == t; });
}

struct named_epilogue {
  gemm_epilogue epilogue;
  bool residual = false;
};

/// "bias_gelu_erf", "swiglu:interleaved". Nothing for a name with an empty or unknown word
/// of these, with two activations, or an order without a gate before it.
inline std::optional<named_epilogue> find_epilogue(std::string name) {
  named_epilogue e;
  bool ordered = false, bilinear = false;
  auto const act = [&](activation a) {
    if (e.epilogue.act != activation::none || bilinear) return false;
    e.epilogue.act = a;
    return true;
  };
  auto const unit = [&](activation a) {
    if (e.epilogue.gate != gating::none || !act(a)) return false;
    e.epilogue.gate = gating::split;
    bilinear = a == activation::none;
    return true;
  };
  auto const order = [&](gating g) {
    if (e.epilogue.gate == gating::none || ordered) return false;
    e.epilogue.gate = g;
    return ordered = true;
  };
  std::ranges::replace_if(
      name, [](char c) { return c == '-' || c == ':'; }, '_');
  if (name.ends_with('_')) return std::nullopt;
  struct meaning {
    std::string_view word;
    std::function<bool()> apply;
  };
  std::vector<meaning> meanings = {
      {"residual", [&] { return e.residual = e.epilogue.c_last = true; }},
      {"split", [&] { return order(gating::split); }},
      {"interleaved", [&] { return order(gating::interleaved); }}};
  for (operand_row const& r : operand_rows)
    if (r.vector != nullptr && !r.of_groups)
      meanings.push_back({r.word, [&e, &r] { return e.epilogue.*r.vector = r.over_lines, true; }});
  for (activation_names const& a : all_activations) {
    if (a.id != activation::none && !is_gate_only(a.id))
      meanings.push_back({a.word, [&] { return act(a.id); }});
    meanings.push_back({a.gated_word, [&] { return unit(a.id); }});
  }
  // "gelu_erf" is no "gelu".
  std::ranges::sort(meanings, std::greater{}, [](meaning const& m) { return m.word.size(); });
  for (std::string_view rest = name; !rest.empty();) {
    auto const next =
        std::ranges::find_if(meanings, [&](meaning const& m) { return begins_with(rest, m.word); });
    if (next == meanings.end() || !next->apply()) return std::nullopt;
    rest.remove_prefix(std::min(rest.size(), next->word.size() + 1));
  }
  return e;
}

/// The words of find_epilogue: "bias, relu, gelu, gelu_erf, ...".
inline std::string epilogue_words() {
  std::string text;
  auto const add = [&](std::string_view word) {
    if (!text.empty()) text += ", ";
    for (char const c : word) text += c == '-' ? '_' : c;
  };
  for (operand_row const& r : operand_rows)
    if (r.vector != nullptr && !r.of_groups) add(r.word);
  for (activation_names const& a : all_activations)
    if (a.id != activation::none && !is_gate_only(a.id)) add(a.word);
  for (activation_names const& a : all_activations) add(a.gated_word);
  for (char const* word : {"split", "interleaved", "residual"}) add(word);
  return text;
}

}  // namespace tw::bench
