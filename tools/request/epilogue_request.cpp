// SPDX-License-Identifier: Apache-2.0
// epilogue_request.cpp  The options and words of fused epilogues.
#include "tools/request/epilogue_request.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "tools/request/words.hpp"

namespace tw {
namespace {

struct activation_word {
  char const* text;
  activation act;
};
constexpr bool without_gate(activation_names const& a) { return !is_gate_only(a.id); }

/// Names of activations without a gate.
constexpr auto activation_words = [] {
  std::array<activation_word, std::ranges::count_if(all_activations, without_gate)> words{};
  auto next = words.begin();
  for (activation_names const& a : all_activations)
    if (without_gate(a)) *next++ = {a.word, a.id};
  return words;
}();

/// Names of gated units: what becomes of the gate.
constexpr auto gated_units = [] {
  std::array<activation_word, activation_count> words{};
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = {all_activations.row[i].gated_word, all_activations.row[i].id};
  return words;
}();

/// "none, relu, gelu, gelu-erf or silu".
template <std::size_t Count>
std::string one_or_another(std::array<activation_word, Count> const& words) {
  std::string text;
  for (std::size_t i = 0; i < Count; ++i)
    text += std::string(i == 0 ? "" : i + 1 == Count ? " or " : ", ") + words[i].text;
  return text;
}

std::vector<std::string> gate_words() {
  std::vector<std::string> words;
  for (activation_word const& unit : gated_units)
    for (char const* order : {":split", ":interleaved"})
      words.push_back(unit.text + std::string(order));
  return words;
}

/// "gelu_erf" as "gelu-erf"; "swiglu_interleaved", "swiglu" as "swiglu:interleaved",
/// "swiglu:split": the spelling of shape files and of `tilewright plan`.
std::string own_spelling(std::string text, bool gate) {
  for (char const* order : {"_split", "_interleaved"})
    if (gate && text.ends_with(order)) text[text.size() - std::string_view(order).size()] = ':';
  for (char& c : text)
    c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  bool const unit = std::ranges::any_of(
      gated_units, [&](activation_word const& known) { return text == known.text; });
  return gate && unit ? text + ":split" : text;
}

/// Takes the spellings of other verbs, of the API and of other libraries; a refusal quotes the word
/// as it was typed.
CLI::Validator epilogue_word(std::vector<std::string> known, bool gate) {
  CLI::Validator const words =
      one_of(std::move(known), {{"gelu-tanh", "gelu"}, {"gelu-new", "gelu"}, {"swish", "silu"}});
  return CLI::Validator(
      [=](std::string& text) {
        std::string word = own_spelling(text, gate);
        std::string const refused = words(word);
        if (refused.empty()) {
          text = word;
          return refused;
        }
        return text + refused.substr(std::min(refused.size(), word.size()));
      },
      words.get_description());
}

void set_gate(epilogue_request& r, std::string const& text) {
  std::size_t const colon = text.find(':');
  r.gate = text.substr(colon + 1) == "split" ? gating::split : gating::interleaved;
  for (activation_word const& unit : gated_units)
    if (text.substr(0, colon) == unit.text) r.act = unit.act;
}

}  // namespace

std::optional<activation> parse_activation(std::string const& word) {
  for (activation_word const& a : activation_words)
    if (word == a.text) return a.act;
  return std::nullopt;
}

char const* text_of(activation act) {
  for (activation_names const& a : all_activations)
    if (act == a.id) return a.word;
  return "?";
}

std::string text_of(gemm_epilogue const& e) {
  std::string text;
  auto const add = [&](bool there, std::string const& what) {
    if (there) text += (text.empty() ? "" : ", ") + what;
  };
  for (bool const multiplies : {true, false})
    for (operand_row const& r : operand_rows) {
      if (r.vector == nullptr || r.multiplies != multiplies) continue;
      vector_desc const& v = e.*r.vector;
      add(bool{v}, std::string(multiplies ? "times a " : "plus a ") + r.noun +
                       (v == along::rows ? " per row" : " per column"));
    }
  add(e.act != activation::none, text_of(e.act));
  add(e.gate == gating::split, "times what its gate passes (split)");
  add(e.gate == gating::interleaved, "times what its gate passes (interleaved)");
  return text;
}

std::string option_of(role r) {
  std::string word = row_of(r).word;
  std::ranges::replace(word, '_', '-');
  return "--" + word;
}

void add_epilogue_options(CLI::App& verb, epilogue_request& r) {
  for (operand_row const& x : operand_rows)
    if (x.vector != nullptr) verb.add_option(option_of(x.is), r.vectors[x.is], x.help);
  verb.add_option_function<std::string>(
          "--bias-along",
          [&r](std::string const& text) {
            r.bias_along = text == "rows" ? along::rows : along::cols;
          },
          "cols (default) or rows: the bias has a value per row")
      ->needs(verb.get_option(option_of(role::bias)))
      ->transform(one_of({"rows", "cols"}));
  CLI::Option* const act = verb.add_option_function<std::string>(
      "--activation", [&r](std::string const& text) { r.act = parse_activation(text).value(); },
      one_or_another(activation_words) + ", after scales, bias and C");
  std::vector<std::string> words;
  for (activation_word const& known : activation_words) words.push_back(known.text);
  act->transform(epilogue_word(std::move(words), false));
  CLI::Option* const gate = verb.add_option_function<std::string>(
      "--gate", [&r](std::string const& text) { set_gate(r, text); },
      "UNIT:ORDER, half of B's columns are gates and D has N/2: " + one_or_another(gated_units) +
          "; split (gates first) or interleaved (gate, up, gate, up)");
  gate->transform(epilogue_word(gate_words(), true))->excludes(act);
  verb.add_option("--aux", r.aux, "where the values before the activation go, MxN, of D's type");
  verb.add_option("--residual", r.residual, "matrix of D's shape that is added last");
}

}  // namespace tw
