// SPDX-License-Identifier: Apache-2.0
// check.hpp  A refusal is a value: a code, what was looked at, what it was, what is needed.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace tw {

/// Why something cannot be done. `code` is TWnnnn (docs/errors/TWnnnn.md, `tilewright explain`).
struct rejection {
  std::string code;  // "TW0401"
  std::string what;  // "row pitch of A"
  std::string got;   // "7 elements"
  std::string need;  // "at least K = 9 elements"
  std::string hint;  // what to do; may be empty

  bool operator==(rejection const&) const = default;
};

/// One line: "TW0401: row pitch of A: got 7 elements, need at least K = 9 elements; <hint>".
std::string to_string(rejection const& r);

/// Thrown where a rejection reaches the edge of the API. what() is to_string(why).
class rejected : public std::runtime_error {
 public:
  explicit rejected(rejection r) : std::runtime_error(to_string(r)), why_(std::move(r)) {}
  rejected(rejected const&) = default;
  ~rejected() override;  // in the library: a program that catches it gets the library's refusals
  rejection const& why() const { return why_; }

 private:
  rejection why_;
};

/// Exit statuses of the command: done, result wrong, input refused, hardware absent.
enum class exit_status : int { done = 0, wrong = 1, refused = 2, no_hardware = 77 };

}  // namespace tw
