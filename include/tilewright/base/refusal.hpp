// SPDX-License-Identifier: Apache-2.0
// refusal.hpp  The exception of a refused operation, with or without the library.
//
// A rule of the layout algebra, of tensors or of atoms has a row of text here and in the
// *_words.hpp of its folder. Where libtilewright is linked, a refusal throws tw::rejected
// (check.hpp). If it is not, the headers alone throw tw::refused, whose what() is the same line.
// <new> is the lightest standard header that defines std::exception, the base of std::bad_alloc.
// Example:  tests/consumer/layout_alone.cpp
#pragma once

#include <cstdint>
#include <new>

namespace tw {

/// The text of a rule: {} is the next of the two numbers (got, then need; in `need` it is need).
struct refusal_words {
  int rule;
  char const* what;
  char const* got;
  char const* need;
  char const* hint;
  std::int64_t only_need = 0;  // unless 0, the row is for this need; the next row is for others
};

/// Thrown by headers that are used without the library.
class refused : public std::exception {
 public:
  refused(refusal_words const& w, std::int64_t got, std::int64_t need) noexcept
      : rule_(w.rule),
        got_(got),
        need_(need) {
    add("TW0");
    add(w.rule);
    add(": ");
    add(w.what);
    add(": got ");
    add(w.got, got, need);
    add(", need ");
    add(w.need, need, need);
    if (*w.hint != 0) add("; ");
    add(w.hint);
  }

  char const* what() const noexcept override { return text_; }
  /// 105 for TW0105, and the two numbers of the text.
  int rule() const noexcept { return rule_; }
  std::int64_t got() const noexcept { return got_; }
  std::int64_t need() const noexcept { return need_; }

 private:
  void add(char const* s) noexcept {
    for (; *s != 0 && length_ + 1 < static_cast<int>(sizeof text_); ++s) text_[length_++] = *s;
  }
  void add(std::int64_t v) noexcept {
    char digits[24];
    int n = 0;
    auto rest = v < 0 ? 0 - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
    do digits[n++] = static_cast<char>('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (v < 0) digits[n++] = '-';
    char const one[2] = {};
    for (char c[2] = {one[0], one[1]}; n > 0;) {
      c[0] = digits[--n];
      add(c);
    }
  }
  void add(char const* s, std::int64_t first, std::int64_t second) noexcept {
    for (; *s != 0; ++s) {
      if (s[0] == '{' && s[1] == '}') {
        add(first);
        first = second;
        ++s;
      } else {
        char const c[2] = {*s, 0};
        add(c);
      }
    }
  }

  int rule_, length_ = 0;
  std::int64_t got_, need_;
  char text_[480] = {};
};

namespace detail {

/// Set by the library when it is loaded: throws tw::rejected.
inline void (*library_throws)(refusal_words const& w, std::int64_t got,
                              std::int64_t need) = nullptr;

/// Throws with the text of the rule, which is one of the rows.
template <int N>
[[noreturn]] void throw_refusal(refusal_words const (&rows)[N], int rule, std::int64_t got,
                                std::int64_t need) {
  for (refusal_words const& w : rows) {
    if (w.rule != rule || (w.only_need != 0 && w.only_need != need)) continue;
    if (library_throws != nullptr) library_throws(w, got, need);
    throw refused(w, got, need);
  }
  refusal_words const unnamed{rule, "operand", "{}", "{}", ""};
  if (library_throws != nullptr) library_throws(unnamed, got, need);
  throw refused(unnamed, got, need);
}

}  // namespace detail

}  // namespace tw
