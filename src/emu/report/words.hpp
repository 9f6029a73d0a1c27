// SPDX-License-Identifier: Apache-2.0
// words.hpp  The lines of a diagnosis, in one order for all kinds.
#pragma once

#include <string>

namespace tw::emu {

struct grid;
struct cta_state;
struct mbarrier_state;

/// The parts that a reader needs, each without a line break; an empty one is left out.
struct account {
  std::string what = {};     // one sentence: what happened, to which object
  std::string now = {};      // the access at which it was seen: what, where, by whom
  std::string earlier = {};  // the access that it collides with
  std::string barrier = {};  // the mbarrier and its phase
  std::string missing = {};  // the step that would have made it right
  std::string cause = {};
  std::string remedy = {};
};

/// what, then a line "  now: ..." for each of the other sentences.
std::string report_text(account const& a);

/// E0060, at a place and by a thread.
std::string stack_overflow_text(std::string const& now);

/// "full[1] of CTA 0 (init at FILE:12), phase 3: 1 of 2 arrivals came, 0 of 8192 bytes landed".
std::string barrier_text(grid const& g, cta_state const& c, mbarrier_state const& b);

}  // namespace tw::emu
