// SPDX-License-Identifier: Apache-2.0
// refused_text.cpp  Refusals of a text: the position of the fault, the characters that are allowed
//                   there, and the text to write instead.
#include "atom/refused_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "atom/spelling.hpp"
#include "tilewright/atom/call.hpp"

namespace tw::detail {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }
bool name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || digit(c) || c == '_';
}

}  // namespace

/// The operation to use for a function of CuTe's that needs a program; empty for others.
std::string instead_of(std::string_view name) {
  struct row {
    std::string_view name, text;
  };
  constexpr std::string_view mma =
                                 "partition(tiled_mma(...), A, thread, layout) is a thread's part",
                             copy =
                                 "copy_partition_s(tiled_copy(...), thread, layout) and "
                                 "copy_partition_d are a thread's parts";
  constexpr row rows[] = {
      {"make_tma_copy",
       "tma_params(tensor in global memory, tile in shared memory, tiler, bits) "
       "has what its descriptor needs"},
      {"get_tma_tensor", "make_identity_layout(shape) is the layout of its coordinates"},
      {"partition_A", mma},
      {"partition_B", mma},
      {"partition_C", mma},
      {"partition_fragment_A", mma},
      {"partition_fragment_B", mma},
      {"partition_fragment_C", mma},
      {"get_slice", mma},
      {"get_thread_slice", mma},
      {"Tensor", "write its layout, shape:stride"},
      {"TMA_Tensor", "write its layout, shape:stride"},
      {"partition_S", copy},
      {"partition_D", copy},
      {"copy", "it moves data: docs/vocabulary.md has the functions of a kernel"},
      {"gemm", "it multiplies: docs/vocabulary.md has the functions of a kernel"}};
  auto const* const found = std::ranges::find(rows, name, &row::name);
  return found == std::end(rows) ? "" : std::string(found->text);
}

/// A swizzle that a refusal counts as bits, base and shift in three digits, as it is written.
std::string swizzle_of_digits(std::string const& digits) {
  if (digits.size() != 3 || digits.find_first_not_of("0123456789") != std::string::npos) {
    return digits;
  }
  return fmt::format("Sw<{},{},{}>", digits[0], digits[1], digits[2]);
}

/// A refusal of a swizzle (TW0237) with the swizzles as they are written.
rejection with_swizzles(rejection r) {
  if (r.code != "TW0237") return r;
  r.what = "swizzle of a shared-memory layout, in bytes";
  r.got = swizzle_of_digits(r.got);
  r.need =
      fmt::format("Sw<1,4,3>, Sw<2,4,3>, Sw<3,4,3> or none (tcgen05 also Sw<2,5,2>); nearest {}",
                  swizzle_of_digits(r.need.substr(r.need.rfind(' ') + 1)));
  return r;
}

/// The characters that may stand at a place of a text, after `left`.
std::string wanted_after(char left, std::string_view text, std::size_t at) {
  if (left == '\0')
    return "a layout such as (4,8):(8,1), Sw<3,3,3> o 0 o ..., or a call such as coalesce(...)";
  if (left == '(' || left == ',') return "a number, (, $ or _";
  if (left == ':' || left == '@') return "a number";
  // A shape ends with its last parenthesis; before, there is no ':'.
  int level = 0;
  for (char const c : text.substr(0, at)) level += (c == '(') - (c == ')');
  std::string all = level > 0 ? "a comma, )" : "a comma, :, )";
  if (left != ')') all += ", @";
  return all + " or the end";
}

/// For a word that is close to an operation's name by chance.
std::string if_of_program(std::string_view word) {
  return fmt::format(" If {} is a name of a program, write its layout or its number", word);
}

/// The text to write for a word of a program, or for A o B.
std::string hint_at(std::string const& text, std::size_t at, char left) {
  std::size_t end = at;
  while (end < text.size() && (name_character(text[end]) || text[end] == '.')) ++end;
  std::string const word = text.substr(at, end - at);
  if (word == "o" && left != '\0') return "A o B is composition(A, B)";
  bool const name = !word.empty() && !digit(word[0]);
  if (word.starts_with("mma.") || word.starts_with("copy."))
    return fmt::format("tv({}, ...) is its layout; without --print text it is drawn", word);
  if (!name) return "docs/layouts.md has the notation";
  if (std::string const other = instead_of(word.substr(word.rfind('.') + 1)); !other.empty())
    return other;
  std::vector<std::string_view> const names = operations();
  bool const known = std::ranges::find(names, word) != names.end();
  std::string_view const nearest = word.size() > 1 && !known ? nearest_name(word, names) : "";
  if (!nearest.empty()) return fmt::format("did you mean {}(...)?{}", nearest, if_of_program(word));
  return known ? fmt::format("`tilewright layout --help {}` has an example", word)
               : fmt::format("{} is a name of a program: write its layout or its number", word);
}

/// A refusal of text (TW0101), with the text, a mark under the place, and what is read there.
rejection with_text(rejection r, std::string const& text) {
  constexpr std::string_view place = "something else at position ";
  if (r.code != "TW0101" || !r.got.starts_with(place)) return r;
  std::size_t at = std::stoul(r.got.substr(place.size())) - 1;
  // A word with S was read as the beginning of Sw<...>.
  bool const word = at > 0 && at < text.size() && text[at - 1] == 'S' && name_character(text[at]);
  if (word && (at == 1 || !name_character(text[at - 2]))) --at;
  if (at > text.size() || text.find_first_of("\n\r\t") != std::string::npos) return r;
  std::string const what = at < text.size() ? fmt::format("'{}'", text[at]) : "the end";
  std::size_t const before = text.find_last_not_of(' ', at == 0 ? 0 : at - 1);
  char const left = at == 0 || before == std::string::npos ? '\0' : text[before];
  std::string const wanted = wanted_after(left, text, at);
  r.got = fmt::format("{} at position {}", what, at + 1);
  r.need = wanted;
  // A long text is shown around the place.
  constexpr std::size_t most = 88, around = 40;
  std::size_t const first = text.size() <= most || at < around ? 0 : at - around;
  bool const cut = first + most < text.size();
  std::string const shown =
      (first > 0 ? "..." : "") + text.substr(first, most) + (cut ? "..." : "");
  std::size_t const mark = at - first + (first > 0 ? 3 : 0);
  r.hint =
      fmt::format("{}\n    {}\n    {}^", hint_at(text, at, left), shown, std::string(mark, ' '));
  return r;
}

}  // namespace tw::detail
