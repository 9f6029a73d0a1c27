// SPDX-License-Identifier: Apache-2.0
// reporter.hpp  The faults of the kernel so far, and the end of the run.
#pragma once

#include <string>
#include <vector>

#include "emu/machine/state.hpp"

namespace tw::emu {

class machine;

/// The object on which a rule was broken.
struct about {
  std::string object = {};
  std::int64_t phase = -1;  // of an mbarrier
  site earlier = {};
  thread const* by = nullptr;  // null: who is running
};

class reporter {
 public:
  explicit reporter(machine& m) : m_(m) {}

  void begin();
  /// Notes a broken rule after which the kernel cannot go on, and ends the run.
  [[noreturn]] void stop(std::string code, std::string kind, std::string text, site where = {},
                         about a = {});
  /// Notes a hazard and runs on, or ends the run when there are enough of them.
  void report(diagnosis d);
  /// Notes one that is complete, and ends the run.
  [[noreturn]] void stop(diagnosis d);
  std::vector<diagnosis> const& found() const { return found_; }

  /// While a copy lands: whoever happens to run has nothing to do with it.
  bool landing = false;

 private:
  void say_who(diagnosis& d, thread const* by) const;

  machine& m_;
  std::vector<diagnosis> found_;
};

}  // namespace tw::emu
