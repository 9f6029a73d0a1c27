// SPDX-License-Identifier: Apache-2.0
// precision_options.cpp  Words to a gemm_precision.
#include "tools/request/precision_options.hpp"

#include <algorithm>
#include <tuple>

#include "tilewright/base/elem_text.hpp"
#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/quantize.hpp"
#include "tools/request/words.hpp"

namespace tw {

namespace {

/// In the order of help texts: bf16, which is the default; then by bits, 16, 8 and 32, and types
/// that are multiplied before those that are not.
std::vector<std::string> words_of(std::vector<elem> types) {
  auto const place = [](elem e) {
    int const bits = size_bits(e);
    return std::tuple(e != elem::bf16, bits == 16 ? 0 : bits, !traits_of(e).mma_operand, e);
  };
  std::ranges::sort(types, {}, place);
  std::vector<std::string> words;
  for (elem const e : types) words.emplace_back(name(e));
  return words;
}

bool is_operand(elem e) { return are_operands(e, e); }
bool is_result(elem d) {
  for (elem const a : elems_that(is_operand))
    for (elem const b : elems_that(is_operand))
      if (are_operands(a, b) && std::ranges::count(result_types(a, b), d) != 0) return true;
  return false;
}

}  // namespace

std::vector<std::string> operand_words() { return words_of(elems_that(is_operand)); }
std::vector<std::string> multiplied_words() {
  return words_of(elems_that([](elem e) { return traits_of(e).mma_operand; }));
}
std::vector<std::string> result_words() { return words_of(elems_that(is_result)); }
std::vector<std::string> result_words_with_scales() {
  return words_of(elems_that([](elem e) { return is_result(e) || is_quantized(e); }));
}
std::vector<std::string> quantized_words() { return words_of(elems_that(is_quantized)); }

void add_precision_options(CLI::App& verb, gemm_precision& precision) {
  verb.add_option_function<std::string>(
          "--promote",
          [&precision](std::string const& text) {
            precision.promote_k = text == "never" ? 0 : std::stoi(text);
          },
          "8-bit floats: elements of K after which the tensor core's sum is added to a float32 "
          "sum; never is the fastest and the least exact (default: 128)")
      ->transform(one_of({"never", "128", "64"}, {{"fast", "never"}, {"0", "never"}}));
  verb.add_flag("--f16-sums", precision.f16_sums, "f16 operands: sums may be kept in f16");
  verb.add_flag("--wrap", precision.wrapping_sums,
                "8-bit integers: K may be so long that sums wrap around, modulo 2^32");
}

void add_invariance_option(CLI::App& verb, bool& reproducible) {
  verb.add_flag(
      "--invariant,--reproducible", reproducible,
      "the bits of a row of D do not depend on M, the row's place, other rows or how N is "
      "split (docs/invariance.md)");
}

}  // namespace tw
