// SPDX-License-Identifier: Apache-2.0
// npy_dict.cpp  A reader for exactly the dictionaries that numpy.lib.format writes.
#include "tools/io/npy_dict.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "tools/io/in_quotes.hpp"
#include "tools/io/refuse.hpp"

namespace tw {
namespace {

class reader {
 public:
  reader(std::string_view text, std::string const& file) : text_(text), file_(file) {}

  npy_dict dict() {
    npy_dict d;
    std::array<bool, 3> seen{};
    expect('{');
    while (!take('}')) {
      std::size_t const key_at = at_;
      std::string const key = string();
      std::size_t const i = key == "descr"           ? 0
                            : key == "fortran_order" ? 1
                            : key == "shape"         ? 2
                                                     : 3;
      if (i == 3 || seen[i]) fail("a new key of descr, fortran_order, shape", key_at);
      seen[i] = true;
      expect(':');
      if (i == 0) d.descr = descr();
      if (i == 1) d.fortran_order = boolean();
      if (i == 2) d.shape = tuple();
      if (!take(',') && peek() != '}') fail("',' or '}'", at_);
    }
    if (!seen[0] || !seen[1] || !seen[2]) fail("the keys descr, fortran_order and shape", at_);
    if (peek(), at_ < text_.size()) fail("the end of the header", at_);
    return d;
  }

 private:
  [[noreturn]] void fail(std::string const& need, std::size_t at) const {
    std::string got = at < text_.size() ? in_quotes(text_.substr(at, 16)) : "its end";
    refuse("TW0602", fmt::format("header of {}, character {}", file_, at), std::move(got), need,
           "the file is corrupt, or not NumPy's");
  }

  /// The next character that is no blank; '\0' at the end.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c || c == '\0') return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(fmt::format("'{}'", c), at_);
  }

  std::string string() {
    char const quote = peek();
    if (quote != '\'' && quote != '"') fail("a quoted text", at_);
    std::size_t const end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a closing quote", text_.size());
    std::string const s(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return s;
  }

  std::string descr() {
    if (peek() != '[') return string();
    std::size_t const end =
        text_.find(']', at_);  // a structured type: kept to be named and refused
    if (end == std::string_view::npos) fail("']'", text_.size());
    std::string const s(text_.substr(at_, end + 1 - at_));
    at_ = end + 1;
    return s;
  }

  bool boolean() {
    peek();
    for (bool value : {false, true}) {
      std::string_view const word = value ? "True" : "False";
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    }
    fail("True or False", at_);
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> extents;
    expect('(');
    while (!take(')')) {
      if (extents.size() == 64) fail("at most 64 extents", at_);  // NumPy's own limit
      peek();
      std::int64_t n = 0;
      auto const [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), n);
      std::size_t const digits = static_cast<std::size_t>(end - text_.data()) - at_;
      if (error == std::errc::result_out_of_range) {
        refuse("TW0606", "shape in " + file_, std::string(text_.substr(at_, digits)),
               "extents below 2^63", "the header is corrupt");
      }
      if (error != std::errc() || n < 0) fail("an extent", at_);
      if (digits > 1 && text_[at_] == '0') fail("an extent without leading zeros", at_);
      at_ += digits;
      take('L');  // Python 2 wrote long integers so
      extents.push_back(n);
      if (!take(',') && peek() != ')') fail("',' or ')'", at_);
    }
    return extents;
  }

  std::string_view text_;
  std::string const& file_;
  std::size_t at_ = 0;
};

}  // namespace

npy_dict parse_npy_dict(std::string_view text, std::string const& file) {
  return reader(text, file).dict();
}

}  // namespace tw
