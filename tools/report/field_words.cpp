// SPDX-License-Identifier: Apache-2.0
// field_words.cpp  The table of fields and options.
#include "tools/report/field_words.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace tw {
namespace {

struct field_word {
  std::string_view field, option;  // *: a or b, the operand that the refusal is about
  std::string_view argument;       // of the C library
};
/// A longer field before its beginning.
constexpr field_word field_words[] = {
    {"gemm_problem::scale_d->power_of_two = true", "--scale-d-power-of-two",
     "the flag TW_SCALE_D_POWER_OF_TWO"},
    {"gemm_problem::scale_d", "--scale-d", "scale_d"},
    {"quantize_problem::power_of_two = true", "--power-of-two", "the flag TW_POWER_OF_TWO"},
    {"gemm_problem::precision.promote_k = 0", "--promote never", "promote = TW_PROMOTE_NEVER"},
    {"gemm_problem::precision.promote_k = ", "--promote ", "promote = "},
    {"gemm_problem::precision.wrapping_sums = true", "--wrap", "the flag TW_WRAP"},
    {"gemm_problem::epilogue.c_last = true", "--residual", "the flag TW_C_LAST"},
    {"gemm_problem::reproducible = false", "leave --invariant out", "leave TW_INVARIANT out"},
    {"gemm_problem::b.ord = order::col_major",
     "--transpose-b (`--layout TN or NN` of plan and tune); or (K, N) in Fortran order "
     "(np.asfortranarray)",
     "pass weights of (n, k) as their transpose, a view"},
    {"scale_desc::second_level = true, gemm_operands::second_level_a and second_level_b",
     "--scale2-a, --scale2-b", "second_a and second_b"},
    {"B stored as (N, K) row by row", "B stored as (N, K) row by row (--transpose-b)",
     "weights of (n, k), passed as their transpose"},
    {"make_block_scale() describes such scales, ", "", ""},
    {"make_block_result() describes such scales", "--out-dtype mxfp8, mxfp4 or nvfp4",
     "scale_d_as = mxfp8, mxfp4 or nvfp4"},
    {"`tilewright quantize` or tw::quantize()", "`tilewright quantize`", "tw_quantize()"},
    {"plan with the operands that the launch will have: gemm_plan::workspace_bytes is what it "
     "needs, "
     "gemm_workspace_bytes() serves every plan",
     "the command provides it: report this refusal",
     "tw_plan_workspace_bytes() of a plan for these tensors is enough"},
    {"gemm_problem::epilogue.gate = gating::split or gating::interleaved",
     "--gate UNIT:split or UNIT:interleaved", "gate = split or interleaved"},
    {"the argument `choice`, parse_scale_choice() of ", "--scale-*-as ", "scale_*_as = "},
    {"the argument `order`, factor_order::linear or factor_order::swizzled",
     "--scale-*-as linear or 32x4x4", "scale_*_as = linear or 32x4x4"},
    {"plan_gemm() with emulated_device(options, \"b200\")", "--arch sm100 (--device b200 of plan)",
     "device = b200"},
    {"a plan for another known_device()", "another --arch", "another device"},
};

enum class vocabulary { options, arguments };

std::string replaced(std::string text, char operand, vocabulary words) {
  for (field_word const& w : field_words)
    for (std::size_t at = 0; (at = text.find(w.field, at)) != std::string::npos;) {
      std::string word(words == vocabulary::options ? w.option : w.argument);
      std::ranges::replace(word, '*', operand);
      text.replace(at, w.field.size(), word);
      at += word.size();
    }
  return text;
}

/// The refusal without fields beside the names of their arguments.
rejection in_words(rejection r, vocabulary words) {
  for (std::size_t at = 0; (at = r.what.find(" (", at)) != std::string::npos; ++at) {
    std::size_t const end = r.what.find(')', at);
    if (end != std::string::npos && r.what.substr(at, end - at).find("::") != std::string::npos)
      r.what.erase(at, end + 1 - at);
  }
  bool const of_b = !r.what.empty() && (r.what.back() == 'B' || r.what.back() == 'b');
  for (std::string* text : {&r.what, &r.got, &r.need, &r.hint})
    *text = replaced(*text, of_b ? 'b' : 'a', words);
  return r;
}

std::vector<std::string> in_words(std::vector<std::string> hints, vocabulary words) {
  for (std::string& hint : hints) hint = replaced(hint, 'a', words);
  return hints;
}

/// Operands by the names of their arguments, where a word stands alone: "type of D", "A e4m3".
std::string with_names(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"the second level of A's scales", "second_a"},
      {"the second level of B's scales", "second_b"},
      {"the scales of A", "scale_a"},
      {"the scales of B", "scale_b"},
      {"the scales of D", "scale_d"},
      {"the scale of D", "scale_d"},
      {"scales of A", "scale_a"},
      {"scales of B", "scale_b"},
      {"scales of D", "scale_d"},
      {"scale of A", "scale_a"},
      {"scale of B", "scale_b"},
      {"scale of D", "scale_d"},
      {"the auxiliary output", "aux"},
      {"auxiliary output", "aux"},
      {"the bias", "bias"},
      {"A", "a"},
      {"B", "b"},
      {"C", "c"},
      {"D", "d"}};
  auto const is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '\'';
  };
  for (auto const& [from, to] : names)
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; ++at) {
      std::size_t const end = at + from.size();
      if ((at > 0 && is_letter(text[at - 1])) || (end < text.size() && is_letter(text[end])))
        continue;
      text.replace(at, from.size(), to);
    }
  return text;
}

}  // namespace

rejection with_options(rejection r) { return in_words(std::move(r), vocabulary::options); }
std::vector<std::string> with_options(std::vector<std::string> hints) {
  return in_words(std::move(hints), vocabulary::options);
}

rejection with_arguments(rejection r) {
  r = in_words(std::move(r), vocabulary::arguments);
  r.what = with_names(std::move(r.what)), r.got = with_names(std::move(r.got));
  return r;
}
std::vector<std::string> with_arguments(std::vector<std::string> hints) {
  return in_words(std::move(hints), vocabulary::arguments);
}

}  // namespace tw
