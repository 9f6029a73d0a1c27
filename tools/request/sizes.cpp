// SPDX-License-Identifier: Apache-2.0
// sizes.cpp  Words to extents to products of extents.
#include "tools/request/sizes.hpp"

#include <charconv>
#include <string_view>

#include "tools/io/refuse.hpp"

namespace tw {
namespace {

constexpr std::size_t max_sizes = 100'000;

[[noreturn]] void refuse_size(std::string const& word) {
  refuse("TW0803", "size of a GEMM", word, "M N K, or MxNxK as in 4096x4096x8192",
         "an extent may be a list, 64,128, or a range, 64:512:64 or 64:4096:x2");
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    std::size_t const end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::int64_t number(std::string_view text, std::string const& word) {
  std::int64_t x = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (error != std::errc() || end != text.data() + text.size() || x < 1) refuse_size(word);
  return x;
}

void add_range(std::vector<std::int64_t>& to, std::string_view text, std::string const& word) {
  std::vector<std::string_view> const parts = split(text, ':');
  std::int64_t const first = number(parts[0], word);
  if (parts.size() == 1) {
    to.push_back(first);
    return;
  }
  if (parts.size() != 3) refuse_size(word);
  std::int64_t const last = number(parts[1], word);
  bool const factor = parts[2].starts_with('x') || parts[2].starts_with('*');
  std::int64_t const step = number(parts[2].substr(factor ? 1 : 0), word);
  if (last < first || (factor && step < 2)) refuse_size(word);
  for (std::int64_t x = first; x <= last;) {
    to.push_back(x);
    if (to.size() > max_sizes) refuse_size(word);
    bool const beyond =
        factor ? __builtin_mul_overflow(x, step, &x) : __builtin_add_overflow(x, step, &x);
    if (beyond) return;
  }
}

std::vector<std::int64_t> listed_extents(std::string_view text, std::string const& word) {
  std::vector<std::int64_t> all;
  for (std::string_view const part : split(text, ',')) add_range(all, part, word);
  return all;
}

void add_sizes(std::vector<gemm_size>& to, std::vector<std::int64_t> const& m,
               std::vector<std::int64_t> const& n, std::vector<std::int64_t> const& k,
               std::string const& word) {
  if (m.size() * n.size() * k.size() + to.size() > max_sizes) refuse_size(word);
  for (std::int64_t const a : m)
    for (std::int64_t const b : n)
      for (std::int64_t const c : k) to.push_back({a, b, c});
}

/// "64x128x256" at the x between extents; the x of a range's factor comes after a colon.
std::vector<std::string_view> split_extents(std::string_view text) {
  std::vector<std::string_view> parts{text};
  for (std::size_t i = 1; i < parts.back().size(); ++i) {
    if (parts.back()[i] != 'x' || parts.back()[i - 1] == ':') continue;
    std::string_view const whole = parts.back();
    parts.back() = whole.substr(0, i);
    parts.push_back(whole.substr(i + 1));
    i = 0;
  }
  return parts;
}

}  // namespace

std::vector<gemm_size> parse_sizes(std::vector<std::string> const& words) {
  std::vector<gemm_size> sizes;
  if (words.size() == 3 && split_extents(words[0]).size() == 1) {
    add_sizes(sizes, listed_extents(words[0], words[0]), listed_extents(words[1], words[1]),
              listed_extents(words[2], words[2]), words[0]);
    return sizes;
  }
  for (std::string const& word : words) {
    std::vector<std::string_view> const parts = split_extents(word);
    if (parts.size() != 3) refuse_size(word);
    add_sizes(sizes, listed_extents(parts[0], word), listed_extents(parts[1], word),
              listed_extents(parts[2], word), word);
  }
  return sizes;
}

}  // namespace tw
