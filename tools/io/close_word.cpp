// SPDX-License-Identifier: Apache-2.0
// close_word.cpp  The edit distance of two words.
#include "tools/io/close_word.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>

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

}  // namespace tw
