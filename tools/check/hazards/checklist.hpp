// SPDX-License-Identifier: Apache-2.0
// checklist.hpp  The pre-flight checklist of a kernel, each line derived from runs in the emulator:
//                what they found, and which rules they had occasion to test.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/arch/emu/statistics.hpp"
#include "tools/check/hazards/finding.hpp"

namespace tw::hazards {

enum class line_state : std::uint8_t { passed, failed, not_applicable };
std::string_view name_of(line_state s);

struct checklist_line {
  std::string name;
  line_state state = line_state::passed;
  std::string detail;  // what was counted; the diagnosis; why it does not apply
};

/// The lines in their order. Every diagnosis fails exactly one line; wrong elements without any
/// diagnosis fail "epilogue layout".
std::vector<checklist_line> checklist_of(kernel_result const& r);

/// The line that a code of the emulator fails.
std::string_view line_of(std::string_view code);

/// One line each, and the text of a diagnosis below the line that it fails.
std::string text_of(std::vector<checklist_line> const& lines);

}  // namespace tw::hazards
