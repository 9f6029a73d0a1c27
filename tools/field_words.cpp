// SPDX-License-Identifier: Apache-2.0
// field_words.cpp  The table of fields and options.
#include "tools/field_words.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace tw {
namespace {

struct field_word {
  std::string_view field, option;  // *: a or b, the operand that the refusal is about
};
/// A longer field before its beginning.
constexpr field_word field_words[] = {
    {"gemm_problem::scale_d->power_of_two = true", "--scale-d-power-of-two"},
    {"gemm_problem::scale_d", "--scale-d"},
    {"quantize_problem::power_of_two = true", "--power-of-two"},
    {"gemm_problem::precision.promote_k = 0", "--promote never"},
    {"gemm_problem::precision.promote_k = ", "--promote "},
    {"gemm_problem::precision.wrapping_sums = true", "--wrap"},
    {"gemm_problem::epilogue.c_last = true", "--residual"},
    {"gemm_problem::reproducible = false", "leave --invariant out"},
    {"gemm_problem::b.ord = order::col_major",
     "--transpose-b (`--layout TN or NN` of plan and tune); or (K, N) in Fortran order "
     "(np.asfortranarray)"},
    {"scale_desc::second_level = true, gemm_operands::second_level_a and second_level_b",
     "--scale2-a, --scale2-b"},
    {"B stored as (N, K) row by row", "B stored as (N, K) row by row (--transpose-b)"},
    {"make_block_scale() describes such scales, ", ""},
    {"the argument `choice`, parse_scale_choice() of ", "--scale-*-as "},
    {"the argument `order`, factor_order::linear or factor_order::swizzled",
     "--scale-*-as linear or 32x4x4"},
    {"plan_gemm() with emulated_device(options, \"b200\")", "--arch sm100"},
    {"a plan for another known_device()", "another --arch"},
};

std::string replaced(std::string text, char operand) {
  for (field_word const& w : field_words)
    for (std::size_t at = 0; (at = text.find(w.field, at)) != std::string::npos;) {
      std::string option(w.option);
      std::ranges::replace(option, '*', operand);
      text.replace(at, w.field.size(), option);
      at += option.size();
    }
  return text;
}

}  // namespace

rejection with_options(rejection r) {
  // A field beside the name of its argument.
  for (std::size_t at = 0; (at = r.what.find(" (", at)) != std::string::npos; ++at) {
    std::size_t const end = r.what.find(')', at);
    if (end != std::string::npos && r.what.substr(at, end - at).find("::") != std::string::npos)
      r.what.erase(at, end + 1 - at);
  }
  bool const of_b = !r.what.empty() && r.what.back() == 'B';
  for (std::string* text : {&r.what, &r.got, &r.need, &r.hint})
    *text = replaced(*text, of_b ? 'b' : 'a');
  return r;
}

std::vector<std::string> with_options(std::vector<std::string> hints) {
  for (std::string& hint : hints) hint = replaced(hint, 'a');
  return hints;
}

}  // namespace tw
